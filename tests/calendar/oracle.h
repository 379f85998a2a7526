// A second opinion on recurrence rules: brute force by definition, over every day, hour, minute and
// second of a window.
//
// It shares nothing with src/calendar, so that an error of thought there is not repeated here:
// rules have their own description, and the offsets of a zone are asked of the C library.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pawl {

enum class OracleFreq { secondly, minutely, hourly, daily, weekly, monthly, yearly };
enum class OracleGap { shift, skip };
enum class OracleFold { first, last, both };

// Ordinal 0 is every such weekday. Weekdays count from Monday = 0.
struct OracleWeekday {
  int ordinal = 0;
  int weekday = 0;
};

// A rule as its parts. An empty list is a part not given.
struct OracleRule {
  OracleFreq freq = OracleFreq::daily;
  std::int64_t interval = 1;
  std::optional<std::int64_t> count = std::nullopt;
  std::optional<std::chrono::sys_seconds> until = std::nullopt;      // where DTSTART is a DATE-TIME
  std::optional<std::chrono::local_days> until_date = std::nullopt;  // where DTSTART is a DATE
  std::vector<int> by_second = {};
  std::vector<int> by_minute = {};
  std::vector<int> by_hour = {};
  std::vector<OracleWeekday> by_day = {};
  std::vector<int> by_month_day = {};
  std::vector<int> by_year_day = {};
  std::vector<int> by_week_no = {};
  std::vector<int> by_month = {};
  std::vector<int> by_set_pos = {};
  std::optional<int> week_start = std::nullopt;

  // `FREQ=…;…` as RFC 5545 writes it.
  std::string text() const;
};

const char* freq_name(OracleFreq freq);

// One RDATE or EXDATE: an instant, or a time on the wall.
struct OracleDate {
  bool utc = false;
  std::int64_t seconds = 0;  // since 1970-01-01T00:00:00, in UTC or on the wall
};

// A stretch of time with one offset: [begin, end).
struct OracleSpan {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  std::chrono::seconds offset;
};

// [begin, end).
struct OracleWindow {
  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
};

// What a clock change made of a time on the wall.
enum class OracleClock { plain, shifted, first_fold, last_fold };

struct OracleOccurrence {
  std::chrono::sys_seconds at;
  std::chrono::local_seconds wall;
  OracleClock clock = OracleClock::plain;
};

// A time zone as the C library knows it, over a stretch of time.
class OracleZone {
 public:
  // Sets TZ for the whole process, so only one thread may do this.
  static OracleZone read(const std::string& name, std::chrono::sys_seconds from,
                         std::chrono::sys_seconds to);

  const std::string& name() const { return name_; }
  const std::vector<OracleSpan>& spans() const { return spans_; }
  std::chrono::local_seconds wall_at(std::chrono::sys_seconds at) const;

  // The largest (smallest) offset that a wall time of that stretch can have to do with.
  std::chrono::seconds offset_max(const OracleWindow& window) const;
  std::chrono::seconds offset_min(const OracleWindow& window) const;

  // The instants of a time on the wall, in order: none, one or two.
  std::vector<OracleOccurrence> instants_of(std::chrono::local_seconds wall, OracleGap gap,
                                            OracleFold fold) const;

 private:
  OracleZone(std::string name, std::vector<OracleSpan> spans)
      : name_(std::move(name)), spans_(std::move(spans)) {}

  std::string name_;
  std::vector<OracleSpan> spans_;
};

struct OraclePlan {
  OracleRule rule;
  std::chrono::local_seconds start;
  bool date_only = false;
  const OracleZone* zone = nullptr;
  std::optional<OracleGap> gap = std::nullopt;
  std::optional<OracleFold> fold = std::nullopt;
  std::vector<OracleDate> rdates = {};
  std::vector<OracleDate> exdates = {};
};

struct OracleResult {
  // In the order of instants. Two that fall on one instant happen once but both stand here, as
  // either may be reported.
  std::vector<OracleOccurrence> occurrences;
  // COUNT or UNTIL ends the rule inside the window: nothing follows the last occurrence.
  bool ended = false;
};

// A stretch of wall time: [from, to).
struct OracleReach {
  std::chrono::local_seconds from;
  std::chrono::local_seconds to;
};

// The walls that decide about a window: from DTSTART on if the rule has a COUNT.
OracleReach reach_of(const OraclePlan& plan, const OracleWindow& window);

// What the rule alone says: wall times from DTSTART on, COUNT and UNTIL not yet looked at.
struct OracleWalls {
  std::vector<std::chrono::local_seconds> at;
  std::chrono::local_seconds complete_to;  // all walls before this are in `at`
  std::int64_t looked_at = 0;              // days, hours, minutes and seconds: what the answer cost
};

// Gives up when it has `at_most` walls.
OracleWalls walls_of(const OraclePlan& plan, const OracleReach& reach,
                     std::size_t at_most = std::numeric_limits<std::size_t>::max());

// The occurrences that these walls (all in the reach of the window) have in the window.
OracleResult occurrences_of(const OraclePlan& plan,
                            const std::vector<std::chrono::local_seconds>& walls,
                            const OracleWindow& window);

// Whether a rule of FREQ=WEEKLY or finer leaves that many aligned periods in a row without an
// occurrence, before the year 9999. Walks over them one by one from DTSTART on; UNTIL, COUNT and
// the zone are not looked at.
bool silent_for(const OraclePlan& plan, std::int64_t periods);

// Whether anything happens from that instant on and before the year 9999, if neither COUNT nor
// UNTIL ends the rule. Gives up (and says no) after a thousand wall times in gaps, or when it costs
// too much.
bool fires_from(const OraclePlan& plan, std::chrono::sys_seconds from);

// All of the above: every occurrence in the window.
OracleResult enumerate(const OraclePlan& plan, const OracleWindow& window);

// `2026-11-16T09:30:00`, for reports.
std::string wall_text(std::chrono::local_seconds wall);
std::string instant_text(std::chrono::sys_seconds at);
// `20261116T093000`, as iCalendar writes it.
std::string calendar_text(std::chrono::local_seconds wall);

}  // namespace pawl
