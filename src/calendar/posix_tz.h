// The rule at the end of a TZif file (POSIX TZ string): how a zone's clock changes go on for ever.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {

// One change of offset that the rule makes.
struct PosixChange {
  std::chrono::sys_seconds at;
  bool to_dst;
};

// `EST5EDT,M3.2.0,M11.1.0`: standard time, and, where there is one, daylight time with the days it
// begins and ends.
struct PosixTz {
  // The day of a year on which the clock changes, and the local time at which it does.
  struct Day {
    enum class Form { month_week_day, julian, zero_based } form = Form::month_week_day;
    int month = 1;
    int week = 1;  // 5 = the last
    int day = 0;   // of the week (Sunday = 0), or of the year
    std::chrono::seconds time{7200};
  };

  std::string standard_name;
  std::chrono::seconds standard_offset{0};
  std::string dst_name;  // empty: no daylight time
  std::chrono::seconds dst_offset{0};
  Day begins;
  Day ends;

  bool has_dst() const { return !dst_name.empty(); }

  // The two changes of that year, in order of time.
  std::vector<PosixChange> changes_of(int year) const;
};

// Nothing when the text is not such a rule. Reads what zic writes, signs and hours beyond a day
// included.
std::optional<PosixTz> parse_posix_tz(std::string_view text);

}  // namespace pawl
