#include "model/expression/known.h"

#include <utility>

#include "base/nearest.h"
#include "base/text.h"

namespace pawl {

Known known_of(const FieldType& type) {
  switch (type.kind) {
    case FieldType::Kind::integer:
      return {Type::integer};
    case FieldType::Kind::decimal:
      return {Type::decimal};
    case FieldType::Kind::boolean:
      return {Type::boolean};
    case FieldType::Kind::time:
      return {Type::time};
    case FieldType::Kind::duration:
      return {Type::duration};
    case FieldType::Kind::list:
      return {Type::list};
    case FieldType::Kind::map:
      return {Type::map};
    case FieldType::Kind::any:
      return {Type::any};
    case FieldType::Kind::word:
      return {.type = Type::text, .words = type.words};
    case FieldType::Kind::string:
    case FieldType::Kind::rrule:
    case FieldType::Kind::cron:
    case FieldType::Kind::zone:
      return {Type::text};
  }
  return {};
}

Type family(Type type) {
  if (type == Type::integer) return Type::decimal;
  return type == Type::state ? Type::text : type;
}

bool may_be(Type type, Type wanted) { return type == Type::any || family(type) == family(wanted); }

bool may_be_equal(Type a, Type b) {
  return a == Type::null || b == Type::null || may_be(a, b) || b == Type::any;
}

bool has_order(Type type) {
  switch (family(type)) {
    case Type::any:
    case Type::decimal:
    case Type::text:
    case Type::time:
    case Type::duration:
      return true;
    default:
      return false;
  }
}

bool is_temporal(Type type) { return type == Type::time || type == Type::duration; }

std::string source_of(const Term& term, std::string_view text) {
  const std::string_view part = text.substr(term.begin, term.end - term.begin);
  return part.size() <= 60 ? printable(part) : printable(part.substr(0, 57)) + "...";
}

std::string what_it_is(const Term& term, std::string_view text, Type type) {
  return source_of(term, text) + " is " + std::string(to_text(type));
}

std::string nearest_or_all(std::string_view word, std::span<const std::string> known,
                           std::string_view intro) {
  constexpr std::size_t kFew = 12;
  std::string near = did_you_mean(word, known);
  if (!near.empty() || known.empty() || known.size() > kFew) return near;
  return "; " + std::string(intro) + " " + printable(join(known, ", ", " and "));
}

Error error_at(std::size_t at, std::string message) {
  return bad_input_at(static_cast<int>(at) + 1, std::move(message));
}

}  // namespace pawl
