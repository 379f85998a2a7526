// WallRule: a rule bound to its DTSTART and expanded in wall-clock time, before any zone is looked
// at.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "calendar/cron.h"
#include "calendar/day_set.h"
#include "calendar/rrule.h"
#include "calendar/time_set.h"
#include "calendar/zone.h"
#include "pawl/result.h"

namespace pawl {

// DTSTART. With `date_only` it is a DATE: BYHOUR, BYMINUTE and BYSECOND are ignored and days begin
// at 00:00:00.
struct Start {
  LocalSeconds at{};
  bool date_only = false;
  // Where DTSTART is given as an instant, nothing happens before it, not even in a fold, where its
  // local time comes twice.
  std::chrono::sys_seconds not_before = ZoneSpan::kBegin;
};

class WallRule {
 public:
  // Fails when the rule never fires from this start, or can stay silent for longer than `next`
  // searches. COUNT and UNTIL are the caller's: they depend on the zone.
  static Result<WallRule> make(const Rrule& given, Start start);
  static WallRule make(const Cron& cron, Start start);

  // The first occurrence at or after `from` and not before the start, or none up to the year 9999.
  std::optional<LocalSeconds> next(LocalSeconds from) const;

  // Counts occurrences in [from, before) until there are `most`; then `last` is that one.
  struct Counted {
    std::int64_t found = 0;
    std::optional<LocalSeconds> last;
  };
  Counted count(LocalSeconds from, LocalSeconds before, std::int64_t most) const;

  // Nothing fires after `last` any more.
  void end_after(LocalSeconds last);

 private:
  // What a search came to: a second or a day, or one of these.
  static constexpr std::int64_t kNone = INT64_MAX;           // nothing more up to the year 9999
  static constexpr std::int64_t kExhausted = INT64_MAX - 1;  // the search was given up

  struct PeriodDays;

  WallRule(Freq freq, std::int64_t interval, int week_start, DaySet days, TimeSet times,
           Start start);

  std::int64_t search(std::int64_t from, int budget) const;
  std::int64_t search_by_day(std::int64_t from, int& budget) const;
  std::int64_t search_by_position(std::int64_t from, int& budget) const;

  Counted count_by_day(std::int64_t from, std::int64_t end, std::int64_t most) const;
  Counted count_by_period(std::int64_t from, std::int64_t end, std::int64_t most) const;

  std::int64_t next_day(std::int64_t day, int& budget) const;
  std::int64_t next_day_in_months(std::int64_t day, std::int64_t step, int tries) const;
  std::int64_t next_day_in_years(std::int64_t day) const;
  std::int64_t next_named_day(std::int64_t day) const;
  std::int64_t align_day(std::int64_t day) const;

  int first_time(std::int64_t day, int from) const;
  int first_unit(std::int64_t day, std::int64_t from) const;
  std::int64_t times_on(std::int64_t day, std::vector<std::int64_t>& known) const;
  std::size_t phase_of(std::int64_t day) const;
  void find_silent_phases();
  bool every_named_day_is_alike() const;

  std::int64_t period_of(std::int64_t day) const;
  std::int64_t period_step() const;
  std::int64_t first_day_of(std::int64_t period) const;
  PeriodDays days_of_period(std::int64_t period) const;
  std::vector<std::int64_t> chosen_in(const PeriodDays& named) const;

  Result<void> check_fires(const Rrule& rule) const;
  std::int64_t cycle_days() const;

  Freq freq_;
  std::int64_t interval_;
  int week_start_;
  DaySet days_;
  bool all_days_;
  TimeSet times_;  // within a day, or for sub-daily rules within one of their periods
  std::vector<int>
      positions_;  // BYSETPOS of weekly and coarser rules; finer ones have it applied to times_

  // Sub-daily rules: the length of a period, and which of them pass BYHOUR, BYMINUTE, BYSECOND.
  int unit_ = 86'400;
  std::uint32_t hours_ = (1U << 24) - 1;
  std::uint64_t minutes_ = (1ULL << 60) - 1;
  std::uint64_t seconds_ = (1ULL << 60) - 1;

  // Where the periods of a sub-daily rule fall on a day (their phase) decides whether any of them
  // passes. Set for the phases on which none does; empty when there is no such phase, or a period
  // is longer than a day.
  std::vector<bool> silent_phases_;
  bool never_speaks_ = false;  // all phases are silent

  std::int64_t first_;         // the start
  std::int64_t first_period_;  // its period: aligned ones are a multiple of the interval away
  std::int64_t last_;          // nothing after this second
};

}  // namespace pawl
