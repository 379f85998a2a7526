// Instants: RFC 3339 in and out.
//
//   instant = date ("T" | "t" | " ") time [ "." digits ] ( "Z" | "z" | ("+" | "-") hh ":" mm )
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>

#include "base/cursor.h"
#include "base/text.h"
#include "calendar/civil.h"
#include "calendar/zone.h"
#include "pawl/time.h"

namespace pawl {
namespace {

using std::chrono::seconds;

constexpr std::string_view kForm =
    "write it like 2026-11-16T09:30:00Z or 2026-11-16T10:30:00+01:00 (RFC 3339)";

class StampReader : Cursor {
 public:
  using Cursor::Cursor;

  Result<Stamp> read() {
    PAWL_TRY(const int year, number(4, 1, 9999, "the year"));
    PAWL_CHECK(expect("-"));
    PAWL_TRY(const int month, number(2, 1, 12, "the month"));
    PAWL_CHECK(expect("-"));
    const std::size_t day_at = at_;
    PAWL_TRY(const int day, number(2, 1, 31, "the day"));
    if (day > days_in_month(year, month)) {
      return error_at(day_at, "the day " + in_quotes(text_.substr(0, at_)) +
                                  " does not exist: that month has " +
                                  std::to_string(days_in_month(year, month)) + " days");
    }
    PAWL_CHECK(expect("Tt "));
    PAWL_TRY(const int hour, number(2, 0, 23, "the hour"));
    PAWL_CHECK(expect(":"));
    PAWL_TRY(const int minute, number(2, 0, 59, "the minute"));
    if (peek() != ':')
      return error("the seconds are missing in " + in_quotes(text_) + "; " + std::string(kForm));
    ++at_;
    const std::size_t second_at = at_;
    PAWL_TRY(const int second, number(2, 0, 60, "the second"));
    PAWL_TRY(const std::int64_t micros, fraction());
    const std::int64_t of_day = hour * 3600 + minute * 60 + second;
    const std::int64_t local = days_from_civil(year, month, day) * kSecondsPerDay + of_day;
    PAWL_TRY(const std::optional<seconds> offset, read_offset());
    if (second == 60) {
      // It exists only as the last second of a UTC day; the clock we count with knows it as the
      // next day's first.
      if (!offset || floor_mod(local - offset->count(), kSecondsPerDay) != 0) {
        return error_at(
            second_at,
            "second 60 is a leap second only at 23:59:60 UTC; write 59, or the next minute");
      }
    }
    const Stamp stamp{LocalTime{seconds{local} + Duration{second == 60 ? 0 : micros}}, offset};
    if (!at_end())
      return error("unexpected " + in_quotes(text_.substr(at_)) + " after the instant; " +
                   std::string(kForm));
    return stamp;
  }

 private:
  Result<int> number(int digits, int low, int high, const char* what) {
    const std::size_t begin = at_;
    int value = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
      if (!is_digit(peek())) {
        return error_at(begin, std::string(what) + " is missing in " + in_quotes(text_) + "; " +
                                   std::string(kForm));
      }
      value = value * 10 + (text_[at_] - '0');
    }
    if (value < low || value > high) {
      return error_at(begin, std::string(what) + " is " + std::to_string(value) + " in " +
                                 in_quotes(text_) + "; it must be " + std::to_string(low) + " to " +
                                 std::to_string(high));
    }
    return value;
  }

  Result<void> expect(std::string_view one_of) {
    if (!at_end() && one_of.find(peek()) != std::string_view::npos) {
      ++at_;
      return {};
    }
    return error("expected '" + std::string(one_of.substr(0, 1)) + "' in the instant " +
                 in_quotes(text_) + "; " + std::string(kForm));
  }

