// Rounding every step to microseconds would keep 1µs times 1.5 at 1µs for ever. So the steps carry
// 58 bits of fraction: kDurationMax is below 2^59 and a step at most 1,000 times as long, which
// makes 127 bits. A result of whole microseconds is exact: with the factor n / (2^a * 5^b) in
// lowest terms it needs 2^(a * steps) in `first`, so no step before it has more bits than there
// are. Any other may be short by steps / 2^58 of itself.
#include "policy/growth.h"

#include <algorithm>
#include <cstdint>

#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr int kFractionBits = 58;
constexpr int kOne = 1'000;

}  // namespace

Growth::Growth(Duration first, int factor_milli, Duration max)
    : value_(static_cast<Natural>(std::min(first, max).count()) << kFractionBits),
      most_(static_cast<Natural>(max.count()) << kFractionBits),
      factor_(static_cast<Natural>(factor_milli)) {
  PAWL_ASSERT(factor_milli >= kOne && factor_milli <= kOne * 1'000, "a factor is from 1 to 1000");
}

Duration Growth::now() const {
  return Duration{static_cast<std::int64_t>(value_ >> kFractionBits)};
}

bool Growth::is_settled() const { return factor_ == kOne || value_ == 0 || value_ == most_; }

void Growth::step() {
  value_ = std::min(most_, value_ / kOne * factor_ + value_ % kOne * factor_ / kOne);
}

Duration grown(Duration first, int factor_milli, int steps, Duration max) {
  Growth growth(first, factor_milli, max);
  for (; steps > 0 && !growth.is_settled(); --steps) growth.step();
  return growth.now();
}

}  // namespace pawl
