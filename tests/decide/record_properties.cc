#include <algorithm>

#include "base/json_text.h"
#include "decide/data.h"
#include "model/edges.h"
#include "pawl/why.h"
#include "properties.h"

namespace pawl {
namespace {

bool has_timer(const Record& record, Timer::Kind kind) {
  return std::any_of(record.timers.begin(), record.timers.end(),
                     [&](const Timer& timer) { return timer.kind == kind; });
}

// An event that can be taken without a hold; `restart` and `discard` that every machine has are no
// plan.
bool accepts_an_event(const Machine& machine, StateId id) {
  const auto is_taken = [](const Row& row) { return row.held != Row::Held::yes; };
  const auto& own = machine.state(id).on;
  if (std::any_of(own.begin(), own.end(), [&](const EventRows& on) {
        return std::any_of(on.rows.begin(), on.rows.end(), is_taken);
      }))
    return true;
  for (const EventId event : machine.machine_events())
    for (const MachineRow& row : machine.machine_rows(event))
      if (!row.implicit && row.in[id] && is_taken(*row.row)) return true;
  return false;
}

bool waits_for_children(const State& state, const Record& record) {
  const bool has_open = std::any_of(record.children.begin(), record.children.end(),
                                    [](const ChildCounts& counts) { return counts.open > 0; });
  return has_open && std::any_of(state.when.begin(), state.when.end(), reads_children);
}

}  // namespace

// By the kind of its state a record works, with a task that is ready or runs, or waits, with a
// timer, an event or children; or it is on hold; or it is over.
void check_never_stranded(const Decided& step) {
  const Record& record = step.decision.record;
  if (record.id.value == 0) return;
  const Machine& machine = step.machine_after();
  const StateId id = *machine.find_state(record.state);
  const State& state = machine.state(id);
  if (state.final || record.hold || record.running) return;
  const bool works = state.task && !record.spent;
  if (works) {
    expect(record.ready_at || has_timer(record, Timer::Kind::come_back),
           "a record that works is ready, runs, or is on its way back");
    return;
  }
  expect(!record.timers.empty() || record.plan.next || accepts_an_event(machine, id) ||
             waits_for_children(state, record),
         "a record that waits has a timer, a plan, an event or children to wait for");
}

void check_limits(const Decided& step) {
  const Record& record = step.decision.record;
  expect(record.labels.size() <= 8, "a record has at most 8 labels");
  expect(record.timers.size() <= 33, "a record has at most 32 timers and one to come back");
  expect(record.attempt >= 0 && record.failures >= 0, "counters are not negative");
  expect(record.failures == 0 || record.failing_since, "who fails fails since some instant");
  expect(step.decision.entries.size() <= 40, "a decision has few entries");
  for (const ChildCounts& counts : record.children)
    expect(counts.all == counts.open + counts.final && counts.hold <= counts.open,
           "counts of children go together");
}

void check_data(const Decided& step, const History& history) {
  const Record& record = step.decision.record;
  expect(bool(check_json(record.data)), "data is JSON");
  expect(record.result.empty() || check_json(record.result), "a result is JSON");
  for (const Label& label : record.labels) expect(bool(check_json(label.value)), "a label is JSON");
  if (record.id.value == 0 || history.is_erased) return;
  const Machine& machine = step.machine_after();
  for (const Assignment& declared : machine.definition().labels)
    for (const Label& label : record.labels)
      if (label.name == declared.name && declared.value.json.text == "{data}")
        expect_equal(label.value, record.data, "labels are taken from data");
  const State& state = step.state_after();
  if (state.task && record.version == 1)
    expect(record.priority == machine.task(state.task->id).priority, "priority is the task's");
  const auto& fields = machine.definition().data;
  if (!fields) return;
  const auto fits = completed(record.data, *fields, Others::refused, machine.zones());
  expect_equal(fits ? "" : fits.error().message, "", "data fits what is declared");
}

void check_children(const Decided& step, const Surroundings& around) {
  std::vector<ChildCounts> counts = step.decision.record.children;
  std::vector<ChildCounts> expected = around.counts();
  std::erase_if(counts, [](const ChildCounts& none) { return none.all == 0; });
  for (auto* all : {&counts, &expected}) {
    for (ChildCounts& of : *all)
      std::sort(of.states.begin(), of.states.end(),
                [](const auto& a, const auto& b) { return a.state < b.state; });
    std::sort(all->begin(), all->end(),
              [](const auto& a, const auto& b) { return a.machine < b.machine; });
  }
  expect(counts == expected, "a parent counts its children as they are");
}

void check_parent_is_told(const Decided& step) {
  const Record& after = step.decision.record;
  const auto& told = step.decision.to_parent;
  const bool moved =
      step.before.state != after.state || step.before.hold.has_value() != after.hold.has_value();
  expect(told.has_value() == (after.parent && moved), "a parent is told of just what it counts");
  if (!told) return;
  const auto was = step.machine.find_state(told->was);
  expect(told->was == step.before.state && told->is == after.state, "a parent is told the states");
  expect(told->is_held == after.hold.has_value() && told->was_held == step.before.hold.has_value(),
         "a parent is told of a hold");
  expect(told->is_final == step.state_after().final &&
             told->was_final == (was && step.machine.state(*was).final),
         "a parent is told what is final");
}

void check_effects(const Decided& step, History& history) {
  std::int64_t seq = 0;
  for (const Effect& effect : step.decision.effects) {
    expect(effect.seq >= seq, "effects keep the order of the log");
    seq = effect.seq;
    expect(bool(check_json(effect.payload)), "a payload is JSON");
    const auto& entries = step.decision.entries;
    expect(std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return entry.seq == effect.seq; }),
           "an effect is asked for by an entry");
    expect(!effect.in || *effect.in >= Duration{0}, "a delay is not negative");
    if (effect.found || effect.verb == Effect::Verb::send) continue;
    expect(history.effect_ids.insert(effect.id).second, "no delivery is made twice");
  }
}

void check_why(const Decided& step) {
  const Record& record = step.decision.record;
  if (record.id.value == 0) return;
  const Why found = why(step.machine_after(), record, step.at());
  expect(!found.sentence.empty(), "why is a sentence");
  if (step.state_after().final) {
    expect(found.kind == Why::Kind::final, "what is final does not move");
  } else if (record.running) {
    expect(found.kind == Why::Kind::running_until, "an attempt runs");
  } else {
    expect((found.kind == Why::Kind::on_hold) == record.hold.has_value(),
           "a hold is why nothing moves");
  }
}

}  // namespace pawl
