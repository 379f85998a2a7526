// Durations, read and printed.
//
//   duration = "0" | number unit | number " " word | iso
//   unit     = "ms" | "s" | "m" | "h" | "d"
//   word     = "millisecond" | "second" | "minute" | "hour" | "day" | "week", each also with "s"
//   iso      = "P" [number "W"] [number "D"] ["T" [number "H"] [number "M"] [seconds "S"]]
//
// Months and years are refused in every form: they have no fixed length.
#include <array>
#include <cstdint>
#include <optional>

#include "base/cursor.h"
#include "base/nearest.h"
#include "base/text.h"
#include "pawl/time.h"

namespace pawl {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kMillisecond = 1'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kWeek = 7 * kDay;

struct Unit {
  std::string_view name;
  std::int64_t micros;
};

// From the largest to the smallest, the order in which the printer tries them.
constexpr std::array<Unit, 5> kShortUnits = {
    {{"d", kDay}, {"h", kHour}, {"m", kMinute}, {"s", kSecond}, {"ms", kMillisecond}}};
constexpr std::array<Unit, 6> kWords = {{{"week", kWeek},
                                         {"day", kDay},
                                         {"hour", kHour},
                                         {"minute", kMinute},
                                         {"second", kSecond},
                                         {"millisecond", kMillisecond}}};

constexpr std::string_view kForms = "write for example 500ms, 30s, 5m, 2h, 7d, '1 hour' or PT1H30M";

// Walks over the text once and keeps the sum.
class DurationReader : Cursor {
 public:
  using Cursor::Cursor;

  Result<Duration> read() {
    if (text_.empty()) return error(std::string("a duration is missing; ") + std::string(kForms));
    if (text_ == "0") return Duration{0};
    if (peek() == '-' || peek() == '+') {
      return error("a duration has no sign: " + in_quotes(text_) + "; write the length alone");
    }
    if (peek() == 'P' || peek() == 'p') return read_iso();
    return read_number_and_unit();
  }

 private:
  Error too_long(std::size_t at) const {
    return error_at(at, "the duration " + in_quotes(text_) +
                            " is too long; the longest is 3652058d (9,999 years)");
  }

  Result<std::int64_t> read_number() {
    const std::size_t begin = at_;
    std::int64_t number = 0;
    for (; is_digit(peek()); ++at_) {
      if (__builtin_mul_overflow(number, 10, &number) ||
          __builtin_add_overflow(number, text_[at_] - '0', &number)) {
        return too_long(begin);
      }
    }
    if (at_ == begin)
      return error("a number is missing in the duration " + in_quotes(text_) + "; " +
                   std::string(kForms));
    return number;
  }

  Result<void> add(std::int64_t number, std::int64_t unit, std::size_t at) {
    std::int64_t part = 0;
    if (__builtin_mul_overflow(number, unit, &part) || __builtin_add_overflow(sum_, part, &sum_) ||
        sum_ > kDurationMax.count()) {
      return too_long(at);
    }
    return {};
  }

  Result<Duration> read_number_and_unit() {
    const std::size_t begin = at_;
    PAWL_TRY(const std::int64_t number, read_number());
    if (at_end()) {
      return error_at(begin, "the duration " + in_quotes(text_) + " has no unit; write " +
                                 std::string(text_) + "s for seconds, or ms, m, h, d");
    }
    if (peek() == '.' || peek() == ',') {
      return error("a duration is a whole number of its unit; write 1500ms instead of 1.5s");
    }
    const bool spaced = peek() == ' ';
    if (spaced) ++at_;
    const std::size_t unit_at = at_;
    while (is_letter(peek())) ++at_;
    const std::string_view unit = text_.substr(unit_at, at_ - unit_at);
    PAWL_TRY(const std::int64_t micros, spaced ? word(unit, unit_at) : short_unit(unit, unit_at));
    if (!at_end()) {
      return error("unexpected " + in_quotes(text_.substr(at_)) + " after the duration " +
                   in_quotes(text_.substr(0, at_)) + "; use one unit, or ISO 8601 (PT1H30M)");
    }
    PAWL_CHECK(add(number, micros, begin));
    return Duration{sum_};
  }

  static Result<std::int64_t> short_unit(std::string_view unit, std::size_t at) {
    for (const Unit& known : kShortUnits) {
      if (unit == known.name) return known.micros;
    }
    return unknown_unit(unit, at, "; the units are ms, s, m (minutes), h and d");
  }

