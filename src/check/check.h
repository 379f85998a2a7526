// check: does every run of failures end?
//
// Every situation that failures can bring a record into is walked through, by the real decide: each
// state in which work can fail, each way in which it can, with all budgets. Success and people are
// left out: what is asked is whether failures alone can go on for ever.
//
// Conditions are computed on the data that is given, and other records do not act.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "check/counter_example.h"
#include "check/walk.h"
#include "pawl/machine.h"
#include "pawl/result.h"

namespace pawl {

// Of runs that begin in one state.
struct StateVerdict {
  enum class Kind {
    ends,
    repeats,     // for ever, since the file asks for it: retries without bound, or the plan
    never_ends,  // and nothing in the file says so
    undecided,   // too many situations, or no record could be brought there
  };

  Kind kind = Kind::ends;
  std::string state = {};

  // All that follows is of one kind or another.
  std::optional<int> failures_max = {};        // ends: at most so many; none: only the clock bounds
  std::optional<Duration> longest = {};        // ends: without waiting for workers
  std::vector<std::string> bounds = {};        // ends: by which clocks, in words
  std::vector<Outcome> outcomes = {};          // how runs can end
  std::vector<std::string> paces = {};         // repeats: what is repeated, in words
  std::optional<CounterExample> example = {};  // never_ends
  std::string why = {};                        // undecided
};

struct CheckedMachine {
  std::vector<StateVerdict> states;        // in the order of the file
  std::vector<std::string> unvaried = {};  // what conditions read besides: `now`, `children`
  bool shortened = false;  // some policy has more delays than were walked: numbers are smaller
};

struct CheckOptions {
  std::string data = "{}";  // of the record; required fields that it lacks get samples
  std::vector<const Machine*> others = {};  // that it creates: where their records begin
  std::size_t situations_max = 200'000;
};

// Fails when no record of the machine can have that data.
Result<CheckedMachine> check_failures(const Machine& machine, const CheckOptions& options = {});

}  // namespace pawl
