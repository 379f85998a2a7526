#include "machine_of_tape.h"

#include <algorithm>
#include <map>
#include <set>

#include "pawl/assert.h"
#include "policy_of_tape.h"
#include "words_of_tape.h"

namespace pawl {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class MachineOfTape {
 public:
  explicit MachineOfTape(Tape& tape)
      : tape_(tape),
        ordered_(tape.chance(25)),
        words_(tape, targets_.any, ordered_),
        policies_(tape, words_, targets_, d_.data) {}

  Definition machine() {
    d_.machine = "m";
    d_.version = 1;
    if (!tape_.chance(15)) d_.data = data_fields(tape_);
    draw_names();
    d_.initial = Ref(targets_.any.front());
    if (ordered_)
      for (const std::string& state : targets_.any) d_.order.emplace_back(state);
    draw_events();
    for (const std::string& name : tasks_) d_.tasks.push_back(task(name));
    if (tape_.chance(30)) d_.policies.push_back({"shared", policies_.policy(100)});
    d_.policy = policy(60);
    if (tape_.chance(40)) d_.schedule = schedule();
    draw_on();
    for (const std::string& name : states_) d_.states.push_back(state(name));
    for (int i = tape_.chance(30) ? tape_.between(1, 8) : 0; i > 0; --i)
      d_.labels.push_back({"label" + std::to_string(i), words_.payload({})});
    return std::move(d_);
  }

 private:
  // --- names -------------------------------------------------------------------------------------

  void draw_names() {
    const int count = tape_.between(2, 8);
    for (int i = tape_.between(0, 3); i > 0; --i) tasks_.push_back("t" + std::to_string(i));
    for (int i = tape_.between(1, 4); i > 0; --i) events_.push_back("e" + std::to_string(i));
    for (int i = 0; i < count; ++i) add_state(i);
    if (tape_.chance(10)) {
      states_.emplace_back("discarded");
      targets_.any.emplace_back("discarded");
      final_.insert("discarded");
    }
  }

  void add_state(int number) {
    const std::string name = "s" + std::to_string(number);
    states_.push_back(name);
    targets_.any.push_back(name);
    if (number > 0 && tape_.chance(20)) {
      final_.insert(name);
      return;
    }
    targets_.open.push_back(name);
    if (tasks_.empty() || !tape_.chance(55)) {
      targets_.waiting.push_back(name);
      return;
    }
    working_.insert(name);
    if (states_.size() >= 12 || !tape_.chance(30)) return;
    states_.push_back("r" + std::to_string(number));  // entered by attempts only
    started_[name] = states_.back();
  }

  bool is_started_state(const std::string& name) const {
    return std::any_of(started_.begin(), started_.end(),
                       [&](const auto& pair) { return pair.second == name; });
  }

  void draw_events() {
    for (const std::string& name : events_) {
      EventDefinition event{.name = name};
      if (tape_.chance(20)) event.by = {"clerk", "operator"};
      if (tape_.chance(40)) event.with = payload_fields(tape_);
      d_.events.push_back(std::move(event));
    }
  }

  // --- rows --------------------------------------------------------------------------------------

  Policy policy(int percent) {
    Policy policy = policies_.policy(percent);
    if (!d_.policies.empty() && tape_.chance(20)) policy.policy = Ref("shared");
    return policy;
  }

  Row common_row(const Sees& sees) {
    Row row;
    if (tape_.chance(40)) row.condition = words_.condition(sees);
    if (tape_.chance(35)) row.set.push_back(words_.assignment(sees, d_.data));
    if (tape_.chance(10)) row.set.push_back(words_.assignment(sees, d_.data));
    if (row.set.size() == 2 && row.set[0].name == row.set[1].name) row.set.pop_back();
    if (tape_.chance(20)) row.effects = policies_.effects(sees, tasks_, events_);
    return row;
  }

  // `only`: whether the row may fire the state's one event.
  Row row(const Sees& sees, bool only) {
    Row row = common_row(sees);
    const int outcome = tape_.between(0, 9);
    if (outcome <= 4) row.to = Ref(tape_.of(targets_.any));
    if (outcome == 5) row.fail = fail(sees);
    if (outcome == 6 && !sees.event)
      row.event = Ref(only && tape_.chance(50) ? "only" : tape_.of(events_));
    if (tape_.chance(12)) row.hold = policies_.hold(sees);
    row.new_epoch = tape_.chance(10);
    return row;
  }

