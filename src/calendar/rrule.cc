// The text of a recurrence rule.
//
//   rule = part *(";" part)      part = name "=" value
//
// Names and words may be in any case, parts in any order, each at most once. RFC 5545 (3.3.10)
// forbids combinations that would have no clear meaning; they are refused here, at the column of
// the part that is one too many.
#include "calendar/rrule.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "base/nearest.h"
#include "base/piece.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "calendar/civil.h"
#include "calendar/wall_rule.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 7> kFreqNames = {"SECONDLY", "MINUTELY", "HOURLY", "DAILY",
                                                        "WEEKLY",   "MONTHLY",  "YEARLY"};
constexpr std::array<std::string_view, 7> kWeekdayCodes = {"MO", "TU", "WE", "TH",
                                                           "FR", "SA", "SU"};

template <std::size_t n>
std::vector<std::string> strings(const std::array<std::string_view, n>& names) {
  return {names.begin(), names.end()};
}

// What a list of numbers may hold: low to high, and with `from_end` also -high to -low.
struct NumberRange {
  int low;
  int high;
  bool from_end;
};

std::string describe(NumberRange range) {
  const std::string up = std::to_string(range.low) + " to " + std::to_string(range.high);
  return range.from_end
             ? up + " or -" + std::to_string(range.high) + " to -" + std::to_string(range.low)
             : up;
}

Result<std::int64_t> read_digits(Piece piece, std::string_view name, std::int64_t most) {
  if (piece.text.empty()) return piece.error(std::string(name) + " has no value; write a number");
  std::int64_t value = 0;
  for (std::size_t i = 0; i < piece.text.size(); ++i) {
    if (!is_digit(piece.text[i])) {
      return piece.from(i).error(std::string(name) + " is a whole number, at least 1, not " +
                                 in_quotes(piece.text));
    }
    value = value * 10 + (piece.text[i] - '0');
    if (value > most) {
      return piece.error(std::string(name) + " is too large: " + in_quotes(piece.text) +
                         "; the largest is " + std::to_string(most));
    }
  }
  return value;
}

Result<int> read_number(Piece piece, std::string_view name, NumberRange range) {
  Piece digits = piece;
  const bool negative = piece.text.starts_with('-');
  if (range.from_end && (negative || piece.text.starts_with('+'))) digits = piece.from(1);
  if (piece.text.empty())
    return piece.error("a value is missing in " + std::string(name) + "; it takes numbers, " +
                       describe(range));
  if (digits.text.empty() || !std::all_of(digits.text.begin(), digits.text.end(), is_digit)) {
    return piece.error(in_quotes(piece.text) + " is not a number for " + std::string(name) +
                       "; it takes " + describe(range));
  }
  const std::size_t digits_max = std::to_string(range.high).size();
  const int value =
      digits.text.size() > digits_max ? range.high + 1 : std::stoi(std::string(digits.text));
  if (value < range.low || value > range.high) {
    return piece.error(std::string(name) + " takes " + describe(range) + ", not " +
                       in_quotes(piece.text));
  }
  return negative ? -value : value;
}

Result<std::vector<int>> read_numbers(Piece piece, std::string_view name, NumberRange range) {
  std::vector<int> numbers;
  for (const Piece& item : split(piece, ',')) {
    PAWL_TRY(const int number, read_number(item, name, range));
    numbers.push_back(number);
  }
  sort_unique(numbers);
  return numbers;
}

Result<int> read_weekday(Piece piece, std::string_view name) {
  const std::string upper = to_upper(piece.text);
  const auto found = std::find(kWeekdayCodes.begin(), kWeekdayCodes.end(), upper);
  if (found != kWeekdayCodes.end()) return static_cast<int>(found - kWeekdayCodes.begin());
  return piece.error(in_quotes(piece.text) + " is not a day of the week for " + std::string(name) +
                     "; they are MO, TU, WE, TH, FR, SA, SU");
}

Result<std::vector<WeekdayOrdinal>> read_weekdays(Piece piece) {
  std::vector<WeekdayOrdinal> days;
  for (const Piece& item : split(piece, ',')) {
    if (item.text.empty())
      return item.error("a value is missing in BYDAY; it takes days like MO, 2MO or -1FR");
    const std::size_t name_at =
        std::min(item.text.find_first_not_of("+-0123456789"), item.text.size());
    WeekdayOrdinal day;
    if (name_at > 0) {
      PAWL_TRY(day.ordinal, read_number(item.from(0, name_at), "BYDAY", {1, 53, true}));
    }
    if (name_at == item.text.size()) {
      return item.error("the day of the week is missing after " + in_quotes(item.text) +
                        "; write for example " + std::string(item.text) + "MO");
    }
    PAWL_TRY(day.weekday, read_weekday(item.from(name_at), "BYDAY"));
    days.push_back(day);
  }
  sort_unique(days);
  return days;
}

