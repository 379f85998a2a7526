// Instants as the clocks of a scenario's zone show them.
#pragma once

#include <string>

#include "calendar/zone.h"
#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

// `2026-03-02 08:00:00`, with decimals where needed.
std::string wall_text(Instant at, const Zone& zone);

// `08:00:00`, without decimals.
std::string time_text(Instant at, const Zone& zone);

// `08:00:00` on the day of `now`, else with the date; with decimals where needed.
std::string near_text(Instant at, Instant now, const Zone& zone);

// An entry as `log` has it: `08:00:00 failed timeout: a -> b`.
std::string log_line(const Entry& entry, const Zone& zone);

}  // namespace pawl
