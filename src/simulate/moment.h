// From decisions to what people are told about them.
#pragma once

#include <string>
#include <vector>

#include "pawl/effect.h"
#include "simulate/played.h"
#include "simulate/world.h"

namespace pawl {

// Whether a person wants to know: not of counts of children, of the world's own errands, and of a
// clock that changed nothing.
bool is_told(const Decided& decided);

Moment moment_of(const Decided& decided, const World& world);

// An effect as `effects` has it: `notify oncall`, `found parcel/o1/a`.
std::string effect_line(const Effect& effect);

// The effects of a decision as `effects` has them. What `then` and `else` of a `run` send is not
// listed: that `run` is.
std::vector<std::string> effect_lines(const Decided& decided);

// The task that a record works on: that of its state, or of the state that one belongs to.
std::string task_of(const Machine& machine, const Record& record);

}  // namespace pawl
