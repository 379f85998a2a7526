#include "server/rate_limit.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::chrono::seconds kHolds{1};
constexpr std::size_t kForgetsFrom = 1'000;  // a full bucket is as good as none

}  // namespace

RateLimit::RateLimit(int per_second)
    : each_(per_second > 0 ? Clock::duration(std::chrono::seconds{1}) / per_second
                           : Clock::duration{0}) {}

std::optional<RateLimit::Clock::duration> RateLimit::refused(const TokenHash& who,
                                                             Clock::time_point now) {
  if (each_ == Clock::duration{0}) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (full_at_.size() >= kForgetsFrom)
    std::erase_if(full_at_, [&](const auto& one) { return one.second <= now; });
  Clock::time_point& full_at = full_at_.try_emplace(who, now).first->second;
  const Clock::time_point then = std::max(full_at, now) + each_;
  if (then - now > kHolds) return then - now - kHolds;
  full_at = then;
  return std::nullopt;
}

}  // namespace pawl
