// Times of day as people write them: `08:30`, `08:30:15`.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "calendar/zone.h"
#include "pawl/time.h"

namespace pawl {

// Seconds since midnight on the wall; none when the text is no such time.
std::optional<std::chrono::seconds> parse_time_of_day(std::string_view text);

// The first instant from `from` on, itself included, at which the clocks of the zone show that
// time. One that a day does not have is moved out of the gap.
Instant next_time_of_day(std::chrono::seconds time, Instant from, const Zone& zone);

// That time on the day that the clocks of the zone show at `at`; the first of a fold.
Instant time_on_day_of(std::chrono::seconds time, Instant at, const Zone& zone);

}  // namespace pawl
