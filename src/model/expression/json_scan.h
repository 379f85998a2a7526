// Where things begin and end in JSON text. None of it reads outside of the text, valid or not.
//
// Plain loops over pointers: this is the inner loop of every guard, and keys and values are short.
#pragma once

#include <cstddef>
#include <string_view>

namespace pawl {

constexpr bool is_json_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr const char* past_json_blanks(const char* at, const char* end) {
  while (at != end && is_json_blank(*at)) ++at;
  return at;
}

// After the text literal that begins here, its quotes included; the end when none closes it.
constexpr const char* past_json_text(const char* at, const char* end) {
  for (++at; at < end; ++at) {
    if (*at == '"') return at + 1;
    if (*at == '\\') ++at;
  }
  return end;
}

// After the number, `true`, `false` or `null` that begins here.
constexpr const char* past_json_word(const char* at, const char* end) {
  constexpr auto ends_word = [](char c) {
    return c == ',' || c == '}' || c == ']' || is_json_blank(c) || c == ':' || c == '[' ||
           c == '{' || c == '"';
  };
  while (at != end && !ends_word(*at)) ++at;
  return at;
}

// After the value that begins here.
constexpr const char* past_json_value(const char* at, const char* end) {
  std::size_t depth = 0;
  while (at != end) {
    switch (*at) {
      case '"':
        at = past_json_text(at, end);
        break;
      case '[':
      case '{':
        ++depth;
        ++at;
        break;
      case ']':
      case '}':
        if (depth > 0) --depth;
        ++at;
        break;
      default:
        at = depth > 0 ? at + 1 : past_json_word(at, end);
        break;
    }
    if (depth == 0) return at;
  }
  return end;
}

constexpr std::string_view without_blanks_before(std::string_view text) {
  const char* end = text.data() + text.size();
  const char* at = past_json_blanks(text.data(), end);
  return {at, static_cast<std::size_t>(end - at)};
}

constexpr std::size_t json_text_length(std::string_view json) {
  if (json.empty()) return 0;
  return static_cast<std::size_t>(past_json_text(json.data(), json.data() + json.size()) -
                                  json.data());
}

constexpr std::size_t json_word_length(std::string_view json) {
  return static_cast<std::size_t>(past_json_word(json.data(), json.data() + json.size()) -
                                  json.data());
}

constexpr std::size_t json_value_length(std::string_view json) {
  return static_cast<std::size_t>(past_json_value(json.data(), json.data() + json.size()) -
                                  json.data());
}

// What stands between the quotes of a text literal.
constexpr std::string_view json_text_body(std::string_view json) {
  const std::string_view literal = json.substr(0, json_text_length(json));
  const bool closed = literal.size() >= 2 && literal.ends_with('"');
  return literal.substr(literal.empty() ? 0 : 1, literal.size() - (closed ? 2 : 1));
}

}  // namespace pawl
