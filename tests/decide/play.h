// A play: a machine and a few records of it, one after another, with all stimuli from one tape, and
// every property checked after every decision.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "answer_table.h"
#include "pawl/zones.h"
#include "properties.h"
#include "tape.h"

namespace pawl {

// What plays have reached together.
struct Played {
  std::int64_t machines = 0;
  std::int64_t records = 0;
  std::int64_t decisions = 0;
  AnswerTable answers;
};

// Told of a play while it runs; for people who want to see what a tape says.
struct Watcher {
  std::function<void(const Definition&)> machine = {};
  std::function<void(const Decided&)> step = {};
};

// Throws PropertyBroken when a property does not hold.
void play_tape(std::span<const std::uint8_t> tape, const Zones& zones, Played& played,
               const Watcher& watcher = {});

}  // namespace pawl
