// Zone: a time zone as a value: which offset holds when, and what that makes of local times.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/time.h"

namespace pawl {

// A wall clock's time without a zone. Rules are expanded in whole seconds of it.
using LocalSeconds = std::chrono::local_seconds;
using LocalTime = std::chrono::local_time<Duration>;

// What becomes of a local time that does not exist: moved by the offset before the gap (02:30
// becomes 03:30), or left out.
enum class Gap { shift, skip };

// What becomes of a local time that exists twice.
enum class Fold { first, last, both };

// A stretch of time with one offset: [begin, end). The first begins at kBegin, the last ends at
// kEnd: far enough out for every use, near enough to add offsets to.
struct ZoneSpan {
  static constexpr std::chrono::sys_seconds kBegin{std::chrono::seconds{-(std::int64_t{1} << 60)}};
  static constexpr std::chrono::sys_seconds kEnd{std::chrono::seconds{std::int64_t{1} << 60}};

  std::chrono::sys_seconds begin;
  std::chrono::sys_seconds end;
  std::chrono::seconds offset;
  std::string_view abbreviation;  // lives as long as the zone
};

// The instants of one local time: none (skipped), one, or two.
struct LocalInstants {
  int count = 0;
  std::array<std::chrono::sys_seconds, 2> at{};
};

// Cheap to copy; immutable; safe to share between threads. Made by Zones, or utc().
class Zone {
 public:
  // One change of offset: from `at` on, `offset` holds.
  struct Change {
    std::chrono::sys_seconds at;
    std::chrono::seconds offset;
    std::uint16_t abbreviation;  // index into Table::abbreviations
  };

  // The offsets of a zone. `changes` begins at ZoneSpan::kBegin. From `cycle_from` on (if there is
  // such an instant) everything repeats every 400 years, and `changes` covers 400 years from there.
  struct Table {
    std::string name;
    std::vector<Change> changes;
    std::vector<std::string> abbreviations;
    std::chrono::sys_seconds cycle_from = std::chrono::sys_seconds::max();
  };

  explicit Zone(Table table);
  static Zone utc();

  std::string_view name() const { return table_->name; }

  // The span that `at` lies in.
  ZoneSpan span_at(std::chrono::sys_seconds at) const;

  LocalTime to_local(Instant instant) const;
  LocalInstants to_instants(LocalSeconds local, Gap gap, Fold fold) const;

  // The instant of a local time where exactly one is wanted: shifted out of a gap, the first of a
  // fold.
  Instant to_instant(LocalTime local) const;

 private:
  std::shared_ptr<const Table> table_;
};

// What an RFC 3339 text says: a time on some wall, and the offset of that wall where it is given.
struct Stamp {
  LocalTime local;
  std::optional<std::chrono::seconds> offset;
};
Result<Stamp> parse_stamp(std::string_view text);

// Reads RFC 3339; without an offset the text is local to `zone` (moved out of a gap, the first of a
// fold).
Result<Instant> parse_instant(std::string_view text, const Zone& zone);

// RFC 3339 with the zone's offset: `2026-11-16T10:30:00+01:00`. Where the offset is not of whole
// minutes (before about 1920) RFC 3339 cannot say it, and the instant is printed in UTC.
std::string to_text(Instant instant, const Zone& zone);

}  // namespace pawl
