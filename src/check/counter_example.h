// CounterExample: a run of failures without end, as a scenario that goes round.
#pragma once

#include <string>
#include <vector>

#include "check/distinctions.h"
#include "check/stage.h"
#include "pawl/json.h"

namespace pawl {

struct CounterExample {
  std::string how = {};  // what goes round, in words
  Json scenario = {};    // the keys of one scenario, as `pawl simulate --script` plays them
  bool plays = false;    // whether the machine itself comes round: it has more delays than walked
};

// What happens to a record that begins in the state with that data: first the mishaps that lead
// to the circle, then those of the circle, twice where it is short.
CounterExample counter_example(Stage& stage, const Distinctions& distinctions, StateId state,
                               const std::string& data, const std::vector<Mishap>& lead_in,
                               const std::vector<Mishap>& circle);

}  // namespace pawl
