// duration_of: a duration of the machine file, fixed or from a template, for one record.
#pragma once

#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "pawl/expression.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// From zero to kDurationMax. An error when the value is absent, null or no duration; its message is
// for people and names the template. `value` is one of a machine: its template was compiled.
Result<Duration> duration_of(const DurationValue& value, const Sight& sight, Scratch& scratch);

}  // namespace pawl
