// Civil dates as plain numbers, for code that counts days by the million; days are counted from
// 1970-01-01.
#pragma once

#include <chrono>
#include <cstdint>

namespace pawl {

inline constexpr std::int64_t kSecondsPerDay = 86'400;
inline constexpr std::int64_t kDaysPerCycle =
    146'097;  // 400 years, after which the calendar and its weekdays repeat
inline constexpr int kYearMax = 9999;

struct Civil {
  int year;
  int month;  // 1 to 12
  int day;    // 1 to 31
};

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return a - floor_div(a, b) * b; }

constexpr std::int64_t days_from_civil(int year, int month, int day) {
  using namespace std::chrono;
  return sys_days{std::chrono::year{year} / month / day}.time_since_epoch().count();
}

constexpr Civil civil_from_days(std::int64_t days) {
  using namespace std::chrono;
  const year_month_day date{sys_days{std::chrono::days{days}}};
  return {int{date.year()}, static_cast<int>(unsigned{date.month()}),
          static_cast<int>(unsigned{date.day()})};
}

// Monday = 0. 1970-01-01 was a Thursday.
constexpr int weekday_of(std::int64_t days) { return static_cast<int>(floor_mod(days + 3, 7)); }

constexpr bool is_leap(int year) { return std::chrono::year{year}.is_leap(); }

constexpr int days_in_month(int year, int month) {
  constexpr int kLengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kLengths[month - 1];
}

}  // namespace pawl
