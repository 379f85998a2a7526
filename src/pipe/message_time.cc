// Patterns are strptime's, of which the C library has an implementation that does what everybody
// expects of it; those of its conversions that mean something else in another locale or zone of the
// process are read in the one way that Pawl's processes have: "C", UTC.
#include "pipe/message_time.h"

#include <chrono>
#include <cmath>
#include <ctime>
#include <optional>

#include "base/text.h"
#include "calendar/civil.h"
#include "calendar/zone.h"

namespace pawl {
namespace {

using Format = TransformConfig::Time::Format;

// As a whole these name a day; the others a part of one.
constexpr std::string_view kKnownConversions = "YymdHMSjbBhaAeIpzsTDFRnt%";
constexpr std::string_view kWithYear = "YysDF";

Result<void> check_pattern(std::string_view pattern) {
  bool has_year = false;
  bool has_weekday = false;
  bool has_day_of_year = false;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') continue;
    ++at;
    if (at == pattern.size() || kKnownConversions.find(pattern[at]) == std::string_view::npos)
      return bad_input(in_quotes(pattern.substr(at - 1, 2)) +
                       " is not supported in the time pattern " + in_quotes(pattern) +
                       "; write a strptime pattern, like %d/%m/%Y %H:%M:%S %z");
    has_year = has_year || kWithYear.find(pattern[at]) != std::string_view::npos;
    has_weekday = has_weekday || pattern[at] == 'a' || pattern[at] == 'A';
    has_day_of_year = has_day_of_year || pattern[at] == 'j';
  }
  if (has_weekday && has_day_of_year)  // strptime then leaves month and day as they were
    return bad_input("the time pattern " + in_quotes(pattern) +
                     " has both a weekday and the day of the year; leave out the weekday");
  if (has_year && pattern.find('\0') == std::string_view::npos) return {};
  return bad_input("the time pattern " + in_quotes(pattern) +
                   " has no year; write a strptime pattern, like %d/%m/%Y %H:%M:%S %z");
}

std::optional<Instant> in_range(std::int64_t units, Duration unit) {
  if (units < kInstantMin.time_since_epoch() / unit ||
      units > kInstantMax.time_since_epoch() / unit)
    return std::nullopt;
  return Instant{units * unit};
}

std::string_view expected_of(Format format) {
  return format == Format::millis ? "milliseconds since 1970, a number"
                                  : "seconds since 1970, a number";
}

}  // namespace

Result<MessageTime> MessageTime::make(const TransformConfig::Time& config) {
  MessageTime time;
  time.config_ = config;
  if (config.from != From::field) return time;
  if (config.field.empty())
    return bad_input("`time` does not name a field; name one, or use the message's own time");
  PAWL_TRY(time.field_, FieldPath::parse(config.field));
  if (config.format == Format::pattern) PAWL_CHECK(check_pattern(config.pattern));
  return time;
}

Result<Instant> MessageTime::read(const SourceMessage& source, const MapMembers& document,
                                  Instant now, std::string& room) const {
  if (config_.from == From::system) return now;
  if (config_.from == From::message) {
    const auto at = in_range(source.timestamp_ms, std::chrono::milliseconds{1});
    if (source.timestamp_ms != -1 && at) return *at;
    return bad_input(
        "the message has no timestamp, which the index needs; take the time from a field");
  }
  const auto value = field_.find(document);
  if (!value || value->is_null())
    return bad_input("the field " + in_ticks(field_.text()) + (value ? " is null" : " is missing") +
                     "; the index needs the time in it");
  return read_field(*value, room);
}

Result<Instant> MessageTime::read_field(const FieldValue& value, std::string& room) const {
  if (config_.format == Format::millis) return read_number(value, std::chrono::milliseconds{1});
  if (config_.format == Format::seconds) return read_number(value, std::chrono::seconds{1});
  std::string unescaped;
  if (value.is_text()) return read_text(value.text(unescaped), room);
  return misfit(shown(value), "a text");
}

Result<Instant> MessageTime::read_number(const FieldValue& value, Duration unit) const {
  std::optional<Instant> at;
  if (const auto whole = value.whole()) {
    at = in_range(*whole, unit);
  } else if (value.is_number()) {
    const double micros = std::floor(value.number() * static_cast<double>(unit.count()));
    if (std::abs(micros) < 1e18) at = in_range(static_cast<std::int64_t>(micros), Duration{1});
  }
  if (at) return *at;
  return misfit(shown(value), expected_of(config_.format));
}

Result<Instant> MessageTime::read_text(std::string_view text, std::string& room) const {
  if (config_.format == Format::pattern) return read_pattern(text, room);
  static const Zone kUtc = Zone::utc();
  constexpr std::string_view kDate = "2026-11-16";
  const bool is_date = text.size() == kDate.size();
  if (is_date) room.assign(text).append("T00:00:00Z");
  auto at = parse_instant(is_date ? room : text, kUtc);
  if (at) return at;
  return misfit(shown(text), "a time like 2026-11-16T09:30:00Z");
}

Result<Instant> MessageTime::read_pattern(std::string_view text, std::string& room) const {
  room.assign(text);  // ends with a zero
  std::tm fields{};
  fields.tm_year = 70;
  fields.tm_mday = 1;
  const char* end = strptime(room.c_str(), config_.pattern.c_str(), &fields);
  const auto refused = [&] { return misfit(shown(text), in_quotes(config_.pattern)); };
  if (end != room.data() + room.size()) return refused();
  // Of what was read strptime does not say all that is out of range: a day 366 in its month 25.
  if (fields.tm_year > kYearMax - 1900 || fields.tm_mon < 0 || fields.tm_mon > 11) return refused();
  const int year = fields.tm_year + 1900;
  if (year < 1 || fields.tm_mday < 1 || fields.tm_mday > days_in_month(year, fields.tm_mon + 1))
    return refused();
  const long offset = fields.tm_gmtoff;
  const auto at = in_range(timegm(&fields) - offset, std::chrono::seconds{1});
  return at ? Result<Instant>(*at) : refused();
}

Error MessageTime::misfit(std::string_view is, std::string_view expected) const {
  return bad_input("the time in the field " + in_ticks(field_.text()) + " is " + std::string(is) +
                   "; expected " + std::string(expected));
}

}  // namespace pawl
