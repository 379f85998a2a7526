#include "decide/bound_schedule.h"

#include "model/expression/duration_of.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

using std::chrono::seconds;

Result<std::string> text_of(const Value& value, std::string_view part, const Sight& sight,
                            Scratch& scratch) {
  std::string text;
  if (value.program->render_text(sight, scratch, text)) return text;
  return Error{ErrorCode::bad_input, "`" + std::string(part) + "` of the schedule: " + scratch.why};
}

Result<void> add_rule(const Schedule& schedule, const std::string& text, RecurrencePlan& plan) {
  if (schedule.kind == Schedule::Kind::rrule) {
    PAWL_TRY(Rrule rule, parse_rrule(text));
    plan.rrules.push_back(std::move(rule));
  } else {
    PAWL_TRY(Cron cron, parse_cron(text));
    plan.crons.push_back(std::move(cron));
  }
  return {};
}

Result<Zone> zone_of(const Schedule& schedule, const Sight& sight, const Zones& zones,
                     Scratch& scratch) {
  if (!schedule.tz) return Zone::utc();
  PAWL_TRY(const std::string name, text_of(*schedule.tz, "tz", sight, scratch));
  return zones.find(name);
}

}  // namespace

std::optional<Zone> zone_in_force(const std::optional<Schedule>& schedule, const Sight& sight,
                                  const Zones& zones, Scratch& scratch) {
  if (!schedule || !schedule->tz) return std::nullopt;
  auto zone = zone_of(*schedule, sight, zones, scratch);
  return zone ? std::optional<Zone>(*std::move(zone)) : std::nullopt;
}

Result<BoundSchedule> BoundSchedule::bind(const Schedule& schedule, const Sight& sight,
                                          const Zones& zones, Scratch& scratch) {
  BoundSchedule bound;
  PAWL_TRY(const Zone zone, zone_of(schedule, sight, zones, scratch));
  bound.zone_ = zone.name();
  bound.start_ = sight.record->created_at;
  if (schedule.anchor) {
    PAWL_TRY(bound.anchor_, text_of(*schedule.anchor, "anchor", sight, scratch));
    PAWL_TRY(bound.start_, parse_instant(bound.anchor_, zone));
  } else {
    bound.anchor_ = to_text(bound.start_);
  }
  if (schedule.kind == Schedule::Kind::every) {
    PAWL_TRY(bound.every_, duration_of(schedule.every, sight, scratch));
    if (bound.every_ <= Duration{0})
      return Error{ErrorCode::bad_input, "`every` of the schedule needs a duration above zero"};
    return bound;
  }
  RecurrencePlan plan;
  PAWL_TRY(const std::string rule, text_of(schedule.rule, "rule", sight, scratch));
  PAWL_CHECK(add_rule(schedule, rule, plan));
  plan.start = {.at = std::chrono::floor<seconds>(zone.to_local(bound.start_)),
                .not_before = std::chrono::floor<seconds>(bound.start_)};
  plan.zone = zone;
  if (schedule.gap) plan.gap = *schedule.gap == Schedule::Gap::shift ? Gap::shift : Gap::skip;
  if (schedule.fold) plan.fold = static_cast<Fold>(*schedule.fold);
  PAWL_TRY(bound.recurrence_, Recurrence::make(plan));
  return bound;
}

std::optional<Instant> BoundSchedule::next(Instant after) const {
  if (recurrence_) {
    const auto found = recurrence_->next(after);
    return found ? std::optional<Instant>(found->at) : std::nullopt;
  }
  if (after < start_) return start_;
  const Instant at = start_ + ((after - start_) / every_ + 1) * every_;
  return at <= kInstantMax ? std::optional<Instant>(at) : std::nullopt;
}

// Looks back from `until` in steps that double, so that a long absence costs little.
Instant BoundSchedule::latest(Instant first, Instant until) const {
  Instant found = first;
  for (Duration back = std::chrono::minutes{1}; back < until - first; back *= 2) {
    const auto at = next(until - back);
    if (!at || *at > until) continue;
    found = *at;
    break;
  }
  for (auto at = next(found); at && *at <= until; at = next(found)) found = *at;
  return found;
}

}  // namespace pawl
