// LiteralChecker: reads a text literal as what stands opposite it.
#pragma once

#include "model/expression/known.h"
#include "model/expression/sight.h"
#include "model/expression/term.h"
#include "pawl/result.h"

namespace pawl {

// Each leaves terms alone that are no text literals.
class LiteralChecker {
 public:
  explicit LiteralChecker(const Scope& scope) : scope_(scope) {}

  // In a comparison: a time or duration becomes one, a state or word is checked to exist.
  Result<void> adapt(Term& term, Known& known, const Known& other) const;

  // In a sum: `now + '7d'`, `'2026-01-01T00:00:00Z' - now`. Opposite a value of unknown type it is
  // whichever it can be read as.
  static Result<void> adapt_in_sum(Term& term, Known& known, const Known& other);

  // That the machine has an order of states to compare by.
  Result<void> check_order_exists(const Term& comparison) const;

  // That the text is the name of a state, and one that has an order.
  Result<void> check_state(const Term& term) const;
  Result<void> check_ordered_state(const Term& term) const;

  // `record.state` where it is known which one that is.
  Result<void> check_own_state(const Term& term) const;

 private:
  static Result<void> to_time(Term& term, Known& known);
  static Result<void> to_duration(Term& term, Known& known);
  static Result<void> check_word(const Term& term, std::span<const std::string> words);
  Result<void> check_is_ordered(std::size_t at, const std::string& state,
                                std::string_view named) const;

  const Scope& scope_;
};

}  // namespace pawl
