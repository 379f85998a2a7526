#include "model/check.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"
#include "model/doubts.h"
#include "model/edges.h"
#include "model/plan_check.h"
#include "model/scenario_check.h"
#include "model/sites.h"

namespace pawl {
namespace {

std::string_view key_of(Site site) {
  switch (site) {
    case Site::on:
    case Site::machine_on:
      return "on";
    case Site::done:
      return "done";
    case Site::error:
      return "errors";
    case Site::give_up:
      return "give_up";
    case Site::after:
      return "after";
    case Site::every:
      return "every";
    case Site::planned:
      return "planned";
    case Site::ended:
      return "ended";
    case Site::when:
      return "when";
    case Site::resume:
      return "resume";
  }
  return "";
}

bool has_action(const Row& row) { return row.action != Row::Action::none; }

class Checker {
 public:
  Checker(const Machine& machine, const Zones& zones, Diagnostics& diagnostics)
      : machine_(machine),
        definition_(machine.definition()),
        zones_(zones),
        diagnostics_(diagnostics),
        edges_(edges_of(machine)),
        failure_(failure_states(machine)) {}

  void check() {
    check_limits();
    if (edges_.size() >= kRowsMax) return;
    check_ids();
    for (StateId id = 0; id < definition_.states.size(); ++id)
      if (!is_misread(id)) check_state(id);
    check_started();
    check_entered_as_started();
    check_policies();
    for_each_rows(definition_, [&](const RowsAt& at, const Rows& rows) { check_rows(at, rows); });
    check_leaving_final();
    check_failing_in_final();
    check_delays();
    check_schedule(machine_, zones_, diagnostics_);
    check_migrations();
    check_scenarios(machine_, zones_, diagnostics_);
    if (!diagnostics_.has_errors()) warn_of_doubts(machine_, edges_, diagnostics_);
  }

 private:
  void check_limits() {
    if (definition_.states.empty() && !diagnostics_.has_form_error_between({0, 0}, end_of_file()))
      diagnostics_.error_at("no_states", definition_.at, "a machine needs at least one state");
    if (edges_.size() >= kRowsMax)
      diagnostics_.error_at("too_many_rows", definition_.at,
                            "the events that rows fire lead to more than " +
                                std::to_string(kRowsMax) + " hops; fire fewer");
    for (const State& state : definition_.states) {
      const std::size_t timers = state.after.size() + state.every.size();
      if (timers > kTimersMax)
        diagnostics_.error_at("too_many_timers", state.at,
                              "a state has at most " + std::to_string(kTimersMax) +
                                  " timers; this one has " + std::to_string(timers));
    }
  }

  void check_ids() {
    std::set<int> ids;
    for (const State& state : definition_.states)
      if (state.id && !ids.insert(*state.id).second)
        diagnostics_.error_at("duplicate_id", state.at,
                              "the id " + std::to_string(*state.id) +
                                  " is already used by another state; choose another one");
  }

  // What could not be read in it may be just what is missing.
  bool is_misread(StateId id) const {
    const Position begin = machine_.state(id).at.position;
    const bool last = id + 1 == definition_.states.size();
    const Position end = last ? end_of_file() : definition_.states[id + 1].at.position;
    return begin.line > 0 && diagnostics_.has_form_error_between(begin, end);
  }

  static Position end_of_file() { return {std::numeric_limits<int>::max(), 1}; }

