// A decision as the scripts have it: the answer, what became of the record, entries, effects,
// messages and reports. Empty for a clock that changed nothing.
#pragma once

#include <string>
#include <vector>

#include "simulate/world.h"
#include "value_text.h"

namespace pawl {

std::vector<std::string> decision_text(const Decided& decided, const DayClock& clock);

}  // namespace pawl
