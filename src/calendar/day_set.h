// DaySet: which days of the calendar a rule names, answered a month at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "calendar/rrule.h"

namespace pawl {

// Filters on days; a filter that names nothing lets every day pass. All filters must hold, except
// that with `either` (cron) a day needs to pass only one of the month-day and the weekday filter.
struct DaySet {
  static constexpr std::uint32_t kAllMonths = 0xfff;

  std::uint32_t months = kAllMonths;      // bit 0 = January
  std::uint32_t month_days = 0;           // bit 0 = the 1st
  std::uint32_t month_days_from_end = 0;  // bit 0 = the last day
  std::uint32_t near_month_days =
      0;  // bit 0: the weekday (Mon–Fri) nearest to the 1st, within its month
  bool near_month_end = false;         // the last weekday (Mon–Fri) of the month
  std::uint32_t weekdays = 0;          // bit 0 = every Monday
  std::array<std::uint64_t, 7> nth{};  // per weekday; bit 0 = the first of the month (or year)
  std::array<std::uint64_t, 7> nth_from_end{};  // bit 0 = the last
  bool nth_of_year = false;
  std::vector<int> year_days;        // 1 to 366, -1 = the last
  std::uint64_t weeks = 0;           // bit 0 = week 1
  std::uint64_t weeks_from_end = 0;  // bit 0 = the last week of its week-year
  int week_start = kMonday;
  bool either = false;

  // The days of that month that are in the set: bit 0 = the 1st.
  std::uint32_t days_of(int year, int month) const;

  // Whether the set is all days; all days of some weekdays; a choice of whole months and weekdays.
  bool has_month_days() const;
  bool has_weekdays() const;
  bool all_days() const {
    return months == kAllMonths && by_month_and_weekday() && !has_weekdays();
  }
  bool by_weekday_only() const { return months == kAllMonths && by_month_and_weekday(); }
  bool by_month_and_weekday() const;

 private:
  struct Month;

  bool has_nth() const;
  std::uint32_t by_month_day(const Month& month) const;
  std::uint32_t by_weekday(const Month& month) const;
  std::uint32_t by_nth_weekday(const Month& month, std::size_t weekday) const;
  std::uint32_t by_year_day(const Month& month) const;
  std::uint32_t by_week(const Month& month) const;
};

}  // namespace pawl
