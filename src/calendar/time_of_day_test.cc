#include "calendar/time_of_day.h"

#include <gtest/gtest.h>

#include <string>

#include "pawl/zones.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

Zone berlin() { return *Zones::open()->find("Europe/Berlin"); }

std::string next(std::string_view time, std::string_view from) {
  return to_text(next_time_of_day(*parse_time_of_day(time), *parse_instant(from), berlin()),
                 berlin());
}

TEST(TimeOfDay, IsReadWithOrWithoutSeconds) {
  EXPECT_EQ(parse_time_of_day("08:30"), hours{8} + minutes{30});
  EXPECT_EQ(parse_time_of_day("23:59:59"), hours{24} - seconds{1});
  EXPECT_EQ(parse_time_of_day("00:00"), seconds{0});
  for (const std::string wrong :
       {"", "8:30", "24:00", "08:60", "08:30:60", "08:30:", "08:30:1", "08-30", "ab:cd", "08:30 "})
    EXPECT_EQ(parse_time_of_day(wrong), std::nullopt) << wrong;
}

TEST(TimeOfDay, NextIncludesNow) {
  EXPECT_EQ(next("09:00", "2026-03-02T08:00:00Z"), "2026-03-02T09:00:00+01:00");
  EXPECT_EQ(next("09:00", "2026-03-02T08:00:01Z"), "2026-03-03T09:00:00+01:00");
  EXPECT_EQ(next("00:30", "2026-03-01T23:00:00Z"), "2026-03-02T00:30:00+01:00");
}

TEST(TimeOfDay, NextMeetsClockChanges) {
  EXPECT_EQ(next("02:30", "2026-03-29T00:00:00Z"), "2026-03-29T03:30:00+02:00");  // does not exist
  EXPECT_EQ(next("02:30", "2026-10-25T00:00:00Z"), "2026-10-25T02:30:00+02:00");  // exists twice
  EXPECT_EQ(next("02:30", "2026-10-25T00:45:00Z"), "2026-10-25T02:30:00+01:00");
}

TEST(TimeOfDay, OfADayMayBeBefore) {
  const Instant at = *parse_instant("2026-03-02T08:00:00Z");
  EXPECT_EQ(to_text(time_on_day_of(hours{7}, at, berlin())), "2026-03-02T06:00:00Z");
  EXPECT_EQ(to_text(time_on_day_of(hours{23}, at, berlin())), "2026-03-02T22:00:00Z");
}

}  // namespace
}  // namespace pawl
