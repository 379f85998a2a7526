#include "model/scenario_check.h"

#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "calendar/zone.h"
#include "model/names.h"

namespace pawl {
namespace {

class ScenarioCheck {
 public:
  ScenarioCheck(const Machine& machine, const Zones& zones, Diagnostics& diagnostics)
      : machine_(machine),
        definition_(machine.definition()),
        zones_(zones),
        diagnostics_(diagnostics) {}

  void check() {
    for (const Scenario& scenario : definition_.scenarios) {
      check_scenario_times(scenario);
      for (const Step& step : scenario.steps)
        if (step.record.empty()) check_step(step);
    }
  }

 private:
  void check_scenario_times(const Scenario& scenario) {
    const auto zone = scenario.tz.empty() ? Result<Zone>(Zone::utc()) : zones_.find(scenario.tz);
    if (!zone) {
      diagnostics_.error_at("bad_scenario", scenario.where, zone.error().message);
      return;
    }
    if (const auto at = parse_instant(scenario.at, *zone); !at && !scenario.at.empty())
      diagnostics_.error_at("bad_scenario", scenario.where, at.error().message);
    for (const Step& step : scenario.steps) {
      const bool wanted = !step.at.empty() && !step.at.starts_with('+') && !is_clock_time(step.at);
      if (!wanted) continue;
      if (const auto at = parse_instant(step.at, *zone); !at)
        diagnostics_.error_at("bad_scenario", step.where,
                              in_ticks(step.at) + " is no instant, no HH:MM[:SS] and no +duration");
    }
  }

  // `08:30` or `08:30:15`.
  static bool is_clock_time(std::string_view text) {
    const auto two = [&](std::size_t at, int most) {
      return is_digit(text[at]) && is_digit(text[at + 1]) &&
             (text[at] - '0') * 10 + (text[at + 1] - '0') <= most;
    };
    const bool minutes = text.size() >= 5 && two(0, 23) && text[2] == ':' && two(3, 59);
    return minutes && (text.size() == 5 || (text.size() == 8 && text[5] == ':' && two(6, 59)));
  }

  void check_step(const Step& step) {
    if (step.verb == Step::Verb::fire && !machine_.find_event(step.subject.text))
      unknown_in_step("unknown_event", step.subject, "an event", [&] { return event_names(); });
    if (step.verb == Step::Verb::start && !machine_.find_task(step.subject.text))
      unknown_in_step("unknown_task", step.subject, "a task",
                      [&] { return names_of(definition_.tasks); });
    const Json* state = step.expect.find("state");
    if (state != nullptr && !machine_.find_state(state->text))
      unknown_in_step("unknown_state", *state, "a state",
                      [&] { return names_of(definition_.states); });
  }

  template <class Known>
  void unknown_in_step(std::string_view id, const Json& name, std::string_view what, Known known) {
    if (diagnostics_.is_full()) return;
    diagnostics_.error_at(id, name.at,
                          in_ticks(name.text) + " is not " + std::string(what) +
                              " of this machine" + did_you_mean(name.text, known()));
  }

  std::vector<std::string> event_names() const {
    std::vector<std::string> names;
    for (EventId id = 0; id < machine_.event_count(); ++id)
      names.emplace_back(machine_.event_name(id));
    return names;
  }

  const Machine& machine_;
  const Definition& definition_;
  const Zones& zones_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_scenarios(const Machine& machine, const Zones& zones, Diagnostics& diagnostics) {
  ScenarioCheck(machine, zones, diagnostics).check();
}

}  // namespace pawl
