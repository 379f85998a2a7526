// Walk: every situation that failures can bring a record into, and how they lead from one to
// another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "check/interned.h"
#include "check/situation.h"
#include "check/stage.h"
#include "pawl/machine.h"
#include "pawl/time.h"

namespace pawl {

// A situation, as the walk has found it: its ways on are passages[first] to passages[first+count).
struct Knot {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  bool explored = false;  // false: the walk was too long to get there
  Ending ending = Ending::none;
  std::uint32_t outcome = 0;  // of one that has an ending, or a success behind it

  // A clock that comes before the task may be started: then it ends the run, and no number does.
  std::optional<std::uint32_t> cut_by = {};
  bool timed = false;  // work is going on, and a clock besides that may end it
};

// From one situation to the next, by a mishap.
struct Passage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t mishap = 0;
  std::uint32_t kept = 0;    // the clocks that go on as they were: a set
  std::uint32_t limits = 0;  // of `elapsed` that were looked at: a set of clocks as well
  std::uint32_t pace = 0;    // in words; 0: none
  int failures = 0;
  bool failed = false;
  bool paced = false;
  Duration lasted = {};
};

// How a run of failures is over.
struct Outcome {
  enum class Kind { final, hold, waits, done };

  Kind kind = Kind::final;
  std::string state = {};
  std::string code = {};  // of the hold

  friend auto operator<=>(const Outcome&, const Outcome&) = default;
};

// A clock by what it is, without its instant.
using ClockName = std::tuple<Clock::Kind, std::string, int>;
using ClockSet = std::vector<std::uint32_t>;  // sorted

struct Walked {
  // Where the walk from each state began; the reason when there is none.
  struct Beginning {
    StateId state = 0;
    std::optional<std::uint32_t> knot = {};
    std::string why = {};
  };

  std::vector<Beginning> beginnings;
  std::vector<Knot> knots;
  std::vector<Passage> passages;
  Interned<Mishap> mishaps;
  Interned<ClockName> clocks;
  Interned<ClockSet> clock_sets;
  Interned<std::string> paces;
  Interned<Outcome> outcomes;

  std::span<const Passage> ways_from(std::uint32_t knot) const {
    return std::span(passages).subspan(knots[knot].first, knots[knot].count);
  }
};

struct WalkOptions {
  std::string data = "{}";  // of the records
  std::size_t situations_max = 200'000;
};

// Walks from each of the states, until there is nothing new or there are too many situations.
Walked walk(Stage& stage, const Distinctions& distinctions, const std::vector<StateId>& from,
            const WalkOptions& options);

}  // namespace pawl
