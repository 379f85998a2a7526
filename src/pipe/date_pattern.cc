#include "pipe/date_pattern.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "calendar/civil.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct Conversion {
  char letter;
  int digits;
  Duration step;
};

constexpr Conversion kConversions[] = {
    {'Y', 4, hours{24}},  {'y', 2, hours{24}},  {'m', 2, hours{24}}, {'d', 2, hours{24}},
    {'j', 3, hours{24}},  {'G', 4, hours{24}},  {'V', 2, hours{24}}, {'H', 2, hours{1}},
    {'M', 2, minutes{1}}, {'S', 2, seconds{1}},
};

const Conversion* find_conversion(char letter) {
  const auto* found = std::find_if(std::begin(kConversions), std::end(kConversions),
                                   [&](const Conversion& c) { return c.letter == letter; });
  return found == std::end(kConversions) ? nullptr : found;
}

// Calls one of the two for each piece of a pattern that was parsed.
template <class OnLiteral, class OnConversion>
void for_each_piece(std::string_view pattern, OnLiteral on_literal, OnConversion on_conversion) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      on_literal(pattern[at]);
    } else if (pattern[++at] == '%') {
      on_literal('%');
    } else {
      on_conversion(*find_conversion(pattern[at]));
    }
  }
}

struct IsoWeek {
  int year;
  int week;
};

// The week belongs to the year that has its Thursday.
IsoWeek iso_week_of(std::int64_t day) {
  const std::int64_t thursday = day - weekday_of(day) + 3;
  const int year = civil_from_days(thursday).year;
  return {year, static_cast<int>((thursday - days_from_civil(year, 1, 1)) / 7) + 1};
}

int number_of(char letter, std::int64_t day, int second_of_day) {
  const Civil civil = civil_from_days(day);
  switch (letter) {
    case 'Y':
      return civil.year;
    case 'y':
      return civil.year % 100;
    case 'm':
      return civil.month;
    case 'd':
      return civil.day;
    case 'j':
      return static_cast<int>(day - days_from_civil(civil.year, 1, 1)) + 1;
    case 'G':
      return iso_week_of(day).year;
    case 'V':
      return iso_week_of(day).week;
    case 'H':
      return second_of_day / 3600;
    case 'M':
      return second_of_day / 60 % 60;
    default:
      return second_of_day % 60;
  }
}

void append_digits(std::string& out, int number, int digits) {
  const std::size_t begin = out.size();
  out.resize(begin + static_cast<std::size_t>(digits));
  for (std::size_t at = out.size(); at-- > begin; number /= 10)
    out[at] = static_cast<char>('0' + number % 10);
}

}  // namespace

Result<DatePattern> DatePattern::parse(std::string_view text) {
  DatePattern pattern;
  pattern.text_ = text;
  pattern.step_ = kDurationMax;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') continue;
    const std::string_view conversion = text.substr(at, 2);
    ++at;
    if (conversion == "%%") continue;
    const Conversion* known = conversion.size() == 2 ? find_conversion(conversion[1]) : nullptr;
    if (known == nullptr)
      return bad_input_at(
          static_cast<int>(at),
          in_quotes(conversion) +
              " is not supported in a date; use %Y %m %d %H %M %S %j %y, %G and %V for ISO weeks, "
              "and %% for a percent sign");
    pattern.step_ = std::min(pattern.step_, known->step);
  }
  if (pattern.step_ == kDurationMax)
    return bad_input_at(1, "the date " + in_quotes(text) +
                               " contains no part of a date; write for example %Y.%m.%d");
  return pattern;
}

std::string DatePattern::literals() const {
  std::string literals;
  for_each_piece(
      text_, [&](char c) { literals += c; }, [](const Conversion&) {});
  return literals;
}

std::size_t DatePattern::length() const {
  std::size_t length = 0;
  for_each_piece(
      text_, [&](char) { ++length; },
      [&](const Conversion& c) { length += static_cast<std::size_t>(c.digits); });
  return length;
}

void DatePattern::append(std::string& out, Instant at) const {
  const std::int64_t second = std::chrono::floor<seconds>(at).time_since_epoch().count();
  const std::int64_t day = floor_div(second, kSecondsPerDay);
  const auto second_of_day = static_cast<int>(second - day * kSecondsPerDay);
  for_each_piece(
      text_, [&](char c) { out += c; },
      [&](const Conversion& c) {
        append_digits(out, number_of(c.letter, day, second_of_day), c.digits);
      });
}

std::string_view LastDate::write(const DatePattern& pattern, Instant at) {
  const std::int64_t step = floor_div(at.time_since_epoch().count(), pattern.step().count());
  if (step_ != step || pattern_ != pattern.text()) {
    pattern_ = pattern.text();
    step_ = step;
    text_.clear();
    pattern.append(text_, at);
  }
  return text_;
}

}  // namespace pawl
