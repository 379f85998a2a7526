#include "model/expression/program.h"

#include <algorithm>

#include "model/expression/expression_checker.h"

namespace pawl {
namespace {

bool counts_children(const Term& term) {
  return term.kind == Term::Kind::child_count ||
         std::any_of(term.operands.begin(), term.operands.end(), counts_children);
}

bool compares_by_order(const Term& term) {
  return term.by_order ||
         std::any_of(term.operands.begin(), term.operands.end(), compares_by_order);
}

StateOrder order_of(const Definition& definition) {
  StateOrder order;
  for (const Ref& state : definition.order)
    order.emplace_back(state.name, static_cast<int>(order.size()));
  std::sort(order.begin(), order.end());
  return order;
}

bool is_guard(const Term& term) {
  return term.kind == Term::Kind::name && !find_root(term.name) &&
         term.end - term.begin == term.name.size();
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::compile(std::string_view text, const Scope& scope) {
  PAWL_TRY(Term term, parse_expression(text));
  std::shared_ptr<Program> program(new Program());
  program->text_ = text;
  if (is_guard(term)) {
    program->guard_ = term.name;
    program->type_ = Type::boolean;
    return std::shared_ptr<const Program>(std::move(program));
  }
  PAWL_TRY(program->type_, check_expression(term, text, scope));
  if (scope.definition && compares_by_order(term)) program->order_ = order_of(*scope.definition);
  program->term_ = std::move(term);
  return std::shared_ptr<const Program>(std::move(program));
}

bool Program::reads_children() const { return counts_children(term_); }

Operand Program::evaluate(const Sight& sight, Scratch& scratch) const {
  scratch.why.clear();
  const Operand result = Evaluator(text_, order_, sight, scratch).evaluate(term_);
  if (result.kind == Operand::Kind::absent)
    scratch.why.append(text_).append(" is absent");
  else if (result.kind != Operand::Kind::none)
    scratch.why.clear();
  return result;
}

bool Program::holds(const Sight& sight, Scratch& scratch) const {
  const Scratch::Mark mark(scratch);
  const Operand result = evaluate(sight, scratch);
  if (result.kind == Operand::Kind::boolean) return result.boolean;
  if (scratch.why.empty()) {
    const bool null = result.kind == Operand::Kind::null;
    scratch.why.append(text_).append(null ? " is null" : " is not true or false");
  }
  return false;
}

std::vector<std::string> Program::values(const Sight& sight, Scratch& scratch) const {
  std::vector<std::string> values;
  if (guard_.empty()) add_values(term_, sight, scratch, values);
  return values;
}

void Program::add_values(const Term& term, const Sight& sight, Scratch& scratch,
                         std::vector<std::string>& values) const {
  using enum Term::Kind;
  const bool is_path = term.kind == root || term.kind == place || term.kind == child_count ||
                       term.kind == field || term.kind == index;
  if (!is_path) {
    for (const Term& operand : term.operands) add_values(operand, sight, scratch, values);
    return;
  }
  const Scratch::Mark mark(scratch);
  const Operand value = Evaluator(text_, order_, sight, scratch).evaluate(term);
  std::string line = text_.substr(term.begin, term.end - term.begin) + " = ";
  if (value.kind == Operand::Kind::absent) {
    line += "absent";
  } else {
    append_json(line, value);
  }
  if (std::find(values.begin(), values.end(), line) == values.end())
    values.push_back(std::move(line));
}

}  // namespace pawl
