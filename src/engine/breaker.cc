#include "engine/breaker.h"

#include <algorithm>

namespace pawl {

int Breaker::width(Instant now) const {
  if (!canary_at_) return width_;
  return now >= *canary_at_ ? 1 : 0;
}

std::optional<Instant> Breaker::next() const { return under_way_ == 0 ? canary_at_ : std::nullopt; }

void Breaker::ended(End end, Instant now) {
  under_way_ = std::max(0, under_way_ - 1);
  if (end == End::given_back) return;
  if (end == End::delivered) {
    failures_ = 0;
    pause_ = kFirstPause;
    width_ = canary_at_ ? 1 : width_;
    width_ = std::min(max_, width_ * 2);
    canary_at_.reset();
    return;
  }
  ++failures_;
  const bool is_recovering = width_ < max_;
  if (canary_at_ &&
      under_way_ == 0) {  // the canary, or the last of those that were still under way
    pause_ = std::min(pause_ * 2, kLongestPause);
    canary_at_ = now + pause_;
  } else if (!canary_at_ && (failures_ >= kFailures || is_recovering)) {
    canary_at_ = now + pause_;
  }
}

}  // namespace pawl