// Reads the parts one by one, remembering where each stood, and then checks them against each
// other.
class RruleReader {
 public:
  explicit RruleReader(Piece piece) : piece_(piece) {}

  Result<Rrule> read() {
    for (const Piece& part : split(piece_, ';')) PAWL_CHECK(read_part(part));
    PAWL_CHECK(check());
    rule_.position = Position{1, piece_.column};
    return rule_;
  }

 private:
  Result<void> read_part(Piece part) {
    if (part.text.empty()) {
      return part.error(
          "a rule part is missing here; separate parts with one ';' and do not end with it");
    }
    const std::size_t equals = part.text.find('=');
    if (equals == std::string_view::npos) {
      return part.error(in_quotes(part.text) +
                        " is not a rule part; write NAME=VALUE, for example FREQ=DAILY");
    }
    const std::string name = to_upper(part.text.substr(0, equals));
    PAWL_CHECK(check_name(part, name));
    if (!columns_.emplace(name, part.column).second) {
      return part.error(name + " is given twice; write it once, with all values in one list");
    }
    return read_value(name, part.from(equals + 1));
  }

  static Result<void> check_name(Piece part, const std::string& name) {
    static const std::vector<std::string> kNames = {
        "FREQ",  "UNTIL",      "COUNT",     "INTERVAL", "BYSECOND", "BYMINUTE", "BYHOUR",
        "BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYMONTH",  "BYSETPOS", "WKST"};
    if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return {};
    if (name == "RSCALE" || name == "SKIP") {
      return part.error(
          name +
          " (RFC 7529) is not supported; rules are Gregorian and leave out days that do not exist");
    }
    return part.error("unknown rule part " + in_quotes(part.text.substr(0, name.size())) +
                      did_you_mean(name, kNames));
  }

  Result<void> read_value(const std::string& name, Piece value) {
    if (name == "FREQ") return read_freq(value);
    if (name == "UNTIL") return read_until(value);
    if (name == "COUNT") return read_count(value);
    if (name == "INTERVAL") return read_interval(value);
    if (name == "BYDAY") return assign(rule_.by_day, read_weekdays(value));
    if (name == "WKST") return assign(rule_.week_start, read_weekday(value, name));
    if (name == "BYSECOND")
      return assign(rule_.by_second, read_numbers(value, name, {0, 60, false}));
    if (name == "BYMINUTE")
      return assign(rule_.by_minute, read_numbers(value, name, {0, 59, false}));
    if (name == "BYHOUR") return assign(rule_.by_hour, read_numbers(value, name, {0, 23, false}));
    if (name == "BYMONTHDAY")
      return assign(rule_.by_month_day, read_numbers(value, name, {1, 31, true}));
    if (name == "BYYEARDAY")
      return assign(rule_.by_year_day, read_numbers(value, name, {1, 366, true}));
    if (name == "BYWEEKNO")
      return assign(rule_.by_week_no, read_numbers(value, name, {1, 53, true}));
    if (name == "BYMONTH") return assign(rule_.by_month, read_numbers(value, name, {1, 12, false}));
    return assign(rule_.by_set_pos, read_numbers(value, name, {1, 366, true}));
  }

  template <class T>
  static Result<void> assign(T& field, Result<T> value) {
    if (!value) return std::move(value).error();
    field = *std::move(value);
    return {};
  }

  Result<void> read_freq(Piece value) {
    const auto found = std::find(kFreqNames.begin(), kFreqNames.end(), to_upper(value.text));
    if (found == kFreqNames.end()) {
      const std::string hint = did_you_mean(value.text, strings(kFreqNames));
      return value.error(
          "unknown FREQ " + in_quotes(value.text) +
          (hint.empty() ? "; it is one of " + join(strings(kFreqNames), ", ", " or ") : hint));
    }
    rule_.freq = static_cast<Freq>(found - kFreqNames.begin());
    return {};
  }

