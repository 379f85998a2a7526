#include "base/json_fault.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/json_text.h"
#include "base/text.h"

namespace pawl {
namespace {

class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : text_(text) {}

  std::size_t at() const { return at_; }

  // Whether the whole text is one value; else `at` is where it is not. The ends that are awaited
  // are kept here and not on the stack: a text may be nested as deep as it is long.
  bool is_one_value() {
    std::string ends;
    for (bool is_after_value = false;;) {
      skip_blanks();
      if (!is_after_value) {
        if (takes('{')) {
          ends += '}';
        } else if (takes('[')) {
          ends += ']';
        } else if (takes_scalar()) {
          is_after_value = true;
          continue;
        } else {
          return false;
        }
        skip_blanks();
        if (takes(ends.back())) {
          ends.pop_back();
          is_after_value = true;
        } else if (ends.back() == '}' && !takes_key()) {
          return false;
        }
        continue;
      }
      if (ends.empty()) return at_ == text_.size();
      if (takes(ends.back())) {
        ends.pop_back();
      } else if (!takes(',') || (ends.back() == '}' && !takes_key())) {
        return false;
      } else {
        is_after_value = false;
      }
    }
  }

 private:
  bool is_at_end() const { return at_ == text_.size(); }
  char here() const { return is_at_end() ? '\0' : text_[at_]; }

  bool takes(char c) {
    if (is_at_end() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (takes(' ') || takes('\n') || takes('\r') || takes('\t')) {
    }
  }
  bool takes_key() {
    skip_blanks();
    if (!takes_text()) return false;
    skip_blanks();
    return takes(':');
  }
  bool takes_scalar() {
    if (here() == '"') return takes_text();
    for (const std::string_view word : {"true", "false", "null"})
      if (here() == word[0])
        return std::all_of(word.begin(), word.end(), [&](char c) { return takes(c); });
    return takes_number();
  }
  bool takes_digits() {
    const std::size_t begin = at_;
    while (is_digit(here())) ++at_;
    return at_ > begin;
  }
  bool takes_number() {
    takes('-');
    if (!takes('0') && !takes_digits()) return false;
    if (takes('.') && !takes_digits()) return false;
    if (!takes('e') && !takes('E')) return true;
    if (!takes('+')) takes('-');
    return takes_digits();
  }
  bool takes_text() {
    if (!takes('"')) return false;
    while (!takes('"')) {
      if (takes('\\')) {
        if (!takes_escape()) return false;
        continue;
      }
      const std::size_t length = is_at_end() ? 0 : utf8_length();
      if (length == 0 || static_cast<unsigned char>(here()) < 0x20) return false;
      at_ += length;
    }
    return true;
  }
  bool takes_escape() {
    if (takes('u')) {
      for (int i = 0; i < 4; ++i) {
        const char c = to_lower(here());
        if (!is_digit(c) && (c < 'a' || c > 'f')) return false;
        ++at_;
      }
      return true;
    }
    if (is_at_end() || std::string_view("\"\\/bfnrt").find(here()) == std::string_view::npos)
      return false;
    ++at_;
    return true;
  }
  // Of the character here, 0 when it is none.
  std::size_t utf8_length() const {
    for (std::size_t length = 1; length <= 4 && at_ + length <= text_.size(); ++length)
      if (is_utf8(text_.substr(at_, length))) return length;
    return 0;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<Position> find_json_fault(std::string_view text) {
  JsonScan scan(text);
  if (scan.is_one_value()) return std::nullopt;
  const std::string_view before = text.substr(0, scan.at());
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is the beginning
  return Position{static_cast<int>(lines) + 1, static_cast<int>(scan.at() - line_begin) + 1};
}

}  // namespace pawl
