// JsonTextBytes: the characters of a JSON text, byte by byte, without its escapes.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pawl {

// Total: an escape that says nothing (`\x`, half of a surrogate pair) is U+FFFD.
class JsonTextBytes {
 public:
  // `body`: what stands between the quotes.
  explicit JsonTextBytes(std::string_view body) : body_(body) {}

  // None at the end.
  std::optional<char> next();

 private:
  char read_escape();
  char encode(std::uint32_t character);
  std::optional<std::uint32_t> read_hex();

  std::string_view body_;
  std::size_t at_ = 0;
  std::array<char, 3> more_{};  // what follows of one character, last byte first
  int more_count_ = 0;
};

// The order of two texts by the bytes of their characters.
std::strong_ordering compare_json_texts(std::string_view body, std::string_view other_body);

}  // namespace pawl
