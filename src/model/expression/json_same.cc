// Whether two JSON texts say the same.
//
// Almost always the members of equal maps stand in the same order, and one walk over both texts,
// token by token, decides without allocating. Only where two keys differ may the order be to blame:
// then both texts are laid out as spots, one per value, and members are compared sorted by key.
// Finding each member by a search of the other map would take quadratic time on a large document.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/text.h"
#include "model/expression/json_scan.h"
#include "model/expression/json_text_bytes.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

constexpr int kDepthMax = 1'024;  // of what is checked before; deeper is not the same as anything

// One of `{ } [ ] , :`, a text or a word; empty at the end.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : rest_(text) {}

  std::string_view next() {
    rest_ = without_blanks_before(rest_);
    const std::size_t length = rest_.empty()            ? 0
                               : rest_.front() == '"'   ? json_text_length(rest_)
                               : is_mark(rest_.front()) ? 1
                                                        : json_word_length(rest_);
    const std::string_view token = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return token;
  }

  bool before_colon() const { return without_blanks_before(rest_).starts_with(':'); }

 private:
  static bool is_mark(char c) {
    return std::string_view("{}[],:").find(c) != std::string_view::npos;
  }

  std::string_view rest_;
};

bool same_token(std::string_view a, std::string_view b) {
  if (a == b) return true;
  if (a.empty() || b.empty()) return false;
  if (a.front() == '"' && b.front() == '"')
    return std::is_eq(compare_json_texts(json_text_body(a), json_text_body(b)));
  const auto begins_number = [](char c) { return is_digit(c) || c == '-'; };
  return begins_number(a.front()) && begins_number(b.front()) && same_number(a, b);
}

// A value of a document: the values inside it follow, up to `end`.
struct Spot {
  std::string_view key;    // body of the member's key
  std::string_view token;  // the value, or the bracket that opens it
  std::size_t end = 0;
};

std::vector<Spot> lay_out(std::string_view text) {
  std::vector<Spot> spots;
  std::vector<std::size_t> open;
  Tokens tokens(text);
  std::string_view key;
  do {
    const std::string_view token = tokens.next();
    if (token.empty()) break;
    if (token == "," || token == ":") continue;
    if (token == "}" || token == "]") {
      if (open.empty()) break;
      spots[open.back()].end = spots.size();
      open.pop_back();
    } else if (token.front() == '"' && tokens.before_colon()) {
      key = json_text_body(token);
    } else {
      if (token == "{" || token == "[") open.push_back(spots.size());
      spots.push_back({key, token, spots.size() + 1});
      key = {};
    }
  } while (!open.empty());
  for (const std::size_t unclosed : open) spots[unclosed].end = spots.size();
  return spots;
}

class SpotComparison {
 public:
  SpotComparison(std::string_view a, std::string_view b) : a_(lay_out(a)), b_(lay_out(b)) {}

  bool same() const { return a_.empty() == b_.empty() && (a_.empty() || same(0, 0, 0)); }

 private:
  bool same(std::size_t a, std::size_t b, int depth) const {
    if (depth > kDepthMax || !same_token(a_[a].token, b_[b].token)) return false;
    const bool sorted = a_[a].token == "{";
    const std::vector<std::size_t> left = inside(a_, a, sorted);
    const std::vector<std::size_t> right = inside(b_, b, sorted);
    if (left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (std::is_neq(compare_json_texts(a_[left[i]].key, b_[right[i]].key))) return false;
      if (!same(left[i], right[i], depth + 1)) return false;
    }
    return true;
  }

  static std::vector<std::size_t> inside(const std::vector<Spot>& spots, std::size_t of,
                                         bool sorted) {
    std::vector<std::size_t> values;
    for (std::size_t at = of + 1; at < spots[of].end; at = spots[at].end) values.push_back(at);
    if (sorted) {
      std::stable_sort(values.begin(), values.end(), [&](std::size_t x, std::size_t y) {
        return std::is_lt(compare_json_texts(spots[x].key, spots[y].key));
      });
    }
    return values;
  }

  std::vector<Spot> a_;
  std::vector<Spot> b_;
};

// A number as its digits and the power of ten of the first of them.
struct Digits {
  bool negative = false;
  std::string_view digits;  // from the first to the last that is not 0, with the point; none of 0
  std::int64_t exponent = 0;
};

// Beyond 10^18 all exponents are alike.
std::int64_t read_exponent(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::int64_t value = 0;
  for (const char c : text)
    if (is_digit(c) && value < 100'000'000'000'000'000) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

Digits read_digits(std::string_view number) {
  Digits result{.negative = number.starts_with('-')};
  const std::size_t e = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, e);
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return {};
  const std::size_t last = mantissa.find_last_of("123456789");
  result.digits = mantissa.substr(first, last - first + 1);
  const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
  const auto at = static_cast<std::int64_t>(first);
  result.exponent = at < point ? point - at - 1 : point - at;
  if (e != std::string_view::npos) result.exponent += read_exponent(number.substr(e + 1));
  return result;
}

}  // namespace

bool same_json(std::string_view a, std::string_view b) {
  Tokens left(a);
  Tokens right(b);
  for (;;) {
    const std::string_view x = left.next();
    const std::string_view y = right.next();
    if (x.empty() && y.empty()) return true;
    if (same_token(x, y)) continue;
    const bool keys = x.starts_with('"') && left.before_colon();
    return keys && SpotComparison(a, b).same();
  }
}

bool same_number(std::string_view a, std::string_view b) {
  const Digits x = read_digits(a);
  const Digits y = read_digits(b);
  if (x.negative != y.negative || x.exponent != y.exponent) return false;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < x.digits.size() && j < y.digits.size()) {
    if (x.digits[i] == '.') ++i;
    if (y.digits[j] == '.') ++j;
    if (x.digits[i++] != y.digits[j++]) return false;
  }
  return i == x.digits.size() && j == y.digits.size();
}

}  // namespace pawl
