// Checks of a machine's schedule.
#pragma once

#include "pawl/diagnostic.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

// The parts that are written out must be readable; a plan that is written out whole must have
// occurrences, and leave more room between them than one attempt may take (a warning).
void check_schedule(const Machine& machine, const Zones& zones, Diagnostics& diagnostics);

}  // namespace pawl
