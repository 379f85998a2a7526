// Small words on ASCII text. Bytes above 127 are left as they are, whatever the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr char to_upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
constexpr char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);

// `a, b and c` for (", ", " and ").
std::string join(std::span<const std::string> words, std::string_view between,
                 std::string_view last);

// The text with control characters shown as `\x07`, so that it can be printed on a terminal.
std::string printable(std::string_view text);

// `name`, as messages write the names and keys of a file; printable.
std::string in_ticks(std::string_view name);

// The text in quotes for a message: printable, and cut to a readable length.
std::string in_quotes(std::string_view text);

// The whole text as a decimal number.
std::optional<std::int64_t> parse_whole(std::string_view text);

// `1 state`, `2 states`.
std::string counted(std::size_t number, std::string_view what);

}  // namespace pawl
