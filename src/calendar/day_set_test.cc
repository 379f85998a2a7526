#include "calendar/day_set.h"

#include <gtest/gtest.h>

#include "calendar/civil.h"

namespace pawl {
namespace {

std::vector<int> days(const DaySet& set, int year, int month) {
  std::vector<int> listed;
  for (int day = 1; day <= 31; ++day) {
    if ((set.days_of(year, month) >> (day - 1) & 1) != 0) listed.push_back(day);
  }
  return listed;
}

using Ints = std::vector<int>;

TEST(DaySet, NamesNothingMeansAllDaysOfTheMonth) {
  EXPECT_EQ(days({}, 2024, 2).size(), 29U);
  EXPECT_EQ(days({}, 2100, 2).size(), 28U);
  EXPECT_TRUE(DaySet{}.all_days());
}

TEST(DaySet, MonthDaysCountFromBothEnds) {
  EXPECT_EQ(days({.month_days = 1U << 30}, 2026, 4), Ints{});
  EXPECT_EQ(days({.month_days_from_end = 0b1 | 1U << 30}, 2026, 4), Ints{30});
  EXPECT_EQ(days({.month_days_from_end = 0b1 | 1U << 30}, 2026, 5), (Ints{1, 31}));
}

TEST(DaySet, WeekdaysAndTheirOrdinals) {
  EXPECT_EQ(days({.weekdays = 1U << 4}, 2026, 1), (Ints{2, 9, 16, 23, 30}));  // Fridays
  DaySet set;
  set.nth[4] = 0b10001;       // first and fifth Friday
  set.nth_from_end[4] = 0b1;  // and the last
  EXPECT_EQ(days(set, 2026, 1), (Ints{2, 30}));
  EXPECT_EQ(days(set, 2026, 2), (Ints{6, 27}));
}

TEST(DaySet, OrdinalsOfTheYear) {
  DaySet set;
  set.nth_of_year = true;
  set.nth[0] = std::uint64_t{1} << 19;  // 20th Monday
  EXPECT_EQ(days(set, 1997, 5), Ints{19});
  EXPECT_EQ(days(set, 1998, 5), Ints{18});
  set.nth[0] = 0;
  set.nth_from_end[0] = 1;  // last Monday
  EXPECT_EQ(days(set, 2026, 12), Ints{28});
  EXPECT_EQ(days(set, 2026, 11), Ints{});
}

TEST(DaySet, WeeksBelongToTheirWeekYear) {
  DaySet week_1{.weeks = 1};
  EXPECT_EQ(days(week_1, 2018, 12), Ints{31});
  EXPECT_EQ(days(week_1, 2019, 1), (Ints{1, 2, 3, 4, 5, 6}));
  DaySet week_53{.weeks = std::uint64_t{1} << 52};
  EXPECT_EQ(days(week_53, 2021, 1), (Ints{1, 2, 3}));
  EXPECT_EQ(days(week_53, 2019, 12), Ints{});
  DaySet last_week{.weeks_from_end = 1};
  EXPECT_EQ(days(last_week, 2021, 1), (Ints{1, 2, 3}));
  EXPECT_EQ(days(last_week, 2020, 12), (Ints{28, 29, 30, 31}));
}

TEST(DaySet, NearestWeekdayStaysInItsMonth) {
  EXPECT_EQ(days({.near_month_days = 1U << 14}, 2026, 8), Ints{14});  // the 15th is a Saturday
  EXPECT_EQ(days({.near_month_days = 1U << 14}, 2026, 2), Ints{16});  // a Sunday
  EXPECT_EQ(days({.near_month_days = 1}, 2026, 8), Ints{3});          // the 1st is a Saturday
  EXPECT_EQ(days({.near_month_end = true}, 2026, 5), Ints{29});       // the 31st is a Sunday
  EXPECT_EQ(days({.near_month_days = 1U << 30}, 2026, 4), Ints{});
}

TEST(DaySet, EitherIsCronsUnion) {
  DaySet set{.month_days = 1U << 12, .weekdays = 1U << 4};
  EXPECT_EQ(days(set, 2026, 2), Ints{13});
  set.either = true;
  EXPECT_EQ(days(set, 2026, 3), (Ints{6, 13, 20, 27}));
  EXPECT_EQ(days(set, 2026, 4), (Ints{3, 10, 13, 17, 24}));
}

TEST(DaySet, YearDaysCountFromBothEnds) {
  const DaySet set{.year_days = {60, -1, -366}};
  EXPECT_EQ(days(set, 2024, 2), Ints{29});
  EXPECT_EQ(days(set, 2025, 3), Ints{1});
  EXPECT_EQ(days(set, 2025, 12), Ints{31});
  EXPECT_EQ(days(set, 2024, 1), Ints{1});
  EXPECT_EQ(days(set, 2025, 1), Ints{});
}

}  // namespace
}  // namespace pawl
