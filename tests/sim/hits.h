// Hits: how often each fault struck, each kind of request was answered how, and each kind of entry
// was written. What never happens proves nothing, so over a whole run a zero is a failure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "faults.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "tests/store_crash/disk.h"

namespace pawl::sim {

// What came of a request: the kinds of answers, then what is no answer.
inline constexpr std::size_t kOutcomes = 8;

class Hits {
 public:
  void struck(Fault fault) { ++faults_[static_cast<std::size_t>(fault)]; }
  void cut(Cut cut) { ++cuts_[static_cast<std::size_t>(cut)]; }
  void answered(const Stimulus& stimulus, const Result<Answer>& answer);
  void claimed(const std::string& outcome) { ++claims_[outcome]; }
  void written(Entry::Kind kind) { ++entries_[static_cast<std::size_t>(kind)]; }

  void add(const Hits& other);
  void print(std::ostream& out) const;
  // What never happened although it can.
  std::vector<std::string> missing() const;

 private:
  static constexpr std::size_t kEntryKinds = static_cast<std::size_t>(Entry::Kind::erased) + 1;

  std::array<std::int64_t, kFaults> faults_ = {};
  std::array<std::int64_t, kCuts.size()> cuts_ = {};
  std::map<std::string, std::array<std::int64_t, kOutcomes>> answers_ = {};
  std::map<std::string, std::int64_t> claims_ = {};
  std::array<std::int64_t, kEntryKinds> entries_ = {};
};

// Its name in the table.
std::string_view name_of(const Stimulus& stimulus);

}  // namespace pawl::sim
