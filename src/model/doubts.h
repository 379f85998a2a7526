// Doubts: what a machine may say and is hardly meant. Warnings, not errors.
#pragma once

#include <vector>

#include "model/edges.h"
#include "pawl/diagnostic.h"
#include "pawl/machine.h"

namespace pawl {

void warn_of_doubts(const Machine& machine, const std::vector<Edge>& edges,
                    Diagnostics& diagnostics);

}  // namespace pawl
