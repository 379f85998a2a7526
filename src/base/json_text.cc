#include "base/json_text.h"

#include <simdjson.h>

#include <algorithm>
#include <cstddef>

namespace pawl {
namespace {

// The length of the valid UTF-8 sequence that begins at `at`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (at + length > text.size()) return 0;
  return simdjson::validate_utf8(text.substr(at, length)) ? length : 0;
}

void append_ascii(std::string& json, char c) {
  constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      json += "\\\"";
      return;
    case '\\':
      json += "\\\\";
      return;
    case '\n':
      json += "\\n";
      return;
    case '\r':
      json += "\\r";
      return;
    case '\t':
      json += "\\t";
      return;
    default:
      break;
  }
  const auto byte = static_cast<unsigned char>(c);
  if (byte >= 0x20) {
    json += c;
  } else {
    json += "\\u00";
    json += {kHex[byte >> 4], kHex[byte & 15]};
  }
}

}  // namespace

// Nearly all texts are.
bool is_plain_json(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; });
}

std::string json_string(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

void append_json_string(std::string& out, std::string_view text) {
  if (is_plain_json(text)) {
    const std::size_t begin = out.size();
    out.resize(begin + text.size() + 2, '"');
    text.copy(out.data() + begin + 1, text.size());
    return;
  }
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    if (length == 1) {
      append_ascii(out, text[at]);
    } else if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else {
      out += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  out += '"';
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

Result<void> check_json(std::string_view text) {
  thread_local simdjson::dom::parser parser;  // its memory is used again
  const auto parsed = parser.parse(text.data(), text.size());
  if (parsed.error() == simdjson::SUCCESS) return {};
  return Error{ErrorCode::bad_input,
               std::string("this is not JSON: ") + simdjson::error_message(parsed.error())};
}

}  // namespace pawl