  Result<void> read_until(Piece value) {
    auto until = parse_calendar_time(value.text, value.column);
    if (!until) return value.error("UNTIL: " + until.error().message);
    rule_.until = *until;
    return {};
  }

  Result<void> read_count(Piece value) {
    PAWL_TRY(rule_.count, read_digits(value, "COUNT", kCountMax));
    if (rule_.count == 0) return value.error("COUNT=0 would never fire; COUNT is at least 1");
    return {};
  }

  Result<void> read_interval(Piece value) {
    PAWL_TRY(rule_.interval, read_digits(value, "INTERVAL", kIntervalMax));
    if (rule_.interval == 0)
      return value.error("INTERVAL=0 makes no progress; INTERVAL is at least 1");
    return {};
  }

  Error forbidden(const char* part, const std::string& why) const {
    return bad_input_at(columns_.at(part), why);
  }

  Result<void> check() const {
    if (!columns_.contains("FREQ"))
      return piece_.error("FREQ is missing; a rule begins with for example FREQ=DAILY");
    const Freq freq = rule_.freq;
    if (rule_.count && rule_.until) {
      return bad_input_at(std::max(columns_.at("COUNT"), columns_.at("UNTIL")),
                          "a rule cannot have both COUNT and UNTIL; keep the one you mean");
    }
    if (!rule_.by_week_no.empty() && freq != Freq::yearly) {
      return forbidden("BYWEEKNO", "BYWEEKNO is for FREQ=YEARLY only");
    }
    if (!rule_.by_year_day.empty() &&
        (freq == Freq::daily || freq == Freq::weekly || freq == Freq::monthly)) {
      return forbidden("BYYEARDAY",
                       "BYYEARDAY is not for FREQ=DAILY, WEEKLY or MONTHLY; use FREQ=YEARLY");
    }
    if (!rule_.by_month_day.empty() && freq == Freq::weekly) {
      return forbidden("BYMONTHDAY",
                       "BYMONTHDAY is not for FREQ=WEEKLY; use FREQ=MONTHLY, or DAILY with BYDAY");
    }
    const bool ordinals = std::any_of(rule_.by_day.begin(), rule_.by_day.end(),
                                      [](const auto& day) { return day.ordinal != 0; });
    if (ordinals && freq != Freq::monthly && freq != Freq::yearly) {
      return forbidden(
          "BYDAY",
          "BYDAY with a number (2MO, -1FR) is for FREQ=MONTHLY and YEARLY only; write the day alone");
    }
    if (ordinals && !rule_.by_week_no.empty()) {
      return forbidden(
          "BYDAY",
          "BYDAY with a number (2MO, -1FR) cannot be combined with BYWEEKNO; write the day alone");
    }
    if (!rule_.by_set_pos.empty() && !has_other_by_part()) {
      return forbidden(
          "BYSETPOS",
          "BYSETPOS selects from what another BY part names; add one, for example BYDAY");
    }
    return check_can_fire();
  }

  bool has_other_by_part() const {
    return std::any_of(columns_.begin(), columns_.end(), [](const auto& part) {
      return part.first.starts_with("BY") && part.first != "BYSETPOS";
    });
  }

  // Every period of every interval is a period of interval 1, so a rule that is silent there is
  // silent everywhere.
  Result<void> check_can_fire() const {
    Rrule densest = rule_;
    densest.interval = 1;
    const Start start{
        LocalSeconds{std::chrono::seconds{days_from_civil(2000, 1, 1) * kSecondsPerDay}}};
    if (auto wall = WallRule::make(densest, start); !wall) {
      return piece_.error("the rule " + to_text(rule_) +
                          " can never fire, whatever its DTSTART; its parts exclude each other");
    }
    return {};
  }

  Piece piece_;
  Rrule rule_;
  std::map<std::string, int> columns_;  // of each part given
};

void append_numbers(std::string& text, const char* name, const std::vector<int>& numbers) {
  if (numbers.empty()) return;
  std::vector<std::string> words;
  for (const int number : numbers) words.push_back(std::to_string(number));
  text += std::string(";") + name + "=" + join(words, ",", ",");
}