  Rows rows(const Sees& sees, bool only) {
    Rows rows{row(sees, only)};
    if (rows[0].condition && tape_.chance(50)) rows.push_back(row(sees, only));
    return rows;
  }

  Value fail(const Sees& sees) {
    if (sees.event && tape_.chance(30)) return "{event.code}";
    return tape_.of({"c1", "c2", "bad", "{data.s}"});
  }

  Rows event_rows(bool in_final) {
    Rows rows = this->rows({.event = true}, false);
    for (Row& row : rows) {
      row.held = tape_.chance(70) ? Row::Held::no : tape_.up_to(Row::Held::any);
      if (in_final && row.to) row.new_epoch = true;
      if (in_final) row.fail.reset();
    }
    return rows;
  }

  void draw_on() {
    std::vector<std::string> accepted;
    for (const std::string& event : events_)
      if (tape_.chance(20)) accepted.push_back(event);
    if (tape_.chance(8)) accepted.emplace_back("restart");
    if (tape_.chance(8)) accepted.emplace_back("discard");
    for (const std::string& event : accepted) {
      Rows rows = event_rows(false);
      for (Row& row : rows) narrow(row);
      d_.on.push_back({event, std::move(rows)});
    }
  }

  void narrow(Row& row) {
    row.from = tape_.up_to(Row::From::listed);
    if (row.from == Row::From::listed)
      for (const std::string& state : states_)
        if (tape_.chance(40)) row.from_states.emplace_back(state);
    if (row.from == Row::From::listed && row.from_states.empty()) row.from = Row::From::open;
    if (tape_.chance(20)) row.except.emplace_back(tape_.of(states_));
    if (row.from == Row::From::open) return;
    if (row.to) row.new_epoch = true;  // it may leave a final state
    row.fail.reset();
  }

  // --- tasks and the schedule --------------------------------------------------------------------

  Task task(const std::string& name) {
    Task task{.name = name, .target = "work"};
    if (tape_.chance(30)) task.with = words_.payload({});
    if (tape_.chance(40)) task.result = result_fields(tape_);
    if (tape_.chance(20)) task.key = words_.key({});
    if (tape_.chance(30)) task.priority = tape_.between(0, 9);
    task.policy = policy(40);
    return task;
  }

  Schedule schedule() {
    Schedule schedule;
    schedule.kind = tape_.up_to(Schedule::Kind::every);
    if (schedule.kind == Schedule::Kind::every) schedule.every = words_.duration(seconds{1});
    if (schedule.kind == Schedule::Kind::rrule)
      schedule.rule = tape_.of({"FREQ=HOURLY", "{data.rule}", "FREQ=DAILY;BYHOUR=2;BYMINUTE=30",
                                "FREQ=MINUTELY;COUNT=5", "FREQ=WEEKLY;BYDAY=MO,FR"});
    if (schedule.kind == Schedule::Kind::cron)
      schedule.rule = tape_.of({"*/5 * * * *", "0 6 * * *", "30 2 * * MON-FRI"});
    if (tape_.chance(40)) schedule.tz = tape_.of({"Europe/Berlin", "{data.z}", "America/New_York"});
    if (tape_.chance(30)) schedule.anchor = tape_.of({"2026-03-01T06:00:00Z", "{data.t}"});
    schedule.missed = tape_.up_to(Schedule::Missed::all);
    if (tape_.chance(20)) schedule.gap = tape_.up_to(Schedule::Gap::skip);
    if (tape_.chance(20)) schedule.fold = tape_.up_to(Schedule::Fold::both);
    if (tape_.chance(40)) schedule.ended = rows({}, false);
    return schedule;
  }

  // --- states ------------------------------------------------------------------------------------

  State state(const std::string& name) {
    State state{.name = name};
    if (tape_.chance(20)) state.effects = policies_.effects({}, tasks_, events_);
    state.final = final_.count(name) > 0;
    const bool works = working_.count(name) > 0;
    for (const std::string& event : events_)
      if (tape_.chance(works || state.final ? 30 : 60))
        state.on.push_back({event, event_rows(state.final)});
    if (state.final) return state;
    const bool only = !state.on.empty();
    state.policy = policy(works ? 40 : 25);
    add_timers(state, only);
    if (d_.schedule && tape_.chance(50)) state.planned = rows({}, only);
    if (tape_.chance(25)) state.when = when_rows(only);
    if (tape_.chance(25)) state.checkpoint = Ref(tape_.of(targets_.open));
    if (tape_.chance(30)) state.resume = rows({.error = true}, only);
    if (works) add_task(state, only);
    if (!has_way_on(state)) add_way_on(state);
    return state;
  }

