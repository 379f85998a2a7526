// Random machines: valid ones that use every key of the machine file, the same for one seed
// everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "pawl/definition.h"

namespace pawl {

// A machine that Machine::make accepts. Only what a file can say is drawn, so that it prints and
// reads back equal.
Definition random_machine(std::mt19937_64& numbers);

// How often each key, and each word of the closed lists, has been seen. A key that could have been
// there and never was has the count 0.
class PartCounts {
 public:
  void add(const Definition& definition);

  const std::map<std::string, std::int64_t>& all() const { return counts_; }

 private:
  friend class PartCounter;

  std::map<std::string, std::int64_t> counts_;
};

}  // namespace pawl
