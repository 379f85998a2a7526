// Script: what a store is asked to do, step by step; the same for every store and the same for the
// same seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "store/store.h"

namespace pawl {

// Durable when it was answered, all of it or none.
struct Step {
  enum class Kind { batch, beats, machine, setting, forget, restart };

  Kind kind = Kind::batch;
  Instant now = {};
  std::vector<Unit> units = {};
  std::size_t takes = 0;      // messages, by the first unit
  std::size_t postpones = 0;  // the ones after these
  std::vector<Beat> beats = {};
  StoredMachine machine = {};
  Setting setting = {};
  Instant before = {};
};

struct Script {
  std::vector<Step> steps;
  int wal_pages = 0;  // before a checkpoint
};

// The seed modulo 4 says how large the log gets: 0 without an end, 1 the least, 2 and 3 between.
Script generate(std::uint64_t seed, std::size_t steps);

// Does what the step says, and gives the answer as text. A restart is for the caller.
Result<std::string> apply(Store& store, const Step& step);

// One more step for a store that holds something: opens every inbox and makes a record.
Result<std::string> go_on(Store& store, Instant now);

// Everything there is to read, by a name for each thing; an error reads `error …`.
using Contents = std::map<std::string, std::string>;
Contents read_all(Store& store);

// The first things that differ, for people; empty: nothing does.
std::string difference(const Contents& expected, const Contents& found);

// Instants of a script lie before this one; contents are read at it.
inline constexpr Instant kBegin =
    std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + std::chrono::hours{8};
inline constexpr Instant kLater = kBegin + std::chrono::days{30};

// The state of a memory store after each number of steps, as it is and after it went on.
struct Expected {
  std::vector<std::string> answers;
  std::vector<Contents> after;
  std::vector<Contents> gone_on;
};
Expected expect(const Script& script);

}  // namespace pawl
