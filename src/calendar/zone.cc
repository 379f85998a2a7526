#include "calendar/zone.h"

#include <algorithm>

#include "calendar/civil.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr seconds kCycle{kDaysPerCycle * kSecondsPerDay};

// No offset is larger, so the spans that can hold a local time lie within this of it read as UTC.
constexpr hours kOffsetMax{26};

}  // namespace

Zone::Zone(Table table) : table_(std::make_shared<const Table>(std::move(table))) {
  PAWL_ASSERT(!table_->changes.empty() && table_->changes.front().at == ZoneSpan::kBegin,
              "a zone has an offset from the beginning of time");
}

Zone Zone::utc() {
  static const Zone zone(Table{
      .name = "UTC", .changes = {{ZoneSpan::kBegin, seconds{0}, 0}}, .abbreviations = {"UTC"}});
  return zone;
}

ZoneSpan Zone::span_at(sys_seconds at) const {
  seconds cycles{0};
  if (at >= table_->cycle_from) {
    cycles = (at - table_->cycle_from) / kCycle * kCycle;
    at -= cycles;
  }
  const auto& changes = table_->changes;
  const auto after =
      std::upper_bound(changes.begin() + 1, changes.end(), at,
                       [](sys_seconds time, const Change& change) { return time < change.at; });
  const Change& current = *(after - 1);
  return {.begin = current.at + cycles,
          .end = after == changes.end() ? ZoneSpan::kEnd : after->at + cycles,
          .offset = current.offset,
          .abbreviation = table_->abbreviations[current.abbreviation]};
}

LocalTime Zone::to_local(Instant instant) const {
  const seconds offset = span_at(std::chrono::floor<seconds>(instant)).offset;
  return LocalTime{instant.time_since_epoch() + offset};
}

LocalInstants Zone::to_instants(LocalSeconds local, Gap gap, Fold fold) const {
  const sys_seconds as_utc{local.time_since_epoch()};
  LocalInstants found;
  ZoneSpan span = span_at(as_utc - kOffsetMax);
  sys_seconds shifted = as_utc - span.offset;
  while (true) {
    const sys_seconds here = as_utc - span.offset;
    if (here >= span.begin && here < span.end) {
      found.at[found.count == 0 ? 0 : 1] = here;
      found.count = std::min(found.count + 1, 2);
    }
    if (here >= span.end)
      shifted = here;  // the wall stands beyond this span: its offset is the last before a gap
    if (span.end > as_utc + kOffsetMax) break;
    span = span_at(span.end);
  }
  if (found.count == 0 && gap == Gap::shift) return {.count = 1, .at = {shifted}};
  if (found.count == 2 && fold != Fold::both) {
    return {.count = 1, .at = {fold == Fold::first ? found.at[0] : found.at[1]}};
  }
  return found;
}

Instant Zone::to_instant(LocalTime local) const {
  const auto whole = std::chrono::floor<seconds>(local);
  return to_instants(whole, Gap::shift, Fold::first).at[0] + (local - whole);
}

}  // namespace pawl
