// Cron: a cron expression as a value. It fires on the days of a set, at the times of a set.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "calendar/day_set.h"
#include "pawl/result.h"

namespace pawl {

struct Cron {
  std::string text;  // as it was written, blanks folded
  DaySet days;
  std::uint32_t hours = 0;  // bit 0 = midnight
  std::uint64_t minutes = 0;
  std::uint64_t seconds = 0;
  bool hourly =
      false;  // the hour field is `*` or `*/n`: at a clock change it counts as an hourly rule
};

// Reads five fields (minute, hour, day of month, month, day of week), six (second first), or
// `@daily` and friends. Fields: `*`, `?`, numbers, names, ranges, steps, lists; `L`, `L-3`, `15W`,
// `LW` for days of the month; `5L`, `FRI#2` for days of the week. Day of month and day of week as
// in Vixie cron: when both are restricted either will do, and a field that begins with `*` is not
// restricted. An expression that can never fire is an error.
Result<Cron> parse_cron(std::string_view text);

}  // namespace pawl
