#include "model/row_text.h"

#include <vector>

#include "base/text.h"

namespace pawl {
namespace {

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

std::string action_of(const Row& row) {
  switch (row.action) {
    case Row::Action::retry:
      return row.delays ? "is retried after " + text_of(*row.delays) : "is retried";
    case Row::Action::later:
      return "is not a failure: asks again after " + text_of(*row.delays);
    case Row::Action::done:
      return "counts as done";
    case Row::Action::give_up:
      return "gives up at once";
    case Row::Action::none:
      break;
  }
  return "";
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

}  // namespace

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
  if (row.new_epoch) parts.emplace_back("starts a new epoch");
  return parts.empty() ? "nothing changes" : join(parts, ", ", ", ");
}

std::string text_of(const EffectRow& effect) {
  std::string text;
  switch (effect.verb) {
    case EffectRow::Verb::notify:
      text = "notifies " + in_ticks(effect.target.name);
      break;
    case EffectRow::Verb::run:
      text = "runs " + in_ticks(effect.target.name) + " on the side";
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

std::string text_of(const DurationValue& duration) {
  return duration.is_fixed() ? to_text(duration.fixed) : duration.value.json.text;
}

std::string text_of(const Value& value) {
  return value.json.kind == Json::Kind::text ? value.json.text : to_text(value.json);
}

}  // namespace pawl
