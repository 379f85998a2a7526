// One simulation: callers and workers use an engine whose process, disk, clock and network fail;
// then everything is sound again and has to settle. All choices come from a tape, so the same tape
// is the same simulation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "hits.h"
#include "tests/decide/tape.h"

namespace pawl::sim {

struct Outcome {
  std::optional<std::string> broken = {};  // what does not hold
  std::uint64_t hash = 0;                  // of every answer and of the end
  std::size_t restarts = 0;
  std::size_t records = 0;
  std::size_t entries = 0;
  Hits hits = {};
};

Outcome simulate(std::span<const std::uint8_t> tape, std::size_t steps);

// The tape that a seed stands for.
TapeBytes tape_of(std::uint64_t seed, std::size_t steps);

}  // namespace pawl::sim
