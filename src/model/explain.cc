#include "model/explain.h"

#include <algorithm>

#include "base/text.h"
#include "model/edges.h"
#include "model/policy_english.h"

namespace pawl {
namespace {

std::string text_of(const DurationValue& duration) {
  return duration.is_fixed() ? to_text(duration.fixed) : duration.value.json.text;
}

std::string text_of(const Value& value) {
  return value.json.kind == Json::Kind::text ? value.json.text : to_text(value.json);
}

std::string text_of(const Recipient& to) {
  switch (to.kind) {
    case Recipient::Kind::self:
      return "itself";
    case Recipient::Kind::parent:
      return "its parent";
    case Recipient::Kind::children:
      return "its children of " + in_ticks(to.machine);
    case Recipient::Kind::record:
      break;
  }
  return to.machine + "/" + text_of(to.key);
}

std::string text_of(const EffectRow& effect) {
  std::string text;
  switch (effect.verb) {
    case EffectRow::Verb::notify:
      text = "notifies " + in_ticks(effect.target.name);
      break;
    case EffectRow::Verb::run:
      text = "runs " + in_ticks(effect.target.name) + " aside";
      break;
    case EffectRow::Verb::send:
      text =
          "sends " + in_ticks(effect.target.name) + " to " + (effect.to ? text_of(*effect.to) : "");
      break;
    case EffectRow::Verb::create:
      text = "creates a " + in_ticks(effect.target.name);
      break;
  }
  if (effect.each) text += " for each of " + effect.each->text;
  if (effect.in) text += " after " + text_of(*effect.in);
  if (effect.condition) text += " if " + effect.condition->text;
  return text;
}

std::string text_of(const Delays& delays) {
  if (delays.kind == Delays::Kind::fixed) return text_of(delays.first) + " each time";
  if (delays.kind == Delays::Kind::list) {
    std::vector<std::string> all;
    for (const DurationValue& delay : delays.list) all.push_back(text_of(delay));
    return all.empty() ? "never" : join(all, ", then ", ", then ");
  }
  const int whole = delays.factor_milli / 1'000;
  std::string text = text_of(delays.first);
  if (delays.factor_milli != 1'000) {
    std::string factor = std::to_string(whole);
    if (const int rest = delays.factor_milli % 1'000; rest != 0) {
      std::string digits = std::to_string(1'000 + rest).substr(1);
      while (digits.back() == '0') digits.pop_back();
      factor += "." + digits;
    }
    text += ", each time " + factor + " times as long";
  }
  if (delays.max) text += ", at most " + text_of(*delays.max);
  if (delays.jitter == Delays::Jitter::full) text += ", anything from nothing to that";
  if (delays.jitter == Delays::Jitter::equal) text += ", at least half of that";
  if (delays.jitter == Delays::Jitter::percent)
    text += ", give or take " + std::to_string(delays.jitter_percent) + "%";
  text += delays.attempts ? ", " + std::to_string(*delays.attempts) + " attempts in all"
                          : ", without end";
  return text;
}

std::string action_of(const Row& row) {
  switch (row.action) {
    case Row::Action::retry:
      return row.delays ? "is retried after " + text_of(*row.delays) : "is retried";
    case Row::Action::later:
      return "is no failure: asks again after " + text_of(*row.delays);
    case Row::Action::done:
      return "counts as done";
    case Row::Action::give_up:
      return "gives up at once";
    case Row::Action::none:
      break;
  }
  return "";
}

std::string text_of(const Row& row) {
  std::vector<std::string> parts;
  if (row.to) parts.push_back("goes to " + in_ticks(row.to->name));
  if (row.event)
    parts.push_back(row.event->name == "only" ? "fires the one permitted event"
                                              : "fires " + in_ticks(row.event->name));
  if (row.fail) parts.push_back("fails with " + text_of(*row.fail));
  if (row.action != Row::Action::none) parts.push_back(action_of(row));
  if (row.checkpoint) parts.push_back("comes back to " + in_ticks(row.checkpoint->name));
  if (row.transient) parts.emplace_back("never alerts");
  if (row.hold) parts.push_back("is put on hold: " + text_of(row.hold->text));
  if (!row.set.empty()) {
    std::vector<std::string> names;
    for (const Assignment& assignment : row.set) names.push_back(assignment.name);
    parts.push_back("sets " + join(names, ", ", " and "));
  }
  for (const EffectRow& effect : row.effects) parts.push_back(text_of(effect));
  if (!row.alert.empty()) parts.push_back("alerts " + in_ticks(row.alert));
  if (row.new_epoch) parts.emplace_back("begins anew");
  return parts.empty() ? "nothing changes" : join(parts, ", ", ", ");
}

std::string text_of(const std::vector<Ref>& states) {
  std::vector<std::string> names;
  for (const Ref& state : states) names.push_back(in_ticks(state.name));
  return join(names, ", ", " and ");
}

std::string conditions_of(const Row& row) {
  std::vector<std::string> conditions;
  if (row.from == Row::From::all) conditions.emplace_back("in all states");
  if (!row.from_states.empty()) conditions.push_back("in " + text_of(row.from_states));
  if (!row.except.empty()) conditions.push_back("except in " + text_of(row.except));
  if (row.held == Row::Held::yes) conditions.emplace_back("on hold");
  if (row.elapsed) conditions.push_back("after " + text_of(*row.elapsed) + " of failures");
  if (row.condition) conditions.push_back("if " + row.condition->text);
  return join(conditions, " and ", " and ");
}

std::string text_of(std::span<const Row> rows) {
  std::vector<std::string> choices;
  for (const Row& row : rows) {
    const std::string conditions = conditions_of(row);
    const std::string otherwise = choices.empty() ? "" : "else ";
    choices.push_back(conditions.empty() ? otherwise + text_of(row)
                                         : conditions + ": " + text_of(row));
  }
  return join(choices, "; ", "; ");
}

std::string nature_of(const Machine& machine, StateId id) {
  const State& state = machine.state(id);
  if (state.final) return "is final";
  if (const auto owner = machine.owner_of(id))
    return "is where " + in_ticks(machine.state(*owner).name) + " is while its task runs";
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
    moves.push_back("While an attempt runs it is in " + in_ticks(state.started->name) + ".");
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
  if (!state.when.empty()) moves.push_back("As soon as it holds: " + text_of(state.when) + ".");
  if (!state.resume.empty())
    moves.push_back("Coming back from a failure: " + text_of(state.resume) + ".");
  return moves;
}

// The delays, one sentence for each failure where they are a list.
std::vector<std::string> retries_of(const Delays& delays) {
  if (delays.kind != Delays::Kind::list) return {"Retry after " + text_of(delays)};
  if (delays.list.empty()) return {"A failure is not retried"};
  return in_english({.policy = {.retry = delays}}).lines;
}

// Without `to` a record that has given up rests on hold, whether its row says so or not.
Rows given_up(std::span<const Row> rows) {
  Rows said(rows.begin(), rows.end());
  for (Row& row : said)
    if (!row.to && !row.hold) row.hold = HoldText{"gave_up", "{error.message}"};
  return said;
}

bool is_built_in(const ErrorRows& error) {
  const std::vector<ErrorRows>& built_in = Machine::built_in_policy().errors;
  return &error >= built_in.data() && &error < built_in.data() + built_in.size();
}

std::vector<std::string> policy_of(const Machine& machine, StateId id) {
  if (!can_fail(machine, id) || machine.owner_of(id)) return {};
  const ResolvedPolicy& policy = machine.policy_of_state(id);
  std::vector<std::string> lines;
  if (machine.state(id).task) {
    lines.push_back("One attempt may take " + text_of(policy.timeout));
    if (policy.lease)
      lines.push_back("A worker silent for " + text_of(*policy.lease) + " has lost its attempt");
  }
  for (const ErrorRows* error : policy.errors)
    if (!is_built_in(*error))
      lines.push_back((error->code == "default" ? "Any other error: "
                                                : "Error " + in_ticks(error->code) + ": ") +
                      text_of(error->rows));
  for (std::string& line : retries_of(policy.retry)) lines.push_back(std::move(line));
  if (policy.failure)
    lines.push_back("A failed record waits in " + in_ticks(machine.state(*policy.failure).name));
  if (const StateId back = checkpoint_of(machine, id); back != id)
    lines.push_back("It comes back to " + in_ticks(machine.state(back).name));
  if (policy.count == Policy::Count::epoch)
    lines.emplace_back("Failures are counted over all states, until a fresh start");
  if (policy.count == Policy::Count::lifetime) lines.emplace_back("Failures are counted for ever");
  lines.push_back("When no retry is left: " + text_of(given_up(policy.give_up)));
  return lines;
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
    explained.states.push_back({machine.state(id).name, nature_of(machine, id),
                                moves_of(machine, machine.state(id)), policy_of(machine, id)});
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
  }
  if (!explained.everywhere.empty()) text += "\nIn every open state, unless it says otherwise:\n";
  for (const std::string& line : explained.everywhere) text += "  " + line + "\n";
  for (const ExplainedPolicy& policy : explained.policies) {
    text += "\nPolicy " + policy.name + ":\n";
    for (const std::string& line : policy.lines) text += "  " + line + "\n";
    for (const std::string& line : policy.unsaid) text += "  (no sentence for " + line + ")\n";
  }
  return text;
}

}  // namespace pawl
