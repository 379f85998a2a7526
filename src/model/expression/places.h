// What stands at the places of a record, an actor and an error.
#pragma once

#include "model/expression/operand.h"
#include "model/expression/sight.h"
#include "model/expression/term.h"

namespace pawl {

// Absent when the sight has no such thing.
Operand value_at(Place place, const Sight& sight, Scratch& scratch);

// All of an actor or an error, as a map.
Operand whole_actor(const Sight& sight, Scratch& scratch);
Operand whole_error(const Sight& sight, Scratch& scratch);

}  // namespace pawl
