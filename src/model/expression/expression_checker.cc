// Checking goes from the leaves up: what is known of the operands decides what a term yields.
#include "model/expression/expression_checker.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "model/expression/literal_checker.h"
#include "model/expression/path_checker.h"

namespace pawl {
namespace {

using TermKind = Term::Kind;

class ExpressionChecker {
 public:
  ExpressionChecker(std::string_view text, const Scope& scope)
      : text_(text), paths_(text, scope), literals_(scope) {}

  Result<Known> check(Term& term) {
    switch (term.kind) {
      case TermKind::literal:
        return check_literal(term);
      case TermKind::list:
        for (Term& item : term.operands) PAWL_CHECK(check(item));
        return Known{Type::list};
      case TermKind::name:
        return paths_.check_name(term);
      case TermKind::call:
        return check_call(term);
      case TermKind::field:
        return check_field(term);
      case TermKind::index:
        return check_index(term);
      case TermKind::negate:
        return check_negate(term);
      case TermKind::add:
      case TermKind::subtract:
        return check_sum(term);
      case TermKind::multiply:
      case TermKind::divide:
      case TermKind::remainder:
        return check_product(term);
      case TermKind::equal:
      case TermKind::unequal:
        return check_equality(term);
      case TermKind::less:
      case TermKind::less_or_equal:
      case TermKind::greater:
      case TermKind::greater_or_equal:
        return check_order(term);
      case TermKind::in:
        return check_in(term);
      case TermKind::not_:
      case TermKind::and_:
      case TermKind::or_:
        return check_conditions(term);
      default:
        return Known{};
    }
  }

 private:
  // Names.

  static Result<Known> check_literal(const Term& term) {
    switch (term.value.kind) {
      case Operand::Kind::null:
        return Known{Type::null};
      case Operand::Kind::boolean:
        return Known{Type::boolean};
      case Operand::Kind::number:
        return Known{term.value.number.is_integer() ? Type::integer : Type::decimal};
      default:
        return Known{Type::text};
    }
  }

  Result<Known> check_field(Term& term) {
    PAWL_TRY(const std::optional<Known> resolved, paths_.resolve(term));
    if (resolved) return *resolved;
    PAWL_TRY(const Known of, check(term.operands.front()));
    return paths_.check_field(term, of);
  }

  // `data['amount']` is `data.amount`.
  Result<Known> check_index(Term& term) {
    Term& index = term.operands.back();
    if (index.is_text_literal()) {
      term.kind = TermKind::field;
      term.name = std::move(index.name);
      term.operands.pop_back();
      return check_field(term);
    }
    PAWL_TRY(const Known of, check(term.operands.front()));
    PAWL_TRY(const Known by, check(index));
    return paths_.check_index(term, of, by);
  }

  // Functions.

  Result<Known> check_call(Term& term) {
    if (term.name == "size") {
      term.kind = TermKind::size;
      return check_size(term);
    }
    if (term.name == "min" || term.name == "max") {
      term.kind = term.name == "min" ? TermKind::min : TermKind::max;
      return check_extreme(term);
    }
    static const std::vector<std::string> kFunctions = {"size", "min", "max"};
    return error_at(term.at, "there is no function " + in_quotes(term.name) +
                                 "; the functions are size, min and max" +
                                 did_you_mean(term.name, kFunctions));
  }

  Result<Known> check_size(Term& term) {
    if (term.operands.size() != 1)
      return error_at(term.at, "size takes one argument: size(data.items)");
    PAWL_TRY(const Known of, check(term.operands.front()));
    if (may_be(of.type, Type::text) || may_be(of.type, Type::list) || may_be(of.type, Type::map))
      return Known{Type::integer};
    return error_at(term.operands.front().begin, is(term.operands.front(), of.type) +
                                                     "; only texts, lists and maps have a size");
  }

  Result<Known> check_extreme(Term& term) {
    if (term.operands.size() == 1) return check_extreme_of_list(term);
    if (term.operands.empty()) return too_few(term);
    std::vector<Known> all;
    for (Term& operand : term.operands) {
      PAWL_TRY(Known known, check(operand));
      all.push_back(known);
    }
    const auto temporal =
        std::find_if(all.begin(), all.end(), [](const Known& k) { return is_temporal(k.type); });
    Known result;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (temporal != all.end()) PAWL_CHECK(literals_.adapt(term.operands[i], all[i], *temporal));
      PAWL_CHECK(check_extreme_operand(term, i, all[i].type, result));
    }
    return result;
  }

