#include "random_machine.h"

#include <algorithm>
#include <set>
#include <utility>

#include "draw.h"
#include "random_expression.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Names, among them words that other readers of YAML take for something else. A number is added
// when a name is taken.
std::string new_name(Draw& draw, std::set<std::string>& taken) {
  std::string name =
      draw.of({"ready", "paying", "on_its_way", "a",     "true",     "false", "null",
               "yes",   "no",     "off",        "y",     "e1",       "x2",    "only_one",
               "self",  "parent", "data",       "event", "default_", "to"});
  while (!taken.insert(name).second) name += std::to_string(draw.between(0, 9));
  return name;
}

// What is drawn first is what the rest may name.
class MachineDrawer {
 public:
  explicit MachineDrawer(std::mt19937_64& numbers) : draw_(numbers) {}

  Definition machine() {
    d_.machine = draw_.of({"order", "exam", "null", "true", "m1"});
    if (draw_.chance(70)) d_.version = draw_.between(1, 2'147'483'647);
    d_.doc = maybe_text();
    if (draw_.chance(85)) d_.data = fields(4);
    draw_names();
    for (const std::string& state : states_)
      if (draw_.chance(30)) d_.order.emplace_back(state);
    base_ = {.data = &d_.data, .states = &states_, .order = &d_.order};
    draw_events();
    draw_policies();
    for (const std::string& task : tasks_) d_.tasks.push_back(this->task(task));
    d_.policy = policy(true);
    draw_on();
    if (draw_.chance(60)) d_.schedule = schedule();
    for (const std::string& name : states_) d_.states.push_back(state(name));
    draw_rest();
    return std::move(d_);
  }

 private:
  // --- names -----------------------------------------------------------------------------------

  void draw_names() {
    std::set<std::string> taken;
    const int count = draw_.between(1, 6);
    for (int i = 0; i < count; ++i) states_.push_back(new_name(draw_, taken));
    if (draw_.chance(15)) states_.emplace_back("discarded");
    taken = {"run"};
    for (int i = draw_.between(0, 3); i > 0; --i) tasks_.push_back(new_name(draw_, taken));
    taken = {"only"};
    for (int i = draw_.between(1, 5); i > 0; --i) events_.push_back(new_name(draw_, taken));
    if (draw_.chance(15)) events_.emplace_back("restart");
    if (draw_.chance(15)) events_.emplace_back("discard");
    taken.clear();
    for (int i = draw_.between(0, 3); i > 0; --i) policies_.push_back(new_name(draw_, taken));
    draw_kinds();
  }

  // What each state is: the first one is never final, so that something can happen.
  void draw_kinds() {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      const std::string& name = states_[i];
      if (name == "discarded" || (i > 0 && draw_.chance(25))) {
        final_.push_back(name);
        continue;
      }
      open_.push_back(name);
      if (!tasks_.empty() && draw_.chance(50)) {
        working_.push_back(name);
      } else {
        waiting_.push_back(name);
      }
    }
    targets_ = states_;
    for (const std::string& owner : working_)
      if (!waiting_.empty() && waiting_.back() != states_.front() && draw_.chance(40)) {
        started_[owner] = waiting_.back();  // entered by attempts only
        std::erase(targets_, waiting_.back());
        std::erase(open_, waiting_.back());
        waiting_.pop_back();
      }
  }

