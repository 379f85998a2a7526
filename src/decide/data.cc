#include "decide/data.h"

#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "base/text.h"
#include "decide/json_edit.h"
#include "model/field_type.h"

namespace pawl {
namespace {

Error bad_field(std::string_view name, std::string_view why) {
  return {ErrorCode::bad_input, in_ticks(std::string(name)) + ": " + std::string(why)};
}

Error undeclared(std::string_view name, const Fields& fields) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.push_back(field.name);
  return bad_field(name, "there is no such field" + did_you_mean(name, names));
}

// What the type of a field looks at: of lists and maps only that they are.
Json looked_at(JsonView value) {
  Scratch scratch;
  Json json;
  switch (value.kind()) {
    case JsonView::Kind::absent:
    case JsonView::Kind::null:
      break;
    case JsonView::Kind::boolean:
      return Json::boolean(value.boolean());
    case JsonView::Kind::number:
      return Json::number(std::string(value.json()));
    case JsonView::Kind::text:
      return {std::string(value.text(scratch))};
    case JsonView::Kind::list:
      return Json::list({});
    case JsonView::Kind::map:
      return Json::map({});
  }
  return json;
}

Result<void> check_field(const Field& field, JsonView value, const Zones& zones) {
  if (const auto why = misfit(field.type, looked_at(value), zones))
    return bad_field(field.name, *why);
  return {};
}

}  // namespace

Result<std::string> completed(std::string_view map, const Fields& fields, Others others,
                              const Zones& zones) {
  const JsonView view(map);
  if (view.kind() != JsonView::Kind::map)
    return Error{ErrorCode::bad_input, "expected a map of fields"};
  if (others == Others::refused) {
    Scratch scratch;
    for (JsonWalk walk(view); walk.next();) {
      const std::string_view name = walk.key().text(scratch);
      if (!find_field(fields, name)) return undeclared(name, fields);
    }
  }
  std::vector<std::string> texts;
  texts.reserve(fields.size());
  std::vector<NewMember> defaults;
  for (const Field& field : fields) {
    const JsonView value = view.member(field.name);
    if (value.absent() && field.fallback) {
      defaults.push_back({field.name, texts.emplace_back(to_text(*field.fallback))});
    } else {
      PAWL_CHECK(check_field(field, value, zones));
    }
  }
  return defaults.empty() ? std::string(map) : with_members(map, defaults);
}

Result<void> check_member(const std::optional<Fields>& fields, std::string_view name,
                          JsonView value, const Zones& zones) {
  if (!fields) return {};
  const Field* field = find_field(*fields, name);
  if (!field) return undeclared(name, *fields);
  return check_field(*field, value, zones);
}

}  // namespace pawl
