#include "model/expression/decimal.h"

#include <algorithm>
#include <array>

#include "base/cursor.h"
#include "base/text.h"

namespace pawl {
namespace {

__extension__ typedef unsigned __int128 Natural;  // NOLINT(modernize-use-using)

constexpr int kPowers = 39;  // 10^38 is the largest that fits

constexpr std::array<Int128, kPowers> kPowersOfTen = [] {
  std::array<Int128, kPowers> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

constexpr Int128 kMax = ~(Int128{1} << 127);
constexpr Int128 kMin = -kMax;  // not the smallest one

std::optional<Int128> product(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_mul_overflow(a, b, &result) || result < kMin) return std::nullopt;
  return result;
}

std::optional<Int128> sum(Int128 a, Int128 b) {
  Int128 result = 0;
  if (__builtin_add_overflow(a, b, &result) || result < kMin) return std::nullopt;
  return result;
}

std::optional<Int128> shifted(Int128 number, std::int64_t places) {
  if (number == 0) return number;
  if (places >= kPowers) return std::nullopt;
  return product(number, kPowersOfTen[static_cast<std::size_t>(places)]);
}

constexpr bool fits_64(Int128 number) { return number >= INT64_MIN && number <= INT64_MAX; }

constexpr Natural magnitude(Int128 number) {
  return static_cast<Natural>(number < 0 ? -number : number);
}

// Whether a quotient that ends in the digit of `quotient` and leaves `rest` is rounded away from
// zero.
bool rounds_up(Natural quotient, Natural rest, Natural divisor) {
  const Natural missing = divisor - rest;
  return rest > missing || (rest == missing && quotient % 2 == 1);
}

// The number divided by a power of ten, half to even. `more`: it was a little further from zero.
Int128 without_places(Int128 number, std::int64_t places, bool more) {
  if (places >= kPowers) return 0;
  const auto divisor = static_cast<Natural>(kPowersOfTen[static_cast<std::size_t>(places)]);
  Natural quotient = magnitude(number) / divisor;
  const Natural rest = magnitude(number) % divisor;
  if (rounds_up(quotient, rest, divisor) || (more && rest == divisor - rest)) ++quotient;
  return number < 0 ? -static_cast<Int128>(quotient) : static_cast<Int128>(quotient);
}

// Reads a JSON number as a coefficient times a power of ten. Zeros wait until another digit follows
// them, so that zeros at the end never make a number too long.
class NumberReader : Cursor {
 public:
  using Cursor::Cursor;

  bool read() {
    const bool negative = skip('-');
    const bool zero = peek() == '0';
    const std::size_t whole = read_digits();
    if (whole == 0 || (zero && whole > 1)) return false;
    if (skip('.')) {
      const std::size_t places = read_digits();
      if (places == 0) return false;
      exponent -= static_cast<std::int64_t>(places);
    }
    if ((skip('e') || skip('E')) && !read_exponent()) return false;
    exponent += zeros_;
    if (negative) coefficient = -coefficient;
    return at_end();
  }

  Int128 coefficient = 0;
  std::int64_t exponent = 0;
  bool cut = false;  // digits beyond the 38th were left out

