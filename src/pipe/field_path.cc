#include "pipe/field_path.h"

#include "base/json_text.h"
#include "base/piece.h"
#include "base/text.h"

namespace pawl {

using simdjson::dom::element;
using simdjson::dom::element_type;

Result<FieldPath> FieldPath::parse(std::string_view text) {
  FieldPath path;
  path.text_ = text;
  for (const Piece& name : split({text}, '.')) {
    if (name.text.empty())
      return name.error("a name is missing in the field " + in_quotes(text) +
                        "; write names with a dot between them, like user.name");
    path.names_.emplace_back(name.text);
  }
  return path;
}

std::optional<element> FieldPath::find(element document) const {
  for (const std::string& name : names_) {
    simdjson::dom::object map;
    if (document.get(map) != simdjson::SUCCESS) return std::nullopt;
    if (map.at_key(name).get(document) != simdjson::SUCCESS) return std::nullopt;
  }
  return document;
}

std::string shown(element value) {
  std::string_view text;
  switch (value.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "a map";
    case element_type::STRING:
      return value.get(text) == simdjson::SUCCESS ? shown(text) : "a text";
    default:
      return simdjson::minify(value);
  }
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 40;
  if (!is_utf8(text)) return "a text that is not UTF-8";
  if (text.size() <= kMost) return in_quotes(text);
  std::size_t length = kMost;
  while ((static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  return in_quotes(std::string(text.substr(0, length)) + "…");
}

}  // namespace pawl
