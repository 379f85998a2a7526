#include "model/plan_check.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/text.h"
#include "calendar/recurrence.h"
#include "calendar/zone.h"
#include "model/expression/value_program.h"

namespace pawl {
namespace {

// Where a plan without an anchor is tried out: no instant is special.
constexpr Instant kSomeStart = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
constexpr int kOccurrencesTried = 400;

class ScheduleCheck {
 public:
  ScheduleCheck(const Machine& machine, const Zones& zones, Diagnostics& diagnostics)
      : machine_(machine),
        schedule_(*machine.definition().schedule),
        zones_(zones),
        diagnostics_(diagnostics) {}

  void check() {
    warn_unplanned();
    const std::optional<Zone> zone = read_zone();
    const std::optional<Instant> anchor = read_anchor(zone.value_or(Zone::utc()));
    if (schedule_.kind == Schedule::Kind::every) {
      check_every();
      return;
    }
    RecurrencePlan plan;
    if (!is_written_out(schedule_.rule) || !read_rule(plan) || !zone || !anchor) return;
    plan.start = start_of(*anchor, *zone);
    plan.zone = *zone;
    if (schedule_.gap) plan.gap = *schedule_.gap == Schedule::Gap::shift ? Gap::shift : Gap::skip;
    if (schedule_.fold) plan.fold = static_cast<Fold>(*schedule_.fold);
    const auto recurrence = Recurrence::make(plan);
    if (!recurrence) {
      error(schedule_.rule.json, recurrence.error());
      return;
    }
    if (const auto gap = smallest_gap(*recurrence, *anchor)) warn_long_attempts(*gap);
  }

 private:
  static bool is_written_out(const Value& value) {
    return value.program != nullptr && value.program->constant();
  }

  // What could not be read from the file has no place, and was said.
  void error(const Json& text, const Error& why) {
    if (text.at.position.line == 0 && schedule_.at.position.line > 0) return;
    diagnostics_.error("bad_schedule",
                       text.at.inside(text.text, why.position.value_or(Position{}).column),
                       why.message);
  }

  void warn_unplanned() {
    const auto& states = machine_.definition().states;
    if (diagnostics_.has_errors()) return;
    if (std::none_of(states.begin(), states.end(),
                     [](const State& state) { return !state.planned.empty(); }))
      diagnostics_.warning("schedule_without_planned", schedule_.at.position,
                           "no state has `planned`: the schedule does nothing");
  }

  void check_every() {
    if (!schedule_.every.is_fixed()) return;
    if (schedule_.every.fixed <= Duration{0}) {
      diagnostics_.error("zero_every", schedule_.every.at.position,
                         "`every` needs a duration above zero");
    } else {
      warn_long_attempts(schedule_.every.fixed);
    }
  }

  // None when it is wrong or comes from data.
  std::optional<Zone> read_zone() {
    if (!schedule_.tz) return Zone::utc();
    if (!is_written_out(*schedule_.tz)) return std::nullopt;
    const auto zone = zones_.find(schedule_.tz->json.text);
    if (zone) return *zone;
    error(schedule_.tz->json, zone.error());
    return std::nullopt;
  }

  std::optional<Instant> read_anchor(const Zone& zone) {
    if (!schedule_.anchor) return kSomeStart;
    if (!is_written_out(*schedule_.anchor)) return std::nullopt;
    const auto anchor = parse_instant(schedule_.anchor->json.text, zone);
    if (anchor) return *anchor;
    error(schedule_.anchor->json, anchor.error());
    return std::nullopt;
  }

  static Start start_of(Instant anchor, const Zone& zone) {
    return {.at = std::chrono::floor<std::chrono::seconds>(zone.to_local(anchor)),
            .not_before = std::chrono::floor<std::chrono::seconds>(anchor)};
  }

  bool read_rule(RecurrencePlan& plan) {
    const std::string& text = schedule_.rule.json.text;
    if (schedule_.kind == Schedule::Kind::rrule) {
      const auto rrule = parse_rrule(text);
      if (!rrule) {
        error(schedule_.rule.json, rrule.error());
        return false;
      }
      plan.rrules.push_back(*rrule);
      return true;
    }
    const auto cron = parse_cron(text);
    if (!cron) {
      error(schedule_.rule.json, cron.error());
      return false;
    }
    plan.crons.push_back(*cron);
    return true;
  }

  static std::optional<Duration> smallest_gap(const Recurrence& recurrence, Instant anchor) {
    std::optional<Duration> smallest;
    auto before = recurrence.next(anchor - Duration{1});
    for (int i = 0; before && i < kOccurrencesTried; ++i) {
      const auto next = recurrence.next(before->at);
      if (!next) break;
      const Duration gap = next->at - before->at;
      smallest = smallest ? std::min(*smallest, gap) : gap;
      before = next;
    }
    return smallest;
  }

  void warn_long_attempts(Duration gap) {
    for (StateId id = 0; id < machine_.definition().states.size(); ++id) {
      const State& state = machine_.state(id);
      const DurationValue& timeout = machine_.policy_of_state(id).timeout;
      if (state.task && timeout.is_fixed() && timeout.fixed >= gap)
        diagnostics_.warning("timeout_beyond_plan", state.at.position,
                             "an attempt in `" + printable(state.name) + "` may take " +
                                 to_text(timeout.fixed) + ", but planned times can be only " +
                                 to_text(gap) + " apart: make `timeout` shorter");
    }
  }

  const Machine& machine_;
  const Schedule& schedule_;
  const Zones& zones_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_schedule(const Machine& machine, const Zones& zones, Diagnostics& diagnostics) {
  if (machine.definition().schedule) ScheduleCheck(machine, zones, diagnostics).check();
}

}  // namespace pawl