  void check_state(StateId id) {
    const State& state = machine_.state(id);
    if (state.final) {
      check_final(state);
      return;
    }
    if (state.task && state.done.empty() && !state.started)
      diagnostics_.error_at("task_without_done", state.task->at,
                            "the state " + in_ticks(state.name) +
                                " has a task and no `done`: say where to go when it is done");
    if (state.task && state.done.empty() && state.started)
      diagnostics_.error_at(
          "task_without_done", state.task->at,
          "the state " + in_ticks(state.name) +
              " has a task and no `done`: put `done` here, not in the `started` state");
    if (!state.task && !state.done.empty())
      diagnostics_.error_at("done_without_task", state.done[0].at,
                            "the state " + in_ticks(state.name) +
                                " has `done` and no task: add `task`, or leave `done` out");
    if (!state.done.empty() && state.done.back().condition)
      diagnostics_.error_at(
          "guarded_last_done", state.done.back().at,
          "the last row of `done` cannot have an `if`, because a result cannot be refused: add a "
          "row without one");
    if (!state.planned.empty() && !definition_.schedule)
      diagnostics_.error_at("planned_without_schedule", state.planned[0].at,
                            "`planned` needs a schedule: add `schedule` to the machine");
    if (!has_way_on(id))
      diagnostics_.error_at("dead_end", state.at,
                            "nothing leads out of the state " + in_ticks(state.name) +
                                ": give it a task, `on`, `after` or `planned`, or make it final");
  }

  void check_final(const State& state) {
    const auto refuse = [&](const auto& given, std::string_view key) {
      if (const Where* at = place_of(given))
        diagnostics_.error_at("final_state_works", *at,
                              "the final state " + in_ticks(state.name) + " cannot have " +
                                  in_ticks(key) + ": leave it out, or remove `final`");
    };
    refuse(state.task, "task");
    refuse(state.started, "started");
    refuse(state.done, "done");
    refuse(state.after, "after");
    refuse(state.every, "every");
    refuse(state.planned, "planned");
    refuse(state.when, "when");
    refuse(state.checkpoint, "checkpoint");
    refuse(state.resume, "resume");
  }

  // Null: not given.
  static const Where* place_of(const std::optional<Ref>& ref) { return ref ? &ref->at : nullptr; }
  static const Where* place_of(const Rows& rows) { return rows.empty() ? nullptr : &rows[0].at; }
  static const Where* place_of(const std::vector<TimerRows>& timers) {
    return timers.empty() ? nullptr : &timers[0].delay.at;
  }

  // Done and stays: the task is spent, and nothing else has to happen.
  static bool stays_when_done(const State& state) {
    return std::any_of(state.done.begin(), state.done.end(), [](const Row& row) {
      return !row.to && !row.event && !row.fail && !row.hold;
    });
  }

  bool has_way_on(StateId id) const {
    const State& state = machine_.state(id);
    if ((state.task && !stays_when_done(state)) || !state.on.empty() || !state.after.empty() ||
        !state.every.empty() || !state.planned.empty() || failure_[id] || machine_.owner_of(id))
      return true;
    if (std::any_of(state.when.begin(), state.when.end(),
                    [](const Row& row) { return !row.condition || reads_children(row); }))
      return true;
    return accepts_machine_event(id);
  }

  // `restart` and `discard`, which every machine has, are no plan.
  bool accepts_machine_event(StateId id) const {
    for (const EventRows& on : definition_.on)
      for (const MachineRow& row : machine_.machine_rows(on.event.id))
        if (row.in[id] && row.row->held != Row::Held::yes && on.event.name != "restart" &&
            on.event.name != "discard")
          return true;
    return false;
  }

  void check_started() {
    std::vector<const State*> owners(machine_.state_count());
    for (const State& state : definition_.states) {
      if (!state.started || !state.started->is_known()) continue;
      const State& during = machine_.state(state.started->id);
      const State*& owner = owners[state.started->id];
      if (owner != nullptr)
        diagnostics_.error_at("started_shared", state.started->at,
                              in_ticks(during.name) + " is already the `started` state of " +
                                  in_ticks(owner->name) + "; give each state its own");
      owner = &state;
      if (!state.task)
        diagnostics_.error_at(
            "started_without_task", state.started->at,
            "`started` is for states with a task; " + in_ticks(state.name) + " has none");
      if (during.task || during.final)
        diagnostics_.error_at("started_has_task", state.started->at,
                              in_ticks(during.name) + " cannot be a `started` state: it " +
                                  (during.final ? "is final" : "has a task of its own"));
    }
  }

