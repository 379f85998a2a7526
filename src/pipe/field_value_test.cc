#include "pipe/field_value.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

std::string plain(std::string_view json) {
  std::string out;
  return FieldValue(json).append_plain_to(out) ? out : "none";
}

TEST(FieldValue, HasAKind) {
  using Kind = FieldValue::Kind;
  const std::pair<const char*, Kind> rows[] = {
      {"null", Kind::null},    {"true", Kind::boolean}, {"false", Kind::boolean},
      {"0", Kind::whole},      {"-0", Kind::whole},     {"18446744073709551615", Kind::whole},
      {"1.0", Kind::decimal},  {"1e5", Kind::decimal},  {"-1E-5", Kind::decimal},
      {"\"1.5\"", Kind::text}, {"[1.5]", Kind::list},   {"{\"a\":1.5}", Kind::map},
  };
  for (const auto& [json, kind] : rows) EXPECT_EQ(FieldValue(json).kind(), kind) << json;
}

TEST(FieldValue, IsPlainAsATextOrAWholeNumber) {
  EXPECT_EQ(plain("\"x\""), "x");
  EXPECT_EQ(plain(R"("a\"\\\/\n\u00e9\ud83d\ude00")"), "a\"\\/\né😀");
  EXPECT_EQ(plain("-7"), "-7");
  EXPECT_EQ(plain("-0"), "0");
  EXPECT_EQ(plain("18446744073709551615"), "18446744073709551615");
  for (const char* other : {"1.0", "1e5", "null", "true", "[]", "{}"})
    EXPECT_EQ(plain(other), "none") << other;
}

TEST(FieldValue, IsANumber) {
  EXPECT_EQ(FieldValue("-9223372036854775808").whole(), INT64_MIN);
  EXPECT_EQ(FieldValue("-0").whole(), 0);
  for (const char* other : {"9223372036854775808", "1.0", "1e5", "\"1\"", "null"})
    EXPECT_EQ(FieldValue(other).whole(), std::nullopt) << other;
  EXPECT_EQ(FieldValue("1478822400.25").number(), 1478822400.25);
  EXPECT_EQ(FieldValue("18446744073709551615").number(), 18446744073709551615.0);
  EXPECT_EQ(FieldValue("1e300").number(), 1e300);
  EXPECT_EQ(FieldValue("1e-400").number(), 0);
  EXPECT_EQ(FieldValue("4.9e-324").number(), 4.9e-324);
}

TEST(FieldValue, IsShown) {
  const std::pair<const char*, const char*> rows[] = {
      {"1.50", "1.5"},   {"-0", "0"},     {"true", "true"},         {"null", "null"},
      {"[1]", "a list"}, {"{}", "a map"}, {R"("\u0061b")", "'ab'"},
  };
  for (const auto& [json, text] : rows) EXPECT_EQ(shown(FieldValue(json)), text);
  EXPECT_EQ(shown(FieldValue("\"" + std::string(50, 'x') + "\"")),
            "'" + std::string(40, 'x') + "…'");
}

}  // namespace
}  // namespace pawl
