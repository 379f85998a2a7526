// What every accepted rule must do, whatever it says.
#pragma once

#include <cstdint>

#include "calendar/recurrence.h"

namespace pawl::fuzz {

// Start, zone, gap and fold drawn from a few bytes.
RecurrencePlan plan_from(const std::uint8_t* bytes);
inline constexpr std::size_t kPlanBytes = 6;

// Aborts unless results strictly rise, do not depend on where the search began, and end where they
// say.
void check_next(const Recurrence& recurrence, const RecurrencePlan& plan);

}  // namespace pawl::fuzz
