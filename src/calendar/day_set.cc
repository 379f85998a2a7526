// Every filter becomes a mask over the days of one month, and the set is their intersection: a
// handful of shifts a month instead of a test a day.
#include "calendar/day_set.h"

#include <algorithm>
#include <bit>

#include "calendar/civil.h"

namespace pawl {
namespace {

constexpr std::uint32_t kEverySeventh = 0x10204081;  // bits 0, 7, 14, 21, 28

constexpr std::uint32_t bit_of_day(int day) { return std::uint32_t{1} << (day - 1); }

// Calls back with the position of every set bit, lowest first.
template <class Mask, class Callback>
void for_each_bit(Mask mask, Callback callback) {
  for (; mask != 0; mask &= mask - 1) callback(std::countr_zero(mask));
}

// The first day of week 1 of that year: the week, beginning on `week_start`, with at least four
// days in it.
std::int64_t first_week_begins(int year, int week_start) {
  const std::int64_t january_4 = days_from_civil(year, 1, 4);
  return january_4 - floor_mod(weekday_of(january_4) - week_start, 7);
}

}  // namespace

struct DaySet::Month {
  Month(int y, int m)
      : year(y), month(m), length(days_in_month(y, m)), first(days_from_civil(y, m, 1)) {}

  int year;
  int month;
  int length;
  std::int64_t first;  // its first day

  std::uint32_t all() const { return static_cast<std::uint32_t>((std::uint64_t{1} << length) - 1); }
  // The day of the month (0-based) of the first such weekday.
  int first_weekday(std::size_t weekday) const {
    return static_cast<int>(floor_mod(static_cast<std::int64_t>(weekday) - weekday_of(first), 7));
  }
};

bool DaySet::has_month_days() const {
  return (month_days | month_days_from_end | near_month_days) != 0 || near_month_end;
}

bool DaySet::has_nth() const {
  const auto named = [](std::uint64_t ordinals) { return ordinals != 0; };
  return std::any_of(nth.begin(), nth.end(), named) ||
         std::any_of(nth_from_end.begin(), nth_from_end.end(), named);
}

bool DaySet::has_weekdays() const { return weekdays != 0 || has_nth(); }

bool DaySet::by_month_and_weekday() const {
  return !has_month_days() && !has_nth() && year_days.empty() && (weeks | weeks_from_end) == 0;
}

std::uint32_t DaySet::days_of(int year, int month) const {
  if ((months >> (month - 1) & 1) == 0) return 0;
  const Month of(year, month);
  std::uint32_t days = of.all();
  const bool month_day_filter = has_month_days();
  const bool weekday_filter = has_weekdays();
  if (either && month_day_filter && weekday_filter) {
    days &= by_month_day(of) | by_weekday(of);
  } else {
    if (month_day_filter) days &= by_month_day(of);
    if (weekday_filter) days &= by_weekday(of);
  }
  if (!year_days.empty()) days &= by_year_day(of);
  if ((weeks | weeks_from_end) != 0) days &= by_week(of);
  return days;
}

std::uint32_t DaySet::by_month_day(const Month& month) const {
  std::uint32_t days = month_days;
  for_each_bit(month_days_from_end, [&](int from_end) {
    if (from_end < month.length) days |= bit_of_day(month.length - from_end);
  });
  const auto nearest_weekday = [&](int day) {
    const int weekday = weekday_of(month.first + day - 1);
    constexpr int kSaturday = 5;
    if (weekday < kSaturday) return day;
    if (weekday == kSaturday) return day > 1 ? day - 1 : day + 2;
    return day < month.length ? day + 1 : day - 2;
  };
  for_each_bit(near_month_days, [&](int bit) {
    if (bit < month.length) days |= bit_of_day(nearest_weekday(bit + 1));
  });
  if (near_month_end) days |= bit_of_day(nearest_weekday(month.length));
  return days & month.all();
}

std::uint32_t DaySet::by_weekday(const Month& month) const {
  std::uint32_t days = 0;
  for_each_bit(weekdays, [&](int weekday) {
    days |= kEverySeventh << month.first_weekday(static_cast<std::size_t>(weekday));
  });
  for (std::size_t weekday = 0; weekday < 7; ++weekday) {
    if ((nth[weekday] | nth_from_end[weekday]) != 0) days |= by_nth_weekday(month, weekday);
  }
  return days & month.all();
}

std::uint32_t DaySet::by_nth_weekday(const Month& month, std::size_t weekday) const {
  // The stretch in which ordinals count, and its first and last such weekday, as days from the
  // first of the month.
  const int before =
      nth_of_year ? static_cast<int>(month.first - days_from_civil(month.year, 1, 1)) : 0;
  const int length = nth_of_year ? (is_leap(month.year) ? 366 : 365) : month.length;
  const int first = static_cast<int>(floor_mod(month.first_weekday(weekday) + before, 7)) - before;
  const int last = first + (length - 1 - (first + before)) / 7 * 7;
  std::uint32_t days = 0;
  const auto add = [&](int day) {
    if (day >= 0 && day < month.length) days |= std::uint32_t{1} << day;
  };
  for_each_bit(nth[weekday], [&](int ordinal) { add(first + 7 * ordinal); });
  for_each_bit(nth_from_end[weekday], [&](int ordinal) { add(last - 7 * ordinal); });
  return days;
}

std::uint32_t DaySet::by_year_day(const Month& month) const {
  const int before = static_cast<int>(month.first - days_from_civil(month.year, 1, 1));
  const int year_length = is_leap(month.year) ? 366 : 365;
  std::uint32_t days = 0;
  for (const int year_day : year_days) {
    const int day = (year_day > 0 ? year_day : year_length + 1 + year_day) - before;
    if (day >= 1 && day <= month.length) days |= bit_of_day(day);
  }
  return days;
}

std::uint32_t DaySet::by_week(const Month& month) const {
  // A week belongs to one week-year; the days of a month lie in at most six weeks and two
  // week-years.
  std::uint32_t days = 0;
  const std::int64_t month_end = month.first + month.length;
  for (std::int64_t week = month.first - floor_mod(weekday_of(month.first) - week_start, 7);
       week < month_end; week += 7) {
    const int week_year = civil_from_days(week + 3).year;
    const std::int64_t begin = first_week_begins(week_year, week_start);
    const std::int64_t count = (first_week_begins(week_year + 1, week_start) - begin) / 7;
    const std::int64_t index = (week - begin) / 7;
    if ((weeks >> index & 1) == 0 && (weeks_from_end >> (count - 1 - index) & 1) == 0) continue;
    for (std::int64_t day = std::max(week, month.first); day < std::min(week + 7, month_end);
         ++day) {
      days |= std::uint32_t{1} << (day - month.first);
    }
  }
  return days;
}

}  // namespace pawl