  Result<void> check_extreme_operand(const Term& term, std::size_t i, Type type, Known& result) {
    const Term& operand = term.operands[i];
    if (!has_order(type) || family(type) == Type::text) {
      return error_at(operand.begin, is(operand, type) + "; " + term.name +
                                         " compares numbers, times or durations");
    }
    if (!may_be(result.type, type) && type != Type::any) {
      return error_at(operand.begin, is(operand, type) + " and another argument is " +
                                         std::string(to_text(result.type)) +
                                         "; give arguments of one type");
    }
    if (result.type == Type::any || type == Type::decimal) result.type = type;
    return {};
  }

  Result<Known> check_extreme_of_list(Term& term) {
    PAWL_TRY(const Known of, check(term.operands.front()));
    if (may_be(of.type, Type::list)) return Known{Type::decimal};
    return too_few(term);
  }

  static Error too_few(const Term& term) {
    return error_at(term.at, term.name + " takes two or more arguments, or one list: " + term.name +
                                 "(data.a, data.b)");
  }

  // Arithmetic.

  Result<Known> check_negate(Term& term) {
    PAWL_TRY(const Known of, check(term.operands.front()));
    PAWL_CHECK(check_number(term.operands.front(), of, "-"));
    return Known{of.type == Type::integer ? Type::integer : Type::decimal};
  }

  Result<Known> check_product(Term& term) {
    const char* op = term.kind == TermKind::multiply ? "*"
                     : term.kind == TermKind::divide ? "/"
                                                     : "%";
    Type type = term.kind == TermKind::divide ? Type::decimal : Type::integer;
    for (Term& operand : term.operands) {
      PAWL_TRY(const Known known, check(operand));
      PAWL_CHECK(check_number(operand, known, op));
      if (known.type != Type::integer) type = Type::decimal;
    }
    return Known{type};
  }

  Result<void> check_number(const Term& term, const Known& known, std::string_view op) const {
    if (may_be(known.type, Type::decimal)) return {};
    return error_at(term.begin, is(term, known.type) + "; " + std::string(op) + " takes numbers");
  }

  Result<Known> check_sum(Term& term) {
    Term& left = term.operands.front();
    Term& right = term.operands.back();
    PAWL_TRY(Known a, check(left));
    PAWL_TRY(Known b, check(right));
    PAWL_CHECK(LiteralChecker::adapt_in_sum(left, a, b));
    PAWL_CHECK(LiteralChecker::adapt_in_sum(right, b, a));
    for (const auto& [operand, known] : {std::pair(&left, a), std::pair(&right, b)})
      PAWL_CHECK(check_summand(*operand, known.type, term.kind));
    const auto type = type_of_sum(a.type, b.type, term.kind == TermKind::subtract);
    if (type) return Known{*type};
    return error_at(term.at, is(left, a.type) + " and " + is(right, b.type) +
                                 "; add and subtract numbers, durations, or a time and a duration");
  }

  Result<void> check_summand(const Term& term, Type type, TermKind kind) const {
    if (type == Type::any || family(type) == Type::decimal || is_temporal(type)) return {};
    if (family(type) == Type::text && kind == TermKind::add) {
      return error_at(
          term.begin,
          source(term) + " is a text; texts are joined by writing them side by side: '{a}{b}'");
    }
    return error_at(term.begin, is(term, type) + "; + and - take numbers, times and durations");
  }

  static std::optional<Type> type_of_sum(Type a, Type b, bool minus) {
    if (a == Type::any || b == Type::any) return type_of_sum_with_any(a, b, minus);
    if (a == Type::time && b == Type::time)
      return minus ? std::optional(Type::duration) : std::nullopt;
    if (a == Type::duration && b == Type::time)
      return minus ? std::nullopt : std::optional(Type::time);
    if (a == Type::time && b == Type::duration) return Type::time;
    if (a == Type::duration && b == Type::duration) return Type::duration;
    if (family(a) != Type::decimal || family(b) != Type::decimal) return std::nullopt;
    return a == Type::integer && b == Type::integer ? Type::integer : Type::decimal;
  }

  static Type type_of_sum_with_any(Type a, Type b, bool minus) {
    if (family(a) == Type::decimal || family(b) == Type::decimal) return Type::decimal;
    if (!minus && (a == Type::time || b == Type::time)) return Type::time;
    return minus && b == Type::time ? Type::duration : Type::any;
  }

