// Player: plays a scenario in a world of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pawl/definition.h"
#include "pawl/machine.h"
#include "pawl/zones.h"
#include "simulate/played.h"
#include "simulate/world.h"

namespace pawl {

// Plays the scenario to its end, whatever expectations fail; only what leaves no world to go on
// with (no first record, no end of decisions) ends it. Records are of `machine` where nothing else
// is said; `machines` has it and all that it creates. `watcher` is told what the player is told.
Played play(const Scenario& scenario, const std::string& machine,
            const std::vector<std::shared_ptr<const Machine>>& machines, const Zones& zones,
            int decisions_max = World::kDecisionsMax, Watcher watcher = {});

}  // namespace pawl