  // A `started` state has no way on of its own: without its owner's attempt a record is stranded.
  void check_entered_as_started() {
    if (definition_.initial.is_known() && machine_.owner_of(definition_.initial.id))
      say_entered(definition_.initial.at, definition_.initial.id);
    for (const Edge& edge : edges_) {
      const bool stays = edge.from == edge.to && !(edge.row != nullptr && edge.row->to);
      if (machine_.owner_of(edge.to) && edge.why != Edge::Why::started && !stays)
        say_entered(edge.row != nullptr ? edge.row->at : machine_.state(edge.to).at, edge.to);
    }
  }

  void say_entered(const Where& at, StateId id) {
    diagnostics_.error_at("started_entered", at,
                          in_ticks(machine_.state(id).name) +
                              " is entered only by attempts; go to its owner " +
                              in_ticks(machine_.state(*machine_.owner_of(id)).name));
  }

  void check_policies() {
    check_policy(definition_.policy);
    for (const NamedPolicy& named : definition_.policies) check_policy(named.policy);
    for (const Task& task : definition_.tasks) check_policy(task.policy);
    for (const State& state : definition_.states) {
      check_policy(state.policy);
      if (state.checkpoint && state.checkpoint->is_known() &&
          machine_.state(state.checkpoint->id).final)
        diagnostics_.error_at("final_checkpoint", state.checkpoint->at,
                              "a failed record cannot come back to " +
                                  in_ticks(state.checkpoint->name) + ": it is final");
    }
  }

  void check_policy(const Policy& policy) {
    if (!policy.failure || !policy.failure->is_known()) return;
    const State& failure = machine_.state(policy.failure->id);
    if (failure.task || failure.final)
      diagnostics_.error_at("bad_failure_state", policy.failure->at,
                            "failed records cannot wait in " + in_ticks(failure.name) + ": it " +
                                (failure.final ? "is final" : "has a task"));
  }

  void check_rows(const RowsAt& at, const Rows& rows) {
    for (const Row& row : rows) {
      if (at.site == Site::when) check_moves(row);
      if (at.site == Site::error) check_action(row);
      if (row.event && row.event->name == "only" && (at.state == nullptr || at.state->on.empty()))
        diagnostics_.error_at(
            "only_without_on", row.event->at,
            "`only` is the one permitted event of the state's own `on`, and the state has no `on`");
    }
    check_covered(at, rows);
  }

  void check_moves(const Row& row) {
    if (!row.to && !row.event && !row.fail && !row.hold)
      diagnostics_.error_at(
          "when_does_not_move", row.at,
          "a row of `when` must move the record: give it `to`, `event`, `fail` or `hold`");
  }

  void check_action(const Row& row) {
    if (has_action(row) && row.hold)
      diagnostics_.error_at("two_actions", row.at,
                            "a row of `errors` has one action: use `hold` with `to`, or alone");
    if (!has_action(row) && !row.to && !row.hold)
      diagnostics_.error_at(
          "no_action", row.at,
          "a row of `errors` needs an action: retry, later, done, give_up, `to` or `hold`");
  }

  // What rows that always hold leave to those after them, by `held` of these.
  struct Covered {
    std::array<bool, 3> everywhere = {};
    std::array<bool, 3> in_open_states = {};

    void add(const Row& row) {
      const bool always = !row.condition && !row.elapsed && !row.event;  // an event may be refused
      if (!always || !row.except.empty() || row.from == Row::From::listed) return;
      auto& covered = row.from == Row::From::all ? everywhere : in_open_states;
      if (row.held == Row::Held::any) covered.fill(true);
      covered[static_cast<std::size_t>(row.held)] = true;
    }

    bool has(const Row& row) const {
      const auto held = static_cast<std::size_t>(row.held);
      return everywhere[held] || (row.from == Row::From::open && in_open_states[held]);
    }
  };

  // A row after one that always holds is never reached.
  void check_covered(const RowsAt& at, const Rows& rows) {
    Covered covered;
    for (const Row& row : rows) {
      if (covered.has(row)) say_covered(at, row);
      covered.add(row);
    }
  }

  void say_covered(const RowsAt& at, const Row& row) {
    const std::string message = "this row of " + in_ticks(key_of(at.site)) +
                                " is never reached: an earlier row always matches";
    if (at.site == Site::give_up) {
      diagnostics_.error_at("give_up_unreachable", row.at, message);
    } else {
      diagnostics_.warning("unreachable_row", row.at.position, message);
    }
  }

