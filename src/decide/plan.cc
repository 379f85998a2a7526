// The plan: when the schedule comes next for a record.
#include <algorithm>

#include "decide/bound_schedule.h"
#include "decide/turn.h"

namespace pawl {

std::optional<BoundSchedule> Turn::schedule() {
  const auto& schedule = machine_->definition().schedule;
  if (!schedule) return std::nullopt;
  auto bound = BoundSchedule::bind(*schedule, sight(), machine_->zones(), scratch_);
  if (bound) return *std::move(bound);
  bad_value("the schedule: " + bound.error().message);
  return std::nullopt;
}

std::optional<Instant> Turn::next_planned() {
  const auto bound = schedule();
  return bound ? bound->next(now_) : std::nullopt;
}

// Computed on entry into a state with `planned`, and when data changed. Without an occurrence left
// the rows of `ended` have their turn, once for each entry: what they set may make a new plan.
void Turn::plan_again() {
  if (!plan_due_ && !data_changed_) return;
  std::optional<int> ended_at;  // after that many hops
  while (bad_value_.empty()) {
    const bool is_overdue = record_.plan.next && *record_.plan.next <= now_;
    if (is_overdue && !here().planned.empty()) return;  // what is new is for the next slot
    record_.plan.next.reset();
    if (here().planned.empty()) return;
    const auto bound = schedule();
    if (!bound) return;
    record_.plan.anchor = bound->anchor();
    record_.plan.zone = bound->zone();
    // New data is for what comes: it has missed nothing.
    const bool makes_up =
        plan_due_ && machine_->definition().schedule->missed == Schedule::Missed::all;
    const Instant from = makes_up ? record_.plan.serving.value_or(now_) : now_;
    record_.plan.next = bound->next(makes_up ? not_too_far_back(*bound, from) : now_);
    if (record_.plan.next || is_held() || ended_at == hops_) return;
    const Choice choice = choose(machine_->definition().schedule->ended);
    if (!choice) return;
    if (hops_ >= kHopsMax) {
      hold_as_loop(Entry::Kind::schedule);
      return;
    }
    ended_at = hops_;
    take(choice, {Entry::Kind::schedule, {}, "ended"}, By::done);
    follow_when();
  }
}

// `missed: all` makes up for the last slots only. Looks back from now in steps that double: a long
// absence costs little.
Instant Turn::not_too_far_back(const BoundSchedule& bound, Instant from) const {
  for (Duration back = kLateAfter;; back *= 2) {
    const Instant start = back < now_ - from ? now_ - back : from;
    std::vector<Instant> slots;
    for (auto next = bound.next(start); next && *next <= now_; next = bound.next(*next))
      slots.push_back(*next);
    if (slots.size() > kMissedSlotsMax) return slots[slots.size() - kMissedSlotsMax - 1];
    if (start == from) return from;
  }
}

// The slot that is due. True when a row may be taken for it now.
bool Turn::serve_plan() {
  const auto bound = schedule();
  if (!bound) return false;
  PAWL_ASSERT(record_.plan.next.has_value(), "only a slot that is planned comes due");
  Instant slot = *record_.plan.next;
  const auto missed = machine_->definition().schedule->missed;
  const auto following = bound->next(slot);
  const bool is_late = now_ - slot > kLateAfter || (following && *following <= now_);
  record_.plan.next.reset();
  if (is_late && missed == Schedule::Missed::none) {
    plan_due_ = true;
    return false;
  }
  if (is_late && missed == Schedule::Missed::last) slot = bound->latest(slot, now_);
  if (is_late && missed == Schedule::Missed::all)
    slot = bound->next(not_too_far_back(*bound, slot - Duration{1})).value_or(slot);
  record_.plan.serving = slot;
  plan_due_ = true;
  return true;
}

}  // namespace pawl
