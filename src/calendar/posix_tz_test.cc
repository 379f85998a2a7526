#include "calendar/posix_tz.h"

#include <gtest/gtest.h>

#include "pawl/time.h"

namespace pawl {
namespace {

std::vector<std::string> changes(const char* text, int year) {
  const auto rule = parse_posix_tz(text);
  std::vector<std::string> printed;
  if (!rule) return {"not read"};
  for (const PosixChange& change : rule->changes_of(year))
    printed.push_back(to_text(change.at) + (change.to_dst ? " dst" : " standard"));
  return printed;
}

using Strings = std::vector<std::string>;

TEST(PosixTz, NorthernAndSouthernSummers) {
  EXPECT_EQ(changes("EST5EDT,M3.2.0,M11.1.0", 2040),
            (Strings{"2040-03-11T07:00:00Z dst", "2040-11-04T06:00:00Z standard"}));
  EXPECT_EQ(changes("AEST-10AEDT,M10.1.0,M4.1.0/3", 2040),
            (Strings{"2040-03-31T16:00:00Z standard", "2040-10-06T16:00:00Z dst"}));
}

TEST(PosixTz, TimesBeforeMidnightAndBeyondTheDay) {
  EXPECT_EQ(changes("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2040),
            (Strings{"2040-03-25T01:00:00Z dst", "2040-10-28T01:00:00Z standard"}));
  EXPECT_EQ(changes("EET-2EEST,M4.5.5/0,M10.5.4/24", 2040),
            (Strings{"2040-04-26T22:00:00Z dst", "2040-10-25T21:00:00Z standard"}));
}

TEST(PosixTz, NegativeDaylightTimeAndHalfHours) {
  const auto dublin = parse_posix_tz("IST-1GMT0,M10.5.0,M3.5.0/1");
  ASSERT_TRUE(dublin);
  EXPECT_EQ(dublin->dst_offset, std::chrono::seconds{0});
  EXPECT_EQ(dublin->standard_offset, std::chrono::hours{1});
  const auto lord_howe = parse_posix_tz("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");
  ASSERT_TRUE(lord_howe);
  EXPECT_EQ(lord_howe->standard_offset, std::chrono::minutes{630});
  EXPECT_EQ(lord_howe->dst_offset, std::chrono::hours{11});
}

TEST(PosixTz, DaysOfTheYear) {
  EXPECT_EQ(changes("AAA0BBB,J60/0,J300/0", 2040).front(),
            "2040-03-01T00:00:00Z dst");  // never 29 February
  EXPECT_EQ(changes("AAA0BBB,59/0,J300/0", 2040).front(), "2040-02-29T00:00:00Z dst");
}

TEST(PosixTz, ZoneWithoutDaylightTime) {
  const auto rule = parse_posix_tz("<+0545>-5:45");
  ASSERT_TRUE(rule);
  EXPECT_FALSE(rule->has_dst());
  EXPECT_EQ(rule->standard_offset, std::chrono::minutes{345});
}

TEST(PosixTz, OtherTextsAreNotRead) {
  for (const char* text : {"", "EST", "EST5EDT", "EST5EDT,M3.2.0", "EST5EDT,M13.2.0,M11.1.0",
                           "EST5EDT,M3.6.0,M11.1.0", "<+01", "5", "EST5EDT,M3.2.0,M11.1.0x"}) {
    EXPECT_FALSE(parse_posix_tz(text)) << text;
  }
}

}  // namespace
}  // namespace pawl
