// Grammar (POSIX, with the extensions of RFC 8536): std offset [ dst [ offset ] , day [ / time ] ,
// day [ / time ] ]
#include "calendar/posix_tz.h"

#include <algorithm>
#include <cstdint>

#include "base/cursor.h"
#include "base/text.h"
#include "calendar/civil.h"

namespace pawl {
namespace {

using std::chrono::seconds;

class PosixReader : Cursor {
 public:
  using Cursor::Cursor;

  std::optional<PosixTz> read() {
    PosixTz tz;
    tz.standard_name = name();
    tz.standard_offset = -time();  // POSIX counts west of Greenwich as positive
    if (!failed_ && !at_end()) {
      tz.dst_name = name();
      tz.dst_offset = peek() == ',' ? tz.standard_offset + seconds{3600} : -time();
      tz.begins = day();
      tz.ends = day();
    }
    if (failed_ || !at_end()) return std::nullopt;
    return tz;
  }

 private:
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) { failed_ = !take(c) || failed_; }

  // `EST`, or `<+01>`.
  std::string name() {
    const bool quoted_name = take('<');
    const std::size_t begin = at_;
    while (quoted_name ? peek() != '>' && !at_end() : is_letter(peek())) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (quoted_name) expect('>');
    failed_ = failed_ || name.empty();
    return std::string(name);
  }

  int number() {
    const std::size_t begin = at_;
    int value = 0;
    while (is_digit(peek()) && at_ - begin < 4) value = value * 10 + (text_[at_++] - '0');
    failed_ = failed_ || at_ == begin;
    return value;
  }

  // [+|-]hh[:mm[:ss]]
  seconds time() {
    const bool negative = take('-');
    if (!negative) take('+');
    int total = number() * 3600;
    if (take(':')) total += number() * 60;
    if (take(':')) total += number();
    return seconds{negative ? -total : total};
  }

  PosixTz::Day day() {
    expect(',');
    PosixTz::Day day;
    if (take('M')) {
      day.month = number();
      expect('.');
      day.week = number();
      expect('.');
      day.day = number();
      failed_ =
          failed_ || day.month < 1 || day.month > 12 || day.week < 1 || day.week > 5 || day.day > 6;
    } else {
      day.form = take('J') ? PosixTz::Day::Form::julian : PosixTz::Day::Form::zero_based;
      day.day = number();
      failed_ = failed_ || day.day > 365;
    }
    if (take('/')) day.time = time();
    return day;
  }

  bool failed_ = false;
};

std::int64_t day_number(const PosixTz::Day& day, int year) {
  const std::int64_t january_1 = days_from_civil(year, 1, 1);
  switch (day.form) {
    case PosixTz::Day::Form::zero_based:
      return january_1 + day.day;
    case PosixTz::Day::Form::julian:  // 1 to 365; 29 February is never counted
      return january_1 + day.day - 1 + (is_leap(year) && day.day > 59 ? 1 : 0);
    case PosixTz::Day::Form::month_week_day:
      break;
  }
  const std::int64_t first = days_from_civil(year, day.month, 1);
  const int sunday_based = (weekday_of(first) + 1) % 7;
  std::int64_t in_month = (day.day - sunday_based + 7) % 7 + (day.week - 1) * 7;
  while (in_month >= days_in_month(year, day.month)) in_month -= 7;
  return first + in_month;
}

}  // namespace

std::vector<PosixChange> PosixTz::changes_of(int year) const {
  const auto instant = [year](const Day& day, seconds offset) {
    return std::chrono::sys_seconds{seconds{day_number(day, year) * kSecondsPerDay} + day.time -
                                    offset};
  };
  std::vector<PosixChange> changes = {{instant(begins, standard_offset), true},
                                      {instant(ends, dst_offset), false}};
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.at < b.at; });
  return changes;
}

std::optional<PosixTz> parse_posix_tz(std::string_view text) { return PosixReader(text).read(); }

}  // namespace pawl