  void add_timers(State& state, bool only) {
    const auto add = [&](std::vector<TimerRows>& timers, Duration least) {
      DurationValue delay = words_.duration(least);
      const bool known = std::any_of(timers.begin(), timers.end(),
                                     [&](const TimerRows& t) { return t.delay == delay; });
      if (!known) timers.push_back({std::move(delay), rows({}, only)});
    };
    if (tape_.chance(35)) add(state.after, Duration{0});
    if (!state.after.empty() && tape_.chance(30)) add(state.after, Duration{0});
    if (tape_.chance(20)) add(state.every, seconds{1});
  }

  Rows when_rows(bool only) {
    Rows rows{row({.now = false}, only)};
    if (!rows[0].condition)
      rows[0].condition = tape_.chance(70) ? words_.count_of_children() : "data.n > 3";
    if (tape_.chance(30)) rows.push_back(row({.now = false}, only));
    for (Row& row : rows)
      if (!row.to && !row.event && !row.fail && !row.hold) row.to = Ref(tape_.of(targets_.any));
    return rows;
  }

  void add_task(State& state, bool only) {
    state.task = Ref(tape_.of(tasks_));
    const auto during = started_.find(state.name);
    if (during != started_.end()) state.started = Ref(during->second);
    state.done = rows({.result = true}, only);
    if (state.done.back().condition) state.done.push_back(Row{.to = Ref(tape_.of(targets_.any))});
  }

  // As the reader of machine files sees it: what could end in a dead end gets an event.
  bool has_way_on(const State& state) const {
    const bool takes_event = std::any_of(state.on.begin(), state.on.end(), [](const EventRows& on) {
      return std::any_of(on.rows.begin(), on.rows.end(),
                         [](const Row& row) { return row.held != Row::Held::yes; });
    });
    const bool stays_when_done =
        std::any_of(state.done.begin(), state.done.end(),
                    [](const Row& row) { return !row.to && !row.event && !row.fail && !row.hold; });
    return takes_event || !state.after.empty() || !state.every.empty() || !state.planned.empty() ||
           (state.task && !stays_when_done) || is_started_state(state.name);
  }

  void add_way_on(State& state) {
    const Row row{.to = Ref(tape_.of(targets_.any))};
    if (state.on.empty()) {
      state.on.push_back({events_.front(), {row}});
    } else {
      state.on[0].rows.push_back(row);
    }
  }

  Tape& tape_;
  bool ordered_;
  Definition d_;
  Targets targets_;
  Words words_;
  PolicyOfTape policies_;
  std::vector<std::string> states_;
  std::vector<std::string> events_;
  std::vector<std::string> tasks_;
  std::set<std::string> final_;
  std::set<std::string> working_;
  std::map<std::string, std::string> started_;  // by owner
};

}  // namespace

Definition definition_of(Tape& tape) { return MachineOfTape(tape).machine(); }

Definition next_version_of(const Definition& definition, Tape& tape) {
  Definition next = definition;
  next.version = *definition.version + 1;
  for (State& state : next.states)
    if (!state.after.empty() && tape.chance(50)) state.after[0].delay = DurationValue(minutes{7});
  if (tape.chance(30)) next.policy.timeout = DurationValue(minutes{3});
  if (tape.chance(40)) {
    Migration line{.version = *definition.version};
    const State& from = tape.of(next.states);
    const State& to = tape.of(next.states);
    const bool is_started = to.name[0] == 'r' || from.name[0] == 'r';
    if (!is_started && from.final == to.final) line.states.push_back({from.name, Ref(to.name)});
    if (tape.chance(50)) line.set.push_back({"n", 2});
    next.migrate.push_back(std::move(line));
  }
  next.pin = tape.chance(10);
  return next;
}

std::shared_ptr<const Machine> quickly_made(Definition definition, const Zones& zones) {
  definition.at.position = {1, 1};
  Diagnostics diagnostics;
  const Guard even = [](const GuardSight& sight) { return sight.data.size() % 2 == 0; };
  auto machine = Machine::make(std::move(definition), zones, diagnostics, {{"even", even}});
  PAWL_ASSERT(machine != nullptr, "a machine drawn from a tape is valid");
  return machine;
}

}  // namespace pawl