  static Result<std::int64_t> word(std::string_view unit, std::size_t at) {
    std::vector<std::string> words;
    for (const Unit& known : kWords) {
      if (unit == known.name || unit == std::string(known.name) + "s") return known.micros;
      words.push_back(std::string(known.name) + "s");
    }
    return unknown_unit(
        unit, at,
        did_you_mean(unit, words) + " (milliseconds, seconds, minutes, hours, days, weeks)");
  }

  static Error unknown_unit(std::string_view unit, std::size_t at, const std::string& remedy) {
    const std::string lower = to_lower(unit);
    if (lower == "y" || lower == "mo" || lower.starts_with("month") || lower.starts_with("year")) {
      return error_at(
          at,
          in_quotes(unit) +
              " is not a unit: months and years have no fixed length; write days, or plan with a schedule");
    }
    return error_at(at, "unknown unit " + in_quotes(unit) + remedy);
  }

  Result<Duration> read_iso() {
    ++at_;
    // The designators in their order; each may come once, `T` before the first of time.
    static constexpr std::array<std::pair<char, std::int64_t>, 2> kDate = {
        {{'W', kWeek}, {'D', kDay}}};
    static constexpr std::array<std::pair<char, std::int64_t>, 3> kTime = {
        {{'H', kHour}, {'M', kMinute}, {'S', kSecond}}};
    PAWL_TRY(const int date_parts, read_iso_parts(kDate));
    int time_parts = 0;
    if (to_upper(peek()) == 'T') {
      ++at_;
      PAWL_TRY(time_parts, read_iso_parts(kTime));
      if (time_parts == 0)
        return error("a time is missing after T in " + in_quotes(text_) +
                     "; write for example PT1H30M");
    }
    if (date_parts + time_parts == 0)
      return error("the ISO 8601 duration " + in_quotes(text_) +
                   " is empty; write for example PT1H30M");
    if (!at_end())
      return error("unexpected " + in_quotes(text_.substr(at_)) +
                   " in the ISO 8601 duration; the order is P nW nD T nH nM nS");
    return Duration{sum_};
  }

  Result<int> read_iso_parts(std::span<const std::pair<char, std::int64_t>> designators) {
    int parts = 0;
    auto next = designators.begin();
    while (is_digit(peek())) {
      const std::size_t begin = at_;
      PAWL_TRY(const std::int64_t number, read_number());
      std::optional<std::int64_t> fraction;
      if (peek() == '.' || peek() == ',') {
        PAWL_TRY(fraction, read_fraction());
      }
      const char designator = to_upper(peek());
      if (designators.front().first == 'W' && (designator == 'Y' || designator == 'M')) {
        return error(
            "years and months have no fixed length; write days (P30D), or plan with a schedule");
      }
      while (next != designators.end() && next->first != designator) ++next;
      if (next == designators.end()) {
        return error("unexpected " + in_quotes(text_.substr(at_, 1)) +
                     " in the ISO 8601 duration " + in_quotes(text_) +
                     "; the order is P nW nD T nH nM nS");
      }
      if (fraction && designator != 'S')
        return error_at(begin, "only seconds may have a fraction; write the rest in smaller units");
      PAWL_CHECK(add(number, next->second, begin));
      PAWL_CHECK(add(fraction.value_or(0), 1, begin));
      ++next;
      ++at_;
      ++parts;
    }
    return parts;
  }

  // `.25` → 250000 microseconds. More than six digits would be lost, so they are refused.
  Result<std::int64_t> read_fraction() {
    ++at_;
    const std::size_t begin = at_;
    std::int64_t micros = 0;
    std::int64_t scale = kSecond / 10;
    for (; is_digit(peek()); ++at_, scale /= 10) {
      if (scale == 0)
        return error(
            "a duration is exact to the microsecond; at most six digits may follow the point");
      micros += (text_[at_] - '0') * scale;
    }
    if (at_ == begin)
      return error("digits are missing after the decimal point in " + in_quotes(text_));
    return micros;
  }

  std::int64_t sum_ = 0;
};

}  // namespace

Result<Duration> parse_duration(std::string_view text) { return DurationReader(text).read(); }

std::string to_text(Duration duration) {
  const std::int64_t micros = duration.count();
  PAWL_ASSERT(micros >= 0, "a duration to print is not negative");
  if (micros == 0) return "0s";
  for (const Unit& unit : kShortUnits) {
    if (micros % unit.micros == 0)
      return std::to_string(micros / unit.micros) + std::string(unit.name);
  }
  std::string decimals = std::to_string(kSecond + micros % kSecond).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  return "PT" + std::to_string(micros / kSecond) + "." + decimals + "S";
}

}  // namespace pawl