  Result<std::int64_t> fraction() {
    if (peek() != '.') return std::int64_t{0};
    ++at_;
    if (!is_digit(peek()))
      return error("digits are missing after the point in " + in_quotes(text_));
    std::int64_t micros = 0;
    for (std::int64_t scale = 100'000; is_digit(peek()); ++at_, scale /= 10)
      micros += (text_[at_] - '0') * scale;
    return micros;
  }

  Result<std::optional<seconds>> read_offset() {
    if (at_end()) return std::optional<seconds>{};
    if (peek() == 'Z' || peek() == 'z') {
      ++at_;
      return std::optional<seconds>{0};
    }
    if (peek() != '+' && peek() != '-') {
      return error("expected an offset (Z or +01:00) instead of " + in_quotes(text_.substr(at_)) +
                   "; " + std::string(kForm));
    }
    const int sign = peek() == '-' ? -1 : 1;
    ++at_;
    PAWL_TRY(const int hours, number(2, 0, 23, "the hour of the offset"));
    PAWL_CHECK(expect(":"));
    PAWL_TRY(const int minutes, number(2, 0, 59, "the minute of the offset"));
    return std::optional<seconds>{sign * (hours * 3600 + minutes * 60)};
  }
};

Result<Instant> in_range(Instant instant, std::string_view text) {
  if (instant >= kInstantMin && instant <= kInstantMax) return instant;
  return bad_input_at(
      1, "the instant " + in_quotes(text) + " lies outside the years 1 to 9999 in UTC");
}

Result<Instant> to_instant(const Stamp& stamp, std::string_view text) {
  return in_range(Instant{stamp.local.time_since_epoch() - *stamp.offset}, text);
}

void append_decimals(std::string& text, std::int64_t micros) {
  if (micros == 0) return;
  std::string decimals = std::to_string(1'000'000 + micros).substr(1);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  text += "." + decimals;
}

// `2026-11-16T09:30:00.25` of microseconds on some wall; the offset is the caller's.
std::string wall_text(std::int64_t micros) {
  const std::int64_t second = floor_div(micros, 1'000'000);
  const std::int64_t day = floor_div(second, kSecondsPerDay);
  const auto of_day = static_cast<int>(second - day * kSecondsPerDay);
  const Civil civil = civil_from_days(day);
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%04d-%02d-%02dT%02d:%02d:%02d", civil.year,
                civil.month, civil.day, of_day / 3600, of_day / 60 % 60, of_day % 60);
  std::string text = buffer.data();
  append_decimals(text, micros - second * 1'000'000);
  return text;
}

}  // namespace

Result<Stamp> parse_stamp(std::string_view text) { return StampReader(text).read(); }

Result<Instant> parse_instant(std::string_view text) {
  PAWL_TRY(const Stamp stamp, parse_stamp(text));
  if (stamp.offset) return to_instant(stamp, text);
  return bad_input_at(
      static_cast<int>(text.size()) + 1,
      "the instant " + in_quotes(text) + " has no offset; add Z for UTC, or one like +01:00");
}

Result<Instant> parse_instant(std::string_view text, const Zone& zone) {
  PAWL_TRY(const Stamp stamp, parse_stamp(text));
  if (stamp.offset) return to_instant(stamp, text);
  return in_range(zone.to_instant(stamp.local), text);
}

std::string to_text(Instant instant) {
  return wall_text(std::clamp(instant, kInstantMin, kInstantMax).time_since_epoch().count()) + "Z";
}

std::string to_text(Instant instant, const Zone& zone) {
  instant = std::clamp(instant, kInstantMin, kInstantMax);
  const std::int64_t offset = zone.span_at(std::chrono::floor<seconds>(instant)).offset.count();
  const Instant wall = instant + seconds{offset};
  const bool sayable = offset % 60 == 0 && wall >= kInstantMin && wall <= kInstantMax;
  const std::int64_t shown = sayable ? offset : 0;
  const std::int64_t minutes = std::abs(shown) / 60;
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%c%02d:%02d", shown < 0 ? '-' : '+',
                static_cast<int>(minutes / 60), static_cast<int>(minutes % 60));
  return wall_text(instant.time_since_epoch().count() + shown * 1'000'000) + buffer.data();
}

}  // namespace pawl