std::string calendar_text(const CalendarTime& time) {
  const std::int64_t day = floor_div(time.seconds, kSecondsPerDay);
  const Civil civil = civil_from_days(day);
  const auto of_day = static_cast<int>(time.seconds - day * kSecondsPerDay);
  std::array<char, 24> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d%02d%02d", civil.year, civil.month, civil.day);
  std::string text = buffer.data();
  if (time.form == CalendarTime::Form::date) return text;
  std::snprintf(buffer.data(), buffer.size(), "T%02d%02d%02d", of_day / 3600, of_day / 60 % 60,
                of_day % 60);
  return text + buffer.data() + (time.form == CalendarTime::Form::utc ? "Z" : "");
}

}  // namespace

Result<Rrule> parse_rrule(std::string_view text) {
  if (text.size() > kRuleTextMax) {
    return bad_input_at(
        1, "the rule is longer than " + std::to_string(kRuleTextMax) + " bytes; give fewer values");
  }
  Piece piece{text};
  if (piece.text.empty())
    return piece.error("the rule is empty; write for example FREQ=DAILY;BYHOUR=9");
  const std::size_t blank = piece.text.find_first_of(" \t\r\n");
  if (blank != std::string_view::npos)
    return piece.from(blank).error("a rule has no spaces or line breaks; remove it");
  return RruleReader(piece).read();
}

bool operator==(const Rrule& a, const Rrule& b) { return to_text(a) == to_text(b); }

std::string to_text(const Rrule& rule) {
  std::string text = "FREQ=" + std::string(kFreqNames[static_cast<std::size_t>(rule.freq)]);
  if (rule.until) text += ";UNTIL=" + calendar_text(*rule.until);
  if (rule.count) text += ";COUNT=" + std::to_string(*rule.count);
  if (rule.interval != 1) text += ";INTERVAL=" + std::to_string(rule.interval);
  append_numbers(text, "BYSECOND", rule.by_second);
  append_numbers(text, "BYMINUTE", rule.by_minute);
  append_numbers(text, "BYHOUR", rule.by_hour);
  std::vector<std::string> days;
  for (const auto& [ordinal, weekday] : rule.by_day) {
    days.push_back((ordinal == 0 ? "" : std::to_string(ordinal)) +
                   std::string(kWeekdayCodes[static_cast<std::size_t>(weekday)]));
  }
  if (!days.empty()) text += ";BYDAY=" + join(days, ",", ",");
  append_numbers(text, "BYMONTHDAY", rule.by_month_day);
  append_numbers(text, "BYYEARDAY", rule.by_year_day);
  append_numbers(text, "BYWEEKNO", rule.by_week_no);
  append_numbers(text, "BYMONTH", rule.by_month);
  append_numbers(text, "BYSETPOS", rule.by_set_pos);
  if (rule.week_start != kMonday)
    text += ";WKST=" + std::string(kWeekdayCodes[static_cast<std::size_t>(rule.week_start)]);
  return text;
}

Result<CalendarTime> parse_calendar_time(std::string_view text, int column) {
  const auto wrong = [&](const std::string& why) {
    return bad_input_at(column, in_quotes(text) + " is not a date or time: " + why +
                                    "; write 19971224, 19971224T090000 or 19971224T090000Z");
  };
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    for (std::size_t i = at; i < at + digits; ++i) value = value * 10 + (text[i] - '0');
    return value;
  };
  const auto all_digits = [&](std::size_t at, std::size_t count) {
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at),
                       text.begin() + static_cast<std::ptrdiff_t>(at + count), is_digit);
  };
  const bool utc = text.size() == 16 && to_upper(text[15]) == 'Z';
  const bool timed = text.size() == 15 || utc;
  if (!timed && text.size() != 8) return wrong("it has the wrong length");
  if (!all_digits(0, 8)) return wrong("the date is not eight digits");
  const int year = number(0, 4);
  const int month = number(4, 2);
  const int day = number(6, 2);
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month)) {
    return wrong("there is no such day");
  }
  CalendarTime time{.form = CalendarTime::Form::date,
                    .seconds = days_from_civil(year, month, day) * kSecondsPerDay,
                    .position = Position{1, column}};
  if (!timed) return time;
  if (to_upper(text[8]) != 'T' || !all_digits(9, 6))
    return wrong("the time is not T and six digits");
  const int hour = number(9, 2);
  const int minute = number(11, 2);
  const int second = number(13, 2);
  if (hour > 23 || minute > 59 || second > 59) return wrong("there is no such time of day");
  time.form = utc ? CalendarTime::Form::utc : CalendarTime::Form::local;
  time.seconds += hour * 3600 + minute * 60 + second;
  return time;
}

}  // namespace pawl
