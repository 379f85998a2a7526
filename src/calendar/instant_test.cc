#include <gtest/gtest.h>

#include <random>

#include "calendar/zone.h"
#include "pawl/time.h"
#include "pawl/zones.h"

namespace pawl {
namespace {

using namespace std::chrono;

TEST(Instant, ReadsRfc3339) {
  const Instant expected = sys_days{2026y / 11 / 16} + 9h + 30min;
  for (const char* text : {"2026-11-16T09:30:00Z", "2026-11-16t09:30:00z", "2026-11-16 09:30:00Z",
                           "2026-11-16T10:30:00+01:00", "2026-11-16T00:00:00-09:30",
                           "2026-11-16T09:30:00-00:00", "2026-11-16T09:30:00.000Z"}) {
    const auto read = parse_instant(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, expected) << text;
  }
  EXPECT_EQ(*parse_instant("2026-11-16T09:30:00.25Z"), expected + 250ms);
  EXPECT_EQ(*parse_instant("2026-11-16T09:30:00.123456789Z"), expected + 123456us);
}

TEST(Instant, LeapSecondIsTheInstantAfterIt) {
  EXPECT_EQ(*parse_instant("2016-12-31T23:59:60Z"), *parse_instant("2017-01-01T00:00:00Z"));
  EXPECT_EQ(*parse_instant("2017-01-01T00:59:60.5+01:00"), *parse_instant("2017-01-01T00:00:00Z"));
  EXPECT_FALSE(parse_instant("2016-12-31T12:00:60Z"));
}

TEST(Instant, PrintsUtcAndReadsBack) {
  EXPECT_EQ(to_text(Instant{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(to_text(Instant{-1us}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_text(kInstantMin), "0001-01-01T00:00:00Z");
  EXPECT_EQ(to_text(kInstantMax), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_text(Instant::max()), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(to_text(Instant::min()), "0001-01-01T00:00:00Z");
  std::mt19937_64 random(5);
  for (int i = 0; i < 20'000; ++i) {
    const Instant instant =
        kInstantMin + Duration{static_cast<std::int64_t>(
                          random() % static_cast<std::uint64_t>(kDurationMax.count()))};
    ASSERT_EQ(*parse_instant(to_text(instant)), instant);
  }
}

struct BadInstant {
  const char* text;
  int column;
  const char* message;
};

TEST(Instant, MistakesAreErrorsWithColumnAndRemedy) {
  const BadInstant kBad[] = {
      {"", 1, "the year is missing"},
      {"2026-11-16", 11, "expected 'T'"},
      {"2026-13-01T00:00:00Z", 6, "the month is 13"},
      {"2026-02-30T00:00:00Z", 9, "does not exist: that month has 28 days"},
      {"2026-02-00T00:00:00Z", 9, "the day is 0"},
      {"0000-01-01T00:00:00Z", 1, "the year is 0"},
      {"2026-11-16T24:00:00Z", 12, "the hour is 24"},
      {"2026-11-16T09:60:00Z", 15, "the minute is 60"},
      {"2026-11-16T09:30Z", 17, "the seconds are missing"},
      {"2026-11-16T09:30:61Z", 18, "the second is 61"},
      {"2026-11-16T09:30:00", 20, "has no offset; add Z"},
      {"2026-11-16T09:30:00.Z", 21, "digits are missing"},
      {"2026-11-16T09:30:00+0100", 23, "expected ':'"},
      {"2026-11-16T09:30:00+24:00", 21, "the hour of the offset is 24"},
      {"2026-11-16T09:30:00Zx", 21, "unexpected 'x'"},
      {"2026-11-16T09:30:00 Europe/Berlin", 20, "expected an offset"},
      {"20261116T093000Z", 5, "expected '-'"},
      {"0001-01-01T00:00:00+01:00", 1, "outside the years"},
      {"9999-12-31T23:59:59-01:00", 1, "outside the years"},
      {"9999-12-31T23:59:60Z", 1, "outside the years"},
  };
  for (const BadInstant& bad : kBad) {
    const auto read = parse_instant(bad.text);
    ASSERT_FALSE(read) << bad.text;
    EXPECT_NE(read.error().message.find(bad.message), std::string::npos)
        << bad.text << ": " << read.error().message;
    ASSERT_TRUE(read.error().position) << bad.text;
    EXPECT_EQ(read.error().position->column, bad.column)
        << bad.text << ": " << read.error().message;
  }
}

TEST(Instant, WithoutOffsetItIsLocalToTheZone) {
  const auto zones = Zones::open();
  ASSERT_TRUE(zones);
  const Zone berlin = *zones->find("Europe/Berlin");
  EXPECT_EQ(to_text(*parse_instant("2026-07-01T12:00:00", berlin)), "2026-07-01T10:00:00Z");
  EXPECT_EQ(to_text(*parse_instant("2026-07-01T12:00:00.5", berlin)), "2026-07-01T10:00:00.5Z");
  EXPECT_EQ(to_text(*parse_instant("2026-07-01T12:00:00Z", berlin)), "2026-07-01T12:00:00Z");
  EXPECT_EQ(to_text(*parse_instant("2026-03-29T02:30:00", berlin)),
            "2026-03-29T01:30:00Z");  // gap: shifted to 03:30
  EXPECT_EQ(to_text(*parse_instant("2026-10-25T02:30:00", berlin)),
            "2026-10-25T00:30:00Z");  // fold: the first
}

TEST(Instant, PrintsTheZonesOffset) {
  const auto zones = Zones::open();
  ASSERT_TRUE(zones);
  const auto text = [&](const char* utc, const char* zone) {
    return to_text(*parse_instant(utc), *zones->find(zone));
  };
  EXPECT_EQ(text("2026-07-01T12:00:00Z", "Asia/Kathmandu"), "2026-07-01T17:45:00+05:45");
  EXPECT_EQ(text("2026-07-01T12:00:00.25Z", "America/St_Johns"), "2026-07-01T09:30:00.25-02:30");
  EXPECT_EQ(text("2026-07-01T12:00:00Z", "UTC"), "2026-07-01T12:00:00+00:00");
  EXPECT_EQ(text("1800-01-01T00:00:00Z", "Europe/Berlin"),
            "1800-01-01T00:00:00+00:00");  // +00:53:28 cannot be said
  EXPECT_EQ(text("0001-01-01T00:00:00Z", "Pacific/Honolulu"), "0001-01-01T00:00:00+00:00");
}

}  // namespace
}  // namespace pawl
