#include "policy/course.h"

#include <algorithm>

#include "policy/delays.h"
#include "policy/jitter.h"

namespace pawl {
namespace {

using Known = std::optional<Duration>;

Known sum(Known a, Known b) {
  return a && b ? Known(std::min(*a + *b, kDurationMax)) : std::nullopt;
}

Between sum(const Between& a, const Between& b) {
  return {sum(a.least, b.least), sum(a.most, b.most)};
}

Known times(Known a, std::int64_t factor) {
  if (!a || *a == Duration{0}) return a;
  return factor > kDurationMax / *a ? kDurationMax : *a * factor;
}

std::optional<Growth> growth_of(const Delays& delays) {
  const bool fixed = delays.first.is_fixed() && (!delays.max || delays.max->is_fixed());
  if (delays.kind != Delays::Kind::formula || !fixed) return std::nullopt;
  return Growth(delays.first.fixed, delays.factor_milli,
                delays.max ? delays.max->fixed : kDurationMax);
}

}  // namespace

Course::Course(const Delays& delays, std::optional<Duration> timeout)
    : delays_(delays), timeout_(timeout), count_(delay_count(delays)), growth_(growth_of(delays)) {}

Between Course::failed_at() const { return sum(started_at_, {Duration{0}, timeout_}); }

std::optional<Duration> Course::plain_wait() const {
  if (delays_.kind == Delays::Kind::formula) return growth_ ? Known(growth_->now()) : std::nullopt;
  const bool listed = delays_.kind == Delays::Kind::list;
  const DurationValue& wait =
      listed ? delays_.list[static_cast<std::size_t>(failure_) - 1] : delays_.first;
  return wait.is_fixed() ? Known(wait.fixed) : std::nullopt;
}

Between Course::wait() const {
  const Known plain = plain_wait();
  if (!plain) return {std::nullopt, std::nullopt};
  const JitterRange range = jitter_range(*plain, delays_);
  return {range.least, range.most};
}

Between Course::apart() const { return sum(wait(), {Duration{0}, timeout_}); }

Between Course::next_start() const { return sum(started_at_, apart()); }

bool Course::is_settled() const {
  if (delays_.kind == Delays::Kind::list) return false;
  return !growth_ || growth_->is_settled();
}

void Course::go_on() {
  started_at_ = next_start();
  ++failure_;
  if (growth_) growth_->step();
}

void Course::go_on(std::int64_t failures) {
  if (count_) failures = std::min(failures, *count_ + 1 - failure_);
  const Between between = apart();
  started_at_ = sum(started_at_, {times(between.least, failures), times(between.most, failures)});
  failure_ += failures;
}

bool Course::go_to_end() {
  if (!count_) return false;
  while (!gives_up() && !is_settled() && !is_too_far()) go_on();
  if (!gives_up() && is_too_far()) started_at_ = {std::nullopt, std::nullopt};
  if (!gives_up()) go_on(*count_ + 1 - failure_);
  return true;
}

std::optional<std::int64_t> failures_until(Course course, Duration elapsed) {
  while (!course.gives_up()) {
    if (course.is_too_far()) return std::nullopt;
    const Between next = course.next_start();
    if (!next.most) return std::nullopt;
    if (*next.most >= elapsed) return course.failure();
    const Duration apart = *course.apart().most;
    if (!course.is_settled()) {
      course.go_on();
    } else if (apart > Duration{0}) {
      course.go_on((elapsed - *next.most - Duration{1}) / apart + 1);
    } else {
      return std::nullopt;
    }
  }
  const Known failed = course.failed_at().most;
  return failed && *failed >= elapsed ? std::optional(course.failure()) : std::nullopt;
}

}  // namespace pawl
