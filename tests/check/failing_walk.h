// Failing walks: a record whose work goes wrong again and again, by chance.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/machine.h"
#include "pawl/zones.h"
#include "tape.h"

namespace pawl {

// How often work of a record of the first machine has failed, from the given state until it is
// done, final, on hold, or nothing happens any more. Workers come soon, late or never, and fail
// with a code of the tape.
int failures_of_walk(const std::vector<std::shared_ptr<const Machine>>& machines,
                     const Zones& zones, const std::string& state, const std::string& data,
                     Tape& tape);

}  // namespace pawl
