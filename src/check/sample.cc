#include "check/sample.h"

#include <vector>

#include "base/json_text.h"
#include "decide/json_edit.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

std::string sample_of(const FieldType& type) {
  switch (type.kind) {
    case FieldType::Kind::string:
    case FieldType::Kind::any:
      return R"("sample")";
    case FieldType::Kind::integer:
    case FieldType::Kind::decimal:
      return "1";
    case FieldType::Kind::boolean:
      return "false";
    case FieldType::Kind::time:
      return R"("2026-01-01T00:00:00Z")";
    case FieldType::Kind::duration:
      return R"("1m")";
    case FieldType::Kind::list:
      return "[]";
    case FieldType::Kind::map:
      return "{}";
    case FieldType::Kind::rrule:
      return R"("FREQ=DAILY")";
    case FieldType::Kind::cron:
      return R"("0 0 * * *")";
    case FieldType::Kind::zone:
      return R"("UTC")";
    case FieldType::Kind::word:
      return json_string(type.words.front());
  }
  return "null";
}

std::string with_samples(std::string_view given, const Fields& fields) {
  std::vector<std::string> texts;
  texts.reserve(fields.size());
  std::vector<NewMember> members;
  for (const Field& field : fields)
    if (field.type.required && !field.fallback && JsonView(given).member(field.name).absent())
      members.push_back({field.name, texts.emplace_back(sample_of(field.type))});
  return members.empty() ? std::string(given) : with_members(given, members);
}

}  // namespace

Result<std::string> sample_data(const Machine& machine, std::string_view given) {
  PAWL_CHECK(check_json(given));
  if (JsonView(given).kind() != JsonView::Kind::map)
    return Error{ErrorCode::bad_input, "expected a map of fields, as {\"amount\": 10}"};
  const auto& fields = machine.definition().data;
  return fields ? with_samples(given, *fields) : std::string(given);
}

std::string sample_payload(const EventDefinition* declared, const std::string& code) {
  const std::string text = json_string(code);
  if (declared == nullptr || !declared->with) return "{\"code\":" + text + "}";
  std::vector<NewMember> members;
  for (const Field& field : *declared->with)
    if (field.type.kind == FieldType::Kind::string) members.push_back({field.name, text});
  return with_samples(with_members("{}", members), *declared->with);
}

}  // namespace pawl
