// Breaker: how many deliveries to one channel may be under way. After failures in a row none but
// single canaries, further and further apart; once one gets through, more in steps.
#pragma once

#include <optional>

#include "pawl/time.h"

namespace pawl {

class Breaker {
 public:
  static constexpr int kFailures = 5;  // in a row
  static constexpr Duration kFirstPause = std::chrono::seconds{5};
  static constexpr Duration kLongestPause = std::chrono::minutes{5};

  explicit Breaker(int max) : max_(max), width_(max) {}

  bool may_start(Instant now) const { return under_way_ < width(now); }
  // When a canary may go; none when it need not be waited for.
  std::optional<Instant> next() const;
  bool is_open() const { return canary_at_.has_value(); }

  void started() { ++under_way_; }
  enum class End { delivered, failed, given_back };
  void ended(End end, Instant now);

 private:
  int width(Instant now) const;

  int max_;
  int width_;  // as many may be under way while it is not open
  int under_way_ = 0;
  int failures_ = 0;  // in a row
  Duration pause_ = kFirstPause;
  std::optional<Instant> canary_at_ = {};  // it is open
};

}  // namespace pawl
