#include "policy/delays.h"

#include <algorithm>

#include "base/mutant.h"
#include "model/expression/duration_of.h"
#include "pawl/assert.h"
#include "policy/growth.h"
#include "policy/jitter.h"

namespace pawl {
namespace {

Result<Duration> by_formula(const Delays& delays, int k, const Sight& sight, Scratch& scratch) {
  PAWL_TRY(const Duration first, duration_of(delays.first, sight, scratch));
  if (!delays.max) return grown(first, delays.factor_milli, k - 1, kDurationMax);
  PAWL_TRY(const Duration max, duration_of(*delays.max, sight, scratch));
  return grown(first, delays.factor_milli, k - 1, max);
}

// Before the jitter.
Result<Duration> plain_delay(const Delays& delays, int k, const Sight& sight, Scratch& scratch) {
  switch (delays.kind) {
    case Delays::Kind::list:
      return duration_of(delays.list[static_cast<std::size_t>(k) - 1], sight, scratch);
    case Delays::Kind::formula:
      return by_formula(delays, k, sight, scratch);
    case Delays::Kind::fixed:
      break;
  }
  return duration_of(delays.first, sight, scratch);
}

}  // namespace

Delay delay_after(const Delays& delays, int k, std::uint64_t draw, const Sight& sight,
                  Scratch& scratch) {
  PAWL_ASSERT(k >= 1, "failures are counted from one");
  if (mutant(Mutant::retry_off_by_one)) k = std::max(1, k - 1);
  if (const auto count = delay_count(delays); count && k > *count)
    return {.kind = Delay::Kind::used_up};
  const auto plain = plain_delay(delays, k, sight, scratch);
  if (!plain) return {.kind = Delay::Kind::bad_value, .why = plain.error().message};
  return {.wait = jittered(*plain, delays, draw)};
}

std::optional<int> delays_left(const Delays& delays, int k) {
  const auto count = delay_count(delays);
  return count ? std::optional(std::max(0, *count - k)) : std::nullopt;
}

std::optional<int> delay_count(const Delays& delays) {
  if (delays.kind == Delays::Kind::list) return static_cast<int>(delays.list.size());
  if (delays.kind == Delays::Kind::formula && delays.attempts) return *delays.attempts - 1;
  return std::nullopt;
}

}  // namespace pawl
