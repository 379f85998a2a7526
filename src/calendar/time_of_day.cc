#include "calendar/time_of_day.h"

#include "base/text.h"

namespace pawl {
namespace {

using std::chrono::days;
using std::chrono::seconds;

// Two digits of at most `most`; -1 when they are not.
int two_digits(std::string_view text, int most) {
  if (text.size() < 2 || !is_digit(text[0]) || !is_digit(text[1])) return -1;
  const int number = (text[0] - '0') * 10 + (text[1] - '0');
  return number <= most ? number : -1;
}

LocalSeconds midnight_of(Instant at, const Zone& zone) {
  return std::chrono::floor<days>(zone.to_local(at));
}

}  // namespace

std::optional<seconds> parse_time_of_day(std::string_view text) {
  const bool with_seconds = text.size() == 8 && text[5] == ':';
  if ((text.size() != 5 && !with_seconds) || text[2] != ':') return std::nullopt;
  const int hour = two_digits(text, 23);
  const int minute = two_digits(text.substr(3), 59);
  const int second = with_seconds ? two_digits(text.substr(6), 59) : 0;
  if (hour < 0 || minute < 0 || second < 0) return std::nullopt;
  return seconds{(hour * 60 + minute) * 60 + second};
}

Instant next_time_of_day(seconds time, Instant from, const Zone& zone) {
  for (LocalSeconds day = midnight_of(from, zone) - days{1};; day += days{1}) {
    const LocalInstants shown = zone.to_instants(day + time, Gap::shift, Fold::both);
    for (int i = 0; i < shown.count; ++i)
      if (shown.at[static_cast<std::size_t>(i)] >= from)
        return shown.at[static_cast<std::size_t>(i)];
  }
}

Instant time_on_day_of(seconds time, Instant at, const Zone& zone) {
  return zone.to_instant(midnight_of(at, zone) + time);
}

}  // namespace pawl
