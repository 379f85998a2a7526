// Evaluator: computes what a checked expression yields for one sight.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/expression/operand.h"
#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "model/expression/term.h"

namespace pawl {

// The place of each state in `order`, sorted by name.
using StateOrder = std::vector<std::pair<std::string, int>>;

// Total: every term is looked at once, or not at all. Where there is no value `scratch.why` names
// the part of the expression that is to blame.
class Evaluator {
 public:
  Evaluator(std::string_view text, const StateOrder& order, const Sight& sight, Scratch& scratch)
      : text_(text), order_(order), sight_(sight), scratch_(scratch) {}

  Operand evaluate(const Term& term);

 private:
  Operand value_of(const Term& term);
  Operand literal(const Term& term) const;
  Operand list(const Term& term);
  Operand root(Root root);
  Operand child_count(const Term& term) const;
  Operand path(const Term& term);
  Operand size(const Term& term);
  Operand extreme(const Term& term);
  Operand extreme_of_list(const Term& term);
  Operand arithmetic(const Term& term);
  Operand negate(const Term& term);
  Operand equality(const Term& term);
  Operand ordering(const Term& term);
  Operand state_ordering(const Term& term);
  Operand in(const Term& term);
  Operand in_items(const Operand& wanted, const Term& list);
  Operand in_roles(const Operand& wanted) const;
  Operand not_(const Term& term);
  Operand and_or(const Term& term);

  // The value that a path leads to, without finding out where it ends; none when an index has no
  // value.
  std::optional<JsonView> view(const Term& term);
  std::optional<JsonView> step(JsonView of, const Term& term);
  JsonView document(Root root) const;

  Operand condition(const Term& term);
  Operand read(const Operand& operand, const Term& term);
  const int* place_in_order(const Operand& state) const;

  // No value, because of that part of the expression.
  Operand none(const Term& term, std::string_view because);
  Operand none_of(const Term& term, const Operand& a, const Operand& b, std::string_view otherwise);

  std::string_view text_;
  const StateOrder& order_;
  const Sight& sight_;
  Scratch& scratch_;
};

}  // namespace pawl
