// The machines that are simulated: small ones, in which together everything the engine does occurs.
//
// Each takes `poke` in every state and writes the payload's id into `data.seen`, as rows that do
// something for a message do: so what was applied, and how often, can be read from a record.
#pragma once

#include <vector>

#include "store/store.h"

namespace pawl::sim {

const std::vector<StoredMachine>& machines();

}  // namespace pawl::sim
