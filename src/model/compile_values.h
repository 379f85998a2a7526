// The expressions and values of a definition, read and checked where they stand.
#pragma once

#include "pawl/diagnostic.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

// Gives every expression and value of the definition its program. `machine` knows what names mean;
// `definition` is its own.
void compile_values(Definition& definition, const Machine& machine, const Zones& zones,
                    Diagnostics& diagnostics);

}  // namespace pawl
