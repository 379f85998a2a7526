// The first stage of simdjson gives the positions, outside of texts, of `{}[]:,`, of the quote that
// begins a text, and of the first byte of anything else. It refuses what is not UTF-8, texts that
// do not end, and control characters in them. What is left is: the order of these, that the rest of
// each word and number is right, and escapes.
#include "pipe/quick_json.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/text.h"
#include "model/expression/json_scan.h"

namespace pawl {
namespace {

constexpr int kDepthMost = 64;
// A number that is no longer is in range: 19 digits, or 18 and a sign, have 64 bits, and a decimal
// with an exponent of two digits is far from the limits of a double.
constexpr std::ptrdiff_t kWholeBytesMost = 19;
constexpr std::ptrdiff_t kFractionDigitsMost = 32;
constexpr std::ptrdiff_t kExponentDigitsMost = 2;
constexpr std::ptrdiff_t kUnitBytes = 6;  // of `\u0041`

// Eight bytes at once, as one number.
static_assert(std::endian::native == std::endian::little, "the first byte is the lowest");
constexpr std::ptrdiff_t kWordBytes = 8;
constexpr std::uint64_t of_each(std::uint64_t byte) { return byte * 0x0101010101010101U; }

std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// Which byte has the lowest bit that is set; 8 when there is none.
std::ptrdiff_t first_byte(std::uint64_t bits) { return std::countr_zero(bits) / 8; }

// Of eight bytes those before the first that is no digit: a digit has the upper half 3, and keeps
// it when 6 is added. What is carried to the next byte comes from one that is no digit.
std::ptrdiff_t count_digits(std::uint64_t word) {
  const std::uint64_t upper = of_each(0xf0);
  const std::uint64_t three = of_each(0x30);
  return first_byte(((word & upper) ^ three) | (((word + of_each(6)) & upper) ^ three));
}

// Of eight bytes those before the first backslash: that is the lowest byte from which 1 is borrowed
// when it was made a zero.
std::ptrdiff_t count_to_backslash(std::uint64_t word) {
  const std::uint64_t zero_there = word ^ of_each('\\');
  return first_byte((zero_there - of_each(1)) & ~zero_there & of_each(0x80));
}

constexpr bool is_short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      return true;
    default:
      return false;
  }
}

