// Rrule: one recurrence rule of RFC 5545 (3.3.10) as a value, and its text form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"

namespace pawl {

// From the finest to the coarsest: they are compared with < and >=.
enum class Freq { secondly, minutely, hourly, daily, weekly, monthly, yearly };

// Days of the week count from Monday = 0, as in ISO 8601.
inline constexpr int kMonday = 0;

// A time in an iCalendar text: `19971224`, `19971224T090000` or `19971224T090000Z`.
struct CalendarTime {
  enum class Form { date, local, utc };
  Form form = Form::local;
  std::int64_t seconds = 0;          // since 1970-01-01T00:00:00, on the wall or in UTC
  std::optional<Position> position;  // where it stood in a text, for messages

  friend bool operator==(const CalendarTime& a, const CalendarTime& b) {
    return a.form == b.form && a.seconds == b.seconds;
  }
};

// `MO` (ordinal 0: every Monday), `2MO`, `-1FR`.
struct WeekdayOrdinal {
  int ordinal = 0;
  int weekday = kMonday;

  // By weekday, then by ordinal.
  friend auto operator<=>(const WeekdayOrdinal& a, const WeekdayOrdinal& b) {
    return std::pair(a.weekday, a.ordinal) <=> std::pair(b.weekday, b.ordinal);
  }
  friend bool operator==(const WeekdayOrdinal&, const WeekdayOrdinal&) = default;
};

// The lists are sorted and without repeats; an empty list means the part was not given.
struct Rrule {
  Freq freq = Freq::daily;
  std::int64_t interval = 1;
  std::optional<std::int64_t> count;
  std::optional<CalendarTime> until;
  std::vector<int> by_second;
  std::vector<int> by_minute;
  std::vector<int> by_hour;
  std::vector<WeekdayOrdinal> by_day;
  std::vector<int> by_month_day;
  std::vector<int> by_year_day;
  std::vector<int> by_week_no;
  std::vector<int> by_month;
  std::vector<int> by_set_pos;
  int week_start = kMonday;
  std::optional<Position> position;  // where it stood in a text, for messages

  // The same rule, wherever it stood.
  friend bool operator==(const Rrule& a, const Rrule& b);
};

// Limits on what a rule may say.
inline constexpr std::int64_t kIntervalMax = 1'000'000'000;
inline constexpr std::int64_t kCountMax = 1'000'000'000'000;
inline constexpr std::size_t kRuleTextMax = 16'384;

// Reads `FREQ=…;…`. What RFC 5545 forbids is refused with the
// reason and the column, and so is a rule that cannot fire whatever its DTSTART.
Result<Rrule> parse_rrule(std::string_view text);

// The rule in one canonical form: FREQ first, then the parts in the order of RFC 5545, defaults
// left out.
std::string to_text(const Rrule& rule);

// Reads one time of an iCalendar text; `column` is where it begins, for messages.
Result<CalendarTime> parse_calendar_time(std::string_view text, int column = 1);

}  // namespace pawl
