// Where records go that follow a newer version of their machine.
#pragma once

#include <optional>

#include "pawl/machine.h"

namespace pawl {

// The line that says how records of that version move over; null when there is none.
const Migration* mapping_from(const Machine& newest, int version);

// The state that a record in `state` of `version` would be in: by the mapping, by name, by id; of
// the same kind unless mapped. None: it stays on its version.
std::optional<StateId> state_in_newer(const Machine& newest, int version, const State& state);

}  // namespace pawl
