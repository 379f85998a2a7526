// Recurrence: when does it happen next. Rules (RRULE or cron), bound to a start and a zone.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calendar/cron.h"
#include "calendar/rrule.h"
#include "calendar/wall_rule.h"
#include "calendar/zone.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// One time at which a rule fires.
struct Occurrence {
  // What the clock change did to it.
  enum class Clock {
    plain,
    shifted,     // its local time does not exist; moved by the offset before the gap
    first_fold,  // its local time exists twice; this is the first
    last_fold,   // … the last
  };

  std::chrono::sys_seconds at;
  LocalSeconds wall;  // what the rule says; after a shift not what the clock shows
  Clock clock = Clock::plain;
};

// What a recurrence is made of. Rules are expanded in the wall-clock time of `zone`.
struct RecurrencePlan {
  Start start;  // DTSTART: nothing before it; what a rule leaves open is taken from it
  Zone zone = Zone::utc();
  std::vector<Rrule> rrules = {};
  std::vector<Cron> crons = {};
  std::vector<CalendarTime> rdates = {};    // further times
  std::vector<CalendarTime> exdates = {};   // times left out; COUNT counts them all the same
  std::optional<Gap> gap = std::nullopt;    // default: by the kind of each rule, `shift` for daily
                                            // and coarser, else `skip`
  std::optional<Fold> fold = std::nullopt;  // likewise `first`, else `both`
};

class Recurrence {
 public:
  // Errors: a rule that RFC 5545 forbids with this DTSTART, one that can never fire, one that can
  // stay silent for longer than `next` searches.
  static Result<Recurrence> make(const RecurrencePlan& plan);

  // The first occurrence strictly after that instant, or none: after COUNT, UNTIL or the year 9999.
  // A pure function of the plan and `after`; its cost does not depend on how long ago DTSTART was.
  std::optional<Occurrence> next(Instant after) const;

 private:
  // One RRULE or cron, or the local RDATEs (`times`, when there is no rule).
  struct Source {
    std::optional<WallRule> rule;
    std::vector<LocalSeconds> times;
    Gap gap = Gap::shift;
    Fold fold = Fold::first;
    std::chrono::sys_seconds until = std::chrono::sys_seconds::max();
  };

  explicit Recurrence(Zone zone) : zone_(std::move(zone)) {}

  std::optional<LocalSeconds> next_wall(const Source& source, LocalSeconds from) const;
  std::optional<Occurrence> next_of(const Source& source, std::chrono::sys_seconds from) const;

  Zone zone_;
  std::vector<Source> sources_;
  std::vector<std::chrono::sys_seconds> more_;     // RDATEs in UTC, sorted
  std::vector<std::chrono::sys_seconds> without_;  // EXDATEs in UTC, sorted
  std::vector<LocalSeconds> without_local_;        // local EXDATEs, sorted
};

// The lines of an iCalendar component that make a recurrence: DTSTART, RRULE, RDATE, EXDATE; or a
// bare `FREQ=…`.
struct RecurrenceText {
  std::optional<CalendarTime> start;
  std::optional<std::string> tzid;
  std::vector<Rrule> rrules;
  std::vector<CalendarTime> rdates;
  std::vector<CalendarTime> exdates;
};
Result<RecurrenceText> parse_recurrence_text(std::string_view text);

}  // namespace pawl
