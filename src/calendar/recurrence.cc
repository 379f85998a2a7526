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

// A span of constant offset between its neighbours, looked at from an instant in it on.
struct Stretch {
  Stretch(const Zone& zone, sys_seconds begin)
      : from(begin),
        span(zone.span_at(begin)),
        offset_before(span.begin == ZoneSpan::kBegin
                          ? span.offset
                          : zone.span_at(span.begin - seconds{1}).offset),
        is_last(span.end > kLastInstant),
        offset_after(is_last ? span.offset : zone.span_at(span.end).offset) {}

  sys_seconds from;
  ZoneSpan span;
  seconds offset_before;
  bool is_last;
  seconds offset_after;

  bool follows_a_fold() const { return offset_before > span.offset; }
  bool follows_a_gap() const { return offset_before < span.offset; }

  // What the clock shows when the span begins, and what it would show had it not been changed.
  LocalSeconds begin_wall() const { return wall_at(span.begin, span.offset); }
  LocalSeconds unchanged_begin_wall() const { return wall_at(span.begin, offset_before); }

  // What the clock shows from here on it will show once more, in the next span.
  LocalSeconds fold_begin() const {
    return is_last ? LocalSeconds::max() : wall_at(span.end, offset_after);
  }

  // The wall times that belong to this span: [first_shown, end_of_shown). Of those that exist twice
  // the fold rule gives some to the neighbouring span.
  LocalSeconds first_shown(Fold fold) const {
    const LocalSeconds shown = wall_at(from, span.offset);
    return follows_a_fold() && fold == Fold::first ? std::max(shown, unchanged_begin_wall())
                                                   : shown;
  }
  LocalSeconds end_of_shown(Fold fold) const {
    const LocalSeconds end = is_last ? LocalSeconds::max() : wall_at(span.end, span.offset);
    return fold == Fold::last ? std::min(end, fold_begin()) : end;
  }
  Occurrence occurrence(LocalSeconds wall) const {
    using Clock = Occurrence::Clock;
    const Clock clock = follows_a_fold() && wall < unchanged_begin_wall() ? Clock::last_fold
                        : wall >= fold_begin()                            ? Clock::first_fold
                                                                          : Clock::plain;
    return {instant_of(wall, span.offset), wall, clock};
  }

  // The wall times of the gap before this span that would be shown from now on: [first_missing,
  // begin_wall).
  LocalSeconds first_missing() const { return wall_at(from, offset_before); }
  Occurrence moved(LocalSeconds missing) const {
    return {instant_of(missing, offset_before), missing, Occurrence::Clock::shifted};
  }

  // Where to look when nothing happens here: in the next span; where the rule is silent for long
  // (its next wall time is `wall`), straight where it speaks again, unless times come round once
  // more that we have begun behind of. Nowhere when the rule is silent for ever.
  std::optional<sys_seconds> next_from(LocalSeconds shown, std::optional<LocalSeconds> wall) const {
    const bool shows_again = shown > fold_begin();
    if (is_last || (!shows_again && !wall)) return std::nullopt;
    if (shows_again) return span.end;
    return std::max(span.end, instant_of(*wall, std::chrono::hours{48}));
  }
};

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
                       "DTSTART is a date, so UNTIL must be one too; write UNTIL=YYYYMMDD");
  }
  if (until.form == Form::utc) return {};
  const LocalSeconds local{seconds{until.seconds}};
  const LocalSeconds end =
      until.form == Form::date ? local + std::chrono::days{1} - seconds{1} : local;
  std::string utc = to_text(plan.zone.to_instant(end));
  std::erase_if(utc, [](char c) { return c == '-' || c == ':'; });
  return at_position(until.position,
                     std::string("DTSTART has a time and a zone, so UNTIL must be in UTC, not ") +
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
                                            name + " must be one too; write " +
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
    return at_position(std::nullopt, "this recurrence is empty; give a rule or an RDATE");
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
  const sys_seconds end = std::min(source.until, kLastInstant);
  Stretch stretch(zone_, std::max(from, std::chrono::floor<seconds>(kInstantMin)));
  while (stretch.from <= end) {
    const LocalSeconds shown = stretch.first_shown(source.clock.fold);
    const auto wall = next_wall(source, shown);
    std::optional<Occurrence> best;
    if (wall && *wall < stretch.end_of_shown(source.clock.fold)) best = stretch.occurrence(*wall);
    if (source.clock.gap == Gap::shift && stretch.follows_a_gap()) {
      const auto missing = next_wall(source, stretch.first_missing());
      if (missing && *missing < stretch.begin_wall()) {
        const Occurrence moved = stretch.moved(*missing);
        if (!best || moved.at < best->at) best = moved;
      }
    }
    if (best) return best->at <= end ? best : std::nullopt;
    const auto next_from = stretch.next_from(shown, wall);
    if (!next_from) return std::nullopt;
    stretch = Stretch(zone_, *next_from);
  }
  return std::nullopt;
}

}  // namespace pawl
