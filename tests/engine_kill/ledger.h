// Ledger: what the diaries say together, and whether a store agrees.
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "findings.h"
#include "store/store.h"
#include "wire.h"

namespace pawl::kill {

class Ledger {
 public:
  explicit Ledger(std::vector<std::filesystem::path> diaries);

  // What was written since.
  void read();

  std::int64_t acknowledged() const { return acknowledged_; }

  // What was acknowledged is there, nothing was done twice or without being asked, and no more runs
  // than may. `is_settled`: and nothing is left to do.
  void compare(Store& store, const std::filesystem::path& journal, bool is_settled,
               Findings& findings) const;

 private:
  friend class Comparison;

  struct AttemptName {
    std::string machine;
    std::string key;
    std::int64_t fence = 0;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 of a comparison for a pointer
    friend auto operator<=>(const AttemptName&, const AttemptName&) = default;
  };
  struct Settle {
    std::string verb;       // done, fail; busy leaves no entry
    std::string kind = {};  // of the answer; empty: there is none yet
    bool was_unknown = false;
  };
  struct Read {
    std::filesystem::path diary;
    std::streamoff up_to = 0;
  };

  void take(const Words& words);

  std::vector<Read> diaries_;
  std::int64_t acknowledged_ = 0;
  std::map<std::string, bool> creates_;  // by key: whether it was acknowledged
  // By key and id; the revision that was acknowledged.
  std::map<std::pair<std::string, std::string>, std::optional<std::int64_t>> fires_;
  std::map<AttemptName, Settle> settles_;
  std::vector<AttemptName> starts_;
};

}  // namespace pawl::kill
