// How the retry of a planned task goes with the plan.
#pragma once

#include <optional>

#include "pawl/definition.h"
#include "pawl/time.h"

namespace pawl {

// When the retry starts, with r = now + delay, the next planned time p and the timeout T: `planned`
// is p when the retry would start or might end after p, else r; `retry` is r; `only_planned` is p;
// `whichever_first` the earlier one. Without p always r. A retry that might end just at p is before
// it. Never after kInstantMax.
Instant align(Policy::Align align, Instant now, Duration delay, Duration timeout,
              std::optional<Instant> planned);

}  // namespace pawl
