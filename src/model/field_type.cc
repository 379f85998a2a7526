#include "model/field_type.h"

#include <algorithm>

#include "base/nearest.h"
#include "base/text.h"
#include "calendar/cron.h"
#include "calendar/rrule.h"
#include "calendar/zone.h"
#include "model/file_words.h"

namespace pawl {
namespace {

template <class T>
std::optional<std::string> message_of(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error().message;
}

// Enough of them for a message; `last` stands before the last one.
std::string some_of(std::span<const std::string> words, std::string_view last) {
  constexpr std::size_t kFew = 12;
  if (words.size() <= kFew) return join(words, ", ", last);
  return join(words.first(kFew), ", ", ", ") + ", …";
}

bool is_whole(const std::string& number) {
  const auto decimal = Decimal::parse(number);
  return decimal && decimal->is_integer();
}

std::optional<std::string> misfit_of_text(const FieldType& type, const std::string& text,
                                          const Zones& zones) {
  switch (type.kind) {
    case FieldType::Kind::time:
      return message_of(parse_instant(text, Zone::utc()));
    case FieldType::Kind::duration:
      return message_of(parse_duration(text));
    case FieldType::Kind::rrule:
      return message_of(parse_rrule(text));
    case FieldType::Kind::cron:
      return message_of(parse_cron(text));
    case FieldType::Kind::zone:
      return message_of(zones.find(text));
    case FieldType::Kind::word:
      if (std::find(type.words.begin(), type.words.end(), text) != type.words.end())
        return std::nullopt;
      return in_quotes(text) + " is not one of " + some_of(type.words, " and ") +
             did_you_mean(text, type.words);
    default:
      return std::nullopt;
  }
}

Json::Kind json_kind(FieldType::Kind kind) {
  switch (kind) {
    case FieldType::Kind::integer:
    case FieldType::Kind::decimal:
      return Json::Kind::number;
    case FieldType::Kind::boolean:
      return Json::Kind::boolean;
    case FieldType::Kind::list:
      return Json::Kind::list;
    case FieldType::Kind::map:
      return Json::Kind::map;
    default:
      return Json::Kind::text;
  }
}

}  // namespace

const Field* find_field(const Fields& fields, std::string_view name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [&](const Field& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string to_text(const FieldType& type) {
  if (type.kind == FieldType::Kind::word) return "[" + some_of(type.words, ", ") + "]";
  return word_of(kFieldTypeWords, type.kind) + (type.required ? "!" : "");
}

std::optional<std::string> misfit(const FieldType& type, const Json& value, const Zones& zones) {
  if (value.kind == Json::Kind::null)
    return type.required ? std::optional<std::string>("null is not allowed in " + to_text(type))
                         : std::nullopt;
  if (type.kind == FieldType::Kind::any) return std::nullopt;
  if (value.kind != json_kind(type.kind))
    return to_text(value).substr(0, 60) + " is not a value of the type " + to_text(type);
  if (type.kind == FieldType::Kind::integer && !is_whole(value.text))
    return value.text + " is not a whole number";
  if (type.kind == FieldType::Kind::decimal && !Decimal::parse(value.text))
    return value.text + " has too many digits; a decimal has at most 18 after the point";
  return misfit_of_text(type, value.text, zones);
}

bool may_fit(const FieldType& field, Type type) {
  using Kind = FieldType::Kind;
  switch (type) {
    case Type::any:
      return true;
    case Type::null:
      return !field.required;
    case Type::boolean:
      return field.kind == Kind::boolean || field.kind == Kind::any;
    case Type::integer:
      return field.kind == Kind::integer || field.kind == Kind::decimal || field.kind == Kind::any;
    case Type::decimal:
      return field.kind == Kind::integer || field.kind == Kind::decimal || field.kind == Kind::any;
    case Type::time:
      return field.kind == Kind::time || field.kind == Kind::string || field.kind == Kind::any;
    case Type::duration:
      return field.kind == Kind::duration || field.kind == Kind::string || field.kind == Kind::any;
    case Type::list:
      return field.kind == Kind::list || field.kind == Kind::any;
    case Type::map:
      return field.kind == Kind::map || field.kind == Kind::any;
    case Type::text:
    case Type::state:
      return field.kind != Kind::boolean && field.kind != Kind::integer &&
             field.kind != Kind::decimal && field.kind != Kind::list && field.kind != Kind::map;
  }
  return true;
}

}  // namespace pawl
