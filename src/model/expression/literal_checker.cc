#include "model/expression/literal_checker.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "calendar/zone.h"

namespace pawl {

Result<void> LiteralChecker::adapt(Term& term, Known& known, const Known& other) const {
  if (!term.is_text_literal()) return {};
  if (other.type == Type::time) return to_time(term, known);
  if (other.type == Type::duration) return to_duration(term, known);
  if (other.type == Type::state) return check_state(term);
  return other.words.empty() ? Result<void>{} : check_word(term, other.words);
}

Result<void> LiteralChecker::adapt_in_sum(Term& term, Known& known, const Known& other) {
  if (!term.is_text_literal()) return {};
  if (!is_temporal(other.type) && other.type != Type::any) return {};
  if (parse_duration(term.name)) return to_duration(term, known);
  if (is_temporal(other.type) && !parse_stamp(term.name)) return to_duration(term, known);
  return parse_stamp(term.name) ? to_time(term, known) : Result<void>{};
}

// Without an offset it depends on the zone in force, so that it is read when it is evaluated.
Result<void> LiteralChecker::to_time(Term& term, Known& known) {
  const auto stamp = parse_stamp(term.name);
  if (!stamp) return error_at(term.begin, stamp.error().message);
  known.type = Type::time;
  if (!stamp->offset) {
    term.read_as = Term::ReadAs::time;
    return {};
  }
  const auto time = parse_instant(term.name);
  if (!time) return error_at(term.begin, time.error().message);
  term.value = Operand::of(*time);
  return {};
}

Result<void> LiteralChecker::to_duration(Term& term, Known& known) {
  const auto duration = parse_duration(term.name);
  if (!duration) return error_at(term.begin, duration.error().message);
  known.type = Type::duration;
  term.value = Operand::of(*duration);
  return {};
}

Result<void> LiteralChecker::check_word(const Term& term, std::span<const std::string> words) {
  if (std::find(words.begin(), words.end(), term.name) != words.end()) return {};
  return error_at(term.begin, in_quotes(term.name) + " is not one of the words of that field" +
                                  nearest_or_all(term.name, words, "they are"));
}

Result<void> LiteralChecker::check_state(const Term& term) const {
  if (!scope_.definition || term.name == "discarded") return {};
  std::vector<std::string> names;
  for (const State& state : scope_.definition->states) {
    if (state.name == term.name) return {};
    names.push_back(state.name);
  }
  names.emplace_back("discarded");
  return error_at(term.begin, "there is no state " + in_quotes(term.name) +
                                  nearest_or_all(term.name, names, "the states are"));
}

Result<void> LiteralChecker::check_order_exists(const Term& comparison) const {
  if (!scope_.definition || !scope_.definition->order.empty()) return {};
  return error_at(
      comparison.at,
      "states are compared by the machine's order, and it has none; list its states under order");
}

Result<void> LiteralChecker::check_ordered_state(const Term& term) const {
  if (!scope_.definition) return {};
  PAWL_CHECK(check_state(term));
  return check_is_ordered(term.begin, term.name, "the state " + in_quotes(term.name));
}

// While an attempt runs the record is in the `started` state instead.
Result<void> LiteralChecker::check_own_state(const Term& term) const {
  if (!scope_.definition || !scope_.state || scope_.state->started) return {};
  const std::string& state = scope_.state->name;
  return check_is_ordered(term.begin, state, "record.state (here " + in_quotes(state) + ")");
}

Result<void> LiteralChecker::check_is_ordered(std::size_t at, const std::string& state,
                                              std::string_view named) const {
  for (const Ref& ref : scope_.definition->order)
    if (ref.name == state) return {};
  return error_at(at,
                  std::string(named) +
                      " is not in order; add it to the machine's order, or compare with == or in");
}

}  // namespace pawl
