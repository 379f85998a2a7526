#include "tape.h"

namespace pawl {

std::size_t Tape::byte() { return is_used_up() ? 0 : bytes_[next_++]; }

std::size_t Tape::below(std::size_t end) {
  if (end <= 1) return 0;
  const std::size_t low = byte();
  return (end <= 256 ? low : low + 256 * byte()) % end;
}

int Tape::between(int first, int last) {
  return first + static_cast<int>(below(static_cast<std::size_t>(last - first) + 1));
}

// Zero is no, whatever the chance.
bool Tape::chance(int percent) { return static_cast<int>(byte() * 100 / 256) >= 100 - percent; }

std::string Tape::of(std::initializer_list<const char*> choices) {
  return *(choices.begin() + below(choices.size()));
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    hex += kDigits[byte >> 4U];
    hex += kDigits[byte & 15U];
  }
  return hex;
}

std::optional<TapeBytes> from_hex(std::string_view hex) {
  TapeBytes bytes;
  std::optional<unsigned> high;
  for (const char c : hex) {
    if (c == ' ' || c == '\n' || c == '\r') continue;
    const std::size_t digit = std::string_view("0123456789abcdef").find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    const auto value = static_cast<unsigned>(digit);
    if (high) bytes.push_back(static_cast<std::uint8_t>(*high << 4U | value));
    high = high ? std::nullopt : std::optional(value);
  }
  return bytes;
}

}  // namespace pawl
