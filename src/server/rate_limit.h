// RateLimit: how often each bearer of a token may ask.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>

#include "engine/token.h"

namespace pawl {

// A bucket for each token that holds what may be asked in one second, and fills again evenly.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: as often as they like.
  explicit RateLimit(int per_second);

  // None: he may, and it is counted. Otherwise how long it takes until he may. From any thread.
  std::optional<Clock::duration> refused(const TokenHash& who, Clock::time_point now);

 private:
  Clock::duration each_;  // for one request to flow in; 0: without a bound
  std::mutex mutex_;
  std::map<TokenHash, Clock::time_point> full_at_;  // when the bucket will be full again
};

}  // namespace pawl
