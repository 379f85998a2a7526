#include <algorithm>

#include "base/json_text.h"
#include "model/codec.h"
#include "properties.h"

namespace pawl {
namespace {

bool enters(const Entry& entry) {
  return entry.changes.find("\"entered_at\":") != std::string::npos;
}

// What comes back from a failure is the same work for the world.
bool comes_back(const Entry& entry) {
  switch (entry.kind) {
    case Entry::Kind::failed:
    case Entry::Kind::timed_out:
      return entry.next_at.has_value();  // else an error row says where to go
    case Entry::Kind::rewound:
    case Entry::Kind::resumed:
      return true;
    case Entry::Kind::gave_up:
      return false;
    case Entry::Kind::operator_:
      return entry.event == "retry" || entry.event == "release";
    default:
      return entry.cause == "resume";
  }
}

// Gave up and goes on elsewhere is no failing: nobody will bring it back.
bool fails(const Entry& entry, const Record& core) {
  if (entry.kind == Entry::Kind::gave_up) return core.hold.has_value();
  return entry.kind == Entry::Kind::failed || entry.kind == Entry::Kind::timed_out;
}

// Which entry the work of a state has its key from, as far as that is beyond doubt.
void note_entry(const Machine& machine, const Entry& entry, History& history) {
  const bool failing = fails(entry, history.core);
  const auto from = machine.find_state(entry.from);
  const auto owner = from ? machine.owner_of(*from) : std::nullopt;
  const std::string& working = owner ? machine.state(*owner).name : entry.from;
  if (entry.kind != Entry::Kind::started) history.entered[working].was_left_failing = failing;
  Entered& entered = history.entered[entry.to];
  const bool is_held = history.core.hold.has_value();
  const bool could_not_go_on = is_held && history.core.hold->by == Hold::By::engine;
  const bool may_stay = is_held && entry.kind == Entry::Kind::done;
  const bool ends_attempt =
      owner && working == entry.to && (failing || could_not_go_on || may_stay);
  const bool is_resumed = entry.kind == Entry::Kind::resumed || entry.cause == "resume";
  const bool is_unsure = ends_attempt || is_resumed || entry.kind == Entry::Kind::migrated;
  if (is_unsure || (comes_back(entry) && entered.seq != 0 && !entered.was_left_failing)) {
    entered.seq = -1;
  } else if (!comes_back(entry) || entered.seq == 0) {
    entered.seq = entry.seq;
  }
}

}  // namespace

void check_log(const Decided& step, History& history) {
  const Record& after = step.decision.record;
  std::int64_t seq = step.before.revision;
  std::string state = step.before.state;
  history.cores.clear();
  for (const Entry& entry : step.decision.entries) {
    expect(entry.seq == ++seq, "seqs have no gap");
    expect_equal(entry.from, state, "an entry begins where the one before ended");
    expect(entry.at >= history.last_at, "instants of a log do not go back");
    expect(entry.at == step.at(), "an entry is made at the instant of the decision");
    expect(entry.actor == step.stimulus.actor, "every entry names its actor");
    expect(bool(check_json(entry.changes)), "changes are JSON");
    expect(entry.input.empty() == (&entry != &step.decision.entries.front()),
           "the first entry of a decision has the input");
    history.last_at = entry.at;
    state = entry.to;
    fold(history.core, entry.changes);
    expect_equal(history.core.state, state, "changes lead to the state of the entry");
    expect(history.core.epoch == entry.epoch, "an entry says the epoch");
    history.cores.push_back(history.core);
    if (entry.kind == Entry::Kind::erased) history.is_erased = true;
    if (enters(entry)) note_entry(step.machine_after(), entry, history);
  }
  expect(after.revision == seq, "the revision is the seq of the last entry");
  expect_equal(after.state, state, "the last entry leads to the state");
  expect_equal(core_text(after), core_text(history.core), "folding the changes gives the core");
  if (!step.decision.entries.empty())
    expect(after.changed_at == step.decision.entries.back().at,
           "the last entry is the last change");
  expect(after.entered_at >= step.before.entered_at, "a state is not entered before the last one");
  expect(after.epoch >= step.before.epoch, "epochs only rise");
  const bool is_beat = step.given<Stimulus::Beat>() != nullptr;
  expect(after.writes == step.before.writes + (is_beat ? 0 : 1),
         "every commit but a beat is one write");
  if (is_beat) expect(step.decision.entries.empty() || step.newest, "a beat is quiet");
}

namespace {

bool leaves_for(const Row& row, const std::string& to) {
  return row.new_epoch && row.to && row.to->name == to;
}

bool may_leave(const Machine& machine, const Entry& entry) {
  if (entry.kind == Entry::Kind::operator_ || entry.kind == Entry::Kind::migrated) return true;
  const auto event = machine.find_event(entry.event);
  if (entry.kind != Entry::Kind::event || !event) return false;
  const StateId from = *machine.find_state(entry.from);
  const auto own = machine.rows(from, *event);
  const auto everywhere = machine.machine_rows(*event);
  return std::any_of(own.begin(), own.end(),
                     [&](const Row& row) { return leaves_for(row, entry.to); }) ||
         std::any_of(everywhere.begin(), everywhere.end(), [&](const MachineRow& row) {
           return row.in[from] && leaves_for(*row.row, entry.to);
         });
}

}  // namespace

void check_leaving_final(const Decided& step) {
  const Machine& machine = step.machine_after();
  int epoch = step.before.epoch;
  for (const Entry& entry : step.decision.entries) {
    const auto from = machine.find_state(entry.from);
    const bool leaves =
        from && machine.state(*from).final && !machine.state(*machine.find_state(entry.to)).final;
    if (leaves) {
      expect(may_leave(machine, entry), "a final state is left by a declared row or an order");
      expect(entry.kind == Entry::Kind::migrated || entry.epoch > epoch,
             "a final state is left for a fresh start");
    }
    epoch = entry.epoch;
  }
}

void check_replay(const Decided& step, const Record& core_before) {
  const auto& entries = step.decision.entries;
  if (entries.empty()) return;
  expect(bool(check_json(entries[0].input)), "an input is JSON");
  Input input = read_input(entries[0].input);
  const Record record = joined(core_before, input.quiet);
  expect(record == step.before, "core and quiet part make the record");
  input.stimulus.machine = step.stimulus.machine;
  input.stimulus.key = step.stimulus.key;
  input.stimulus.newest = step.newest;
  const Decision again = decide(step.machine, record, input.stimulus, entries[0].at);
  expect(again.entries == entries, "deciding the input again gives the entries");
  expect(again.record == step.decision.record, "deciding the input again gives the record");
}

}  // namespace pawl
