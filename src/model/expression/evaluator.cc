#include "model/expression/evaluator.h"

#include <algorithm>

#include "model/expression/places.h"

namespace pawl {
namespace {

using TermKind = Term::Kind;

bool is_nothing_or_none(const Operand& operand) {
  return operand.is_nothing() || operand.kind == Operand::Kind::none;
}

bool holds(TermKind comparison, std::strong_ordering order) {
  switch (comparison) {
    case TermKind::less:
      return std::is_lt(order);
    case TermKind::less_or_equal:
      return std::is_lteq(order);
    case TermKind::greater:
      return std::is_gt(order);
    default:
      return std::is_gteq(order);
  }
}

Arithmetic arithmetic_of(TermKind kind) {
  switch (kind) {
    case TermKind::add:
      return Arithmetic::add;
    case TermKind::subtract:
      return Arithmetic::subtract;
    case TermKind::multiply:
      return Arithmetic::multiply;
    case TermKind::divide:
      return Arithmetic::divide;
    default:
      return Arithmetic::remainder;
  }
}

}  // namespace

Operand Evaluator::evaluate(const Term& term) {
  const Operand value = value_of(term);
  return value.kind == Operand::Kind::none ? none(term, "has no value") : value;
}

Operand Evaluator::value_of(const Term& term) {
  switch (term.kind) {
    case TermKind::literal:
      return literal(term);
    case TermKind::list:
      return list(term);
    case TermKind::root:
      return root(term.root);
    case TermKind::place:
      return value_at(term.place, sight_, scratch_);
    case TermKind::child_count:
      return child_count(term);
    case TermKind::field:
    case TermKind::index:
      return path(term);
    case TermKind::size:
      return size(term);
    case TermKind::min:
    case TermKind::max:
      return extreme(term);
    case TermKind::negate:
      return negate(term);
    case TermKind::add:
    case TermKind::subtract:
    case TermKind::multiply:
    case TermKind::divide:
    case TermKind::remainder:
      return arithmetic(term);
    case TermKind::equal:
    case TermKind::unequal:
      return equality(term);
    case TermKind::less:
    case TermKind::less_or_equal:
    case TermKind::greater:
    case TermKind::greater_or_equal:
      return term.by_order ? state_ordering(term) : ordering(term);
    case TermKind::in:
      return in(term);
    case TermKind::not_:
      return not_(term);
    case TermKind::and_:
    case TermKind::or_:
      return and_or(term);
    case TermKind::name:
    case TermKind::call:
      break;  // the checker leaves none of them
  }
  return {};
}

Operand Evaluator::literal(const Term& term) const {
  if (term.value.kind != Operand::Kind::text) return term.value;
  const Operand text = Operand::of(std::string_view(term.name));
  return term.read_as == Term::ReadAs::time ? as_time(text, sight_.zone) : text;
}

Operand Evaluator::list(const Term& term) {
  std::string& items = scratch_.blank();
  items += '[';
  for (const Term& item : term.operands) {
    const Operand value = evaluate(item);
    if (value.kind == Operand::Kind::none) return value;
    if (items.size() > 1) items += ',';
    append_json(items, value);
  }
  items += ']';
  return {.kind = Operand::Kind::list, .text = items};
}

// Paths.

Operand Evaluator::root(Root root) {
  switch (root) {
    case Root::now:
      return Operand::of(sight_.now);
    case Root::actor:
      return whole_actor(sight_, scratch_);
    case Root::error:
      return whole_error(sight_, scratch_);
    default:
      return Operand::of(document(root), scratch_);
  }
}

JsonView Evaluator::document(Root root) const {
  const auto view = [](const std::optional<std::string_view>& text) {
    return text ? JsonView(*text) : JsonView();
  };
  switch (root) {
    case Root::data:
      return JsonView(sight_.data);
    case Root::event:
      return view(sight_.event);
    case Root::result:
      return view(sight_.result);
    case Root::item:
      return view(sight_.item);
    default:
      return {};
  }
}

Operand Evaluator::child_count(const Term& term) const {
  if (!sight_.record) return Operand::of(Operand::Kind::absent);
  for (const ChildCounts& counts : sight_.record->children) {
    if (counts.machine != term.machine) continue;
    if (term.name == "all") return Operand::of(Decimal(counts.all));
    if (term.name == "open") return Operand::of(Decimal(counts.open));
    if (term.name == "final") return Operand::of(Decimal(counts.final));
    if (term.name == "hold") return Operand::of(Decimal(counts.hold));
    for (const ChildCounts::InState& in : counts.states)
      if (in.state == term.name) return Operand::of(Decimal(in.count));
  }
  return Operand::of(Decimal(0));
}

Operand Evaluator::path(const Term& term) {
  const auto found = view(term);
  if (!found) return {};
  const Operand value = Operand::of(*found, scratch_);
  if (value.kind == Operand::Kind::none) return none(term, "is a number too large to compute with");
  return read(value, term);
}

std::optional<JsonView> Evaluator::view(const Term& term) {
  if (term.kind == TermKind::field || term.kind == TermKind::index) {
    const auto of = view(term.operands.front());
    return of ? step(*of, term) : std::nullopt;
  }
  if (term.kind == TermKind::root && term.root != Root::actor && term.root != Root::error)
    return document(term.root);
  const Operand value = evaluate(term);
  if (value.kind == Operand::Kind::none) return std::nullopt;
  const bool json = value.kind == Operand::Kind::list || value.kind == Operand::Kind::map;
  return json ? JsonView(value.text) : JsonView();
}

std::optional<JsonView> Evaluator::step(JsonView of, const Term& term) {
  if (term.kind == TermKind::field) return of.member(term.name);
  const Operand index = evaluate(term.operands.back());
  if (index.kind == Operand::Kind::none) return std::nullopt;
  if (index.kind == Operand::Kind::text) return of.member(index.text);
  if (index.kind != Operand::Kind::number) return JsonView();
  const auto position = index.number.to_int64();
  if (!position || *position < 0) return JsonView();
  return of.item(static_cast<std::size_t>(*position));
}

Operand Evaluator::read(const Operand& operand, const Term& term) {
  if (term.read_as == Term::ReadAs::itself || operand.is_nothing()) return operand;
  const bool time = term.read_as == Term::ReadAs::time;
  const Operand result = time ? as_time(operand, sight_.zone) : as_duration(operand);
  if (result.kind == (time ? Operand::Kind::time : Operand::Kind::duration)) return result;
  return none(term, time ? "is not a time" : "is not a duration");
}

// Functions.

Operand Evaluator::size(const Term& term) {
  const Term& of = term.operands.front();
  const Operand value = evaluate(of);
  switch (value.kind) {
    case Operand::Kind::text: {
      const auto characters = std::count_if(value.text.begin(), value.text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
      });
      return Operand::of(Decimal(characters));
    }
    case Operand::Kind::list:
    case Operand::Kind::map:
      return Operand::of(Decimal(static_cast<std::int64_t>(JsonView(value.text).size())));
    default:
      return none_of(of, value, value, "has no size");
  }
}

