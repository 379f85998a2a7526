// From wall-clock occurrences to instants.
//
// The mapping is not monotone. In the hour a clock goes through twice, wall times come round again;
// a time shifted out of a gap lands between later ones. So `next` does not map wall times one after
// another: it goes span by span of constant offset, where the mapping is plain subtraction, and
// asks the rule for
//   - the wall times the clock shows in that span (less those that the fold rule gives to the
//   neighbouring span), and
//   - at the beginning of a span after a gap, the wall times of the gap, moved by the offset before
//   it;
// the smaller of the two is the next occurrence.
#include "calendar/recurrence.h"

#include <algorithm>

#include "base/sort_unique.h"
#include "calendar/civil.h"

namespace pawl {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

const sys_seconds kLastInstant = std::chrono::floor<seconds>(kInstantMax);

LocalSeconds wall_at(sys_seconds at, seconds offset) {
  return LocalSeconds{at.time_since_epoch() + offset};
}
sys_seconds instant_of(LocalSeconds wall, seconds offset) {
  return sys_seconds{wall.time_since_epoch() - offset};
}

// A stretch of local time that the clock leaves out: [begin, end).
struct LocalGap {
  LocalSeconds begin;
  LocalSeconds end;
};

// The first gap that ends after that local time.
std::optional<LocalGap> next_gap(const Zone& zone, LocalSeconds wall) {
  ZoneSpan span = zone.span_at(instant_of(wall, std::chrono::hours{26}));
  while (span.end <= kLastInstant) {
    const ZoneSpan after = zone.span_at(span.end);
    const LocalGap gap{wall_at(span.end, span.offset), wall_at(span.end, after.offset)};
    if (gap.begin < gap.end && gap.end > wall) return gap;
    span = after;
  }
  return std::nullopt;
}

// The last occurrence that COUNT allows. Under `skip`, wall times that do not exist are not
// counted, so the count goes from gap to gap, but only to those the rule does not pass in silence.
std::optional<LocalSeconds> last_of_count(const WallRule& rule, const Zone& zone,
                                          LocalSeconds start, Gap gap, std::int64_t count) {
  constexpr LocalSeconds kEnd = LocalSeconds::max();
  if (gap == Gap::shift) return rule.count(start, kEnd, count).last;
  for (auto from = rule.next(start); from;) {
    const auto left_out = next_gap(zone, *from);
    const auto counted = rule.count(*from, left_out ? left_out->begin : kEnd, count);
    if (counted.last || !left_out) return counted.last;
    count -= counted.found;
    from = rule.next(std::max(*from, left_out->end));
  }
  return std::nullopt;
}

Error at_position(const std::optional<Position>& position, std::string message) {
  return {ErrorCode::bad_input, std::move(message), position};
}

// RFC 5545: UNTIL is a DATE when DTSTART is one, and in UTC when DTSTART has a zone, as ours always
// has.
Result<void> check_until(const CalendarTime& until, const RecurrencePlan& plan) {
  using Form = CalendarTime::Form;
  if (plan.start.date_only) {
    if (until.form == Form::date) return {};
    return at_position(until.position,
                       "DTSTART is a date, so UNTIL is one too; write UNTIL=YYYYMMDD");
  }
  if (until.form == Form::utc) return {};
  const LocalSeconds local{seconds{until.seconds}};
  const LocalSeconds end =
      until.form == Form::date ? local + std::chrono::days{1} - seconds{1} : local;
  std::string utc = to_text(plan.zone.to_instant(end));
  std::erase_if(utc, [](char c) { return c == '-' || c == ':'; });
  return at_position(until.position,
                     std::string("DTSTART has a time and a zone, so UNTIL is in UTC, not ") +
                         (until.form == Form::date ? "a date" : "local time") +
                         "; write UNTIL=" + utc);
}

// Adds RDATEs or EXDATEs to the list of their form. A DATE stands for the beginning of the day.
Result<void> add_times(const std::vector<CalendarTime>& times, const char* name, bool date_only,
                       std::vector<LocalSeconds>& local, std::vector<sys_seconds>& utc) {
  for (const CalendarTime& time : times) {
    const bool is_date = time.form == CalendarTime::Form::date;
    if (is_date != date_only) {
      return at_position(time.position, std::string("DTSTART is a ") +
                                            (date_only ? "date" : "date with a time") + ", so " +
                                            name + " is one too; write " +
                                            (date_only ? "YYYYMMDD" : "YYYYMMDDTHHMMSS"));
    }
    if (time.form == CalendarTime::Form::utc) {
      utc.emplace_back(seconds{time.seconds});
    } else {
      local.emplace_back(seconds{time.seconds});
    }
  }
  sort_unique(local);
  sort_unique(utc);
  return {};
}

}  // namespace

