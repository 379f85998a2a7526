#include "model/scenario_check.h"

#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "calendar/time_of_day.h"
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

  void check(const Scenario& scenario) {
    check_times(scenario);
    if (!is_ours(scenario.create)) return;
    for (const Step& step : scenario.steps)
      if (step.record.empty() && (step.verb != Step::Verb::create || is_ours(step.subject)))
        check_step(step);
  }

 private:
  // Whether what is created is a record of this machine.
  bool is_ours(const Json& create) const {
    const Json* machine = create.find("machine");
    return machine == nullptr || machine->text == machine_.name();
  }

  void check_times(const Scenario& scenario) {
    const auto zone = scenario.tz.empty() ? Result<Zone>(Zone::utc()) : zones_.find(scenario.tz);
    if (!zone) {
      diagnostics_.error_at("bad_scenario", scenario.where, zone.error().message);
      return;
    }
    if (const auto at = parse_instant(scenario.at, *zone); !at && !scenario.at.empty())
      diagnostics_.error_at("bad_scenario", scenario.where, at.error().message);
    for (const Step& step : scenario.steps) {
      const bool wanted =
          !step.at.empty() && !step.at.starts_with('+') && !parse_time_of_day(step.at);
      if (!wanted) continue;
      if (const auto at = parse_instant(step.at, *zone); !at)
        diagnostics_.error_at("bad_scenario", step.where,
                              in_ticks(step.at) + " is not an instant, HH:MM[:SS] or +duration");
    }
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
  for (const Scenario& scenario : machine.definition().scenarios)
    check_scenario(scenario, machine, zones, diagnostics);
}

void check_scenario(const Scenario& scenario, const Machine& machine, const Zones& zones,
                    Diagnostics& diagnostics) {
  ScenarioCheck(machine, zones, diagnostics).check(scenario);
}

}  // namespace pawl
