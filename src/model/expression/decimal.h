// Decimal: an exact decimal number, as money needs it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pawl {

__extension__ typedef __int128 Int128;  // NOLINT(modernize-use-using): `using` takes no extension

// A whole number of up to 38 digits, divided by a power of ten. Every operation gives the exact
// result or none at all; only division and `read` round, where they say so.
class Decimal {
 public:
  static constexpr int kScaleMax = 18;  // decimal places

  constexpr Decimal() = default;
  constexpr Decimal(std::int64_t whole) : coefficient_(whole) {}  // NOLINT: implicit by design

  // The number that JSON text says: `-1.50`, `2e3`. None when the text is no JSON number or says
  // more than 38 digits or 18 places can hold.
  static std::optional<Decimal> parse(std::string_view json);

  // The same, with places beyond the 18th rounded (half to even): for numbers that come from
  // outside, where a double may well be written with 30 places.
  static std::optional<Decimal> read(std::string_view json);

  // The one canonical form: no exponent, no zeros that say nothing.
  std::string to_text() const;

  bool is_integer() const { return scale_ == 0; }

  // None when it has decimals or is out of range.
  std::optional<std::int64_t> to_int64() const;

  Decimal operator-() const;

  // Equal values have equal members.
  friend bool operator==(const Decimal&, const Decimal&) = default;
  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);

  friend std::optional<Decimal> operator+(const Decimal& a, const Decimal& b);
  friend std::optional<Decimal> operator-(const Decimal& a, const Decimal& b);
  friend std::optional<Decimal> operator*(const Decimal& a, const Decimal& b);

  // Exact when it ends within 18 places, else rounded to 18 (half to even). None by zero.
  friend std::optional<Decimal> operator/(const Decimal& a, const Decimal& b);

  // What is left of `a` after whole steps of `b`; it has the sign of `a`. None by zero.
  friend std::optional<Decimal> operator%(const Decimal& a, const Decimal& b);

 private:
  static std::optional<Decimal> make(Int128 coefficient, int scale);
  static std::optional<Decimal> read_plain(std::string_view json);

  // Never the smallest Int128, so that the sign can always be turned; no factor of ten in common
  // with the scale, so that every value has one form.
  Int128 coefficient_ = 0;
  int scale_ = 0;
};

}  // namespace pawl
