#include "pipe/date_pattern.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

std::string written(std::string_view pattern, std::string_view at) {
  std::string out;
  DatePattern::parse(pattern)->append(out, *parse_instant(at));
  return out;
}

TEST(DatePattern, WritesEveryConversion) {
  EXPECT_EQ(written("%Y.%m.%d", "2026-11-06T09:30:00Z"), "2026.11.06");
  EXPECT_EQ(written("%y%j-%H%M%S%%", "2026-02-01T09:08:07.9Z"), "26032-090807%");
  EXPECT_EQ(written("%Y", "0007-01-01T00:00:00Z"), "0007");
  EXPECT_EQ(written("%Y.%m.%d %H", "1969-12-31T23:59:59.5Z"), "1969.12.31 23");
}

TEST(DatePattern, CountsWeeksAsIso8601Does) {
  EXPECT_EQ(written("%G.%V", "2026-11-16T00:00:00Z"), "2026.47");
  EXPECT_EQ(written("%G.%V", "2027-01-03T00:00:00Z"), "2026.53");
  EXPECT_EQ(written("%G.%V", "2027-01-04T00:00:00Z"), "2027.01");
  EXPECT_EQ(written("%G.%V", "2024-12-30T00:00:00Z"), "2025.01");
}

TEST(DatePattern, RefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(DatePattern::parse(""));
  EXPECT_FALSE(DatePattern::parse("%%"));
  EXPECT_FALSE(DatePattern::parse("%Y.%"));
  const auto unknown = DatePattern::parse("%Y.%B");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message.substr(0, 4), "'%B'");
  EXPECT_EQ(unknown.error().position, (Position{1, 4}));
}

TEST(DatePattern, KnowsHowLongItStaysTheSame) {
  using namespace std::chrono_literals;
  EXPECT_EQ(DatePattern::parse("%Y")->step(), 24h);
  EXPECT_EQ(DatePattern::parse("%H.%d")->step(), 1h);
  EXPECT_EQ(DatePattern::parse("%H%M")->step(), 1min);
  EXPECT_EQ(DatePattern::parse("%S")->step(), 1s);
  EXPECT_EQ(DatePattern::parse("%Y-%%%V")->length(), 8U);
}

TEST(LastDate, IsThatOfThePatternAndTheInstant) {
  LastDate last;
  const auto hours = *DatePattern::parse("%d.%H");
  const auto days = *DatePattern::parse("%d");
  const auto at = [](const char* text) { return *parse_instant(text); };
  EXPECT_EQ(last.write(hours, at("2026-11-16T09:00:00Z")), "16.09");
  EXPECT_EQ(last.write(hours, at("2026-11-16T09:59:59.999999Z")), "16.09");
  EXPECT_EQ(last.write(hours, at("2026-11-16T10:00:00Z")), "16.10");
  EXPECT_EQ(last.write(days, at("2026-11-16T10:00:00Z")), "16");
  EXPECT_EQ(last.write(days, at("1969-12-31T23:59:59Z")), "31");
  EXPECT_EQ(last.write(days, at("1970-01-01T00:00:00Z")), "01");
}

}  // namespace
}  // namespace pawl
