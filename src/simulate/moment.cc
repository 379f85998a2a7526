#include "simulate/moment.h"

#include <string_view>
#include <variant>

#include "decide/consequences.h"

namespace pawl {
namespace {

constexpr std::string_view kOrderVerbs[] = {"retry", "release", "hold", "move",
                                            "patch", "migrate", "erase"};

// Says each stimulus in a few words.
struct Words {
  const Decided& decided;
  const World& world;

  std::string operator()(const Stimulus::Create& create) const {
    return create.event.empty() ? "create" : "create " + create.event;
  }
  std::string operator()(const Stimulus::Fire& fire) const { return "fire " + fire.event; }
  std::string operator()(const Stimulus::Start&) const {
    const std::string task = task_of(decided.machine, decided.before);
    return task.empty() ? "start" : "start " + task;
  }
  std::string operator()(const Stimulus::Beat&) const { return "beat"; }
  std::string operator()(const Stimulus::Done&) const { return "done"; }
  std::string operator()(const Stimulus::Fail& fail) const { return "fail " + fail.error.code; }
  std::string operator()(const Stimulus::Sent& sent) const { return "sent " + sent.event; }
  std::string operator()(const Stimulus::ChildChanged& changed) const {
    const Record* child = world.find(changed.child);
    return "child " + changed.machine + (child == nullptr ? "" : "/" + child->key);
  }
  std::string operator()(const Stimulus::Order& order) const {
    return "order " + std::string(kOrderVerbs[static_cast<std::size_t>(order.verb)]);
  }
  // What the clock made happen.
  std::string operator()(const Stimulus::Wake&) const {
    if (decided.decision.entries.empty()) return "wake";
    const Entry& entry = decided.decision.entries.front();
    return std::string(to_text(entry.kind)) + (entry.event.empty() ? "" : " " + entry.event) +
           (entry.error ? " " + entry.error->code : "");
  }
};

std::string name_of(const Stimulus& stimulus, const Record& record) {
  if (stimulus.machine == kRunMachine && record.id.value != 0)
    return "run " + side_job_of(record).task;
  return stimulus.machine + "/" + stimulus.key;
}

std::optional<Instant> come_back_of(const Record& record) {
  for (const Timer& timer : record.timers)
    if (timer.kind == Timer::Kind::come_back) return timer.at;
  return std::nullopt;
}

Standing standing_of(const Machine& machine, const Record& record) {
  if (record.id.value == 0) return {};
  const auto state = machine.find_state(record.state);
  return {.state = record.state,
          .final = state && machine.state(*state).final,
          .hold = record.hold,
          .task = record.spent ? "" : task_of(machine, record),
          .attempt = record.attempt,
          .failures = record.failures,
          .running = record.running,
          .ready_at = record.ready_at,
          .next_at = record.next_at(),
          .come_back_at = come_back_of(record),
          .planned_at = record.plan.next};
}

}  // namespace

bool is_told(const Decided& decided) {
  if (decided.machine.name() == kSendMachine) return false;
  const bool quiet = decided.decision.entries.empty();
  if (std::holds_alternative<Stimulus::ChildChanged>(decided.stimulus.what)) return !quiet;
  if (decided.decision.answer.waits) return true;
  return decided.decision.changed || !std::holds_alternative<Stimulus::Wake>(decided.stimulus.what);
}

Moment moment_of(const Decided& decided, const World& world) {
  const Decision& decision = decided.decision;
  const Record& after = decision.changed ? decision.record : decided.before;
  return {.at = decided.now,
          .id = after.id,
          .machine = decided.stimulus.machine,
          .key = decided.stimulus.key,
          .name = name_of(decided.stimulus, after),
          .cause = static_cast<Moment::Cause>(decided.stimulus.what.index()),
          .stimulus = std::visit(Words{decided, world}, decided.stimulus.what),
          .answer = decision.answer.kind,
          .reason = decision.answer.waits ? "waits until the hold is over" : decision.answer.reason,
          .before = standing_of(decided.machine, decided.before),
          .after = standing_of(decided.machine, after),
          .entries = decision.entries,
          .effects = effect_lines(decided)};
}

std::string effect_line(const Effect& effect) {
  const std::string whom = effect.machine + "/" + effect.key;
  switch (effect.verb) {
    case Effect::Verb::notify:
      return (effect.found ? "found " : "notify ") + effect.target;
    case Effect::Verb::run:
      return (effect.found ? "found " : "run ") + effect.target;
    case Effect::Verb::create:
      return (effect.found ? "found " : "create ") + effect.target + "/" + effect.key;
    case Effect::Verb::send:
      return effect.found ? "found " + effect.target : "send " + effect.target + " " + whom;
  }
  return "";
}

std::vector<std::string> effect_lines(const Decided& decided) {
  const std::string& machine = decided.stimulus.machine;
  const bool built_in = machine == kRunMachine || machine == kSendMachine;
  std::vector<std::string> lines;
  for (const Effect& effect : decided.effects)
    if (!built_in || effect.verb != Effect::Verb::send) lines.push_back(effect_line(effect));
  return lines;
}

std::string task_of(const Machine& machine, const Record& record) {
  const auto state = machine.find_state(record.state);
  if (!state) return "";
  const auto owner = machine.owner_of(*state);
  const std::optional<Ref>& task = machine.state(owner ? *owner : *state).task;
  return task ? task->name : "";
}

}  // namespace pawl