  void check_leaving_final() {
    std::set<const Row*> said;
    for (const Edge& edge : edges_) {
      const bool leaves = machine_.state(edge.from).final && !machine_.state(edge.to).final;
      if (leaves && edge.row != nullptr && !edge.row->new_epoch && said.insert(edge.row).second)
        diagnostics_.error_at("final_left", edge.row->at,
                              "this row leaves the final state " +
                                  in_ticks(machine_.state(edge.from).name) +
                                  ": a fresh start needs `new_epoch: true`");
    }
  }

  // Failing is leaving too: to the failure state, or for another attempt.
  void check_failing_in_final() {
    const auto say = [&](const Row& row, const State& state) {
      diagnostics_.error_at("final_left", row.at,
                            "work in the final state " + in_ticks(state.name) +
                                " cannot fail: go `to` a state, with `new_epoch: true`");
    };
    for (const State& state : definition_.states)
      for (const EventRows& on : state.on)
        for (const Row& row : on.rows)
          if (state.final && row.fail) say(row, state);
    for (const EventId event : machine_.machine_events())
      for (const MachineRow& row : machine_.machine_rows(event)) {
        if (!row.row->fail) continue;
        for (StateId id = 0; id < definition_.states.size(); ++id)
          if (row.in[id] && machine_.state(id).final) {
            say(*row.row, machine_.state(id));
            break;
          }
      }
  }

  void check_delays() {
    for (const State& state : definition_.states)
      for (const TimerRows& timer : state.every)
        if (timer.delay.is_fixed() && timer.delay.fixed <= Duration{0})
          diagnostics_.error_at("zero_every", timer.delay.at,
                                "`every` needs a duration above zero");
    for (const State& state : definition_.states) {
      check_timers_differ(state.after);
      check_timers_differ(state.every);
    }
    const auto check = [&](const Delays& delays) {
      if (delays.kind == Delays::Kind::formula && delays.first.is_fixed() && delays.max &&
          delays.max->is_fixed() && delays.max->fixed < delays.first.fixed)
        diagnostics_.error_at("max_below_first", delays.max->at,
                              "`max` is shorter than `first`: make it longer");
    };
    for_each_delays(check);
  }

  // `60s` and `1m` are different keys of the file and one timer.
  void check_timers_differ(const std::vector<TimerRows>& timers) {
    std::set<Duration> delays;
    for (const TimerRows& timer : timers)
      if (timer.delay.is_fixed() && !delays.insert(timer.delay.fixed).second)
        diagnostics_.error_at("duplicate_timer", timer.delay.at,
                              "this state already has a timer of " + to_text(timer.delay.fixed) +
                                  "; put the rows in one list");
  }

  template <class Visit>
  void for_each_delays(Visit visit) const {
    const auto of = [&](const Policy& policy) {
      if (policy.retry) visit(*policy.retry);
    };
    of(definition_.policy);
    for (const NamedPolicy& named : definition_.policies) of(named.policy);
    for (const Task& task : definition_.tasks) of(task.policy);
    for (const State& state : definition_.states) of(state.policy);
    for_each_rows(definition_, [&](const RowsAt&, const Rows& rows) {
      for (const Row& row : rows)
        if (row.delays) visit(*row.delays);
    });
  }

  void check_migrations() {
    for (const Migration& migration : definition_.migrate)
      if (definition_.version && migration.version >= *definition_.version)
        diagnostics_.error_at("migrates_newer", migration.at,
                              "`migrate` is for older versions; this is version " +
                                  std::to_string(*definition_.version));
  }

  const Machine& machine_;
  const Definition& definition_;
  const Zones& zones_;
  Diagnostics& diagnostics_;
  std::vector<Edge> edges_;
  std::vector<bool> failure_;
};

}  // namespace

void check_machine(const Machine& machine, const Zones& zones, Diagnostics& diagnostics) {
  Checker(machine, zones, diagnostics).check();
}

}  // namespace pawl
