#include "pipe/required_fields.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "calendar/cron.h"
#include "calendar/rrule.h"
#include "calendar/zone.h"
#include "model/field_type.h"

namespace pawl {
namespace {

using FieldKind = FieldType::Kind;

using Is = FieldValue::Kind;

bool is_whole(const FieldValue& value) {
  const Is is = value.kind();
  return is == Is::whole || (is == Is::decimal && std::trunc(value.number()) == value.number());
}

std::string type_text(FieldType type) {
  type.required = false;
  return to_text(type);
}

}  // namespace

Result<RequiredFields> RequiredFields::make(
    const std::vector<TransformConfig::Required>& required) {
  RequiredFields made;
  for (const auto& [field, type, at] : required) {
    auto path = FieldPath::parse(field);
    if (!path) return Error{ErrorCode::bad_input, "`require`: " + path.error().message, at};
    made.fields_.push_back({*std::move(path), type});
    if (type.kind != FieldKind::zone || made.zones_) continue;
    PAWL_TRY(made.zones_, Zones::open());
  }
  return made;
}

Result<void> RequiredFields::check(const MapMembers& document) const {
  for (const Field& field : fields_) {
    const auto value = field.path.find(document);
    if (value && !value->is_null() && fits(field.type, *value)) continue;
    std::string reason = "the field " + in_ticks(field.path.text());
    reason += !value ? " is missing" : value->is_null() ? " is null" : " is " + shown(*value);
    reason += field.type.kind == FieldKind::any ? "; it is required"
                                                : "; it must be of type " + type_text(field.type);
    return Error{ErrorCode::bad_input, std::move(reason)};
  }
  return {};
}

bool RequiredFields::fits(const FieldType& type, const FieldValue& value) const {
  switch (type.kind) {
    case FieldKind::any:
      return true;
    case FieldKind::string:
      return value.is_text();
    case FieldKind::integer:
      return is_whole(value);
    case FieldKind::decimal:
      return value.is_number();
    case FieldKind::boolean:
      return value.kind() == Is::boolean;
    case FieldKind::list:
      return value.kind() == Is::list;
    case FieldKind::map:
      return value.is_map();
    default:
      break;
  }
  std::string room;
  return value.is_text() && fits_text(type, value.text(room));
}

bool RequiredFields::fits_text(const FieldType& type, std::string_view text) const {
  switch (type.kind) {
    case FieldKind::time:
      return parse_instant(text, Zone::utc()).has_value();
    case FieldKind::duration:
      return parse_duration(text).has_value();
    case FieldKind::rrule:
      return parse_rrule(text).has_value();
    case FieldKind::cron:
      return parse_cron(text).has_value();
    case FieldKind::zone:
      return zones_->find(text).has_value();
    case FieldKind::word:
      return std::find(type.words.begin(), type.words.end(), text) != type.words.end();
    default:
      return true;
  }
}

}  // namespace pawl
