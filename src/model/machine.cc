// A machine's tables: rows by (state, event), and the policy of every state.
#include "pawl/machine.h"

#include <algorithm>
#include <string>

#include "model/expression/value_program.h"

namespace pawl {
namespace {

// What every machine goes by where nothing else is said.
Policy make_built_in_policy() {
  using namespace std::chrono_literals;
  Policy policy{.timeout = DurationValue(5min),
                .retry = Delays{.kind = Delays::Kind::formula,
                                .first = DurationValue(10s),
                                .max = DurationValue(1h),
                                .jitter = Delays::Jitter::percent,
                                .jitter_percent = 20,
                                .attempts = 10},
                .errors = {{"returned",
                            {Row{.action = Row::Action::later,
                                 .delays = Delays{.kind = Delays::Kind::fixed}}}},
                           {"default", {Row{.action = Row::Action::retry}}}},
                .give_up = {Row{.hold = HoldText{"gave_up", "{error.message}"}}},
                .failure = Ref(""),
                .count = Policy::Count::state,
                .align = Policy::Align::planned};
  Diagnostics none;
  const Scope scope{.sees_error = true};
  Value& text = policy.give_up[0].hold->text;
  text.program = ValueProgram::compile(text.json, scope, none);
  return policy;
}

std::uint16_t plain_target_of(const Rows& rows) {
  const bool plain = !rows.empty() && rows[0].to && rows[0] == Row{.to = rows[0].to};
  return static_cast<std::uint16_t>(plain ? rows[0].to->id : kNoState);
}

void add_errors(ResolvedPolicy& found, const std::vector<const Policy*>& levels, bool defaults) {
  for (const Policy* p : levels)
    for (const ErrorRows& rows : p->errors)
      if ((rows.code == "default") == defaults) found.errors.push_back(&rows);
}

ResolvedPolicy resolved(std::vector<const Policy*> levels) {
  levels.push_back(&Machine::built_in_policy());
  ResolvedPolicy found;
  const auto first = [&](auto key) -> const auto& {
    const auto level = std::find_if(levels.begin(), levels.end(),
                                    [&](const Policy* p) { return (p->*key).has_value(); });
    return *((**level).*key);
  };
  found.timeout = first(&Policy::timeout);
  found.retry = first(&Policy::retry);
  found.count = first(&Policy::count);
  found.align = first(&Policy::align);
  const Ref& failure = first(&Policy::failure);
  if (failure.is_known()) found.failure = failure.id;
  for (const Policy* p : levels) {
    if (!found.lease && p->lease) found.lease = p->lease;
    if (found.give_up.empty()) found.give_up = p->give_up;
  }
  add_errors(found, levels, false);
  add_errors(found, levels, true);
  return found;
}

template <class Index>
std::optional<std::uint32_t> find(const Index& index, std::string_view name) {
  const auto found = index.find(name);
  if (found == index.end()) return std::nullopt;
  return found->second;
}

}  // namespace

Machine::Machine(Zones zones) : zones_(std::move(zones)) {}
Machine::~Machine() = default;

std::optional<StateId> Machine::find_state(std::string_view name) const {
  return find(state_index_, name);
}

std::optional<EventId> Machine::find_event(std::string_view name) const {
  return find(event_index_, name);
}

const Guard* Machine::find_guard(std::string_view name) const {
  const auto found = guards_.find(name);
  return found == guards_.end() ? nullptr : &found->second;
}

std::optional<TaskId> Machine::find_task(std::string_view name) const {
  return find(task_index_, name);
}

const Policy& Machine::built_in_policy() {
  static const Policy policy = make_built_in_policy();
  return policy;
}

void Machine::build_tables() {
  build_cells();
  build_machine_rows();
  build_policies();
  build_ways_back();
}

// States with many events first: the small ones fill the gaps.
void Machine::build_cells() {
  std::vector<StateId> by_size(states_.size());
  for (StateId id = 0; id < by_size.size(); ++id) by_size[id] = id;
  std::stable_sort(by_size.begin(), by_size.end(), [&](StateId a, StateId b) {
    return states_[a]->on.size() > states_[b]->on.size();
  });
  first_cell_.assign(states_.size(), 0);
  cells_.assign(event_names_.size(), {});
  std::size_t first_free = 0;
  for (const StateId id : by_size) {
    if (states_[id]->on.empty()) continue;
    place_cells(id, first_free);
    while (first_free < cells_.size() && cells_[first_free].rows != nullptr) ++first_free;
  }
}

void Machine::place_cells(StateId id, std::size_t first_free) {
  const std::vector<EventRows>& on = states_[id]->on;
  std::uint32_t smallest = on[0].event.id;
  for (const EventRows& rows : on) smallest = std::min(smallest, rows.event.id);
  std::size_t base = first_free > smallest ? first_free - smallest : 0;
  while (!free_at(base, on)) ++base;
  first_cell_[id] = static_cast<std::uint32_t>(base);
  cells_.resize(std::max(cells_.size(), base + event_names_.size()));
  for (const EventRows& rows : on)
    cells_[base + rows.event.id] = {static_cast<std::uint16_t>(id), plain_target_of(rows.rows),
                                    static_cast<std::uint32_t>(rows.rows.size()), rows.rows.data()};
}

bool Machine::free_at(std::size_t base, const std::vector<EventRows>& on) const {
  return std::all_of(on.begin(), on.end(), [&](const EventRows& rows) {
    const std::size_t at = base + rows.event.id;
    return at >= cells_.size() || cells_[at].rows == nullptr;
  });
}

void Machine::build_machine_rows() {
  machine_rows_.resize(event_names_.size());
  for (const EventRows& on : definition_.on) add_machine_rows(on, false);
  for (const EventRows& on : implicit_on_) add_machine_rows(on, true);
}

void Machine::add_machine_rows(const EventRows& on, bool implicit) {
  machine_events_.push_back(on.event.id);
  for (const Row& row : on.rows) {
    MachineRow added{&row, implicit, std::vector<bool>(states_.size())};
    for (StateId id = 0; id < added.in.size(); ++id)
      added.in[id] =
          row.from == Row::From::all || (row.from == Row::From::open && !states_[id]->final);
    for (const Ref& from : row.from_states)
      if (from.is_known()) added.in[from.id] = true;
    for (const Ref& except : row.except)
      if (except.is_known()) added.in[except.id] = false;
    machine_rows_[on.event.id].push_back(std::move(added));
  }
}

void Machine::build_policies() {
  owners_.assign(states_.size(), std::nullopt);
  for (StateId id = 0; id < states_.size(); ++id)
    if (states_[id]->started && states_[id]->started->is_known())
      owners_[states_[id]->started->id] = id;
  for (StateId id = 0; id < states_.size(); ++id) {
    // While an attempt runs the record is in the `started` state, and the owner's policy holds.
    const State& s = *states_[owners_[id].value_or(id)];
    std::vector<const Policy*> levels;
    add_level(levels, s.policy);
    if (s.task && s.task->is_known()) add_level(levels, task(s.task->id).policy);
    add_level(levels, definition_.policy);
    state_policies_.push_back(resolved(levels));
  }
  for (const Task& t : definition_.tasks) {
    std::vector<const Policy*> levels;
    add_level(levels, t.policy);
    run_policies_.push_back(resolved(levels));
  }
}

void Machine::build_ways_back() {
  checkpoints_.assign(states_.size(), false);
  failure_states_.assign(states_.size(), false);
  const auto mark = [](std::vector<bool>& states, const std::optional<Ref>& ref) {
    if (ref && ref->is_known()) states[ref->id] = true;
  };
  for (StateId id = 0; id < states_.size(); ++id) {
    mark(checkpoints_, states_[id]->checkpoint);
    const ResolvedPolicy& policy = state_policies_[id];
    if (policy.failure) failure_states_[*policy.failure] = true;
    for (const ErrorRows* errors : policy.errors)
      for (const Row& row : errors->rows) mark(checkpoints_, row.checkpoint);
  }
}

void Machine::add_level(std::vector<const Policy*>& levels, const Policy& p) const {
  levels.push_back(&p);
  if (p.policy && p.policy->is_known())
    levels.push_back(&definition_.policies[p.policy->id].policy);
}

}  // namespace pawl
