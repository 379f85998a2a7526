// Figures: what an engine has done since it was opened, counted for whoever watches it. What has a
// name of the user's own is bounded: beyond that many, the rest is counted under `other`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace pawl {

inline constexpr std::size_t kFiguresMax = 200;  // machines; channels; states and codes of them all
inline constexpr std::string_view kOtherFigures = "other";

// How many values were at most as high as each of some bounds.
class Histogram {
 public:
  static constexpr std::size_t kBoundsMax = 15;

  Histogram() = default;
  // Rising, at most kBoundsMax, and they outlive it.
  explicit Histogram(std::span<const double> bounds) : bounds_(bounds) {}

  void add(double value) {
    std::size_t i = 0;
    while (i < bounds_.size() && value > bounds_[i]) ++i;
    ++counts_[i];
    ++count_;
    sum_ += value;
  }

  std::span<const double> bounds() const { return bounds_; }
  // Above the bound before and at most as high as this one; the one behind the last bound: above
  // it.
  std::uint64_t count_of(std::size_t i) const { return counts_[i]; }
  std::uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::span<const double> bounds_ = {};
  std::array<std::uint64_t, kBoundsMax + 1> counts_ = {};
  std::uint64_t count_ = 0;
  double sum_ = 0;
};

struct MachineFigures {
  std::uint64_t created = 0;
  std::uint64_t transitions = 0;  // hops from one state to another
  std::uint64_t attempts = 0;     // that were started
  std::uint64_t retries = 0;      // failures that were answered with another try
  std::uint64_t gave_up = 0;
  std::uint64_t holds = 0;
  std::map<std::string, std::uint64_t, std::less<>> failures = {};  // by code
  std::map<std::string, Histogram, std::less<>> in_state = {};      // seconds, when it was left
};

struct ChannelFigures {
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;  // tries
};

struct Figures {
  std::map<std::string, MachineFigures, std::less<>> machines = {};
  std::map<std::string, ChannelFigures, std::less<>> channels = {};
  Histogram due_lag = {};         // seconds: how late the clock's own work is begun
  Histogram ready_wait = {};      // seconds: how long what was ready waited for a worker
  Histogram batch_units = {};     // decisions of one commit
  Histogram commit_seconds = {};  // how long it took
  std::uint64_t stale_settles = 0;
  std::uint64_t repeats_answered = 0;  // with the answer given before
  // Settles and idempotency keys that were carried out twice: must stay 0. Seen are the last
  // 30,000 or so.
  std::uint64_t double_applied = 0;
  std::size_t waiting_claims = 0;  // of workers, now
};

}  // namespace pawl
