#include "pawl/json.h"

#include <algorithm>

#include "base/json_text.h"

namespace pawl {

Position Where::inside(std::string_view text, int byte) const {
  if (text_column == 0) return position;
  std::string_view before = text.substr(0, static_cast<std::size_t>(std::max(byte - 1, 0)));
  int line = position.line;
  if (block) {
    line += 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
    before.remove_prefix(before.rfind('\n') + 1);
  }
  const auto characters = std::count_if(before.begin(), before.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  });
  return {line, text_column + static_cast<int>(characters)};
}

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(int value) : kind(Kind::number), text(std::to_string(value)) {}
Json::Json(const char* value) : kind(Kind::text), text(value) {}
Json::Json(std::string value) : kind(Kind::text), text(std::move(value)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::boolean(bool value) {
  Json json;
  json.kind = Kind::boolean;
  json.text = value ? "true" : "false";
  return json;
}

Json Json::number(std::string digits) {
  Json json;
  json.kind = Kind::number;
  json.text = std::move(digits);
  return json;
}

Json Json::list(std::vector<Json> items) {
  Json json;
  json.kind = Kind::list;
  json.items = std::move(items);
  return json;
}

Json Json::map(std::vector<JsonMember> members) {
  Json json;
  json.kind = Kind::map;
  json.members = std::move(members);
  return json;
}

const Json* Json::find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

std::string to_text(const Json& json) {
  std::string out;
  append_text(out, json);
  return out;
}

void append_text(std::string& out, const Json& json) {
  switch (json.kind) {
    case Json::Kind::null:
      out += "null";
      return;
    case Json::Kind::boolean:
    case Json::Kind::number:
      out += json.text;
      return;
    case Json::Kind::text:
      out += json_string(json.text);
      return;
    case Json::Kind::list: {
      out += '[';
      for (std::size_t i = 0; i < json.items.size(); ++i) {
        if (i > 0) out += ',';
        append_text(out, json.items[i]);
      }
      out += ']';
      return;
    }
    case Json::Kind::map: {
      out += '{';
      for (std::size_t i = 0; i < json.members.size(); ++i) {
        if (i > 0) out += ',';
        out += json_string(json.members[i].key) + ':';
        append_text(out, json.members[i].value);
      }
      out += '}';
      return;
    }
  }
}

}  // namespace pawl
