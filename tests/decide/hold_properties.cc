#include <algorithm>

#include "model/expression/program.h"
#include "properties.h"

namespace pawl {
namespace {

bool moves_by_itself(Entry::Kind kind) {
  return kind == Entry::Kind::timer || kind == Entry::Kind::schedule || kind == Entry::Kind::when ||
         kind == Entry::Kind::rewound || kind == Entry::Kind::resumed ||
         kind == Entry::Kind::started;
}

// Whether the event has a row here for records that are on hold, or for those that are not.
bool has_row(const Machine& machine, const std::string& state, const std::string& event,
             bool held) {
  const auto fits = [&](const Row& row) {
    return row.held == Row::Held::any || (row.held == Row::Held::yes) == held;
  };
  const StateId id = *machine.find_state(state);
  const EventId event_id = *machine.find_event(event);
  const auto own = machine.rows(id, event_id);
  const auto everywhere = machine.machine_rows(event_id);
  return std::any_of(own.begin(), own.end(), fits) ||
         std::any_of(everywhere.begin(), everywhere.end(),
                     [&](const MachineRow& row) { return row.in[id] && fits(*row.row); });
}

void check_event(const Decided& step, const std::string& event) {
  if (step.is(Answer::Kind::ok) && !step.newest)
    expect(has_row(step.machine, step.before.state, event, step.before.hold.has_value()),
           "an event is taken by a row that fits the hold");
}

}  // namespace

void check_hold(const Decided& step) {
  if (!step.exists()) return;
  const auto* fire = step.given<Stimulus::Fire>();
  const auto* sent = step.given<Stimulus::Sent>();
  if (fire) check_event(step, fire->event);
  if (sent) check_event(step, sent->event);
  if (!step.before.hold) return;
  const auto& entries = step.decision.entries;
  const bool is_order = step.given<Stimulus::Order>() != nullptr;
  if (!fire && !sent && !is_order) {
    expect(step.decision.record.hold.has_value(), "only an event or an order ends a hold");
    for (const Entry& entry : entries)
      expect(!moves_by_itself(entry.kind), "on hold nothing moves by itself");
  }
  const bool entered = step.before.entered_at != step.decision.record.entered_at ||
                       std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
                         return entry.changes.find("\"entered_at\"") != std::string::npos;
                       });
  if (!step.decision.record.hold && !is_order) expect(entered, "an event that stays ends no hold");
}

void check_when(const Decided& step) {
  const Record& record = step.decision.record;
  const State& state = step.state_after();
  const auto& entries = step.decision.entries;
  const bool failed = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) {
    return entry.error.has_value();  // what failed in place is left alone
  });
  if (record.hold || state.final || failed || step.given<Stimulus::Beat>()) return;
  Scratch scratch;
  const Sight sight{.record = &record, .data = record.data, .now = step.at()};
  for (const Row& row : state.when) {
    if (row.event || row.fail) continue;  // the event may be refused
    if (row.condition && !row.condition->program->guard().empty()) continue;
    expect(row.condition && !row.condition->program->holds(sight, scratch),
           "a row of `when` that holds is taken");
  }
}

}  // namespace pawl
