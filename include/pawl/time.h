// Instants and durations: the standard's strong types at microseconds, and their text forms.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

using Duration = std::chrono::microseconds;
using Instant = std::chrono::sys_time<Duration>;

// Every instant Pawl reads or computes lies in the years 1 to 9999.
inline constexpr Instant kInstantMin = std::chrono::sys_days{std::chrono::year{1} / 1 / 1};
inline constexpr Instant kInstantMax =
    std::chrono::sys_days{std::chrono::year{10000} / 1 / 1} - Duration{1};

// The longest duration; an instant plus or minus it does not overflow.
inline constexpr Duration kDurationMax = kInstantMax - kInstantMin;

// Reads `0`, `500ms 30s 5m 2h 7d`, `1 hour`, `10 minutes`, or ISO 8601 `PT1H30M`. Not negative;
// months and years have no fixed length and are refused. Errors carry the column.
Result<Duration> parse_duration(std::string_view text);

// The one canonical form: the largest unit of `d h m s ms` that divides it (`90m`, `0s`), else ISO
// 8601 (`PT0.000001S`). For durations that are not negative.
std::string to_text(Duration duration);

// Reads RFC 3339 with an offset: `2026-11-16T09:30:00Z`, `2026-11-16T09:30:00.25+01:00`. Digits
// beyond the microsecond are dropped; second 60 is read as the instant that follows it.
Result<Instant> parse_instant(std::string_view text);

// RFC 3339 in UTC: `2026-11-16T09:30:00Z`, with 1 to 6 decimals where needed. Outside the years 1
// to 9999 the nearest instant inside is printed.
std::string to_text(Instant instant);

}  // namespace pawl
