#include <algorithm>
#include <optional>

#include "properties.h"

namespace pawl {
namespace {

void take_earlier(std::optional<Instant>& first, std::optional<Instant> other) {
  if (other && (!first || *other < *first)) first = other;
}

const Timer* find_timer(const Record& record, Timer::Kind kind, std::size_t index) {
  for (const Timer& timer : record.timers)
    if (timer.kind == kind && timer.index == index) return &timer;
  return nullptr;
}

bool is_of(const State& state, const Timer& timer) {
  if (timer.kind == Timer::Kind::after) return timer.index < state.after.size();
  if (timer.kind == Timer::Kind::every) return timer.index < state.every.size();
  return timer.index == 0;
}

void check_timers_are_of(const State& state, const Record& record) {
  for (const Timer& timer : record.timers) {
    const auto is_twin = [&](const Timer& other) {
      return other.kind == timer.kind && other.index == timer.index;
    };
    expect(std::count_if(record.timers.begin(), record.timers.end(), is_twin) == 1,
           "each timer is there once");
    expect(is_of(state, timer), "timers are those of the state");
  }
}

Instant later(Instant at, Duration delay) {
  return delay > kInstantMax - at ? kInstantMax : at + delay;
}

}  // namespace

void check_instants(const Decided& step) {
  const Record& record = step.decision.record;
  if (record.id.value == 0) return;
  const State& state = step.state_after();
  std::optional<Instant> wake;
  if (record.running) {
    wake = record.running->deadline_at;
    take_earlier(wake, record.running->lease_until);
  }
  if (!record.hold) {
    for (const Timer& timer : record.timers) take_earlier(wake, timer.at);
    take_earlier(wake, record.plan.next);
  }
  expect(record.wake_at == wake, "the engine wakes for lease, deadline, timers and plan");
  if (record.ready_at) {
    expect(!record.running, "what runs is not ready");
    expect(!record.hold, "what is on hold is not ready");
    expect(state.task && !record.spent, "only a task that is not spent is ready");
  }
  if (!state.final) return;
  expect(!record.ready_at && !record.wake_at && !record.running, "what is final has no instants");
  expect(record.timers.empty() && !record.plan.next, "what is final has no timers");
}

void check_timers(const Decided& step, const History& history) {
  const Record& record = step.decision.record;
  if (record.id.value == 0) return;
  const State& state = step.state_after();
  const bool was_moved_over = record.version != step.before.version;
  for (std::size_t i = 0; i < state.after.size(); ++i) {
    const Timer* timer = find_timer(record, Timer::Kind::after, i);
    const DurationValue& delay = state.after[i].delay;
    if (!delay.is_fixed()) continue;
    const Instant at = later(record.entered_at, delay.fixed);
    if (timer) expect(timer->at == at, "a timer runs from entry");
    expect(timer || at <= history.latest_at || was_moved_over || record.version > 1,
           "a timer is there until its instant");
  }
  for (std::size_t i = 0; i < state.every.size(); ++i) {
    const Timer* timer = find_timer(record, Timer::Kind::every, i);
    const DurationValue& period = state.every[i].delay;
    if (!period.is_fixed()) continue;
    expect(timer || later(step.at(), period.fixed) == kInstantMax, "ticks do not end");
    if (!timer || timer->at == kInstantMax) continue;
    expect(timer->at > record.entered_at, "ticks come after entry");
    expect((timer->at - record.entered_at) % period.fixed == Duration{0}, "ticks keep their grid");
  }
  check_timers_are_of(state, record);
}

void check_plan(const Decided& step, const History& history) {
  const Record& record = step.decision.record;
  const auto& served = step.before.plan.serving;
  if (served && record.plan.serving != served && step.at() == history.latest_at)
    expect(record.plan.serving && *record.plan.serving > *served, "a slot is served once");
  if (record.id.value == 0 || !record.plan.next) return;
  const State& state = step.state_after();
  const auto& schedule = step.machine_after().definition().schedule;
  expect(schedule && !state.planned.empty(), "only a state with `planned` has a plan");
  if (schedule->missed != Schedule::Missed::all)
    expect(*record.plan.next > record.entered_at || record.version > 1, "the plan is after entry");
  if (schedule->kind != Schedule::Kind::every || !schedule->every.is_fixed() || schedule->anchor)
    return;
  expect((*record.plan.next - record.created_at) % schedule->every.fixed == Duration{0},
         "elapsed time is counted from the anchor");
}

}  // namespace pawl
