// Checks of a machine as a whole: what cannot be seen at one place of its file.
#pragma once

#include "pawl/diagnostic.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

// Errors: dead ends, tasks without `done`, rows that cannot be where they are. Warnings: what is
// allowed and hardly meant.
void check_machine(const Machine& machine, const Zones& zones, Diagnostics& diagnostics);

}  // namespace pawl