ClockRule clock_rule(const RecurrencePlan& plan, bool daily) {
  return {plan.gap.value_or(daily ? Gap::shift : Gap::skip),
          plan.fold.value_or(daily ? Fold::first : Fold::both)};
}

Result<Recurrence> Recurrence::make(const RecurrencePlan& plan) {
  if (plan.rrules.size() + plan.crons.size() > kRulesMax) {
    return at_position(std::nullopt,
                       "a recurrence has at most " + std::to_string(kRulesMax) + " rules");
  }
  if (plan.rrules.empty() && plan.crons.empty() && plan.rdates.empty()) {
    return at_position(std::nullopt, "nothing happens in this recurrence; give a rule or an RDATE");
  }
  Recurrence made(plan);
  for (const Rrule& rrule : plan.rrules) PAWL_CHECK(made.add(rrule, plan));
  for (const Cron& cron : plan.crons) {
    Source source{.rule = WallRule::make(cron, plan.start),
                  .clock = clock_rule(plan, !cron.hourly)};
    PAWL_CHECK(made.check_exists(source, cron.text, std::nullopt));
    made.sources_.push_back(std::move(source));
  }
  Source dates{.clock = clock_rule(plan, true)};
  PAWL_CHECK(add_times(plan.rdates, "RDATE", plan.start.date_only, dates.times, made.more_));
  PAWL_CHECK(
      add_times(plan.exdates, "EXDATE", plan.start.date_only, made.without_local_, made.without_));
  std::erase_if(made.more_, [&](sys_seconds at) {
    const auto wall = std::chrono::floor<seconds>(made.zone_.to_local(at));
    return std::binary_search(made.without_local_.begin(), made.without_local_.end(), wall);
  });
  if (!dates.times.empty()) made.sources_.push_back(std::move(dates));
  return made;
}

Result<void> Recurrence::add(const Rrule& rrule, const RecurrencePlan& plan) {
  if (rrule.until) PAWL_CHECK(check_until(*rrule.until, plan));
  auto rule = WallRule::make(rrule, plan.start);
  if (!rule) return at_position(rrule.position, rule.error().message);
  Source source{.rule = *std::move(rule), .clock = clock_rule(plan, rrule.freq >= Freq::daily)};
  if (rrule.until && plan.start.date_only) {
    source.rule->end_after(LocalSeconds{seconds{rrule.until->seconds}});
  } else if (rrule.until) {
    source.until = sys_seconds{seconds{rrule.until->seconds}};
  } else if (rrule.count) {
    const auto last =
        last_of_count(*source.rule, plan.zone, plan.start.at, source.clock.gap, *rrule.count);
    if (last) source.rule->end_after(*last);
  } else {
    PAWL_CHECK(check_exists(source, to_text(rrule), rrule.position));
  }
  sources_.push_back(std::move(source));
  return {};
}

// Under `skip` a rule may name nothing but local times that do not exist.
Result<void> Recurrence::check_exists(const Source& source, const std::string& text,
                                      const std::optional<Position>& position) const {
  if (source.clock.gap == Gap::shift || next_of(source, ZoneSpan::kBegin)) return {};
  return at_position(position, "the rule " + text + " can never fire: in " +
                                   std::string(zone_.name()) +
                                   " its local times do not exist; use gap shift");
}

