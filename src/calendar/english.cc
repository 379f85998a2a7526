#include "calendar/english.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <vector>

#include "base/sort_unique.h"
#include "base/text.h"
#include "calendar/civil.h"

namespace pawl {
namespace {

using Words = std::vector<std::string>;
using Name = std::function<std::string(int)>;

constexpr std::array<const char*, 12> kMonthNames = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<const char*, 7> kWeekdayNames = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                      "Friday", "Saturday", "Sunday"};
constexpr std::array<const char*, 7> kPeriods = {"second", "minute", "hour", "day",
                                                 "week",   "month",  "year"};

std::string month_name(int month) { return kMonthNames[static_cast<std::size_t>(month - 1)]; }
std::string weekday_name(int weekday) { return kWeekdayNames[static_cast<std::size_t>(weekday)]; }
std::string number_name(int number) { return std::to_string(number); }

std::string and_list(const Words& words) { return join(words, ", ", " and "); }

// `1st`, `22nd`, `13th`; `last`, `2nd to last`.
std::string ordinal(int number) {
  if (number == -1) return "last";
  if (number < 0) return ordinal(-number) + " to last";
  const int tens = number / 10 % 10;
  const int ones = number % 10;
  const char* suffix = tens == 1 || ones == 0 || ones > 3 ? "th"
                       : ones == 1                        ? "st"
                       : ones == 2                        ? "nd"
                                                          : "rd";
  return std::to_string(number) + suffix;
}

// `9 to 17, 20 and 22`: runs of three and more are drawn together.
std::string ranges(const std::vector<int>& numbers, const Name& name) {
  Words words;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    if (end - i >= 2) {
      words.push_back(name(numbers[i]) + " to " + name(numbers[end]));
      i = end + 1;
    } else {
      words.push_back(name(numbers[i++]));
    }
  }
  return and_list(words);
}

std::string each(const std::vector<int>& numbers, const Name& name) {
  Words words;
  for (const int number : numbers) words.push_back(name(number));
  return and_list(words);
}

std::string clock_text(int hour, int minute, int second) {
  std::array<char, 16> buffer{};
  if (second == 0) {
    std::snprintf(buffer.data(), buffer.size(), "%02d:%02d", hour, minute);
  } else {
    std::snprintf(buffer.data(), buffer.size(), "%02d:%02d:%02d", hour, minute, second);
  }
  return buffer.data();
}

std::string plural(const char* word, const std::vector<int>& numbers) {
  return std::string(word) + (numbers.size() == 1 ? " " : "s ");
}

// The times of a day: `at 06:00 and 16:00`, or hour, minute and second apart when there are many.
std::string times_of_day(const std::vector<int>& hours, const std::vector<int>& minutes,
                         const std::vector<int>& seconds) {
  constexpr std::size_t kListed = 6;
  if (hours.size() * minutes.size() * seconds.size() <= kListed) {
    Words times;
    for (const int hour : hours) {
      for (const int minute : minutes) {
        for (const int second : seconds) times.push_back(clock_text(hour, minute, second));
      }
    }
    return "at " + and_list(times);
  }
  std::string text;
  if (minutes == std::vector<int>{0} && seconds == std::vector<int>{0}) {
    return "at the start of " +
           (hours.size() == 24 ? "every hour" : plural("hour", hours) + ranges(hours, number_name));
  }
  if (seconds.size() == 60) {
    text = "every second";
  } else if (seconds != std::vector<int>{0}) {
    text = "at " + plural("second", seconds) + ranges(seconds, number_name);
  }
  if (minutes.size() < 60) {
    text +=
        (text.empty() ? "at " : " of ") + plural("minute", minutes) + ranges(minutes, number_name);
  } else {
    text += text.empty() ? "every minute" : " of every minute";
  }
  if (hours.size() < 24) text += " of " + plural("hour", hours) + ranges(hours, number_name);
  return text;
}

std::string every(const Rrule& rule) {
  const std::string period = kPeriods[static_cast<std::size_t>(rule.freq)];
  if (rule.interval == 1) return "Every " + period;
  return "Every " + std::to_string(rule.interval) + " " + period + "s";
}

