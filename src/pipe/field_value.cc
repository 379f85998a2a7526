#include "pipe/field_value.h"

#include <simdjson.h>

#include <charconv>

#include "base/json_text.h"
#include "base/text.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr std::size_t kFieldParserBytesKept = 64U << 10U;

// Few values need it.
template <class Use>
void parse(std::string_view json, Use use) {
  thread_local simdjson::dom::parser parser;  // its memory is used again
  simdjson::dom::element value;
  const auto error = parser.parse(json.data(), json.size()).get(value);
  PAWL_ASSERT(error == simdjson::SUCCESS, "a part of JSON is JSON");
  use(value);
  if (parser.capacity() > kFieldParserBytesKept) parser = simdjson::dom::parser();
}

}  // namespace

FieldValue::Kind FieldValue::kind() const {
  switch (json_.empty() ? 'n' : json_.front()) {
    case 'n':
      return Kind::null;
    case 't':
    case 'f':
      return Kind::boolean;
    case '"':
      return Kind::text;
    case '[':
      return Kind::list;
    case '{':
      return Kind::map;
    default:
      return json_.find_first_of(".eE") == std::string_view::npos ? Kind::whole : Kind::decimal;
  }
}

std::string_view FieldValue::text(std::string& room) const {
  const std::string_view body = json_.substr(1, json_.size() - 2);
  if (body.find('\\') == std::string_view::npos) return body;
  parse(json_, [&](const auto& value) { room.assign(std::string_view(value)); });
  return room;
}

std::optional<std::int64_t> FieldValue::whole() const {
  std::int64_t number = 0;
  const char* end = json_.data() + json_.size();
  const auto read = std::from_chars(json_.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

double FieldValue::number() const {
  double number = 0;  // stays when it is too small for a double; what is too large was not taken
  std::from_chars(json_.data(), json_.data() + json_.size(), number);
  return number;
}

bool FieldValue::append_plain_to(std::string& out) const {
  if (is_text()) {
    std::string room;
    out += text(room);
    return true;
  }
  if (kind() != Kind::whole) return false;
  out += json_ == "-0" ? "0" : json_;
  return true;
}

std::string shown(const FieldValue& value) {
  std::string room;
  switch (value.kind()) {
    case FieldValue::Kind::list:
      return "a list";
    case FieldValue::Kind::map:
      return "a map";
    case FieldValue::Kind::text:
      return shown(value.text(room));
    default:
      parse(value.json(), [&](const auto& parsed) { room = simdjson::minify(parsed); });
      return room;
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
