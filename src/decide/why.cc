#include "pawl/why.h"

#include <algorithm>

#include "base/text.h"
#include "model/edges.h"

namespace pawl {

std::string_view to_text(Why::Kind kind) {
  switch (kind) {
    case Why::Kind::ready_since:
      return "ready_since";
    case Why::Kind::running_until:
      return "running_until";
    case Why::Kind::backing_off_until:
      return "backing_off_until";
    case Why::Kind::planned_at:
      return "planned_at";
    case Why::Kind::timer_at:
      return "timer_at";
    case Why::Kind::waiting_for_events:
      return "waiting_for_events";
    case Why::Kind::waiting_for_children:
      return "waiting_for_children";
    case Why::Kind::on_hold:
      return "on_hold";
    case Why::Kind::slot:
      return "slot";
    case Why::Kind::paused:
      return "paused";
    case Why::Kind::final:
      return "final";
  }
  return "";
}

namespace {

std::string_view who(Hold::By by) {
  switch (by) {
    case Hold::By::policy:
      return "its policy";
    case Hold::By::machine:
      return "its machine";
    case Hold::By::operator_:
      return "an operator";
    case Hold::By::engine:
      break;
  }
  return "the engine";
}

std::vector<std::string> accepted_events(const Machine& machine, StateId state) {
  std::vector<std::string> events;
  for (const EventRows& on : machine.state(state).on) events.push_back(on.event.name);
  for (const EventId event : machine.machine_events())
    for (const MachineRow& row : machine.machine_rows(event))
      if (!row.implicit && row.in[state]) events.push_back(machine.event_name(event));
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  return events;
}

std::vector<std::string> open_children(const Record& record) {
  std::vector<std::string> machines;
  for (const ChildCounts& counts : record.children)
    if (counts.open > 0) machines.push_back(counts.machine);
  return machines;
}

std::optional<Instant> first_timer(const Record& record, bool come_back) {
  std::optional<Instant> first;
  for (const Timer& timer : record.timers)
    if ((timer.kind == Timer::Kind::come_back) == come_back && (!first || timer.at < *first))
      first = timer.at;
  return first;
}

// `then` is what happens at that instant: a worker can claim the task, or the record returns.
std::string waiting_until(Instant at, const Record& record, const std::string& then) {
  if (!record.error || record.failures == 0)
    return "waiting until " + to_text(at) + ", then " + then;
  return "waiting to retry after failure " + std::to_string(record.failures) + " (" +
         record.error->code + "): at " + to_text(at) + " " + then;
}

Why of_work(const Machine& machine, const State& state, const Record& record, Instant now,
            const std::optional<Blocked>& blocked) {
  const Task& task = machine.task(state.task->id);
  if (*record.ready_at > now)
    return {.kind = Why::Kind::backing_off_until,
            .at = record.ready_at,
            .sentence = waiting_until(*record.ready_at, record,
                                      "a worker can claim " + in_ticks(task.name))};
  if (blocked)
    return {.kind = blocked->kind,
            .at = record.ready_at,
            .names = {task.name},
            .sentence = (blocked->kind == Why::Kind::paused ? "paused: " : "waiting for a slot: ") +
                        blocked->text};
  return {.kind = Why::Kind::ready_since,
          .at = record.ready_at,
          .names = {task.name},
          .sentence = "ready since " + to_text(*record.ready_at) + "; no worker has claimed " +
                      in_ticks(task.name) + " yet"};
}

Why of_waiting(const Machine& machine, StateId id, const Record& record) {
  const State& state = machine.state(id);
  const auto timer = first_timer(record, false);
  const auto events = accepted_events(machine, id);
  const std::string accepts = events.empty() ? "" : "; also accepts " + join(events, ", ", " and ");
  if (const auto back = first_timer(record, true))
    return {.kind = Why::Kind::backing_off_until,
            .at = back,
            .names = events,
            .sentence = waiting_until(*back, record,
                                      "it returns to " + in_ticks(record.streak.checkpoint))};
  if (record.plan.next && (!timer || *record.plan.next <= *timer))
    return {.kind = Why::Kind::planned_at,
            .at = record.plan.next,
            .names = events,
            .sentence = "scheduled for " + to_text(*record.plan.next) + accepts};
  const auto children = open_children(record);
  if (!children.empty() && std::any_of(state.when.begin(), state.when.end(), reads_children))
    return {.kind = Why::Kind::waiting_for_children,
            .at = timer,
            .names = children,
            .sentence = "waiting for its child records of " + join(children, ", ", " and ")};
  if (timer)
    return {.kind = Why::Kind::timer_at,
            .at = timer,
            .names = events,
            .sentence = "waiting for a timer at " + to_text(*timer) + accepts};
  return {.kind = Why::Kind::waiting_for_events,
          .names = events,
          .sentence = "waiting for an event: " + join(events, ", ", " or ")};
}

}  // namespace

Why why(const Machine& machine, const Record& record, Instant now,
        const std::optional<Blocked>& blocked) {
  const auto id = machine.find_state(record.state);
  PAWL_ASSERT(id.has_value(), "a record is in a state of its machine");
  const State& state = machine.state(*id);
  if (state.final)
    return {.kind = Why::Kind::final,
            .at = record.entered_at,
            .sentence = "final since " + to_text(record.entered_at)};
  if (record.running)
    return {.kind = Why::Kind::running_until,
            .at = record.running->deadline_at,
            .sentence = "running since " + to_text(record.running->started_at) +
                        (record.running->worker.empty() ? "" : " on " + record.running->worker) +
                        "; times out at " + to_text(record.running->deadline_at)};
  if (record.hold)
    return {.kind = Why::Kind::on_hold,
            .at = record.hold->since,
            .hold = record.hold,
            .sentence = "on hold since " + to_text(record.hold->since) + " by " +
                        std::string(who(record.hold->by)) + " (" + record.hold->code +
                        "): " + record.hold->text};
  if (record.ready_at) return of_work(machine, state, record, now, blocked);
  return of_waiting(machine, *id, record);
}

}  // namespace pawl
