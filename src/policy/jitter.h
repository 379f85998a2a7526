// Jitter: delays made uneven, so that records that failed together do not come back together.
#pragma once

#include <cstdint>
#include <string_view>

#include "pawl/definition.h"
#include "pawl/time.h"

namespace pawl {

// A number drawn from who is waiting and at what point of its life: evenly spread over all 64-bit
// numbers, and the same for the same arguments on every machine and in every version of Pawl.
std::uint64_t jitter_draw(std::string_view machine, std::string_view key, std::int64_t revision,
                          std::int64_t fence);

// From the shortest to the longest a delay may become.
struct JitterRange {
  Duration least = {};
  Duration most = {};

  friend bool operator==(const JitterRange&, const JitterRange&) = default;
};

// none: the delay itself; full: [0, d]; equal: [d/2, d]; percent p: [d(1-p), d(1+p)]. Of a delay
// from zero to kDurationMax; never outside of that.
JitterRange jitter_range(Duration delay, const Delays& delays);

// The delay with its jitter: each microsecond of the range is as likely as any other.
Duration jittered(Duration delay, const Delays& delays, std::uint64_t draw);

}  // namespace pawl
