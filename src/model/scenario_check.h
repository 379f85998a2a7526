// Checks of a machine's scenarios: their times, and the names they use.
#pragma once

#include "pawl/diagnostic.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

void check_scenarios(const Machine& machine, const Zones& zones, Diagnostics& diagnostics);

// One scenario, whose steps are about `machine` where they name no other.
void check_scenario(const Scenario& scenario, const Machine& machine, const Zones& zones,
                    Diagnostics& diagnostics);

}  // namespace pawl