// Of `\u0041`; less than 0 when it is none.
int code_unit(const char* at, const char* end) {
  if (end - at < kUnitBytes || at[0] != '\\' || at[1] != 'u') return -1;
  int unit = 0;
  for (const char c : std::string_view(at + 2, 4)) {
    const char lower = to_lower(c);
    if (is_digit(c)) {
      unit = unit * 16 + (c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      unit = unit * 16 + (lower - 'a' + 10);
    } else {
      return -1;
    }
  }
  return unit;
}

// Behind the escape, or the two of a pair; null where it is none.
const char* past_unicode_escape(const char* at, const char* end) {
  const int unit = code_unit(at, end);
  if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return nullptr;
  at += kUnitBytes;
  if (unit < 0xd800 || unit > 0xdfff) return at;
  const int low = code_unit(at, end);
  return low >= 0xdc00 && low <= 0xdfff ? at + kUnitBytes : nullptr;
}

const char* past_escape(const char* at, const char* end) {
  if (end - at >= 2 && is_short_escape(at[1])) return at + 2;
  return past_unicode_escape(at, end);
}

// The next one, or the end.
const char* find_backslash(const char* at, const char* end) {
  if (at == end) return end;
  const void* found = std::memchr(at, '\\', static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

// Where there is one, the next is often near.
const char* find_near_backslash(const char* at, const char* end) {
  if (end - at >= kWordBytes) {
    const std::ptrdiff_t count = count_to_backslash(word_at(at));
    at += count;
    if (count < kWordBytes) return at;
  }
  return find_backslash(at, end);
}

// From the first escape to the end of the last.
struct Escapes {
  const char* first;
  const char* last;

  // False where none is, for sure.
  bool may_be_in(std::string_view part) const {
    return part.data() < last && part.data() + part.size() > first;
  }
};

// None: one of them is wrong.
std::optional<Escapes> read_escapes(std::string_view text) {
  const char* end = text.data() + text.size();
  const char* at = find_backslash(text.data(), end);
  Escapes escapes{at, at};
  while (at != end) {
    at = past_escape(at, end);
    if (at == nullptr) return std::nullopt;
    escapes.last = at;
    at = find_near_backslash(at, end);
  }
  return escapes;
}

// Goes from place to place. The last one is that of a `}`: what begins at another does not run out
// of the text, and only behind a `}` may there be no other place.
class Walk {
 public:
  Walk(std::string_view text, const std::uint32_t* places, std::size_t count, Escapes escapes,
       MapMembers& members)
      : begin_(text.data()),
        end_(text.data() + text.size()),
        next_(places),
        last_(places + count),
        escapes_(escapes),
        members_(members) {}

  // Whether it is a map, and nothing else.
  bool run() {
    if (last_ - next_ < 2 || *take() != '{' || begin_[last_[-1]] != '}') return false;
    if (*here() == '}') return next_ + 1 == last_;
    for (;;) {
      const char* key = take();
      if (*key != '"') return false;
      const char* colon = take();
      if (*colon != ':') return false;
      const char* value = take();
      if (!pass_value(value) || next_ == last_) return false;
      const char* end = take();
      if (!add(up_to(key, colon), up_to(value, end))) return false;
      if (*end != ',') return *end == '}' && next_ == last_;
    }
  }

 private:
  const char* here() const { return begin_ + *next_; }
  const char* take() { return begin_ + *next_++; }

  // Without the blanks before `end`.
  static std::string_view up_to(const char* begin, const char* end) {
    while (is_json_blank(end[-1])) --end;
    return {begin, static_cast<std::size_t>(end - begin)};
  }

  bool add(std::string_view key, std::string_view value) {
    const std::string_view name = key.substr(1, key.size() - 2);
    members_.add(name, value);
    return !escapes_.may_be_in(name) || name.find('\\') == std::string_view::npos;
  }

  // Of what is inside of it nothing is kept.
  bool pass_value(const char* value) {
    if (*value == '"') return true;
    if (*value == '{' || *value == '[') return pass_inside(*value == '{');
    return is_word(value);
  }

  // Behind the bracket that opens a map or a list: up to the one that closes it.
  bool pass_inside(bool is_map) {
    std::uint64_t maps = is_map ? 1 : 0;  // what is open: a bit for each, the innermost the lowest
    int depth = 1;
    bool is_begin = true;
    for (;;) {
      if (is_begin && *here() == (is_map ? '}' : ']')) {
        is_begin = false;
      } else {
        if (is_map && (*take() != '"' || *take() != ':')) return false;
        const char* value = take();
        is_begin = *value == '{' || *value == '[';
        if (is_begin) {
          if (++depth > kDepthMost) return false;
          is_map = *value == '{';
          maps = maps << 1U | (is_map ? 1U : 0U);
          continue;
        }
        if (*value != '"' && !is_word(value)) return false;
      }
      for (;;) {
        if (next_ == last_) return false;
        const char end = *take();
        if (end == ',') break;
        if (end != (is_map ? '}' : ']')) return false;
        if (--depth == 0) return true;
        maps >>= 1U;
        is_map = (maps & 1U) != 0;
      }
    }
  }

  bool is_word(const char* at) const {
    switch (*at) {
      case 't':
        return is_word(at, "true");
      case 'f':
        return is_word(at, "false");
      case 'n':
        return is_word(at, "null");
      default:
        return is_number(at);
    }
  }

  bool is_word(const char* at, std::string_view word) const {
    const std::string_view rest(at, static_cast<std::size_t>(end_ - at));
    return rest.size() > word.size() && rest.starts_with(word) && is_end(at + word.size());
  }

  bool is_number(const char* at) const {
    const char* begin = at;
    at += *at == '-' ? 1 : 0;
    const char* whole = at;
    at = past_digits(at);
    if (at == whole || at - begin > kWholeBytesMost) return false;
    if (*whole == '0' && at - whole > 1) return false;
    if (*at == '.') {
      const char* fraction = ++at;
      at = past_digits(at);
      if (at == fraction || at - fraction > kFractionDigitsMost) return false;
    }
    return is_end(at) || is_exponent(at);
  }

  // So rare that the others shall not pay for it.
  [[gnu::noinline]] bool is_exponent(const char* at) const {
    if (*at != 'e' && *at != 'E') return false;
    ++at;
    at += *at == '-' || *at == '+' ? 1 : 0;
    const char* digits = at;
    while (is_digit(*at)) ++at;
    return at != digits && at - digits <= kExponentDigitsMost && is_end(at);
  }

  const char* past_digits(const char* at) const {
    while (end_ - at >= kWordBytes) {
      const std::ptrdiff_t count = count_digits(word_at(at));
      at += count;
      if (count < kWordBytes) return at;
    }
    while (is_digit(*at)) ++at;
    return at;
  }

  // Of a word: the next place, or blanks before it.
  bool is_end(const char* at) const { return at == here() || is_json_blank(*at); }

  const char* begin_;
  const char* end_;
  const std::uint32_t* next_;
  const std::uint32_t* last_;  // behind the last one
  const Escapes escapes_;
  MapMembers& members_;
};

}  // namespace

QuickJson::Verdict QuickJson::read(std::string_view text, simdjson::dom::parser& parser,
                                   MapMembers& members) {
  members.begin(text);
  if (text.empty()) return Verdict::unsure;
  if (parser.capacity() < text.size() &&
      parser.allocate(text.size(), parser.max_depth()) != simdjson::SUCCESS)
    return Verdict::unsure;
  auto& stage = *parser.implementation;
  if (stage.stage1(reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                   simdjson::stage1_mode::regular) != simdjson::SUCCESS)
    return Verdict::unsure;
  const auto escapes = read_escapes(text);
  if (!escapes) return Verdict::unsure;
  Walk walk(text, stage.structural_indexes.get(), stage.n_structural_indexes, *escapes, members);
  return walk.run() ? Verdict::json : Verdict::unsure;
}

}  // namespace pawl