std::optional<Occurrence> Recurrence::next(Instant after) const {
  sys_seconds from =
      std::chrono::floor<seconds>(std::clamp(after, kInstantMin, kInstantMax)) + seconds{1};
  from = std::max(from, not_before_);
  while (true) {
    std::optional<Occurrence> best;
    for (const Source& source : sources_) {
      const auto found = next_of(source, from);
      const bool plainer =
          found && best && found->at == best->at && found->clock == Occurrence::Clock::plain;
      if (found && (!best || found->at < best->at || plainer)) best = found;
    }
    const auto more = std::lower_bound(more_.begin(), more_.end(), from);
    if (more != more_.end() && (!best || *more < best->at)) {
      best = Occurrence{.at = *more, .wall = std::chrono::floor<seconds>(zone_.to_local(*more))};
    }
    if (!best || !std::binary_search(without_.begin(), without_.end(), best->at)) return best;
    from = best->at + seconds{1};
  }
}

// The first wall time of the source at or after `from` that no EXDATE leaves out.
std::optional<LocalSeconds> Recurrence::next_wall(const Source& source, LocalSeconds from) const {
  while (true) {
    std::optional<LocalSeconds> found;
    if (source.rule) {
      found = source.rule->next(from);
    } else if (const auto time = std::lower_bound(source.times.begin(), source.times.end(), from);
               time != source.times.end()) {
      found = *time;
    }
    if (!found || !std::binary_search(without_local_.begin(), without_local_.end(), *found))
      return found;
    from = *found + seconds{1};
  }
}

// The first occurrence of one source at or after `from`.
std::optional<Occurrence> Recurrence::next_of(const Source& source, sys_seconds from) const {
  using Clock = Occurrence::Clock;
  const sys_seconds end = std::min(source.until, kLastInstant);
  from = std::max(from, std::chrono::floor<seconds>(kInstantMin));
  ZoneSpan span = zone_.span_at(from);
  seconds before =
      span.begin == ZoneSpan::kBegin ? span.offset : zone_.span_at(span.begin - seconds{1}).offset;
  while (from <= end) {
    const bool last_span = span.end > kLastInstant;
    const ZoneSpan after = last_span ? span : zone_.span_at(span.end);
    std::optional<Occurrence> best;

    // The wall times the clock shows in this span, [shown, shown_end); the part up to fold_end it
    // has shown before, the part from fold_begin on it will show again.
    const LocalSeconds fold_end = wall_at(span.begin, before);
    const LocalSeconds shown_end = last_span ? LocalSeconds::max() : wall_at(span.end, span.offset);
    const LocalSeconds fold_begin =
        last_span ? LocalSeconds::max() : wall_at(span.end, after.offset);
    LocalSeconds shown = wall_at(from, span.offset);
    if (before > span.offset && source.clock.fold == Fold::first) shown = std::max(shown, fold_end);
    const auto wall = next_wall(source, shown);
    if (wall &&
        *wall < (source.clock.fold == Fold::last ? std::min(shown_end, fold_begin) : shown_end)) {
      const Clock clock = before > span.offset && *wall < fold_end ? Clock::last_fold
                          : *wall >= fold_begin                    ? Clock::first_fold
                                                                   : Clock::plain;
      best = Occurrence{instant_of(*wall, span.offset), *wall, clock};
    }

    // The wall times of the gap before this span.
    if (before < span.offset && source.clock.gap == Gap::shift) {
      const auto missing =
          next_wall(source, std::max(wall_at(from, before), wall_at(span.begin, before)));
      if (missing && *missing < wall_at(span.begin, span.offset)) {
        const sys_seconds at = instant_of(*missing, before);
        if (!best || at < best->at) best = Occurrence{at, *missing, Clock::shifted};
      }
    }

    if (best) return best->at <= end ? best : std::nullopt;
    if (last_span) return std::nullopt;

    // On to the next span; where the rule is silent for long, straight to the span in which it
    // speaks again, unless the clock is about to show times once more that we have begun behind of.
    const bool shows_again = shown > fold_begin;
    if (!shows_again && !wall) return std::nullopt;
    const sys_seconds speaks =
        wall ? instant_of(*wall, seconds{0}) - std::chrono::hours{48} : span.end;
    from = shows_again ? span.end : std::max(span.end, speaks);
    before = from == span.end ? span.offset
                              : zone_.span_at(zone_.span_at(from).begin - seconds{1}).offset;
    span = zone_.span_at(from);
  }
  return std::nullopt;
}

}  // namespace pawl
