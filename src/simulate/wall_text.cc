#include "simulate/wall_text.h"

namespace pawl {
namespace {

constexpr std::size_t kDateLength = 10;  // `2026-03-02`
constexpr std::size_t kTimeLength = 8;   // `08:00:00`

}  // namespace

std::string wall_text(Instant at, const Zone& zone) {
  std::string text = to_text(Instant{zone.to_local(at).time_since_epoch()});
  text[kDateLength] = ' ';
  text.pop_back();
  return text;
}

std::string time_text(Instant at, const Zone& zone) {
  return wall_text(at, zone).substr(kDateLength + 1, kTimeLength);
}

std::string near_text(Instant at, Instant now, const Zone& zone) {
  const std::string text = wall_text(at, zone);
  const bool same_day = text.compare(0, kDateLength, wall_text(now, zone), 0, kDateLength) == 0;
  return same_day ? text.substr(kDateLength + 1) : text;
}

std::string log_line(const Entry& entry, const Zone& zone) {
  std::string line = time_text(entry.at, zone) + " " + std::string(to_text(entry.kind));
  if (!entry.event.empty()) line += " " + entry.event;
  if (entry.error) line += " " + entry.error->code;
  return line + ": " + (entry.from.empty() ? "-" : entry.from) + " -> " + entry.to;
}

}  // namespace pawl
