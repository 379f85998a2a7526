#include <gtest/gtest.h>

#include <random>

#include "pawl/time.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

TEST(Duration, ReadsEveryForm) {
  const std::pair<const char*, Duration> kForms[] = {
      {"0", 0s},
      {"0s", 0s},
      {"500ms", 500ms},
      {"30s", 30s},
      {"5m", 5min},
      {"2h", 2h},
      {"7d", 168h},
      {"1 hour", 1h},
      {"10 minutes", 10min},
      {"5 minute", 5min},
      {"1 second", 1s},
      {"2 days", 48h},
      {"1 week", 168h},
      {"250 milliseconds", 250ms},
      {"PT1H30M", 90min},
      {"PT1H", 1h},
      {"P1D", 24h},
      {"P1DT12H", 36h},
      {"P2W", 336h},
      {"PT0.5S", 500ms},
      {"PT0,000001S", 1us},
      {"pt5m", 5min},
      {"PT0M", 0s},
      {"PT1H30M10.25S", 1h + 30min + 10s + 250ms},
      {"0005m", 5min},
  };
  for (const auto& [text, expected] : kForms) {
    const auto read = parse_duration(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, expected) << text;
  }
}

TEST(Duration, PrintsOneCanonicalForm) {
  const std::pair<Duration, const char*> kForms[] = {
      {0s, "0s"},
      {1ms, "1ms"},
      {1500ms, "1500ms"},
      {60s, "1m"},
      {90min, "90m"},
      {24h, "1d"},
      {25h, "25h"},
      {168h, "7d"},
      {1us, "PT0.000001S"},
      {1s + 500us, "PT1.0005S"},
      {kDurationMax, "PT315537897599.999999S"},
  };
  for (const auto& [duration, text] : kForms) EXPECT_EQ(to_text(duration), text);
}

TEST(Duration, PrintedTextReadsBackEqual) {
  std::mt19937_64 random(20'260'101);
  for (int i = 0; i < 20'000; ++i) {
    const Duration duration{static_cast<std::int64_t>(random() >> (1 + random() % 60)) %
                            (kDurationMax.count() + 1)};
    const auto back = parse_duration(to_text(duration));
    ASSERT_TRUE(back) << to_text(duration);
    ASSERT_EQ(*back, duration) << to_text(duration);
  }
}

struct BadDuration {
  const char* text;
  int column;
  const char* message;
};

TEST(Duration, MistakesAreErrorsWithColumnAndRemedy) {
  const BadDuration kBad[] = {
      {"", 1, "a duration is missing"},
      {"-5m", 1, "has no sign"},
      {"+5m", 1, "has no sign"},
      {"5", 1, "has no unit; write 5s"},
      {"5x", 2, "unknown unit 'x'; the units are ms, s, m"},
      {"5M", 2, "unknown unit 'M'"},
      {"1.5h", 2, "whole number"},
      {"5 minuts", 3, "did you mean minutes"},
      {"5  minutes", 3, "unknown unit ''"},
      {"1 month", 3, "no fixed length"},
      {"2y", 2, "no fixed length"},
      {"1h30m", 3, "unexpected '30m'"},
      {"five minutes", 1, "a number is missing"},
      {"5m ", 3, "unexpected ' '"},
      {"99999999999999999999s", 1, "too long"},
      {"3652060d", 1, "too long"},
      {"P1Y", 3, "no fixed length"},
      {"P1M", 3, "no fixed length"},
      {"P", 2, "is empty"},
      {"PT", 3, "a time is missing after T"},
      {"P1DT", 5, "a time is missing after T"},
      {"PT5M1H", 6, "the order is"},
      {"PT1.5H", 3, "only seconds may have a fraction"},
      {"PT1.S", 5, "digits are missing"},
      {"PT0.0000001S", 11, "at most six digits"},
      {"PT5", 4, "unexpected ''"},
      {"PT5MX", 5, "unexpected 'X'"},
      {"P5H", 3, "unexpected 'H'"},
      {"PT99999999999H", 3, "too long"},
      {"P3652058DT24H", 11, "too long"},
  };
  for (const BadDuration& bad : kBad) {
    const auto read = parse_duration(bad.text);
    ASSERT_FALSE(read) << bad.text;
    EXPECT_NE(read.error().message.find(bad.message), std::string::npos)
        << bad.text << ": " << read.error().message;
    ASSERT_TRUE(read.error().position) << bad.text;
    EXPECT_EQ(read.error().position->column, bad.column)
        << bad.text << ": " << read.error().message;
  }
}

TEST(Duration, TheLongestIsReadAndOneMoreIsNot) {
  EXPECT_EQ(*parse_duration("PT315537897599.999999S"), kDurationMax);
  EXPECT_FALSE(parse_duration("PT315537897600S"));
  EXPECT_EQ(kInstantMin + kDurationMax, kInstantMax);
}

}  // namespace
}  // namespace pawl
