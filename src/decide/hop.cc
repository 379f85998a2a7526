// Leaving a state and entering another.
#include <algorithm>

#include "decide/turn.h"
#include "policy/counting.h"

namespace pawl {

void Turn::hop(StateId to, By by) {
  ++hops_;
  leave(by);
  enter(to, by);
}

void Turn::leave(By by) {
  const bool goes_on_with_work = by == By::started;
  const bool is_failing = by == By::failing || by == By::coming_back || by == By::giving_up;
  const State& working = machine_->state(owner());
  if (!goes_on_with_work && !is_failing) {
    record_.streak.checkpoint.clear();  // the way back ends here
    record_.streak.gave_up = false;
    const bool has_counters = working.task || record_.streak.state == working.name;
    if (has_counters && policy().count == Policy::Count::state &&
        count_leaving(record_, working.name))
      touch(kCoreFailures);
  }
  const bool may_come_back =
      by == By::failing || by == By::coming_back || machine_->is_checkpoint(owner());
  if (working.task && may_come_back && !goes_on_with_work) remember_task(record_, working.name);
  if (!goes_on_with_work) {
    record_.running.reset();
    record_.streak.laters = 0;
  }
  record_.timers.clear();
  record_.plan.next.reset();
  record_.task_at.reset();
  record_.spent = false;
}

void Turn::enter(StateId to, By by) {
  state_ = to;
  record_.state = here().name;
  record_.entered_at = now_;
  touch(kCoreState);
  if (by == By::event || by == By::order) lift_hold();
  plan_due_ = true;
  arm_timers();
  if (here().task) make_task_ready(by);
  ask(here().effects);
}

void Turn::arm_timers() {
  const auto arm = [&](const std::vector<TimerRows>& timers, Timer::Kind kind) {
    for (std::size_t i = 0; i < timers.size(); ++i) {
      const auto delay = kind == Timer::Kind::every ? read_period(timers[i].delay)
                                                    : read_duration(timers[i].delay, "after");
      if (!delay) continue;
      record_.timers.push_back({kind, static_cast<std::uint16_t>(i), after(now_, *delay)});
    }
  };
  arm(here().after, Timer::Kind::after);
  arm(here().every, Timer::Kind::every);
}

// What comes back from a failure is the same work for the outside world.
void Turn::make_task_ready(By by) {
  record_.task_at = now_;
  const int priority = machine_->task(here().task->id).priority;
  if (record_.priority != priority) touch(kCorePriority);
  record_.priority = priority;
  const bool is_same_work = by == By::coming_back || by == By::failing;
  const auto remembered = is_same_work ? remembered_task(record_, record_.state) : std::nullopt;
  record_.task_seq = remembered.value_or(entry().seq);
  if (!is_same_work) forget_task(record_, record_.state);
}

}  // namespace pawl