  bool is_in(const std::vector<std::string>& names, const std::string& name) const {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  // The other half of the list is as it comes.
  std::vector<std::string> some_of(const std::vector<std::string>& names, int percent) {
    std::vector<std::string> some;
    for (const std::string& name : names)
      if (draw_.chance(percent)) some.push_back(name);
    return some;
  }

  std::string maybe_text() { return draw_.chance(30) ? nasty_text(draw_) : ""; }

  // --- fields ----------------------------------------------------------------------------------

  Fields fields(int most) {
    Fields fields;
    std::set<std::string> taken;
    for (int i = draw_.between(0, most); i > 0; --i) {
      Field field;
      field.name = draw_.of({"amount", "f", "on", "items", "key2", "x_1"});
      while (!taken.insert(field.name).second) field.name += "_" + std::to_string(i);
      field.type.kind = draw_.up_to(FieldType::Kind::word);
      if (field.type.kind == FieldType::Kind::word) {
        field.type.words = {"card", "true", "null"};
        field.type.words.resize(static_cast<std::size_t>(draw_.between(1, 3)));
      } else {
        field.type.required = draw_.chance(25);
      }
      if (draw_.chance(40)) field.fallback = fitting_json(draw_, field.type);
      field.doc = maybe_text();
      fields.push_back(std::move(field));
    }
    return fields;
  }

  void draw_events() {
    for (const std::string& name : some_of(events_, 50)) {
      EventDefinition event;
      event.name = name;
      if (draw_.chance(40)) event.by = {"operator", "null"};
      if (draw_.chance(50)) event.with = fields(3);
      event.doc = maybe_text();
      d_.events.push_back(std::move(event));
    }
    // What is not declared is accepted by the machine, so that every event is known.
    for (const std::string& name : events_) {
      const bool declared = std::any_of(d_.events.begin(), d_.events.end(),
                                        [&](const EventDefinition& e) { return e.name == name; });
      if (!declared || draw_.chance(30)) accepted_.push_back(name);
    }
  }

  const Fields* fields_of_event(const std::string& name) const {
    for (const EventDefinition& event : d_.events)
      if (event.name == name) return event.with ? &*event.with : nullptr;
    return nullptr;
  }

  const Fields* fields_of_result(const std::string& name) const {
    for (const Task& task : d_.tasks)
      if (task.name == name) return task.result ? &*task.result : nullptr;
    return nullptr;
  }

  // --- scalars ---------------------------------------------------------------------------------

  Duration duration() {
    switch (draw_.between(0, 7)) {
      case 0:
        return Duration{0};
      case 1:
        return milliseconds{draw_.between(1, 999'999)};
      case 2:
        return microseconds{draw_.between(1, 2'000'000'000)};
      case 3:
        return minutes{draw_.between(1, 5'000)};
      case 4:
        return hours{draw_.between(1, 500)};
      case 5:
        return hours{24 * draw_.between(1, 400)};
      default:
        return seconds{draw_.between(1, 200'000)};
    }
  }

  DurationValue duration_value(const Seen& seen) {
    if (draw_.chance(80)) return duration();
    return RandomExpression(draw_, seen).duration_template().c_str();
  }

  Delays delays(const Seen& seen) {
    Delays delays;
    delays.kind = draw_.up_to(Delays::Kind::fixed);
    if (delays.kind == Delays::Kind::list)
      for (int i = draw_.between(0, 4); i > 0; --i) delays.list.push_back(duration_value(seen));
    if (delays.kind != Delays::Kind::list) delays.first = duration_value(seen);
    if (delays.kind != Delays::Kind::formula) return delays;
    if (draw_.chance(50)) delays.factor_milli = draw_.between(1'000, 1'000'000);
    if (draw_.chance(50)) {
      delays.max = duration_value(seen);
      if (delays.max->is_fixed()) delays.max->fixed += delays.first.fixed;
    }
    delays.jitter = draw_.up_to(Delays::Jitter::percent);
    if (delays.jitter == Delays::Jitter::percent) delays.jitter_percent = draw_.between(1, 100);
    if (draw_.chance(50)) delays.attempts = draw_.between(1, 1'000);
    return delays;
  }

  // Values for some of the declared fields, or for any when none are declared.
  std::vector<Assignment> assignments(const Seen& seen) {
    std::vector<Assignment> set;
    RandomExpression expression(draw_, seen);
    if (!d_.data) {
      set.push_back({"anything", expression.value()});
      return set;
    }
    for (const Field& field : *d_.data)
      if (draw_.chance(40)) set.push_back({field.name, expression.value_for(field.type)});
    return set;
  }

  // --- rows ------------------------------------------------------------------------------------

  EffectRow effect(Seen seen) {
    EffectRow effect;
    if (draw_.chance(30)) effect.each = RandomExpression(draw_, seen).list();
    seen.item = effect.each.has_value();
    RandomExpression expression(draw_, seen);
    effect.verb = draw_.up_to(EffectRow::Verb::create);
    if (effect.verb == EffectRow::Verb::run && tasks_.empty())
      effect.verb = EffectRow::Verb::notify;
    effect.target = draw_.of({"mail", "parcel", "true", "ops"});
    if (draw_.chance(30)) effect.condition = expression.condition();
    if (draw_.chance(50)) effect.with = expression.value();
    if (draw_.chance(30) || effect.verb == EffectRow::Verb::create) effect.key = expression.value();
    if (draw_.chance(30) && effect.verb != EffectRow::Verb::create)
      effect.in = duration_value(seen);
    if (effect.verb == EffectRow::Verb::run) {
      effect.target = draw_.of(tasks_);
      if (draw_.chance(50)) effect.then = Ref(draw_.of(events_));
      if (draw_.chance(50)) effect.otherwise = Ref(draw_.of(events_));
    }
    if (effect.verb == EffectRow::Verb::send) {
      effect.to = recipient(expression);
      if (effect.to->kind == Recipient::Kind::self) effect.target = draw_.of(events_);
      effect.must = draw_.chance(30);
    }
    return effect;
  }

  Recipient recipient(RandomExpression& expression) {
    Recipient to;
    to.kind = draw_.up_to(Recipient::Kind::record);
    if (to.kind == Recipient::Kind::children || to.kind == Recipient::Kind::record)
      to.machine = draw_.of({"parcel", "null", "run"});
    if (to.kind == Recipient::Kind::record) to.key = expression.text_value();
    return to;
  }

  std::vector<EffectRow> effects(const Seen& seen) {
    std::vector<EffectRow> effects;
    for (int i = draw_.between(1, 2); i > 0; --i) effects.push_back(effect(seen));
    return effects;
  }

  HoldText hold(const Seen& seen) {
    return {draw_.of({"machine", "gave_up", "null", "checked"}),
            RandomExpression(draw_, seen).text_value()};
  }

  // What every row may have.
  Row common_row(const Seen& seen) {
    Row row;
    if (draw_.chance(40)) row.condition = RandomExpression(draw_, seen).condition();
    if (draw_.chance(30)) row.set = assignments(seen);
    if (draw_.chance(25)) row.effects = effects(seen);
    return row;
  }

  // A row with an outcome that is a state, an event, a failure or none.
  Row row(const Seen& seen, bool may_fire, bool has_on) {
    Row row = common_row(seen);
    const int outcome = draw_.between(0, 9);
    if (outcome <= 4) row.to = Ref(draw_.of(targets_));
    if (outcome == 5) row.fail = fail(seen);
    if (outcome == 6 && may_fire)
      row.event = Ref(has_on && draw_.chance(50) ? "only" : draw_.of(events_));
    if (draw_.chance(20)) row.hold = hold(seen);
    row.new_epoch = draw_.chance(15);
    return row;
  }

  Value fail(const Seen& seen) {
    if (draw_.chance(60)) return draw_.of({"timeout", "null", "bank_down"});
    return "{" + draw_.of({"record.key", "record.state"}) + "}" +
           (seen.event ? "{actor.name}" : "");
  }

  Rows rows(const Seen& seen, bool may_fire, bool has_on) {
    Rows rows;
    for (int i = draw_.chance(70) ? 1 : draw_.between(2, 3); i > 0; --i)
      rows.push_back(row(seen, may_fire, has_on));
    return rows;
  }

  Seen seen_by(const std::string& event) const {
    Seen seen = base_;
    seen.event = true;
    seen.event_fields = fields_of_event(event);
    return seen;
  }

  Seen seen_on_error() const {
    Seen seen = base_;
    seen.error = true;
    return seen;
  }

  Rows event_rows(const std::string& event, bool final) {
    Rows rows = this->rows(seen_by(event), false, false);
    for (Row& row : rows) {
      row.held = draw_.up_to(Row::Held::any);
      if (final && row.to) row.new_epoch = true;
      if (final) row.fail.reset();
    }
    return rows;
  }

  void draw_on() {
    for (const std::string& event : accepted_) {
      Rows rows = event_rows(event, false);
      for (Row& row : rows) {
        row.from = draw_.up_to(Row::From::listed);
        if (row.from == Row::From::listed)
          for (const std::string& state : some_of(states_, 40)) row.from_states.emplace_back(state);
        if (row.from != Row::From::open && row.to) row.new_epoch = true;  // may leave a final state
        if (row.from != Row::From::open) row.fail.reset();
        if (draw_.chance(30))
          for (const std::string& state : some_of(states_, 30)) row.except.emplace_back(state);
      }
      d_.on.push_back({event, std::move(rows)});
    }
  }

  // --- policies --------------------------------------------------------------------------------

  void draw_policies() {
    for (const std::string& name : policies_) d_.policies.push_back({name, policy(false)});
  }

  Policy policy(bool may_name) {
    Policy policy;
    if (draw_.chance(25)) policy.timeout = duration_value(base_);
    if (draw_.chance(20)) policy.lease = duration_value(base_);
    if (draw_.chance(30)) policy.retry = delays(base_);
    if (draw_.chance(25)) policy.errors = errors();
    if (draw_.chance(25)) policy.give_up = give_up();
    if (draw_.chance(20)) {
      policy.failure = Ref("");
      if (!waiting_.empty() && draw_.chance(70)) policy.failure = Ref(draw_.of(waiting_));
    }
    if (draw_.chance(20)) policy.count = draw_.up_to(Policy::Count::lifetime);
    if (draw_.chance(20)) policy.align = draw_.up_to(Policy::Align::whichever_first);
    if (may_name && !policies_.empty() && draw_.chance(30))
      policy.policy = Ref(draw_.of(policies_));
    return policy;
  }

  std::vector<ErrorRows> errors() {
    std::vector<ErrorRows> errors;
    std::set<std::string> codes;
    for (int i = draw_.between(1, 3); i > 0; --i) {
      const std::string code =
          draw_.of({"default", "http_5*", "http_429", "*", "timeout", "null", "true*", "returned"});
      if (!codes.insert(code).second) continue;
      Rows rows;
      for (int k = draw_.chance(70) ? 1 : 2; k > 0; --k) rows.push_back(error_row());
      errors.push_back({code, std::move(rows)});
    }
    return errors;
  }

  Row error_row() {
    const Seen seen = seen_on_error();
    Row row = draw_.chance(50) ? Row{} : common_row(seen);
    row.action = draw_.up_to(Row::Action::give_up);
    if (row.action == Row::Action::none) {
      if (draw_.chance(60)) row.to = Ref(draw_.of(targets_));
      if (!row.to || draw_.chance(50)) row.hold = hold(seen);
    }
    const bool retries = row.action == Row::Action::retry;
    if (row.action == Row::Action::later || (retries && draw_.chance(50)))
      row.delays = delays(seen);
    if (row.action == Row::Action::later && row.delays->kind == Delays::Kind::list)
      row.delays->list.push_back(duration_value(seen));
    if (draw_.chance(20)) row.checkpoint = Ref(draw_.of(open_));
    row.transient = draw_.chance(20);
    return row;
  }

  // All but the last hold only sometimes.
  Rows give_up() {
    const Seen seen = seen_on_error();
    Rows rows;
    for (int left = draw_.between(1, 3); left > 0; --left) {
      Row row = common_row(seen);
      if (draw_.chance(40)) row.elapsed = duration_value(seen);
      if (left > 1 && !row.condition) row.elapsed = duration_value(seen);
      if (draw_.chance(40)) row.to = Ref(draw_.of(targets_));
      if (!row.to || draw_.chance(40)) row.hold = hold(seen);
      if (draw_.chance(30)) row.alert = draw_.of({"oncall", "true"});
      rows.push_back(std::move(row));
    }
    return rows;
  }

  // --- tasks, schedule, states -----------------------------------------------------------------

  Task task(const std::string& name) {
    Task task;
    RandomExpression expression(draw_, base_);
    task.name = name;
    task.kind = draw_.up_to(Task::Kind::function);
    if (task.kind == Task::Kind::http) {
      task.http = http(expression);
    } else {
      task.target = draw_.of({"payments", "null", "q1"});
    }
    if (draw_.chance(40)) task.with = expression.value();
    if (draw_.chance(40)) task.result = fields(3);
    if (draw_.chance(30)) task.key = expression.value();
    if (draw_.chance(30)) {
      task.concurrency = Concurrency{draw_.between(1, 1'000'000)};
      if (draw_.chance(50)) task.concurrency->per = expression.value();
    }
    if (draw_.chance(30)) {
      task.rate = Rate{draw_.between(1, 100), duration_value(base_)};
      if (draw_.chance(50)) task.rate->per = expression.value();
    }
    if (draw_.chance(40)) task.priority = draw_.between(0, 9);
    task.doc = maybe_text();
    task.policy = policy(true);
    return task;
  }

  HttpCall http(RandomExpression& expression) {
    HttpCall http;
    http.method = draw_.up_to(HttpCall::Method::del);
    http.url = draw_.of({"https://example.org/a", "https://x/{record.key}?a=b&c=%20#d"});
    if (draw_.chance(50)) http.headers.push_back({"X-Request-Id", expression.text_value()});
    if (draw_.chance(30)) http.headers.push_back({"accept: all", expression.value()});
    if (draw_.chance(50)) http.body = expression.value();
    return http;
  }

  Schedule schedule() {
    Schedule schedule;
    RandomExpression expression(draw_, base_);
    schedule.kind = draw_.up_to(Schedule::Kind::every);
    if (schedule.kind == Schedule::Kind::every) {
      schedule.every = duration_value(base_);
      if (schedule.every.is_fixed()) schedule.every.fixed += seconds{1};
    } else {
      const auto kind =
          schedule.kind == Schedule::Kind::cron ? FieldType::Kind::cron : FieldType::Kind::rrule;
      schedule.rule = schedule_part(expression, kind);
    }
    if (draw_.chance(50)) schedule.tz = schedule_part(expression, FieldType::Kind::zone);
    if (draw_.chance(50)) schedule.anchor = schedule_part(expression, FieldType::Kind::time);
    schedule.missed = draw_.up_to(Schedule::Missed::all);
    if (draw_.chance(40)) schedule.gap = draw_.up_to(Schedule::Gap::skip);
    if (draw_.chance(40)) schedule.fold = draw_.up_to(Schedule::Fold::both);
    if (draw_.chance(30)) schedule.ended = rows(base_, true, false);
    return schedule;
  }

  // A text that fits, or a template.
  Value schedule_part(RandomExpression& expression, FieldType::Kind kind) {
    const FieldType type{.kind = kind, .required = true};
    Value part = expression.value_for(type);
    return part.json.kind == Json::Kind::text ? part : Value("{data}");
  }

  State state(const std::string& name) {
    State state;
    state.name = name;
    state.doc = maybe_text();
    if (draw_.chance(40)) {
      state.id = next_id_;
      next_id_ += draw_.between(1, 4);
    }
    if (draw_.chance(30)) state.effects = effects(base_);
    if (draw_.chance(50)) state.policy = policy(true);
    if (is_in(final_, name)) {
      state.final = true;
      add_events(state, 30);
      return state;
    }
    if (is_in(working_, name)) {
      add_task(state);
      add_events(state, 30);
    } else {
      add_events(state, 80);
    }
    add_timers(state);
    const bool has_on = !state.on.empty();
    if (d_.schedule && draw_.chance(50)) state.planned = rows(base_, true, has_on);
    if (draw_.chance(25)) state.when = when_rows(has_on);
    if (draw_.chance(30)) state.checkpoint = Ref(draw_.of(open_));
    if (draw_.chance(30)) state.resume = rows(seen_on_error(), true, has_on);
    return state;
  }

  void add_task(State& state) {
    state.task = Ref(draw_.of(tasks_));
    const auto during = started_.find(state.name);
    if (during != started_.end()) state.started = Ref(during->second);
    Seen seen = base_;
    seen.result = true;
    seen.result_fields = fields_of_result(state.task->name);
    state.done = rows(seen, true, false);
    state.done.back().condition.reset();
    for (Row& row : state.done)  // done and stays needs another way on
      if (!row.to && !row.event && !row.fail && !row.hold) row.to = Ref(draw_.of(targets_));
  }

  void add_events(State& state, int percent) {
    for (const std::string& event : some_of(events_, percent))
      state.on.push_back({event, event_rows(event, state.final)});
    if (!state.final && !state.task && state.on.empty())
      state.on.push_back({events_.front(), event_rows(events_.front(), false)});
  }

  void add_timers(State& state) {
    std::set<std::string> texts;
    const bool has_on = !state.on.empty();
    const auto add = [&](std::vector<TimerRows>& timers, Duration more) {
      DurationValue delay = duration_value(base_);
      if (delay.is_fixed()) delay.fixed += more;
      const std::string text = delay.is_fixed() ? to_text(delay.fixed) : delay.value.json.text;
      if (texts.insert(text).second) timers.push_back({delay, rows(base_, true, has_on)});
    };
    if (draw_.chance(30))
      for (int i = draw_.between(1, 3); i > 0; --i) add(state.after, Duration{0});
    texts.clear();
    if (draw_.chance(20)) add(state.every, milliseconds{1});
  }

  Rows when_rows(bool has_on) {
    Seen seen = base_;
    seen.now = false;
    Rows rows = this->rows(seen, true, has_on);
    for (Row& row : rows)
      if (!row.to && !row.event && !row.fail && !row.hold) row.to = Ref(draw_.of(targets_));
    return rows;
  }

  // --- the rest of the machine -------------------------------------------------------------------

  void draw_rest() {
    d_.initial = Ref(states_.front());
    for (int i = draw_.chance(60) ? 0 : draw_.between(1, 8); i > 0; --i)
      d_.labels.push_back({"label" + std::to_string(i), RandomExpression(draw_, base_).value()});
    if (draw_.chance(40)) {
      d_.keep = Keep{};
      if (draw_.chance(60)) d_.keep->final = duration_value(base_);
      if (draw_.chance(40)) d_.keep->entries = draw_.between(1, 100'000);
    }
    d_.pin = draw_.chance(20);
    if (draw_.chance(30)) draw_migrations();
    std::set<std::string> titles;
    for (int i = draw_.chance(50) ? 0 : draw_.between(1, 2); i > 0; --i) {
      Scenario scenario = this->scenario();
      if (titles.insert(scenario.title).second) d_.scenarios.push_back(std::move(scenario));
    }
  }

  void draw_migrations() {
    const int newest = std::min(d_.version.value_or(10) - 1, 9);
    for (int version = 1; version <= newest; ++version) {
      if (!draw_.chance(30)) continue;
      Migration migration;
      migration.version = version;
      if (draw_.chance(60)) migration.states.push_back({"old", draw_.of(states_)});
      if (draw_.chance(30)) migration.states.push_back({"null", draw_.of(states_)});
      if (draw_.chance(50)) migration.set = assignments(base_);
      d_.migrate.push_back(std::move(migration));
    }
  }

  Scenario scenario() {
    Scenario scenario;
    scenario.title = nasty_text(draw_);
    scenario.at = draw_.of({"2026-03-02T08:00:00Z", "2026-03-02T08:00:00", ""});
    if (draw_.chance(40)) scenario.tz = draw_.of({"Europe/Berlin", "UTC"});
    if (draw_.chance(70)) scenario.create = create();
    for (int i = draw_.between(0, 4); i > 0; --i) scenario.steps.push_back(step());
    return scenario;
  }

  Json create() {
    Json create = Json::map({});
    if (draw_.chance(30)) create.members.push_back({"machine", "parcel", {}});
    create.members.push_back({"key", nasty_text(draw_), {}});
    if (draw_.chance(60))
      create.members.push_back({"data", Json::map({{"x", random_json(draw_, 2), {}}}), {}});
    if (draw_.chance(30)) create.members.push_back({"parent", "order/1", {}});
    return create;
  }

  Step step() {
    Step step;
    if (draw_.chance(60)) step.at = draw_.of({"+5m", "08:30", "08:30:15", "2026-03-02T09:00:00Z"});
    if (draw_.chance(30)) step.record = draw_.of({"parcel/o1/a", "run charge", "null"});
    step.verb = draw_.up_to(Step::Verb::order);
    if (step.verb == Step::Verb::start && tasks_.empty()) step.verb = Step::Verb::beat;
    step.subject = subject(step.verb);
    if (draw_.chance(30)) step.with = Json::map({{"x", random_json(draw_, 2), {}}});
    if (draw_.chance(30)) step.actor = actor();
    if (draw_.chance(30)) step.as = nasty_text(draw_);
    if (draw_.chance(30)) step.token = nasty_text(draw_);
    if (draw_.chance(50)) step.expect = expect();
    return step;
  }

  Json subject(Step::Verb verb) {
    switch (verb) {
      case Step::Verb::none:
        return nullptr;
      case Step::Verb::create:
        return create();
      case Step::Verb::fire:
        return draw_.of(events_);
      case Step::Verb::start:
        return draw_.of(tasks_);
      case Step::Verb::beat:
      case Step::Verb::done:
        return random_json(draw_, 2);
      case Step::Verb::fail:
        if (draw_.chance(50)) return draw_.of({"timeout", "null"});
        return Json::map({{"code", "http_503", {}},
                          {"message", nasty_text(draw_), {}},
                          {"detail", random_json(draw_, 1), {}},
                          {"retry_after", "20s", {}}});
      case Step::Verb::order:
        return order();
    }
    return nullptr;
  }

  Json order() {
    switch (draw_.between(0, 3)) {
      case 0:
        return Json::map({{"hold", nasty_text(draw_), {}}});
      case 1:
        return Json::map({{"move", draw_.of(states_), {}}});
      case 2:
        return Json::map({{"patch", Json::map({{"x", random_json(draw_, 2), {}}}), {}}});
      default:
        return draw_.of({"retry", "release", "migrate"});
    }
  }

  Json actor() {
    Json actor = Json::map({{"name", nasty_text(draw_), {}}});
    if (draw_.chance(50)) actor.members.push_back({"roles", Json::list({"operator"}), {}});
    return actor;
  }

  Json expect() {
    Json expect = Json::map({});
    if (draw_.chance(50)) expect.members.push_back({"state", draw_.of(states_), {}});
    if (draw_.chance(50)) expect.members.push_back({"next_at", Json::list({"08:00", "09:00"}), {}});
    if (draw_.chance(50))
      expect.members.push_back({"data", Json::map({{"x", random_json(draw_, 2), {}}}), {}});
    if (draw_.chance(50)) expect.members.push_back({"hold", nullptr, {}});
    return expect;
  }

  Draw draw_;
  Definition d_;
  Seen base_;
  std::vector<std::string> states_;
  std::vector<std::string> targets_;  // those that rows may lead to
  std::vector<std::string> open_;
  std::vector<std::string> working_;
  std::vector<std::string> waiting_;
  std::vector<std::string> final_;
  std::map<std::string, std::string> started_;  // by owner
  std::vector<std::string> tasks_;
  std::vector<std::string> events_;
  std::vector<std::string> accepted_;  // by the machine's own `on`
  std::vector<std::string> policies_;
  int next_id_ = 0;
};

}  // namespace

Definition random_machine(std::mt19937_64& numbers) { return MachineDrawer(numbers).machine(); }

class PartCounter {
 public:
  explicit PartCounter(PartCounts& counts) : counts_(counts.counts_) {}

  void definition(const Definition& d) {
    given("machine.version", d.version);
    given("machine.doc", !d.doc.empty());
    given("machine.data", d.data);
    if (d.data) fields("data", *d.data);
    many("machine.events", d.events);
    for (const EventDefinition& event : d.events) {
      many("event.by", event.by);
      given("event.with", event.with);
      given("event.doc", !event.doc.empty());
    }
    many("machine.order", d.order);
    given("machine.schedule", d.schedule);
    if (d.schedule) schedule(*d.schedule);
    policy("machine", d.policy);
    many("machine.policies", d.policies);
    for (const NamedPolicy& named : d.policies) policy("shared", named.policy);
    many("machine.on", d.on);
    for (const EventRows& on : d.on) rows("machine.on", on.rows);
    for (const State& state : d.states) this->state(d, state);
    many("machine.tasks", d.tasks);
    for (const Task& task : d.tasks) this->task(task);
    many("machine.labels", d.labels);
    given("machine.keep", d.keep);
    if (d.keep) {
      given("keep.final", d.keep->final);
      given("keep.entries", d.keep->entries);
    }
    given("machine.pin", d.pin);
    many("machine.migrate", d.migrate);
    for (const Migration& migration : d.migrate) {
      many("migrate.states", migration.states);
      many("migrate.set", migration.set);
    }
    many("machine.scenarios", d.scenarios);
    for (const Scenario& scenario : d.scenarios) this->scenario(scenario);
  }

 private:
  void given(const std::string& name, bool is_given) { counts_[name] += is_given ? 1 : 0; }
  template <class T>
  void given(const std::string& name, const std::optional<T>& value) {
    given(name, value.has_value());
  }
  template <class T>
  void many(const std::string& name, const std::vector<T>& parts) {
    given(name, !parts.empty());
  }
  template <class Enum>
  void word(const std::string& name, Enum value, Enum last) {
    for (int i = 0; i <= static_cast<int>(last); ++i)
      given(name + "=" + std::to_string(i), static_cast<int>(value) == i);
  }
  void json(const std::string& name, const Json& json) { word(name, json.kind, Json::Kind::map); }

  void duration(const std::string& name, const DurationValue& value) {
    given(name + " fixed", value.is_fixed());
    given(name + " template", !value.is_fixed());
  }
  void duration(const std::string& name, const std::optional<DurationValue>& value) {
    given(name, value);
    if (value) duration(name, *value);
  }

  void fields(const std::string& name, const Fields& fields) {
    for (const Field& field : fields) {
      word(name + ".kind", field.type.kind, FieldType::Kind::word);
      given(name + ".required", field.type.required);
      given(name + ".default", field.fallback);
      given(name + ".doc", !field.doc.empty());
    }
  }

  void delays(const std::string& name, const Delays& delays) {
    word(name + ".kind", delays.kind, Delays::Kind::fixed);
    if (delays.kind != Delays::Kind::formula) return;
    duration(name + ".first", delays.first);
    given(name + ".factor", delays.factor_milli != 2'000);
    duration(name + ".max", delays.max);
    word(name + ".jitter", delays.jitter, Delays::Jitter::percent);
    given(name + ".attempts", delays.attempts);
  }

  void effects(const std::string& name, const std::vector<EffectRow>& effects) {
    many(name + ".effects", effects);
    for (const EffectRow& effect : effects) {
      word("effect.verb", effect.verb, EffectRow::Verb::create);
      given("effect.if", effect.condition);
      given("effect.each", effect.each);
      given("effect.with", effect.with);
      given("effect.key", effect.key);
      duration("effect.in", effect.in);
      given("effect.then", effect.then);
      given("effect.else", effect.otherwise);
      given("effect.to", effect.to);
      given("effect.must", effect.must);
      if (effect.to) word("effect.to", effect.to->kind, Recipient::Kind::record);
      if (effect.with) json("effect.with", effect.with->json);
    }
  }

  void rows(const std::string& name, const Rows& rows) {
    many(name, rows);
    for (const Row& row : rows) {
      given(name + ".if", row.condition);
      given(name + ".to", row.to);
      given(name + ".hold", row.hold);
      many(name + ".set", row.set);
      effects(name, row.effects);
      if (name == "state.on" || name == "machine.on") event_row(name, row);
      if (name.ends_with("errors")) error_row(name, row);
      if (name.ends_with("give_up")) {
        duration(name + ".elapsed", row.elapsed);
        given(name + ".alert", !row.alert.empty());
      }
      if (name.ends_with("errors") || name.ends_with("give_up")) continue;
      given(name + ".fail", row.fail);
      given(name + ".new_epoch", row.new_epoch);
      if (name == "state.on" || name == "machine.on") continue;
      given(name + ".event", row.event);
      if (name != "schedule.ended" && name != "state.done")
        given(name + ".event only", row.event && row.event->name == "only");
    }
  }

  void event_row(const std::string& name, const Row& row) {
    word(name + ".held", row.held, Row::Held::any);
    if (name == "state.on") return;
    word(name + ".from", row.from, Row::From::listed);
    many(name + ".except", row.except);
  }

  void error_row(const std::string& name, const Row& row) {
    word(name + ".action", row.action, Row::Action::give_up);
    given(name + ".delays", row.delays);
    if (row.delays) delays(name + ".delays", *row.delays);
    given(name + ".checkpoint", row.checkpoint);
    given(name + ".transient", row.transient);
  }

  void policy(const std::string& name, const Policy& policy) {
    duration(name + ".timeout", policy.timeout);
    duration(name + ".lease", policy.lease);
    given(name + ".retry", policy.retry);
    if (policy.retry) delays(name + ".retry", *policy.retry);
    many(name + ".errors", policy.errors);
    for (const ErrorRows& error : policy.errors) {
      given(name + ".errors prefix", error.code.ends_with('*'));
      given(name + ".errors default", error.code == "default");
      rows(name + ".errors", error.rows);
    }
    rows(name + ".give_up", policy.give_up);
    given(name + ".failure", policy.failure && *policy.failure);
    given(name + ".failure null", policy.failure && !*policy.failure);
    given(name + ".count", policy.count);
    if (policy.count) word(name + ".count", *policy.count, Policy::Count::lifetime);
    given(name + ".align", policy.align);
    if (policy.align) word(name + ".align", *policy.align, Policy::Align::whichever_first);
    if (name != "shared") given(name + ".policy", policy.policy);
  }

  void state(const Definition& d, const State& state) {
    given("state.doc", !state.doc.empty());
    given("state.id", state.id);
    given("state.task", state.task);
    given("state.started", state.started);
    rows("state.done", state.done);
    many("state.on", state.on);
    for (const EventRows& on : state.on) rows("state.on", on.rows);
    timers("state.after", state.after);
    timers("state.every", state.every);
    rows("state.planned", state.planned);
    rows("state.when", state.when);
    effects("state", state.effects);
    given("state.checkpoint", state.checkpoint);
    rows("state.resume", state.resume);
    given("state.final", state.final);
    given("state discarded declared", state.name == "discarded");
    given("state is a failure state",
          std::any_of(d.states.begin(), d.states.end(), [&](const State& other) {
            return other.policy.failure && other.policy.failure->name == state.name;
          }));
    policy("state", state.policy);
  }

  void timers(const std::string& name, const std::vector<TimerRows>& timers) {
    many(name, timers);
    for (const TimerRows& timer : timers) {
      duration(name + " delay", timer.delay);
      rows(name, timer.rows);
    }
  }

  void task(const Task& task) {
    word("task.kind", task.kind, Task::Kind::function);
    if (task.http) {
      word("http.method", task.http->method, HttpCall::Method::del);
      many("http.headers", task.http->headers);
      given("http.body", task.http->body);
    }
    given("task.with", task.with);
    given("task.result", task.result);
    if (task.result) fields("result", *task.result);
    given("task.key", task.key);
    given("task.concurrency", task.concurrency);
    if (task.concurrency) given("concurrency.per", task.concurrency->per);
    given("task.rate", task.rate);
    if (task.rate) given("rate.per", task.rate->per);
    if (task.rate) duration("rate.every", task.rate->every);
    given("task.priority", task.priority != 5);
    given("task.doc", !task.doc.empty());
    policy("task", task.policy);
  }

  void schedule(const Schedule& schedule) {
    word("schedule.kind", schedule.kind, Schedule::Kind::every);
    if (schedule.kind == Schedule::Kind::every) duration("schedule.every", schedule.every);
    given("schedule.tz", schedule.tz);
    given("schedule.anchor", schedule.anchor);
    word("schedule.missed", schedule.missed, Schedule::Missed::all);
    given("schedule.gap", schedule.gap);
    if (schedule.gap) word("schedule.gap", *schedule.gap, Schedule::Gap::skip);
    given("schedule.fold", schedule.fold);
    if (schedule.fold) word("schedule.fold", *schedule.fold, Schedule::Fold::both);
    rows("schedule.ended", schedule.ended);
    given("schedule.rule template", schedule.rule.json.text.starts_with('{'));
  }

  void scenario(const Scenario& scenario) {
    given("scenario.at empty", scenario.at.empty());
    given("scenario.tz", !scenario.tz.empty());
    given("scenario.create", scenario.create.kind == Json::Kind::map);
    many("scenario.steps", scenario.steps);
    given("scenario.steps none", scenario.steps.empty());
    for (const Step& step : scenario.steps) {
      given("step.at", !step.at.empty());
      given("step.record", !step.record.empty());
      word("step.verb", step.verb, Step::Verb::order);
      given("step.with", step.with.kind == Json::Kind::map);
      given("step.actor", step.actor.kind == Json::Kind::map);
      given("step.as", !step.as.empty());
      given("step.token", !step.token.empty());
      given("step.expect", step.expect.kind == Json::Kind::map);
    }
  }

  std::map<std::string, std::int64_t>& counts_;
};

void PartCounts::add(const Definition& definition) { PartCounter(*this).definition(definition); }

}  // namespace pawl