Operand Evaluator::extreme(const Term& term) {
  if (term.operands.size() == 1) return extreme_of_list(term);
  Operand best;
  for (const Term& operand : term.operands) {
    const Operand value = evaluate(operand);
    if (is_nothing_or_none(value)) return none_of(operand, value, value, "");
    if (&operand == &term.operands.front()) {
      best = value;
      continue;
    }
    const auto order = pawl::order(value, best, sight_.zone);
    if (!order) return none(term, "compares values that have no order");
    if (term.kind == TermKind::min ? std::is_lt(*order) : std::is_gt(*order)) best = value;
  }
  const bool text = best.kind == Operand::Kind::text;
  return text ? none(term, "compares texts") : best;
}

Operand Evaluator::extreme_of_list(const Term& term) {
  const Operand list = evaluate(term.operands.front());
  if (list.kind != Operand::Kind::list)
    return none_of(term.operands.front(), list, list, "is not a list");
  Operand best;
  for (JsonWalk walk{JsonView(list.text)}; walk.next();) {
    const Operand value = Operand::of(walk.value(), scratch_);
    if (value.kind != Operand::Kind::number) return none(term, "has an item that is not a number");
    const bool better =
        term.kind == TermKind::min ? value.number < best.number : value.number > best.number;
    if (best.kind == Operand::Kind::none || better) best = value;
  }
  return best.kind == Operand::Kind::none ? none(term, "is of an empty list") : best;
}

// Arithmetic.

Operand Evaluator::negate(const Term& term) {
  const Operand value = evaluate(term.operands.front());
  if (value.kind == Operand::Kind::number) return Operand::of(-value.number);
  return none_of(term.operands.front(), value, value, "is not a number");
}

Operand Evaluator::arithmetic(const Term& term) {
  const Operand a = evaluate(term.operands.front());
  const Operand b = evaluate(term.operands.back());
  if (is_nothing_or_none(a) || is_nothing_or_none(b)) return none_of(term, a, b, "");
  const Operand result = compute(arithmetic_of(term.kind), a, b, sight_.zone);
  return result.kind == Operand::Kind::none ? none(term, "has no result") : result;
}

// Comparisons.

Operand Evaluator::equality(const Term& term) {
  const Operand a = evaluate(term.operands.front());
  const Operand b = evaluate(term.operands.back());
  if (a.kind == Operand::Kind::none || b.kind == Operand::Kind::none) return {};
  return Operand::of(same_value(a, b, sight_.zone) == (term.kind == TermKind::equal));
}

