// Machine: a definition that was checked, with every name resolved and every lookup a table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pawl/definition.h"
#include "pawl/diagnostic.h"
#include "pawl/record.h"
#include "pawl/zones.h"

namespace pawl {

// Dense indices into a machine, in the order of the file. They mean nothing in another machine or
// version: what is stored are names.
using StateId = std::uint32_t;
using EventId = std::uint32_t;
using TaskId = std::uint32_t;

// No state has this index: there are at most kStatesMax.
inline constexpr StateId kNoState = 0xffff;

// How failure is answered in one place, after the lookup: state, its named policy, task, its named
// policy, machine, its named policy, built-in.
struct ResolvedPolicy {
  DurationValue timeout;
  std::optional<DurationValue> lease;
  Delays retry;
  std::vector<const ErrorRows*> errors;  // in the order they are tried; `default` rows come last
  std::span<const Row> give_up;
  std::optional<StateId> failure;  // none: in place
  Policy::Count count = Policy::Count::state;
  Policy::Align align = Policy::Align::planned;
};

// A row of the machine's own `on`, with the states it holds in.
struct MachineRow {
  const Row* row = nullptr;
  bool implicit = false;  // of `restart` and `discard`, which every machine has
  std::vector<bool> in;   // by StateId
};

// What a guard of the embedder sees: the record before the row, its data as the row would leave it.
struct GuardSight {
  const Record& record;
  std::string_view data;   // JSON
  std::string_view event;  // JSON of the payload; empty outside of `on` rows
  const Actor* actor = nullptr;
  Instant now = {};
};

// A condition written in C++, by the name that stands alone in an `if`. Pure: the same answer for
// the same sight, and no side effects.
using Guard = std::function<bool(const GuardSight&)>;
using Guards = std::map<std::string, Guard, std::less<>>;

// Immutable and shared: records, threads and versions may refer to it for as long as they like.
class Machine {
 public:
  // Checks the definition. What is wrong or doubtful goes to `diagnostics`; null when there is an
  // error. Places are those of the file it was read from; of one that a C++ program has filled in,
  // those of print_machine(definition).
  static std::shared_ptr<const Machine> make(Definition definition, const Zones& zones,
                                             Diagnostics& diagnostics, Guards guards = {});

  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  ~Machine();

  // The definition, as it was given.
  const Definition& definition() const { return definition_; }
  const std::string& name() const { return definition_.machine; }
  int version() const { return definition_.version.value_or(1); }

  // The time zones it was checked with.
  const Zones& zones() const { return zones_; }

  // The guard of that name; null when the embedder gave none.
  const Guard* find_guard(std::string_view name) const;

  // All states; the implicit `discarded` is the last when the definition has none of that name.
  std::size_t state_count() const { return states_.size(); }
  const State& state(StateId id) const { return *states_[id]; }
  std::optional<StateId> find_state(std::string_view name) const;

  // All events that are declared or that a row accepts, `restart` and `discard` included.
  std::size_t event_count() const { return event_names_.size(); }
  const std::string& event_name(EventId id) const { return event_names_[id]; }
  std::optional<EventId> find_event(std::string_view name) const;
  const EventDefinition* declared(EventId id) const { return declared_[id]; }

  const Task& task(TaskId id) const { return definition_.tasks[id]; }
  std::optional<TaskId> find_task(std::string_view name) const;

  // The state's own rows for that event, in one load; empty when it has none.
  std::span<const Row> rows(StateId state, EventId event) const {
    const Cell& cell = cells_[first_cell_[state] + event];
    return {cell.rows, cell.state == state ? cell.count : 0};
  }

  // Where the event leads when the state's first row for it says `to` and nothing else, in the same
  // load; kNoState when there is more to look at.
  StateId plain_target(StateId state, EventId event) const {
    const Cell& cell = cells_[first_cell_[state] + event];
    return cell.state == state ? cell.plain_target : kNoState;
  }

  // The machine's rows for that event, tried when none of the state's own holds.
  std::span<const MachineRow> machine_rows(EventId event) const { return machine_rows_[event]; }

  // The events that have such rows.
  std::span<const EventId> machine_events() const { return machine_events_; }

  // What holds where nothing else is said.
  static const Policy& built_in_policy();

  const ResolvedPolicy& policy_of_state(StateId id) const { return state_policies_[id]; }

  // What a `run` record of the task goes by: the task's own keys and the built-in ones.
  const ResolvedPolicy& policy_of_run(TaskId id) const { return run_policies_[id]; }

  // Its place in `order`; none when it has no order.
  std::optional<int> order_of(StateId id) const { return order_[id]; }

  // The state whose task runs while the record is in this one (`started`).
  std::optional<StateId> owner_of(StateId id) const { return owners_[id]; }

  // Whether a failure in another state may come back to this one.
  bool is_checkpoint(StateId id) const { return checkpoints_[id]; }

  // Whether failures of some state wait in this one, visibly.
  bool is_failure_state(StateId id) const { return failure_states_[id]; }

  // Whether its records are side jobs: rows see the data of the record that asked for the job.
  bool is_side_job() const { return definition_.machine == "run"; }

 private:
  friend class Compiler;  // src/model/compile.cc
  friend class BuiltIns;  // src/decide/built_in.cc

  // The same for a machine of Pawl itself, whose name nobody else may use.
  static std::shared_ptr<const Machine> make_built_in(Definition definition, const Zones& zones,
                                                      Diagnostics& diagnostics);

  // Rows of (state, event). The table is one comb: the cells of all states are shifted so that they
  // do not meet, and each says whose it is; its size follows the rows that exist, not states times
  // events.
  struct Cell {
    std::uint16_t state = kNoState;
    std::uint16_t plain_target = kNoState;
    std::uint32_t count = 0;
    const Row* rows = nullptr;
  };
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  using Index = std::unordered_map<std::string, std::uint32_t, NameHash, std::equal_to<>>;

  explicit Machine(Zones zones);

  // Once all names are resolved; those that lead nowhere are left out.
  void build_tables();
  void build_cells();
  void place_cells(StateId id, std::size_t first_free);
  bool free_at(std::size_t base, const std::vector<EventRows>& on) const;
  void build_machine_rows();
  void add_machine_rows(const EventRows& on, bool implicit);
  void build_policies();
  void add_level(std::vector<const Policy*>& levels, const Policy& p) const;
  void build_ways_back();

  Zones zones_;
  Guards guards_;
  Definition definition_;
  std::vector<State> implicit_states_;
  std::vector<EventRows> implicit_on_;
  std::vector<EventDefinition> implicit_events_;

  std::vector<const State*> states_;
  std::vector<std::string> event_names_;
  std::vector<const EventDefinition*> declared_;
  Index state_index_;
  Index event_index_;
  Index task_index_;

  std::vector<Cell> cells_;
  std::vector<std::uint32_t> first_cell_;  // by StateId
  std::vector<std::vector<MachineRow>> machine_rows_;
  std::vector<EventId> machine_events_;
  std::vector<ResolvedPolicy> state_policies_;
  std::vector<ResolvedPolicy> run_policies_;
  std::vector<std::optional<int>> order_;
  std::vector<std::optional<StateId>> owners_;
  std::vector<bool> checkpoints_;
  std::vector<bool> failure_states_;
};

}  // namespace pawl