  // Comparisons.

  Result<Known> check_equality(Term& term) {
    PAWL_TRY(Known a, check(term.operands.front()));
    PAWL_TRY(Known b, check(term.operands.back()));
    PAWL_CHECK(check_pair(term.operands.front(), a, term.operands.back(), b, term.at));
    return Known{Type::boolean};
  }

  // That two values may be equal.
  Result<void> check_pair(Term& left, Known& a, Term& right, Known& b, std::size_t at) const {
    PAWL_CHECK(literals_.adapt(left, a, b));
    PAWL_CHECK(literals_.adapt(right, b, a));
    if (may_be_equal(a.type, b.type)) return {};
    return never(left, a, right, b, at, "they are never equal");
  }

  Error never(const Term& left, const Known& a, const Term& right, const Known& b, std::size_t at,
              std::string_view what) const {
    return error_at(at, is(left, a.type) + " and " + is(right, b.type) + ": " + std::string(what) +
                            "; compare values of one type");
  }

  Result<Known> check_order(Term& term) {
    Term& left = term.operands.front();
    Term& right = term.operands.back();
    PAWL_TRY(Known a, check(left));
    PAWL_TRY(Known b, check(right));
    if (a.type == Type::state || b.type == Type::state) {
      term.by_order = true;
      PAWL_CHECK(literals_.check_order_exists(term));
      PAWL_CHECK(check_ordered_state(left, a));
      PAWL_CHECK(check_ordered_state(right, b));
      return Known{Type::boolean};
    }
    PAWL_CHECK(literals_.adapt(left, a, b));
    PAWL_CHECK(literals_.adapt(right, b, a));
    for (const auto& [operand, known] : {std::pair(&left, a), std::pair(&right, b)}) {
      if (!has_order(known.type)) {
        return error_at(operand->begin,
                        is(*operand, known.type) +
                            "; only numbers, texts, times, durations and states have an order");
      }
    }
    if (may_be_equal(a.type, b.type)) return Known{Type::boolean};
    return never(left, a, right, b, term.at, "they have no order");
  }

  Result<void> check_ordered_state(const Term& term, const Known& known) const {
    if (term.kind == Term::Kind::place && term.place == Place::record_state)
      return literals_.check_own_state(term);
    if (known.type == Type::state) return {};
    if (!term.is_text_literal()) {
      return error_at(
          term.begin,
          is(term, known.type) +
              "; a state can be ordered only against the name of a state, record.state or record.failed_from");
    }
    return literals_.check_ordered_state(term);
  }

  Result<Known> check_in(Term& term) {
    Term& left = term.operands.front();
    Term& right = term.operands.back();
    PAWL_TRY(Known a, check(left));
    if (right.kind == TermKind::list) {
      for (Term& item : right.operands) {
        PAWL_TRY(Known b, check(item));
        PAWL_CHECK(check_pair(left, a, item, b, item.begin));
      }
      return Known{Type::boolean};
    }
    PAWL_TRY(const Known b, check(right));
    if (may_be(b.type, Type::list)) return Known{Type::boolean};
    if (!may_be(b.type, Type::map)) {
      return error_at(right.begin,
                      is(right, b.type) + "; in looks into a list or the keys of a map");
    }
    if (may_be(a.type, Type::text)) return Known{Type::boolean};
    return error_at(left.begin, is(left, a.type) + "; the keys of a map are texts");
  }

  // Conditions.

  Result<Known> check_conditions(Term& term) {
    const char* word = term.kind == TermKind::and_  ? "and"
                       : term.kind == TermKind::or_ ? "or"
                                                    : "not";
    for (Term& operand : term.operands) {
      PAWL_TRY(const Known known, check(operand));
      if (may_be(known.type, Type::boolean)) continue;
      return error_at(operand.begin, is(operand, known.type) + "; " + word +
                                         " takes conditions: write a comparison, like " +
                                         source(operand) + " != null");
    }
    return Known{Type::boolean};
  }

  std::string source(const Term& term) const { return source_of(term, text_); }
  std::string is(const Term& term, Type type) const { return what_it_is(term, text_, type); }

  std::string_view text_;
  PathChecker paths_;
  LiteralChecker literals_;
};

}  // namespace

Result<Type> check_expression(Term& term, std::string_view text, const Scope& scope) {
  PAWL_TRY(const Known known, ExpressionChecker(text, scope).check(term));
  return known.type;
}

}  // namespace pawl
