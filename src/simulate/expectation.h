// Expectation: what a step says must be true, compared with what is.
#pragma once

#include <string>
#include <vector>

#include "pawl/json.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "simulate/played.h"
#include "simulate/scenario_clock.h"
#include "simulate/world.h"

namespace pawl {

// What there is to compare with, after the step.
struct Seen {
  const World& world;
  const ScenarioClock& clock;
  std::string name;                // `machine/key`: whom the step concerns
  const Record* record = nullptr;  // null: there is no such record
  const Answer* answer = nullptr;  // null: the step asked for nothing
  Actor actor = {};
  std::vector<std::string> effects = {};  // since last asked
  std::vector<std::string> log = {};      // since last asked
};

// One problem for each part of `expect` that is not so, or that cannot be: a state, event, child or
// effect that the machines do not have. Its step and instant are left to the caller.
std::vector<Problem> compare(const Json& expect, const Seen& seen);

}  // namespace pawl
