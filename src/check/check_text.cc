#include "check/check_text.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>
#include <vector>

#include "base/text.h"
#include "check/shortened.h"
#include "model/yaml_text.h"
#include "policy/outlook_text.h"

namespace pawl {
namespace {

using VerdictKind = StateVerdict::Kind;

// Holds of the engine itself have a code that says more than that somebody has to look.
bool is_of_engine(const std::string& code) {
  constexpr std::array<std::string_view, 5> kCodes = {"loop", "no_row", "no_way_back", "bad_value",
                                                      "poison"};
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

std::string text_of(const Outcome& outcome, const std::string& began) {
  switch (outcome.kind) {
    case Outcome::Kind::final:
      return "in " + in_ticks(outcome.state);
    case Outcome::Kind::waits:
      return "waits in " + in_ticks(outcome.state);
    case Outcome::Kind::done:
      return "done";
    case Outcome::Kind::hold:
      break;
  }
  std::string text = "on hold";
  if (outcome.state != began) text += " in " + in_ticks(outcome.state);
  if (is_of_engine(outcome.code)) text += " (" + outcome.code + ")";
  return text;
}

std::string outcomes_text(const StateVerdict& verdict) {
  std::vector<std::string> texts;
  for (const Outcome& outcome : verdict.outcomes) {
    std::string text = text_of(outcome, verdict.state);
    if (std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  return texts.empty() ? "" : "then " + join(texts, ", ", " or ");
}

std::string how_it_ends(const StateVerdict& verdict) {
  std::string text;
  const auto add = [&](const std::string& part, std::string_view between) {
    if (!part.empty()) text += (text.empty() ? "" : std::string(between)) + part;
  };
  if (verdict.failures_max)
    add("at most " + counted(static_cast<std::size_t>(*verdict.failures_max), "failure"), "");
  if (!verdict.bounds.empty()) add("bounded by " + join(verdict.bounds, ", ", " and "), ", ");
  add(outcomes_text(verdict), ", ");
  if (verdict.longest) add("longest " + short_text(*verdict.longest), "; ");
  return text.empty() ? "" : " (" + text + ")";
}

// Each line with blanks before it; empty lines are left out.
std::string lines_of(const std::string& text, const std::string& before) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) out += before + line + "\n";
  return out;
}

std::string example_text(const CounterExample& example) {
  std::string text = example.how + "\n" + lines_of(to_yaml(example.scenario), "  ");
  if (!example.plays)
    text += "  (with at most " + std::to_string(kDelaysWalked) +
            " delays in each policy; the file has more, so its loop takes longer)\n";
  return text;
}

std::string line_of(const StateVerdict& verdict) {
  switch (verdict.kind) {
    case VerdictKind::ends:
      return "ends" + how_it_ends(verdict) + "\n";
    case VerdictKind::repeats:
      return "repeats for ever, visibly: " + join(verdict.paces, "; ", "; ") + ", no bound\n";
    case VerdictKind::never_ends:
      return "NEVER ENDS" +
             (verdict.example ? ": " + example_text(*verdict.example) : ", like others above\n");
    case VerdictKind::undecided:
      break;
  }
  return "NOT DECIDED: " + verdict.why + "\n";
}

// What the verdicts do not know.
std::string unvaried_text(const CheckedMachine& checked) {
  std::vector<std::string> names;
  for (const std::string& name : checked.unvaried) names.push_back(in_ticks(name));
  return names.empty() ? "" : " (conditions also read " + join(names, ", ", " and ") + ")";
}

Json texts_json(const std::vector<std::string>& texts) {
  Json list = Json::list({});
  for (const std::string& text : texts) list.items.emplace_back(text);
  return list;
}

std::string_view word_of(Outcome::Kind kind) {
  switch (kind) {
    case Outcome::Kind::final:
      return "final";
    case Outcome::Kind::hold:
      return "hold";
    case Outcome::Kind::waits:
      return "waits";
    case Outcome::Kind::done:
      break;
  }
  return "done";
}

Json outcomes_json(const std::vector<Outcome>& outcomes) {
  Json list = Json::list({});
  for (const Outcome& outcome : outcomes) {
    Json json = Json::map({{"kind", std::string(word_of(outcome.kind))}});
    if (!outcome.state.empty()) json.members.push_back({"state", outcome.state});
    if (!outcome.code.empty()) json.members.push_back({"hold", outcome.code});
    list.items.push_back(std::move(json));
  }
  return list;
}

Json state_json(const StateVerdict& verdict) {
  Json json =
      Json::map({{"state", verdict.state}, {"verdict", std::string(to_text(verdict.kind))}});
  const auto add = [&](const char* key, Json value) {
    json.members.push_back({key, std::move(value)});
  };
  if (verdict.failures_max) add("failures_max", Json(*verdict.failures_max));
  if (verdict.longest) add("longest", to_text(*verdict.longest));
  if (verdict.kind == VerdictKind::ends) add("bounded_by", texts_json(verdict.bounds));
  add("outcomes", outcomes_json(verdict.outcomes));
  if (verdict.kind == VerdictKind::repeats) add("repeats", texts_json(verdict.paces));
  if (verdict.example) {
    add("how", verdict.example->how);
    add("plays", Json(verdict.example->plays));
    add("scenario", verdict.example->scenario);
  }
  if (!verdict.why.empty()) add("why", verdict.why);
  return json;
}

}  // namespace

std::string_view to_text(StateVerdict::Kind kind) {
  switch (kind) {
    case VerdictKind::ends:
      return "ends";
    case VerdictKind::repeats:
      return "repeats";
    case VerdictKind::never_ends:
      return "never_ends";
    case VerdictKind::undecided:
      break;
  }
  return "undecided";
}

std::string to_text(const CheckedMachine& checked) {
  std::string text;
  for (const StateVerdict& verdict : checked.states)
    text += verdict.state + ": " + line_of(verdict);
  return text;
}

std::string summary_text(const CheckedMachine& checked) {
  if (checked.states.empty()) return "no work can fail";
  constexpr std::array<std::pair<VerdictKind, std::array<std::string_view, 2>>, 4> kWords = {{
      {VerdictKind::ends, {"ends", "end"}},
      {VerdictKind::repeats, {"repeats for ever, visibly", "repeat for ever, visibly"}},
      {VerdictKind::never_ends, {"NEVER ENDS", "NEVER END"}},
      {VerdictKind::undecided, {"is not decided", "are not decided"}},
  }};
  std::vector<std::string> parts;
  for (const auto& [kind, words] : kWords) {
    const auto number = static_cast<std::size_t>(
        std::count_if(checked.states.begin(), checked.states.end(),
                      [&, wanted = kind](const auto& verdict) { return verdict.kind == wanted; }));
    if (number == 0) continue;
    const std::string what = parts.empty() ? counted(number, "state") : std::to_string(number);
    parts.push_back(what + " " + std::string(words[number == 1 ? 0 : 1]));
  }
  return join(parts, ", ", ", ") + unvaried_text(checked);
}

Json to_json(const CheckedMachine& checked) {
  Json states = Json::list({});
  for (const StateVerdict& verdict : checked.states) states.items.push_back(state_json(verdict));
  return Json::map({{"states", std::move(states)},
                    {"unvaried", texts_json(checked.unvaried)},
                    {"shortened", Json(checked.shortened)}});
}

std::string script_text(const CounterExample& example) {
  return lines_of(to_yaml(example.scenario), "");
}

}  // namespace pawl
