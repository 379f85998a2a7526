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

// What becomes of local times that do not exist or exist twice.
struct ClockRule {
  Gap gap = Gap::shift;
  Fold fold = Fold::first;
};

// What the plan chooses, else by the kind of the rule: daily and coarser, or finer.
ClockRule clock_rule(const RecurrencePlan& plan, bool daily);

// A recurrence has no more rules than this.
inline constexpr std::size_t kRulesMax = 32;

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
    ClockRule clock;
    std::chrono::sys_seconds until = std::chrono::sys_seconds::max();
  };

  explicit Recurrence(const RecurrencePlan& plan)
      : zone_(plan.zone), not_before_(plan.start.not_before) {}

  Result<void> add(const Rrule& rrule, const RecurrencePlan& plan);
  Result<void> check_exists(const Source& source, const std::string& text,
                            const std::optional<Position>& position) const;

  std::optional<LocalSeconds> next_wall(const Source& source, LocalSeconds from) const;
  std::optional<Occurrence> next_of(const Source& source, std::chrono::sys_seconds from) const;

  Zone zone_;
  std::chrono::sys_seconds not_before_;
  std::vector<Source> sources_;
  std::vector<std::chrono::sys_seconds> more_;     // RDATEs in UTC, sorted
  std::vector<std::chrono::sys_seconds> without_;  // EXDATEs in UTC, sorted
  std::vector<LocalSeconds> without_local_;        // local EXDATEs, sorted
};

}  // namespace pawl
