#include "policy/explain.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "model/edges.h"
#include "model/policy_english.h"
#include "model/row_text.h"
#include "policy/answers.h"
#include "policy/outlook_text.h"

namespace pawl {
namespace {

std::string nature_of(const Machine& machine, StateId id) {
  const State& state = machine.state(id);
  if (state.final) return "is final";
  if (const auto owner = machine.owner_of(id))
    return "stands in for " + in_ticks(machine.state(*owner).name) + " while its task runs";
  if (!state.task) return "waits";
  const Task& task = machine.task(state.task->id);
  std::string how;
  switch (task.kind) {
    case Task::Kind::queue:
      how = "queue " + task.target;
      break;
    case Task::Kind::http:
      how = "HTTP " + text_of(task.http->url);
      break;
    case Task::Kind::channel:
      how = "channel " + task.target;
      break;
    case Task::Kind::function:
      how = "function " + task.target;
      break;
  }
  return "works on " + in_ticks(task.name) + " (" + how + ")";
}

// `approve` (by `manager` or `director`)
std::string text_of_event(const Machine& machine, const Ref& event) {
  const EventDefinition* declared = machine.declared(event.id);
  if (declared == nullptr || declared->by.empty()) return in_ticks(event.name);
  std::vector<std::string> roles;
  for (const std::string& role : declared->by) roles.push_back(in_ticks(role));
  return in_ticks(event.name) + " (by " + join(roles, ", ", " or ") + ")";
}

std::string text_of(const Schedule& schedule) {
  const std::string rule = schedule.kind == Schedule::Kind::every
                               ? "every " + text_of(schedule.every)
                               : text_of(schedule.rule);
  const std::string zone = schedule.tz ? text_of(*schedule.tz) : "UTC";
  const std::string anchor = schedule.anchor ? ", from " + text_of(*schedule.anchor) : "";
  return "Planned times: " + rule + " (" + zone + ")" + anchor + ".";
}

std::vector<std::string> moves_of(const Machine& machine, const State& state) {
  std::vector<std::string> moves;
  for (const EffectRow& effect : state.effects)
    moves.push_back("On entry " + text_of(effect) + ".");
  if (state.started)
    moves.push_back("While an attempt runs, the record is in " + in_ticks(state.started->name) +
                    ".");
  if (!state.done.empty()) moves.push_back("Done: " + text_of(state.done) + ".");
  for (const EventRows& on : state.on)
    moves.push_back("On " + text_of_event(machine, on.event) + ": " + text_of(on.rows) + ".");
  for (const TimerRows& timer : state.after)
    moves.push_back("After " + text_of(timer.delay) + ": " + text_of(timer.rows) + ".");
  for (const TimerRows& timer : state.every)
    moves.push_back("Every " + text_of(timer.delay) + ": " + text_of(timer.rows) + ".");
  if (!state.planned.empty()) {
    moves.push_back("At each planned time: " + text_of(state.planned) + ".");
    const auto& ended = machine.definition().schedule->ended;
    if (!ended.empty()) moves.push_back("When no planned time is left: " + text_of(ended) + ".");
  }
  if (!state.when.empty()) moves.push_back("After every change: " + text_of(state.when) + ".");
  if (!state.resume.empty())
    moves.push_back("Coming back after a failure: " + text_of(state.resume) + ".");
  return moves;
}

// The delays, one sentence for each failure where they are a list.
std::vector<std::string> retries_of(const Delays& delays) {
  if (delays.kind != Delays::Kind::list) return {"Retry after " + text_of(delays)};
  if (delays.list.empty()) return {"A failure is not retried"};
  return in_english({.policy = {.retry = delays}}).lines;
}

// Without `to` a record that has given up rests on hold, whether its row says so or not.
std::string given_up(std::span<const Row> rows) {
  Rows said(rows.begin(), rows.end());
  for (Row& row : said)
    if (!row.to && !row.hold) row.hold = HoldText{"gave_up", "{error.message}"};
  const bool built_in = rows.data() == Machine::built_in_policy().give_up.data();
  return text_of(said) + (built_in ? ", alerts the server's channel" : "");
}

bool uses_policy_delays(const Outlook& outlook) {
  return std::any_of(outlook.runs.begin(), outlook.runs.end(),
                     [](const Outlook::Run& run) { return !run.own_delays; });
}

std::vector<std::string> attempts_of(const ResolvedPolicy& policy) {
  std::vector<std::string> lines{"One attempt may take " + text_of(policy.timeout)};
  if (policy.lease)
    lines.push_back("A worker that is silent for " + text_of(*policy.lease) + " loses its attempt");
  return lines;
}

std::vector<std::string> errors_of(const ResolvedPolicy& policy) {
  std::vector<std::string> lines;
  for (const ErrorRows* error : reachable_errors(policy))
    if (!is_built_in(*error))
      lines.push_back((error->code == "default" ? "Any other error: "
                                                : "Error " + in_ticks(error->code) + ": ") +
                      text_of(error->rows));
  return lines;
}

std::vector<std::string> ways_back_of(const Machine& machine, StateId id) {
  const ResolvedPolicy& policy = machine.policy_of_state(id);
  std::vector<std::string> lines;
  if (policy.failure)
    lines.push_back("A failed record waits in " + in_ticks(machine.state(*policy.failure).name));
  if (const StateId back = checkpoint_of(machine, id); back != id)
    lines.push_back("It comes back to " + in_ticks(machine.state(back).name));
  if (policy.count == Policy::Count::epoch)
    lines.emplace_back("Failures are counted over all states, until a new epoch");
  if (policy.count == Policy::Count::lifetime)
    lines.emplace_back("Failures are counted over the record's lifetime");
  return lines;
}

std::vector<std::string> policy_of(const Machine& machine, StateId id, const Outlook& outlook) {
  const ResolvedPolicy& policy = machine.policy_of_state(id);
  std::vector<std::string> lines;
  const auto add = [&](std::vector<std::string> more) {
    std::move(more.begin(), more.end(), std::back_inserter(lines));
  };
  if (machine.state(id).task) add(attempts_of(policy));
  add(errors_of(policy));
  if (uses_policy_delays(outlook)) add(retries_of(policy.retry));
  add(ways_back_of(machine, id));
  if (outlook.can_give_up) lines.push_back("When it gives up: " + given_up(policy.give_up));
  return lines;
}

ExplainedState explain(const Machine& machine, StateId id) {
  ExplainedState state{.name = machine.state(id).name,
                       .nature = nature_of(machine, id),
                       .moves = moves_of(machine, machine.state(id))};
  if (!can_fail(machine, id) || machine.owner_of(id)) return state;
  state.outlook = outlook_of(machine, id);
  state.policy = policy_of(machine, id, *state.outlook);
  return state;
}

// The sentences do not know the states: the one with `planned` has a name of its own in them.
ExplainedPolicy explain(const Machine& machine, const NamedPolicy& named) {
  EnglishPolicy english{.policy = named.policy};
  for (Row& row : english.policy.give_up)
    if (row.to && !machine.state(row.to->id).planned.empty())
      row.to->name = std::string(kPlannedState);
  PolicyInEnglish said = in_english(english);
  return {named.name, std::move(said.lines), std::move(said.unsaid)};
}

}  // namespace

ExplainedMachine explain(const Machine& machine) {
  const Definition& definition = machine.definition();
  ExplainedMachine explained;
  explained.summary = definition.machine;
  if (definition.version) explained.summary += ", version " + std::to_string(*definition.version);
  explained.summary += ". Records begin in " + in_ticks(definition.initial.name) + ".";
  if (!definition.doc.empty()) explained.summary += " " + definition.doc;
  if (definition.schedule) explained.summary += " " + text_of(*definition.schedule);
  for (StateId id = 0; id < definition.states.size(); ++id)
    explained.states.push_back(explain(machine, id));
  for (const EventRows& on : definition.on)
    explained.everywhere.push_back("On " + text_of_event(machine, on.event) + ": " +
                                   text_of(on.rows) + ".");
  for (const NamedPolicy& named : definition.policies)
    explained.policies.push_back(explain(machine, named));
  return explained;
}

std::string to_text(const ExplainedMachine& explained) {
  std::string text = explained.summary + "\n";
  for (const ExplainedState& state : explained.states) {
    text += "\n" + state.name + " " + state.nature + ".\n";
    for (const std::string& move : state.moves) text += "  " + move + "\n";
    if (!state.policy.empty()) text += "  When it fails:\n";
    for (const std::string& line : state.policy) text += "    " + line + ".\n";
    if (!state.outlook) continue;
    for (const std::string& line : to_lines(*state.outlook)) text += "    " + line + "\n";
  }
  if (!explained.everywhere.empty())
    text += "\nIn every open state, unless the state says otherwise:\n";
  for (const std::string& line : explained.everywhere) text += "  " + line + "\n";
  for (const ExplainedPolicy& policy : explained.policies) {
    text += "\nPolicy " + policy.name + ":\n";
    for (const std::string& line : policy.lines) text += "  " + line + "\n";
    for (const std::string& line : policy.unsaid) text += "  (no sentence for " + line + ")\n";
  }
  return text;
}

}  // namespace pawl
