#include "decide/fingerprint.h"

#include "base/text.h"

namespace pawl {
namespace {

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Hash {  // FNV-1a
 public:
  void add(char c) {
    value_ ^= static_cast<unsigned char>(c);
    value_ *= 0x100000001b3U;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

// The length of the number, hex number or UUID that begins the text: hex digits with a decimal one
// among them, in groups joined by `-` or `.`; 0 when there is none.
std::size_t number_length(std::string_view text) {
  std::size_t length = text.starts_with("0x") ? 2 : 0;
  bool has_digit = length > 0;
  while (length < text.size()) {
    const char c = text[length];
    const bool joins = (c == '-' || c == '.') && length > 0 && length + 1 < text.size() &&
                       is_hex(text[length + 1]);
    if (!is_hex(c) && !joins) break;
    has_digit = has_digit || is_digit(c);
    ++length;
  }
  const bool is_whole_word = length == text.size() || !is_letter(text[length]);
  if (has_digit && is_whole_word) return length;
  return text.find_first_not_of("0123456789");  // `30s`, `4xx`: only the digits
}

}  // namespace

std::uint64_t fingerprint_of(std::string_view code, std::string_view message) {
  Hash hash;
  for (const char c : code) hash.add(c);
  hash.add('\0');
  bool in_word = false;
  for (std::size_t i = 0; i < message.size();) {
    const char c = message[i];
    if (c == '"' || c == '\'' || c == '`') {
      const std::size_t end = message.find(c, i + 1);
      if (end != std::string_view::npos && !(in_word && c == '\'')) {
        hash.add('"');
        i = end + 1;
        in_word = false;
        continue;
      }
    }
    const std::size_t number = in_word && !is_digit(c) ? 0 : number_length(message.substr(i));
    if (number > 0) {
      hash.add('0');
      i += number;
      continue;
    }
    hash.add(c);
    in_word = is_letter(c);
    ++i;
  }
  return hash.value();
}

}  // namespace pawl
