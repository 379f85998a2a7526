#include "model/expression/json_text_bytes.h"

#include "base/text.h"

namespace pawl {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

bool is_high_surrogate(std::uint32_t c) { return c >= 0xd800 && c < 0xdc00; }
bool is_low_surrogate(std::uint32_t c) { return c >= 0xdc00 && c < 0xe000; }

std::optional<std::uint32_t> hex_digit(char c) {
  if (is_digit(c)) return static_cast<std::uint32_t>(c - '0');
  const char lower = to_lower(c);
  if (lower >= 'a' && lower <= 'f') return static_cast<std::uint32_t>(lower - 'a' + 10);
  return std::nullopt;
}

}  // namespace

std::optional<char> JsonTextBytes::next() {
  if (more_count_ > 0) return more_[static_cast<std::size_t>(--more_count_)];
  if (at_ >= body_.size()) return std::nullopt;
  const char c = body_[at_++];
  return c == '\\' ? read_escape() : c;
}

char JsonTextBytes::read_escape() {
  const char c = at_ < body_.size() ? body_[at_++] : '\0';
  switch (c) {
    case '"':
    case '\\':
    case '/':
      return c;
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'u':
      break;
    default:
      return encode(kReplacement);
  }
  const std::uint32_t high = read_hex().value_or(kReplacement);
  if (!is_high_surrogate(high)) return encode(is_low_surrogate(high) ? kReplacement : high);
  if (body_.substr(at_, 2) != "\\u") return encode(kReplacement);
  const std::size_t second_at = at_;
  at_ += 2;
  const auto low = read_hex();
  if (low && is_low_surrogate(*low))
    return encode(0x10000 + ((high - 0xd800) << 10) + (*low - 0xdc00));
  at_ = second_at;
  return encode(kReplacement);
}

std::optional<std::uint32_t> JsonTextBytes::read_hex() {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const auto digit = at_ < body_.size() ? hex_digit(body_[at_]) : std::nullopt;
    if (!digit) return std::nullopt;
    value = value * 16 + *digit;
  }
  return value;
}

// UTF-8: the first byte is returned, the others wait.
char JsonTextBytes::encode(std::uint32_t character) {
  if (character < 0x80) return static_cast<char>(character);
  const int following = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  for (more_count_ = 0; more_count_ < following; character >>= 6)
    more_[static_cast<std::size_t>(more_count_++)] = static_cast<char>(0x80 | (character & 0x3f));
  constexpr std::array<std::uint32_t, 4> kLead = {0, 0xc0, 0xe0, 0xf0};
  return static_cast<char>(kLead[static_cast<std::size_t>(following)] | character);
}

std::strong_ordering compare_json_texts(std::string_view body, std::string_view other_body) {
  JsonTextBytes left(body);
  JsonTextBytes right(other_body);
  for (;;) {
    const auto a = left.next();
    const auto b = right.next();
    if (!a || !b) return a.has_value() <=> b.has_value();
    if (*a != *b) return static_cast<unsigned char>(*a) <=> static_cast<unsigned char>(*b);
  }
}

}  // namespace pawl