 private:
  bool skip(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  std::size_t read_digits() {
    const std::size_t begin = at_;
    for (; is_digit(peek()); ++at_) take(peek() - '0');
    return at_ - begin;
  }

  void take(int digit) {
    if (coefficient == 0 && digit == 0) return;
    ++zeros_;
    if (cut || digit == 0) return;
    const auto longer = shifted(coefficient, zeros_);
    const auto result = longer ? sum(*longer, digit) : std::nullopt;
    cut = !result;
    if (!result) return;
    coefficient = *result;
    zeros_ = 0;
  }

  // Beyond a billion all exponents are alike: nothing but zero has them.
  bool read_exponent() {
    const bool negative = skip('-');
    if (!negative) skip('+');
    const std::size_t begin = at_;
    std::int64_t value = 0;
    for (; is_digit(peek()); ++at_)
      value = std::min<std::int64_t>(value * 10 + (peek() - '0'), 1'000'000'000);
    exponent += negative ? -value : value;
    return at_ > begin;
  }

  std::int64_t zeros_ = 0;
};

}  // namespace

// Almost all numbers fit into 64 bits, where division costs a tenth.
std::optional<Decimal> Decimal::make(Int128 coefficient, int scale) {
  if (fits_64(coefficient)) {
    auto narrow = static_cast<std::int64_t>(coefficient);
    for (; scale > 0 && narrow % 10 == 0; --scale) narrow /= 10;
    coefficient = narrow;
  }
  for (; scale > 0 && coefficient % 10 == 0; --scale) coefficient /= 10;
  if (scale > kScaleMax) return std::nullopt;
  Decimal decimal;
  decimal.coefficient_ = coefficient;
  decimal.scale_ = scale;
  return decimal;
}

// The common form, `-12.50`, in up to 18 digits and without an exponent; none for any other.
std::optional<Decimal> Decimal::read_plain(std::string_view json) {
  constexpr std::size_t kLongest = 18;
  const bool negative = json.starts_with('-');
  if (negative) json.remove_prefix(1);
  const std::size_t point = json.find('.');
  const std::size_t whole = std::min(point, json.size());
  const bool zeros_before = whole > 1 && json.front() == '0';
  if (whole == 0 || zeros_before || json.size() > kLongest || point + 1 == json.size())
    return std::nullopt;
  std::int64_t number = 0;
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (at == point) continue;
    if (!is_digit(json[at])) return std::nullopt;
    number = number * 10 + (json[at] - '0');
  }
  const std::size_t scale = point == std::string_view::npos ? 0 : json.size() - point - 1;
  return make(negative ? -number : number, static_cast<int>(scale));
}

std::optional<Decimal> Decimal::parse(std::string_view json) {
  if (const auto plain = read_plain(json)) return plain;
  NumberReader number(json);
  if (!number.read() || number.cut) return std::nullopt;
  if (number.coefficient == 0) return Decimal{};
  if (number.exponent < -kScaleMax) return std::nullopt;
  if (number.exponent < 0) return make(number.coefficient, -static_cast<int>(number.exponent));
  const auto whole = shifted(number.coefficient, number.exponent);
  return whole ? make(*whole, 0) : std::nullopt;
}

std::optional<Decimal> Decimal::read(std::string_view json) {
  if (const auto plain = read_plain(json)) return plain;
  NumberReader number(json);
  if (!number.read()) return std::nullopt;
  if (number.exponent >= -kScaleMax || number.coefficient == 0) return parse(json);
  return make(without_places(number.coefficient, -kScaleMax - number.exponent, number.cut),
              kScaleMax);
}

std::string Decimal::to_text() const {
  std::string digits;
  const auto scale = static_cast<std::size_t>(scale_);
  for (Natural left = magnitude(coefficient_); left > 0 || digits.size() <= scale; left /= 10) {
    if (scale > 0 && digits.size() == scale) digits += '.';
    digits += static_cast<char>('0' + static_cast<int>(left % 10));
  }
  if (coefficient_ < 0) digits += '-';
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::optional<std::int64_t> Decimal::to_int64() const {
  if (scale_ > 0 || coefficient_ < INT64_MIN || coefficient_ > INT64_MAX) return std::nullopt;
  return static_cast<std::int64_t>(coefficient_);
}

Decimal Decimal::operator-() const {
  Decimal result = *this;
  result.coefficient_ = -coefficient_;
  return result;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  const auto compared = [](Int128 left, Int128 right) {
    if (left == right) return std::strong_ordering::equal;
    return left < right ? std::strong_ordering::less : std::strong_ordering::greater;
  };
  if (a.scale_ == b.scale_) return compared(a.coefficient_, b.coefficient_);
  const int scale = std::max(a.scale_, b.scale_);
  const auto of_a = shifted(a.coefficient_, scale - a.scale_);
  const auto of_b = shifted(b.coefficient_, scale - b.scale_);
  if (of_a && of_b) return compared(*of_a, *of_b);
  // Brought to one scale they do not fit: whole parts first.
  const auto parts = [](const Decimal& x) {
    const Int128 one = kPowersOfTen[static_cast<std::size_t>(x.scale_)];
    const Int128 rest_unit = kPowersOfTen[static_cast<std::size_t>(Decimal::kScaleMax - x.scale_)];
    return std::array<Int128, 2>{x.coefficient_ / one, x.coefficient_ % one * rest_unit};
  };
  const auto left = parts(a);
  const auto right = parts(b);
  const std::size_t at = left[0] == right[0] ? 1 : 0;
  return compared(left[at], right[at]);
}

std::optional<Decimal> operator+(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale_, b.scale_);
  const auto left = shifted(a.coefficient_, scale - a.scale_);
  const auto right = shifted(b.coefficient_, scale - b.scale_);
  if (!left || !right) return std::nullopt;
  const auto result = sum(*left, *right);
  return result ? Decimal::make(*result, scale) : std::nullopt;
}

std::optional<Decimal> operator-(const Decimal& a, const Decimal& b) { return a + -b; }

std::optional<Decimal> operator*(const Decimal& a, const Decimal& b) {
  const auto result = product(a.coefficient_, b.coefficient_);
  return result ? Decimal::make(*result, a.scale_ + b.scale_) : std::nullopt;
}

// By hand, digit by digit, until nothing is left or 18 places are written.
std::optional<Decimal> operator/(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale_, b.scale_);
  const auto dividend = shifted(a.coefficient_, scale - a.scale_);
  const auto divisor = shifted(b.coefficient_, scale - b.scale_);
  if (!dividend || !divisor || *divisor == 0) return std::nullopt;
  const Natural by = magnitude(*divisor);
  Natural quotient = magnitude(*dividend) / by;
  Natural rest = magnitude(*dividend) % by;
  int places = 0;
  for (; rest > 0 && places < Decimal::kScaleMax; ++places) {
    if (__builtin_mul_overflow(rest, Natural{10}, &rest)) return std::nullopt;
    if (__builtin_mul_overflow(quotient, Natural{10}, &quotient)) return std::nullopt;
    if (__builtin_add_overflow(quotient, rest / by, &quotient)) return std::nullopt;
    rest %= by;
  }
  if (rest > 0 && rounds_up(quotient, rest, by)) ++quotient;
  if (quotient > static_cast<Natural>(kMax)) return std::nullopt;
  const auto result = static_cast<Int128>(quotient);
  const bool negative = (*dividend < 0) != (*divisor < 0);
  return Decimal::make(negative ? -result : result, places);
}

std::optional<Decimal> operator%(const Decimal& a, const Decimal& b) {
  const int scale = std::max(a.scale_, b.scale_);
  const auto dividend = shifted(a.coefficient_, scale - a.scale_);
  const auto divisor = shifted(b.coefficient_, scale - b.scale_);
  if (!dividend || !divisor || *divisor == 0) return std::nullopt;
  return Decimal::make(*dividend % *divisor, scale);
}

}  // namespace pawl