std::string weekdays(const Rrule& rule) {
  std::vector<int> plain;
  Words words;
  for (const auto& [nth, weekday] : rule.by_day) {
    if (nth == 0) plain.push_back(weekday);
  }
  if (!plain.empty()) words.push_back(ranges(plain, weekday_name));
  for (const auto& [nth, weekday] : rule.by_day) {
    if (nth != 0) words.push_back("the " + ordinal(nth) + " " + weekday_name(weekday));
  }
  const bool of_year = rule.freq == Freq::yearly && rule.by_month.empty();
  const bool counted = plain.size() < rule.by_day.size();
  return and_list(words) + (counted && of_year                     ? " of the year"
                            : counted && rule.freq == Freq::yearly ? " of the month"
                                                                   : "");
}

std::string month_days(const std::vector<int>& days) {
  const auto name = [](int day) { return "the " + ordinal(day) + (day < 0 ? " day" : ""); };
  return (days.size() > 3 ? ranges(days, name) : each(days, name)) + " of the month";
}

// `on the 13th of the month if Friday`, `in week 20`, `in March`.
Words days_in_english(const Rrule& rule, Start start) {
  Words words;
  const std::int64_t start_day = floor_div(start.at.time_since_epoch().count(), kSecondsPerDay);
  const Civil civil = civil_from_days(start_day);
  const bool named = !rule.by_day.empty() || !rule.by_month_day.empty() ||
                     !rule.by_year_day.empty() || !rule.by_week_no.empty();
  if (!named && rule.freq == Freq::weekly)
    words.push_back("on " + weekday_name(weekday_of(start_day)));
  if (!named && rule.freq == Freq::monthly) words.push_back("on the " + ordinal(civil.day));
  if (!named && rule.freq == Freq::yearly && rule.by_month.empty()) {
    words.push_back("on " + std::to_string(civil.day) + " " + month_name(civil.month));
  } else if (!named && rule.freq == Freq::yearly) {
    words.push_back("on the " + ordinal(civil.day));
  }
  if (!rule.by_month_day.empty()) words.push_back("on " + month_days(rule.by_month_day));
  if (!rule.by_year_day.empty()) {
    words.push_back("on the " + each(rule.by_year_day, ordinal) + " day of the year");
  }
  if (!rule.by_day.empty()) {
    const bool narrows = !rule.by_month_day.empty() || !rule.by_year_day.empty();
    words.push_back((narrows ? "if it is " : "on ") + weekdays(rule));
  }
  if (!rule.by_week_no.empty()) {
    words.push_back("in the " + each(rule.by_week_no, ordinal) + " week" +
                    (rule.by_week_no.size() > 1 ? "s" : "") + " of the year");
  }
  if (!rule.by_month.empty()) words.push_back("in " + ranges(rule.by_month, month_name));
  return words;
}

std::string times_in_english(const Rrule& rule, Start start) {
  const auto of_day =
      static_cast<int>(floor_mod(start.at.time_since_epoch().count(), kSecondsPerDay));
  const auto given_or = [](const std::vector<int>& given, int other) {
    return given.empty() ? std::vector<int>{other} : given;
  };
  if (rule.freq >= Freq::daily) {
    if (start.date_only) return "at 00:00";
    return times_of_day(given_or(rule.by_hour, of_day / 3600),
                        given_or(rule.by_minute, of_day / 60 % 60),
                        given_or(rule.by_second, of_day % 60));
  }
  Words words;
  const auto minutes =
      rule.freq == Freq::hourly ? given_or(rule.by_minute, of_day / 60 % 60) : rule.by_minute;
  const auto seconds =
      rule.freq >= Freq::minutely ? given_or(rule.by_second, of_day % 60) : rule.by_second;
  if (!minutes.empty())
    words.push_back("at " + plural("minute", minutes) + ranges(minutes, number_name));
  if (!seconds.empty() && seconds != std::vector<int>{0})
    words.push_back("at " + plural("second", seconds) + ranges(seconds, number_name));
  if (!rule.by_hour.empty())
    words.push_back("in " + plural("hour", rule.by_hour) + ranges(rule.by_hour, number_name));
  return join(words, ", ", ", ");
}

std::string date_text(std::int64_t seconds, bool with_time) {
  const std::int64_t day = floor_div(seconds, kSecondsPerDay);
  const Civil civil = civil_from_days(day);
  std::string text =
      std::to_string(civil.day) + " " + month_name(civil.month) + " " + std::to_string(civil.year);
  if (!with_time) return text;
  const auto of_day = static_cast<int>(seconds - day * kSecondsPerDay);
  return text + " " + clock_text(of_day / 3600, of_day / 60 % 60, of_day % 60);
}

