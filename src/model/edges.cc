#include "model/edges.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/expression/program.h"
#include "model/sites.h"

namespace pawl {
namespace {

bool any_fails(const Rows& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.fail.has_value(); });
}

class Edges {
 public:
  explicit Edges(const Machine& machine) : machine_(machine) {}

  std::vector<Edge> all() {
    for (StateId id = 0; id < machine_.state_count() && !is_full(); ++id) {
      from_ = id;
      known_.clear();
      of_state(machine_.state(id));
    }
    return std::move(edges_);
  }

 private:
  void of_state(const State& state) {
    if (state.started) add(*state.started, Edge::Why::started, "", nullptr);
    rows(state.done, Edge::Why::done, "");
    for (const EventRows& on : state.on) rows(on.rows, Edge::Why::event, on.event.name);
    of_machine_rows();
    for (const TimerRows& timer : state.after) rows(timer.rows, Edge::Why::after, text(timer));
    for (const TimerRows& timer : state.every) rows(timer.rows, Edge::Why::every, text(timer));
    rows(state.planned, Edge::Why::planned, "");
    const auto& schedule = machine_.definition().schedule;
    if (!state.planned.empty() && schedule) rows(schedule->ended, Edge::Why::ended, "");
    rows(state.when, Edge::Why::when, "");
    if (can_fail(machine_, from_)) of_failure();
    rows(state.resume, Edge::Why::resume, "");
  }

  static std::string text(const TimerRows& timer) {
    return timer.delay.is_fixed() ? to_text(timer.delay.fixed) : timer.delay.value.json.text;
  }

  void of_machine_rows() {
    for (const EventId event : machine_.machine_events())
      for (const MachineRow& row : machine_.machine_rows(event))
        if (row.in[from_] && row.row->to)
          add(*row.row->to, row.implicit ? Edge::Why::implicit : Edge::Why::machine,
              machine_.event_name(event), row.row);
  }

  void rows(const Rows& rows, Edge::Why why, const std::string& label) {
    for (const Row& row : rows) {
      if (is_full()) return;
      if (row.to) add(*row.to, why, label, &row);
      if (row.event && row.event->is_known()) fired(row, why, label, row.event->id);
      if (row.event && row.event->name == "only")
        for (const EventRows& on : machine_.state(from_).on) fired(row, why, label, on.event.id);
    }
  }

  void fired(const Row& by, Edge::Why why, const std::string& label, EventId event) {
    const std::string name = (label.empty() ? "" : label + ": ") + machine_.event_name(event);
    for (const Row& row : machine_.rows(from_, event))
      if (row.to) add(*row.to, why, name, &by);
    for (const MachineRow& row : machine_.machine_rows(event))
      if (row.in[from_] && row.row->to) add(*row.row->to, why, name, &by);
  }

  void of_failure() {
    const ResolvedPolicy& policy = machine_.policy_of_state(from_);
    bool retries = false;
    for (const ErrorRows* error : policy.errors) {
      for (const Row& row : error->rows) {
        if (row.to) add(*row.to, Edge::Why::error, error->code, &row);
        if (row.action != Row::Action::retry) continue;
        retries = true;
        if (row.checkpoint && row.checkpoint->is_known())
          comes_back(policy, row.checkpoint->id, error->code);
      }
    }
    if (retries) comes_back(policy, checkpoint_of(machine_, from_), "");
    for (const Row& row : policy.give_up) {
      if (row.to) add(*row.to, Edge::Why::give_up, "", &row);
      if (!row.to) add(policy.failure.value_or(from_), Edge::Why::give_up, "", &row);
    }
  }

  void comes_back(const ResolvedPolicy& policy, StateId checkpoint, const std::string& code) {
    if (!policy.failure) {
      add(checkpoint, Edge::Why::failure, code, nullptr);
      return;
    }
    if (from_ != *policy.failure) add(*policy.failure, Edge::Why::failure, code, nullptr);
    if (checkpoint == *policy.failure) return;
    const StateId failed = std::exchange(from_, *policy.failure);
    add(checkpoint, Edge::Why::rewound, "", nullptr);
    from_ = failed;
  }

  void add(const Ref& to, Edge::Why why, const std::string& label, const Row* row) {
    if (to.is_known()) add(to.id, why, label, row);
  }

  void add(StateId to, Edge::Why why, const std::string& label, const Row* row) {
    if (is_full() || !known_.emplace(from_, to, why, label, row).second) return;
    edges_.push_back({from_, to, why, label, row});
  }

  bool is_full() const { return edges_.size() >= kRowsMax; }

  const Machine& machine_;
  StateId from_ = 0;
  std::set<std::tuple<StateId, StateId, Edge::Why, std::string, const Row*>> known_;  // of a state
  std::vector<Edge> edges_;
};

}  // namespace

std::vector<Edge> edges_of(const Machine& machine) { return Edges(machine).all(); }

std::vector<bool> reachable_from(std::vector<StateId> open, const std::vector<Edge>& edges,
                                 std::size_t state_count) {
  std::vector<std::vector<StateId>> next(state_count);
  for (const Edge& edge : edges) next[edge.from].push_back(edge.to);
  std::vector<bool> reached(state_count);
  for (const StateId id : open) reached[id] = true;
  while (!open.empty()) {
    const StateId from = open.back();
    open.pop_back();
    for (const StateId to : next[from]) {
      if (reached[to]) continue;
      reached[to] = true;
      open.push_back(to);
    }
  }
  return reached;
}

std::vector<bool> reachable_states(const Machine& machine, const std::vector<Edge>& edges) {
  std::vector<StateId> entries{machine.definition().initial.id};
  for (const Migration& migration : machine.definition().migrate)
    for (const Migration::Renamed& renamed : migration.states) entries.push_back(renamed.to.id);
  return reachable_from(std::move(entries), edges, machine.state_count());
}

bool can_fail(const Machine& machine, StateId id) {
  const State& state = machine.state(id);
  if (state.final) return false;
  if (state.task || machine.owner_of(id)) return true;
  bool fails = false;
  for_each_rows_of_state(
      state, [&](const RowsAt&, const Rows& rows) { fails = fails || any_fails(rows); });
  for (const EventId event : machine.machine_events())
    for (const MachineRow& row : machine.machine_rows(event))
      fails = fails || (row.in[id] && row.row->fail);
  return fails;
}

StateId checkpoint_of(const Machine& machine, StateId id) {
  const State& state = machine.state(id);
  if (state.checkpoint && state.checkpoint->is_known()) return state.checkpoint->id;
  const auto owner = machine.owner_of(id);
  if (!owner) return id;
  const State& owning = machine.state(*owner);
  return owning.checkpoint && owning.checkpoint->is_known() ? owning.checkpoint->id : *owner;
}

std::vector<bool> failure_states(const Machine& machine) {
  std::vector<bool> failure(machine.state_count());
  for (StateId id = 0; id < machine.state_count(); ++id)
    if (const auto waits = machine.policy_of_state(id).failure) failure[*waits] = true;
  return failure;
}

bool reads_children(const Row& row) {
  return row.condition && row.condition->program != nullptr &&
         row.condition->program->reads_children();
}

}  // namespace pawl
