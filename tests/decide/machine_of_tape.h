// Machines drawn from a tape: small ones in which everything `decide` knows can happen.
#pragma once

#include <memory>

#include "pawl/definition.h"
#include "pawl/machine.h"
#include "pawl/zones.h"
#include "tape.h"

namespace pawl {

// Of 2 to 12 states; Machine::make accepts it.
Definition definition_of(Tape& tape);

// A later version of it: states keep their names or move over by `migrate`, delays change.
Definition next_version_of(const Definition& definition, Tape& tape);

// Without the way through a file, which takes longer than the play. The guard `even` is known.
std::shared_ptr<const Machine> quickly_made(Definition definition, const Zones& zones);

}  // namespace pawl
