#include "played_example.h"

#include <algorithm>

#include "check/check_text.h"
#include "model/script.h"
#include "simulate/player.h"
#include "simulate/timeline.h"

namespace pawl {
namespace {

bool has_entry(const Played& played, const auto& is_wanted) {
  return std::any_of(played.moments.begin(), played.moments.end(), [&](const Moment& moment) {
    return std::any_of(moment.entries.begin(), moment.entries.end(), is_wanted);
  });
}

// Also of a task that is run aside, and where a failure leaves no entry.
bool fails(const Played& played) {
  return std::any_of(played.moments.begin(), played.moments.end(),
                     [](const Moment& moment) {
                       return moment.cause == Moment::Cause::fail &&
                              moment.answer == Answer::Kind::ok;
                     }) ||
         has_entry(played, [](const Entry& entry) { return entry.error.has_value(); });
}

std::string faults_of(const Played& played, const std::string& machine) {
  std::string faults;
  for (const Problem& problem : played.problems) faults += to_text(problem, "", played.zone);
  if (faults.find("decisions in one step") != std::string::npos) return "";  // that takes too long
  if (!fails(played)) faults += "nothing fails\n";
  if (has_entry(played, [](const Entry& entry) { return entry.kind == Entry::Kind::done; }))
    faults += "something is done\n";
  const auto last = std::find_if(played.moments.rbegin(), played.moments.rend(),
                                 [&](const Moment& moment) { return moment.machine == machine; });
  if (last == played.moments.rend()) return faults + "nothing happens\n";
  if (last->after.final) faults += "it ends in a final state\n";
  if (last->after.hold) faults += "it ends on hold\n";
  return faults;
}

}  // namespace

std::string faults_of(const CounterExample& example,
                      const std::vector<std::shared_ptr<const Machine>>& machines,
                      const Zones& zones) {
  const ReadScript script = read_script(script_text(example), *machines.front(), zones);
  if (!script.scenario) return "it cannot be read: " + script.findings.front().message + "\n";
  const Played played = play(*script.scenario, machines.front()->name(), machines, zones);
  std::string faults = faults_of(played, machines.front()->name());
  if (!example.plays) faults += "it does not come round\n";
  return faults.empty() ? ""
                        : faults + script_text(example) + to_timeline(played).substr(0, 10'000);
}

}  // namespace pawl