std::vector<int> numbers_of(std::uint64_t mask, int first = 0) {
  std::vector<int> numbers;
  for (int bit = 0; bit < 64; ++bit) {
    if ((mask >> bit & 1) != 0) numbers.push_back(first + bit);
  }
  return numbers;
}

std::string cron_month_days(const DaySet& days) {
  Words words;
  const auto the = [](int day) { return "the " + ordinal(day); };
  if (days.month_days != 0) words.push_back(ranges(numbers_of(days.month_days, 1), the));
  for (const int from_end : numbers_of(days.month_days_from_end, 1))
    words.push_back(the(-from_end) + " day of the month");
  for (const int day : numbers_of(days.near_month_days, 1))
    words.push_back("the weekday nearest to the " + ordinal(day));
  if (days.near_month_end) words.emplace_back("the last weekday of the month");
  return and_list(words);
}

std::string cron_weekdays(const DaySet& days) {
  Words words;
  if (days.weekdays != 0) words.push_back(ranges(numbers_of(days.weekdays), weekday_name));
  for (std::size_t weekday = 0; weekday < 7; ++weekday) {
    for (const int nth : numbers_of(days.nth[weekday], 1)) {
      words.push_back("the " + ordinal(nth) + " " + kWeekdayNames[weekday] + " of the month");
    }
    if (days.nth_from_end[weekday] != 0)
      words.push_back(std::string("the last ") + kWeekdayNames[weekday] + " of the month");
  }
  return and_list(words);
}

// The rule without what is ignored or read otherwise when it is expanded.
Rrule as_expanded(Rrule rule, const Start& start) {
  if (start.date_only) {
    rule.by_hour.clear();
    rule.by_minute.clear();
    rule.by_second.clear();
  }
  for (int& second : rule.by_second) second = std::min(second, 59);
  sort_unique(rule.by_second);
  return rule;
}

}  // namespace

std::string in_english(const Rrule& given, Start start) {
  const Rrule rule = as_expanded(given, start);
  std::string text = every(rule);
  for (const std::string& part : days_in_english(rule, start)) text += " " + part;
  const std::string times = times_in_english(rule, start);
  if (!times.empty()) text += " " + times;
  if (!rule.by_set_pos.empty()) {
    text += ", but only the " + each(rule.by_set_pos, ordinal) + " of these in each " +
            kPeriods[static_cast<std::size_t>(rule.freq)];
  }
  if (rule.week_start != kMonday && (rule.freq == Freq::weekly || !rule.by_week_no.empty())) {
    text += ", weeks beginning on " + weekday_name(rule.week_start);
  }
  if (rule.interval > 1) {
    text += ", counted from " + date_text(start.at.time_since_epoch().count(), true);
  }
  if (rule.count)
    text += *rule.count == 1 ? ", once" : ", " + std::to_string(*rule.count) + " times";
  if (rule.until) {
    const bool utc = rule.until->form == CalendarTime::Form::utc;
    text += ", until " + date_text(rule.until->seconds, utc) + (utc ? " UTC" : "");
  }
  return text;
}

std::string in_english(const Cron& cron) {
  const DaySet& days = cron.days;
  const std::string month_day = days.has_month_days() ? cron_month_days(days) : "";
  const std::string weekday = days.has_weekdays() ? cron_weekdays(days) : "";
  std::string text = "Every day";
  if (!month_day.empty() && !weekday.empty()) {
    text = "On " + month_day + (days.either ? ", or on " : ", if it is ") + weekday + ",";
  } else if (!month_day.empty() || !weekday.empty()) {
    text = "On " + month_day + weekday;
  }
  if (days.months != DaySet::kAllMonths)
    text += " in " + ranges(numbers_of(days.months, 1), month_name);
  return text + " " +
         times_of_day(numbers_of(cron.hours), numbers_of(cron.minutes), numbers_of(cron.seconds));
}

std::string in_english(Gap gap, Fold fold) {
  std::string text = "When clocks change: a local time that does not exist is ";
  text += gap == Gap::shift ? "moved by the length of the gap" : "left out";
  text += "; one that exists twice happens ";
  return text + (fold == Fold::first  ? "the first time"
                 : fold == Fold::last ? "the last time"
                                      : "both times");
}

}  // namespace pawl
