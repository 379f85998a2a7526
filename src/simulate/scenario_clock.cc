#include "simulate/scenario_clock.h"

#include <string>

#include "base/text.h"
#include "calendar/time_of_day.h"

namespace pawl {
namespace {

Error no_time(std::string_view text, std::string_view forms) {
  return {ErrorCode::bad_input, in_quotes(text) + " is not a time: write " + std::string(forms)};
}

Result<Instant> after(Instant now, std::string_view delay) {
  PAWL_TRY(const Duration duration, parse_duration(delay));
  if (duration > kInstantMax - now)
    return Error{ErrorCode::bad_input, "+" + std::string(delay) + " ends after the year 9999"};
  return now + duration;
}

}  // namespace

Result<Instant> ScenarioClock::step_at(std::string_view text, Instant now) const {
  if (text.empty()) return now;
  if (text.starts_with('+')) return after(now, text.substr(1));
  if (const auto time = parse_time_of_day(text)) return next_time_of_day(*time, now, zone_);
  auto instant = parse_instant(text, zone_);
  if (!instant) return no_time(text, "an instant (2026-03-02T08:00:00Z), HH:MM[:SS] or +duration");
  return instant;
}

Result<ScenarioClock::Compared> ScenarioClock::compare(const Json& expected,
                                                       std::optional<Instant> got,
                                                       Instant now) const {
  if (expected.kind == Json::Kind::null) return Compared{!got.has_value(), {}};
  if (expected.kind == Json::Kind::list && expected.items.size() == 2)
    return compare_range(expected.items[0], expected.items[1], got, now);
  PAWL_TRY(const Meanings meant, meanings(expected, now));
  return Compared{got == meant.next || (got && got == meant.same_day), text_of(meant.next)};
}

Result<ScenarioClock::Compared> ScenarioClock::compare_range(const Json& from, const Json& to,
                                                             std::optional<Instant> got,
                                                             Instant now) const {
  PAWL_TRY(const Meanings first, meanings(from, now));
  const auto holds = [&](Instant least) -> Result<bool> {
    PAWL_TRY(const Meanings last, meanings(to, least));
    return got && least <= *got && *got <= last.next;
  };
  PAWL_TRY(bool same, holds(first.next));
  if (!same && first.same_day) {
    PAWL_TRY(same, holds(*first.same_day));
  }
  PAWL_TRY(const Meanings last, meanings(to, first.next));
  return Compared{same, Json::list({text_of(first.next), text_of(last.next)})};
}

Result<ScenarioClock::Meanings> ScenarioClock::meanings(const Json& expected, Instant now) const {
  if (const auto time = parse_time_of_day(expected.text))
    return Meanings{next_time_of_day(*time, now, zone_), time_on_day_of(*time, now, zone_)};
  const auto instant = parse_instant(expected.text, zone_);
  if (expected.kind != Json::Kind::text || !instant)
    return no_time(expected.text, "an instant (2026-03-02T08:00:00Z) or HH:MM[:SS]");
  return Meanings{*instant, std::nullopt};
}

Json ScenarioClock::text_of(Instant at) const { return to_text(at, zone_); }

}  // namespace pawl
