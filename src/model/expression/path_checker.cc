#include "model/expression/path_checker.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"

namespace pawl {
namespace {

using TermKind = Term::Kind;

Error incomplete_count(std::size_t at) {
  return error_at(at,
                  "children are counted by machine and state; write children.<machine>.<state>, "
                  "or all, open, final or hold for the state");
}

Error unknown_field(const Term& term, std::string_view of, std::span<const std::string> names) {
  return error_at(term.at, std::string(of) + " has no field " + in_quotes(term.name) +
                               nearest_or_all(term.name, names, "it has"));
}

Result<Known> resolve_place(Term& term, std::string_view of, std::span<const NamedPlace> places) {
  std::vector<std::string> names;
  for (const NamedPlace& place : places) {
    names.emplace_back(place.name);
    if (place.name != term.name) continue;
    term.kind = TermKind::place;
    term.place = place.place;
    term.operands.clear();
    return Known{place.type};
  }
  return unknown_field(term, of, names);
}

Known resolve_count(Term& term) {
  term.kind = TermKind::child_count;
  term.machine = std::move(term.operands.front().name);
  term.operands.clear();
  return Known{Type::integer};
}

bool is_count(const Term& term) {
  const Term& of = term.operands.front();
  return of.kind == TermKind::field && of.operands.front().kind == TermKind::name &&
         of.operands.front().name == to_text(Root::children);
}

}  // namespace

Result<Known> PathChecker::check_name(Term& term) const {
  PAWL_TRY(term.root, visible_root(term));
  term.kind = TermKind::root;
  switch (term.root) {
    case Root::data:
      return Known{.type = Type::map, .fields = data_fields()};
    case Root::now:
      return Known{Type::time};
    case Root::event:
      return Known{.type = Type::map, .fields = scope_.event};
    case Root::result:
      return Known{.type = scope_.result ? Type::map : Type::any, .fields = scope_.result};
    case Root::item:
      return Known{Type::any};
    case Root::actor:
    case Root::error:
      return Known{Type::map};
    case Root::record:
      return error_at(term.at, "record is not a value; name one of its fields, like record.key");
    case Root::children:
      return incomplete_count(term.at);
  }
  return Known{};
}

Result<Root> PathChecker::visible_root(const Term& name) const {
  const auto root = find_root(name.name);
  if (!root) return unknown_name(name);
  const auto unseen = [&](const char* where) {
    return error_at(name.at, name.name + " is available only in " + where);
  };
  if ((*root == Root::record || *root == Root::children) && !scope_.sees_record)
    return unseen("machines; only data is available here");
  if (*root == Root::now && !scope_.sees_now && !scope_.sees_record)
    return error_at(name.at, "now is not available here: the same data must give the same value");
  if (*root == Root::now && !scope_.sees_now)
    return error_at(name.at, "now is not allowed in when; use a timer (after)");
  if ((*root == Root::event || *root == Root::actor) && !scope_.sees_event)
    return unseen("on rows; to use it later, keep it with set");
  if (*root == Root::result && !scope_.sees_result)
    return unseen("done rows; write record.result for the last result");
  if (*root == Root::error && !scope_.sees_error) return unseen("errors, give_up and resume rows");
  if (*root == Root::item && !scope_.sees_item) return unseen("effects with each");
  return *root;
}

const Fields* PathChecker::data_fields() const {
  const bool declared = scope_.knows_data && scope_.definition && scope_.definition->data;
  return declared ? &*scope_.definition->data : nullptr;
}

Result<std::optional<Known>> PathChecker::resolve(Term& term) const {
  if (is_count(term) && scope_.sees_record) return std::optional(resolve_count(term));
  const Term& of = term.operands.front();
  if (of.kind != TermKind::name) return std::optional<Known>{};
  PAWL_TRY(const Root root, visible_root(of));
  if (root == Root::children) return incomplete_count(term.at);
  const auto places = places_of(root);
  if (places.empty()) return std::optional<Known>{};
  PAWL_TRY(const Known known, resolve_place(term, to_text(root), places));
  return std::optional(known);
}

Result<Known> PathChecker::check_field(Term& term, const Known& known) const {
  const Term& of = term.operands.front();
  if (of.kind == TermKind::place && of.place == Place::record_parent)
    return resolve_place(term, "record.parent", places_of_parent());
  if (known.fields) return check_declared(term, *known.fields);
  if (may_be(known.type, Type::map)) return Known{};
  return error_at(term.at, what_it_is(of, text_, known.type) + "; it has no field " + term.name);
}

Result<Known> PathChecker::check_declared(Term& term, const Fields& fields) const {
  std::vector<std::string> names;
  for (const Field& field : fields) {
    names.push_back(field.name);
    if (field.name != term.name) continue;
    const Known known = known_of(field.type);
    if (known.type == Type::time) term.read_as = Term::ReadAs::time;
    if (known.type == Type::duration) term.read_as = Term::ReadAs::duration;
    return known;
  }
  return unknown_field(term, source_of(term.operands.front(), text_), names);
}

Result<Known> PathChecker::check_index(const Term& term, const Known& of, const Known& by) const {
  const Term& index = term.operands.back();
  if (may_be(of.type, Type::list) && may_be(by.type, Type::integer)) return Known{};
  if (may_be(of.type, Type::map) && may_be(by.type, Type::text)) return Known{};
  if (!may_be(of.type, Type::list) && !may_be(of.type, Type::map)) {
    return error_at(term.at, what_it_is(term.operands.front(), text_, of.type) +
                                 "; only lists and maps have an index");
  }
  return error_at(index.begin, "a list takes a number as its index, a map takes a text; " +
                                   what_it_is(index, text_, by.type));
}

Error unknown_name(const Term& name) {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = root_names();
    names.insert(names.end(), {"true", "false", "null"});
    return names;
  }();
  std::string remedy = did_you_mean(name.name, kNames);
  if (remedy.empty())
    remedy = "; write data." + name.name + " for a field, '" + name.name + "' for a text";
  return error_at(name.at, "the name " + in_quotes(name.name) + " is not known here" + remedy);
}

}  // namespace pawl