Operand Evaluator::ordering(const Term& term) {
  const Operand a = evaluate(term.operands.front());
  const Operand b = evaluate(term.operands.back());
  if (is_nothing_or_none(a) || is_nothing_or_none(b)) return none_of(term, a, b, "");
  const auto order = pawl::order(a, b, sight_.zone);
  return order ? Operand::of(holds(term.kind, *order))
               : none(term, "compares values that have no order");
}

Operand Evaluator::state_ordering(const Term& term) {
  const Operand a = evaluate(term.operands.front());
  const Operand b = evaluate(term.operands.back());
  if (is_nothing_or_none(a) || is_nothing_or_none(b)) return none_of(term, a, b, "");
  const int* left = place_in_order(a);
  const int* right = place_in_order(b);
  if (!left) return none(term.operands.front(), "is a state without order");
  if (!right) return none(term.operands.back(), "is a state without order");
  return Operand::of(holds(term.kind, *left <=> *right));
}

const int* Evaluator::place_in_order(const Operand& state) const {
  const auto found =
      std::lower_bound(order_.begin(), order_.end(), state.text,
                       [](const auto& entry, std::string_view name) { return entry.first < name; });
  return found != order_.end() && found->first == state.text ? &found->second : nullptr;
}

Operand Evaluator::in(const Term& term) {
  const Operand wanted = evaluate(term.operands.front());
  const Term& where = term.operands.back();
  if (wanted.kind == Operand::Kind::none) return wanted;
  if (where.kind == TermKind::list) return in_items(wanted, where);
  if (where.kind == TermKind::place && where.place == Place::actor_roles && sight_.actor)
    return in_roles(wanted);
  const Operand list = evaluate(where);
  if (list.kind == Operand::Kind::map && wanted.kind == Operand::Kind::text)
    return Operand::of(!JsonView(list.text).member(wanted.text).absent());
  if (list.kind != Operand::Kind::list)
    return none_of(where, list, list, "is not a list and has no such keys");
  for (JsonWalk walk{JsonView(list.text)}; walk.next();) {
    const Scratch::Mark mark(scratch_);
    if (same_value(wanted, Operand::of(walk.value(), scratch_), sight_.zone))
      return Operand::of(true);
  }
  return Operand::of(false);
}

// One that has no value does not hide one that is equal.
Operand Evaluator::in_items(const Operand& wanted, const Term& list) {
  bool doubtful = false;
  for (const Term& item : list.operands) {
    const Operand value = evaluate(item);
    if (value.kind == Operand::Kind::none) {
      doubtful = true;
    } else if (same_value(wanted, value, sight_.zone)) {
      scratch_.why.clear();
      return Operand::of(true);
    }
  }
  return doubtful ? Operand{} : Operand::of(false);
}

Operand Evaluator::in_roles(const Operand& wanted) const {
  const auto& roles = sight_.actor->roles;
  return Operand::of(wanted.kind == Operand::Kind::text &&
                     std::find(roles.begin(), roles.end(), wanted.text) != roles.end());
}

// Conditions.

Operand Evaluator::not_(const Term& term) {
  const Operand value = condition(term.operands.front());
  return value.kind == Operand::Kind::boolean ? Operand::of(!value.boolean) : value;
}

// As in CEL: one side that decides is enough, whichever it is, even where the other has no value.
Operand Evaluator::and_or(const Term& term) {
  const bool deciding = term.kind == TermKind::or_;
  const auto decides = [&](const Operand& value) {
    return value.kind == Operand::Kind::boolean && value.boolean == deciding;
  };
  const Operand a = condition(term.operands.front());
  if (decides(a)) return a;
  const Operand b = condition(term.operands.back());
  if (decides(b)) {
    scratch_.why.clear();
    return b;
  }
  return a.kind == Operand::Kind::none ? a : b;
}

Operand Evaluator::condition(const Term& term) {
  const Operand value = evaluate(term);
  if (value.kind == Operand::Kind::boolean) return value;
  return none_of(term, value, value, "is not true or false");
}

// Reasons.

Operand Evaluator::none(const Term& term, std::string_view because) {
  if (scratch_.why.empty()) {
    scratch_.why += text_.substr(term.begin, term.end - term.begin);
    scratch_.why += ' ';
    scratch_.why += because;
  }
  return {};
}

// Blames the operand that is null or absent; one that has no value was blamed before.
Operand Evaluator::none_of(const Term& term, const Operand& a, const Operand& b,
                           std::string_view otherwise) {
  if (a.kind == Operand::Kind::none || b.kind == Operand::Kind::none) return {};
  const bool binary = term.operands.size() == 2 && &a != &b;
  const Operand& blamed = a.is_nothing() ? a : b;
  const Term& part = !binary ? term : a.is_nothing() ? term.operands.front() : term.operands.back();
  if (!blamed.is_nothing()) return none(term, otherwise);
  return none(part, blamed.kind == Operand::Kind::null ? "is null" : "is absent");
}

}  // namespace pawl
