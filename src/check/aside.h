// Tasks run aside: how soon one can have failed for good.
#pragma once

#include <optional>

#include "check/situation.h"
#include "decide/built_in.h"
#include "pawl/effect.h"
#include "pawl/machine.h"
#include "pawl/record.h"

namespace pawl {

// What workers do so that the task which this effect runs fails as soon as it can, and the event
// that the asker then gets. None when it never does: it is tried again without end.
std::optional<AsideJob> quickest_failure(const Effect& effect, const Record& asker,
                                         const Machine& machine, BuiltIns& built_ins, Instant now);

}  // namespace pawl
