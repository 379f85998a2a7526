#include "model/expression/decimal.h"

#include <gtest/gtest.h>

#include <random>

namespace pawl {
namespace {

constexpr std::string_view kLargest = "170141183460469231731687303715884105727";

Decimal decimal(std::string_view text) {
  const auto result = Decimal::parse(text);
  EXPECT_TRUE(result) << text;
  return result.value_or(Decimal{});
}

std::string shown(const std::optional<Decimal>& decimal) {
  return decimal ? decimal->to_text() : "none";
}

std::string canonical(std::string_view text) { return shown(Decimal::parse(text)); }

TEST(Decimal, HasOneFormForEveryValue) {
  EXPECT_EQ(canonical("0"), "0");
  EXPECT_EQ(canonical("-0"), "0");
  EXPECT_EQ(canonical("-0.00e7"), "0");
  EXPECT_EQ(canonical("1.50"), "1.5");
  EXPECT_EQ(canonical("-12.000"), "-12");
  EXPECT_EQ(canonical("100"), "100");
  EXPECT_EQ(canonical("0.05"), "0.05");
  EXPECT_EQ(canonical("1e3"), "1000");
  EXPECT_EQ(canonical("1.25E+1"), "12.5");
  EXPECT_EQ(canonical("125e-4"), "0.0125");
  EXPECT_EQ(canonical("1000e-3"), "1");
  EXPECT_EQ(canonical("0.000000000000000001"), "0.000000000000000001");
  EXPECT_EQ(canonical(kLargest), kLargest);
  EXPECT_EQ(canonical("-" + std::string(kLargest)), "-" + std::string(kLargest));
  EXPECT_EQ(canonical("1.000000000000000000000000000000000000000000000"), "1");
  EXPECT_EQ(canonical("1" + std::string(50, '0') + "e-50"), "1");
}

TEST(Decimal, RefusesWhatIsNoJsonNumber) {
  for (const char* text :
       {"", "-", "+1", "01", "1.", ".5", "1e", "1e+", " 1", "1 ", "x", "1.5.2", "--1", "0x1"})
    EXPECT_EQ(canonical(text), "none") << text;
}

TEST(Decimal, RefusesWhatItCannotHoldExactly) {
  EXPECT_EQ(canonical("170141183460469231731687303715884105728"), "none");
  EXPECT_EQ(canonical("-170141183460469231731687303715884105728"), "none");
  EXPECT_EQ(canonical("1e39"), "none");
  EXPECT_EQ(canonical("1e-19"), "none");
  EXPECT_EQ(canonical("1e99999999999999999999"), "none");
  EXPECT_EQ(canonical("1e-99999999999999999999"), "none");
  EXPECT_EQ(canonical("0e99999999999999999999"), "0");
}

TEST(Decimal, ReadRoundsPlacesBeyondTheEighteenth) {
  EXPECT_EQ(shown(Decimal::read("1.1102230246251565e-16")), "0.000000000000000111");
  EXPECT_EQ(shown(Decimal::read("0.0000000000000000005")), "0");
  EXPECT_EQ(shown(Decimal::read("0.0000000000000000015")), "0.000000000000000002");
  EXPECT_EQ(shown(Decimal::read("-0.0000000000000000015")), "-0.000000000000000002");
  EXPECT_EQ(shown(Decimal::read("0.00000000000000000051")), "0.000000000000000001");
  EXPECT_EQ(shown(Decimal::read("1e-400")), "0");
  EXPECT_EQ(shown(Decimal::read("0." + std::string(18, '0') + "5" + std::string(60, '0') + "1")),
            "0.000000000000000001");
  EXPECT_EQ(shown(Decimal::read("2.50")), "2.5");
  EXPECT_EQ(shown(Decimal::read("1e39")), "none");
  EXPECT_EQ(shown(Decimal::read("1.x")), "none");
}

TEST(Decimal, ComparesByValue) {
  EXPECT_EQ(decimal("1.50"), decimal("15e-1"));
  EXPECT_LT(decimal("-1.5"), decimal("-1.2"));
  EXPECT_LT(decimal("-0.5"), decimal("0.5"));
  EXPECT_LT(decimal("0.1"), decimal("0.11"));
  EXPECT_GT(decimal(kLargest), decimal("0.000000000000000001"));
  EXPECT_LT(decimal("-" + std::string(kLargest)), decimal("0.000000000000000001"));
  EXPECT_GT(decimal("17014118346046923173.5"), decimal("17014118346046923173"));
}

TEST(Decimal, AddsSubtractsAndMultipliesExactly) {
  EXPECT_EQ(shown(decimal("0.1") + decimal("0.2")), "0.3");
  EXPECT_EQ(shown(decimal("1.5") - decimal("1.5")), "0");
  EXPECT_EQ(shown(decimal("19.99") * decimal("3")), "59.97");
  EXPECT_EQ(shown(decimal("-0.5") * decimal("0.5")), "-0.25");
  EXPECT_EQ(shown(decimal(kLargest) + decimal("1")), "none");
  EXPECT_EQ(shown(-decimal(kLargest) - decimal("1")), "none");
  EXPECT_EQ(shown(decimal(kLargest) + decimal("0.1")), "none");
  EXPECT_EQ(shown(decimal(kLargest) * decimal("-1")), "-" + std::string(kLargest));
  EXPECT_EQ(shown(decimal(kLargest) * decimal("2")), "none");
  EXPECT_EQ(shown(decimal("1e-10") * decimal("1e-10")), "none");
}

TEST(Decimal, DividesExactlyOrToEighteenPlaces) {
  EXPECT_EQ(shown(decimal("10") / decimal("4")), "2.5");
  EXPECT_EQ(shown(decimal("1") / decimal("3")), "0.333333333333333333");
  EXPECT_EQ(shown(decimal("2") / decimal("3")), "0.666666666666666667");
  EXPECT_EQ(shown(decimal("-2") / decimal("3")), "-0.666666666666666667");
  EXPECT_EQ(shown(decimal("0.000000000000000001") / decimal("2")), "0");
  EXPECT_EQ(shown(decimal("0.000000000000000003") / decimal("2")), "0.000000000000000002");
  EXPECT_EQ(shown(decimal("0.3") / decimal("0.1")), "3");
  EXPECT_EQ(shown(decimal("1") / decimal("0")), "none");
  EXPECT_EQ(shown(decimal("1e30") / decimal("3")), "none");
  EXPECT_EQ(shown(decimal("1e38") / decimal("0.1")), "none");
}

TEST(Decimal, RemainderHasTheSignOfTheDividend) {
  EXPECT_EQ(shown(decimal("7") % decimal("3")), "1");
  EXPECT_EQ(shown(decimal("-7") % decimal("3")), "-1");
  EXPECT_EQ(shown(decimal("7") % decimal("-3")), "1");
  EXPECT_EQ(shown(decimal("1") % decimal("0.3")), "0.1");
  EXPECT_EQ(shown(decimal("1") % decimal("0")), "none");
}

TEST(Decimal, KnowsIntegers) {
  EXPECT_TRUE(decimal("2.0").is_integer());
  EXPECT_FALSE(decimal("2.5").is_integer());
  EXPECT_EQ(decimal("-9223372036854775808").to_int64(), INT64_MIN);
  EXPECT_EQ(decimal("9223372036854775808").to_int64(), std::nullopt);
  EXPECT_EQ(decimal("1.5").to_int64(), std::nullopt);
}

// Whatever can be printed is read back as itself, and the operations agree with each other.
TEST(Decimal, OperationsAgreeOnRandomNumbers) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto any = [&] {
      const auto bits = static_cast<unsigned>(random() % 62);
      const auto whole = static_cast<std::int64_t>(random() >> (1 + bits));
      const std::string sign = random() % 2 == 0 ? "-" : "";
      return decimal(sign + std::to_string(whole) + "e-" + std::to_string(random() % 19));
    };
    const Decimal a = any();
    const Decimal b = any();
    EXPECT_EQ(decimal(a.to_text()), a);
    EXPECT_EQ(a<b, b> a);
    if (const auto c = a + b) {
      EXPECT_EQ(*c - b, a);
      EXPECT_EQ(*c > a, b > Decimal{0});
    }
    if (const auto c = a * b; c && b != Decimal{}) {
      EXPECT_EQ(*c / b, a);
      EXPECT_EQ(*c % b == Decimal{0}, a.is_integer());
    }
  }
}

}  // namespace
}  // namespace pawl
