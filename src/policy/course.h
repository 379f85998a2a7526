// Course: the failures of one run, when each can happen at the soonest and at the latest.
#pragma once

#include <cstdint>
#include <optional>

#include "pawl/definition.h"
#include "pawl/time.h"
#include "policy/growth.h"

namespace pawl {

// What a duration can be; none where it is not known before there is a record.
struct Between {
  std::optional<Duration> least = Duration{0};
  std::optional<Duration> most = Duration{0};

  friend bool operator==(const Between&, const Between&) = default;
};

// Delays that still grow after so many failures are not followed further.
inline constexpr std::int64_t kFollowedMax = 1'000;

// Goes from failure to failure of a task whose every attempt fails. Instants are counted from the
// first start. At the soonest attempts fail at once and jitter is short; at the latest they run
// into their timeout and jitter is long. Sums beyond kDurationMax are kDurationMax.
class Course {
 public:
  // Without a timeout nothing is known of the latest. The delays outlive the course.
  Course(const Delays& delays, std::optional<Duration> timeout);

  std::int64_t failure() const { return failure_; }  // 1, 2, …
  Between failed_at() const;

  // Whether no delay is left after this failure. Then there is no wait and no next start.
  bool gives_up() const { return count_ && failure_ > *count_; }
  Between wait() const;
  Between apart() const;  // from one start to the next
  Between next_start() const;

  // Whether every later wait is like this one.
  bool is_settled() const;

  // Whether it is too far from the first failure, and still growing.
  bool is_too_far() const { return growth_ && failure_ > kFollowedMax && !is_settled(); }

  // To the next failure.
  void go_on();

  // Over so many of them at once, when it is settled; at most to the one that gives up.
  void go_on(std::int64_t failures);

  // To the failure that gives up; false when there is none. One that is too far away to be followed
  // is at an unknown time.
  bool go_to_end();

 private:
  std::optional<Duration> plain_wait() const;

  const Delays& delays_;
  std::optional<Duration> timeout_;
  std::optional<int> count_;
  std::optional<Growth> growth_;  // of a formula without templates
  std::int64_t failure_ = 1;
  Between started_at_;
};

// How many failures there are at least when the run is given up after `elapsed`; none when its end
// comes first, however slow it is, or when that is not known or too far away.
std::optional<std::int64_t> failures_until(Course course, Duration elapsed);

}  // namespace pawl
