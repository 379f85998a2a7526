#include "simulate/player.h"

#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "simulate/expectation.h"
#include "simulate/moment.h"
#include "simulate/scenario_clock.h"
#include "simulate/step_stimulus.h"
#include "simulate/wall_text.h"
#include "simulate/world.h"

namespace pawl {
namespace {

class Player {
 public:
  Player(const Scenario& scenario, const std::string& machine, World& world,
         const ScenarioClock& clock, Watcher also, Played& played)
      : scenario_(scenario),
        machine_(machine),
        world_(world),
        clock_(clock),
        also_(std::move(also)),
        played_(played) {
    world_.watch({.decided = [this](const Decided& decided) { watch(decided); },
                  .noted = [this](Instant now, const std::string& note) { keep_note(now, note); }});
  }

  void play() {
    report_error(scenario_.where, begin());
    for (const Step& step : scenario_.steps) {
      if (!goes_on_) return;
      ++step_;
      playing_ = &step;
      report_error(step.where, play_step(step));
    }
  }

 private:
  void watch(const Decided& decided) {
    if (also_.decided) also_.decided(decided);
    if (decided.decision.changed)
      for (std::string& line : effect_lines(decided)) effects_.push_back(std::move(line));
    if (is_told(decided)) tell(moment_of(decided, world_));
  }

  void tell(Moment moment) {
    moment.step = step_;
    // A record that has nothing to start cannot say what was asked for.
    if (moment.stimulus == "start" && playing_ != nullptr && playing_->verb == Step::Verb::start)
      moment.stimulus += " " + playing_->subject.text;
    played_.moments.push_back(std::move(moment));
  }

  void keep_note(Instant now, const std::string& note) {
    if (also_.noted) also_.noted(now, note);
    if (!played_.moments.empty()) played_.moments.back().notes.push_back(note);
  }

  // Creates the scenario's own record, without which there is nothing to play.
  Result<void> begin() {
    if (scenario_.create.kind != Json::Kind::map) return {};
    goes_on_ = false;
    PAWL_TRY(Stimulus stimulus, step_create(scenario_.create, machine_, world_));
    own_ = {stimulus.machine, stimulus.key};
    PAWL_TRY(const Answer answer, world_.apply(std::move(stimulus)));
    if (answer.kind != Answer::Kind::ok)
      return bad_input("the record " + own_.machine + "/" + own_.key +
                       " could not be created: " + answer.reason);
    goes_on_ = true;
    return {};
  }

  Result<void> play_step(const Step& step) {
    PAWL_TRY(const Instant at, clock_.step_at(step.at, world_.now()));
    if (at < world_.now())
      return bad_input("it is already " + wall_text(world_.now(), clock_.zone()) +
                       ", and time does not go back");
    PAWL_CHECK(unless_endless(world_.run_until(at)));
    PAWL_TRY(const Whom whom, concerned(step));
    PAWL_TRY(const std::optional<Answer> answer, act(step, whom));
    check(step, whom, answer);
    return {};
  }

  // A world in which decisions have no end is not played on.
  template <class T>
  Result<T> unless_endless(Result<T> result) {
    goes_on_ = result.has_value();
    return result;
  }

  // Whom a step is about. A step that creates is about what it creates.
  Result<Whom> concerned(const Step& step) const {
    if (!step.record.empty()) return whom_of(step.record, world_);
    if (step.verb == Step::Verb::create) return created_by(step.subject, machine_);
    if (own_.key.empty())
      return bad_input("the scenario creates no record of its own, so every step needs `record`");
    return own_;
  }

  // Does what the step says; no answer when it asks for nothing.
  Result<std::optional<Answer>> act(const Step& step, const Whom& whom) {
    if (step.verb == Step::Verb::none) return std::optional<Answer>();
    PAWL_TRY(Stimulus stimulus, step_stimulus(step, whom, machine_, world_, tokens_));
    if (auto nothing = none_of_that_task(step, stimulus)) return nothing;
    PAWL_TRY(Answer answer, unless_endless(world_.apply(std::move(stimulus))));
    if (answer.kind == Answer::Kind::error && step.expect.find("answer") == nullptr)
      report(step.where, "the answer is an error: " + answer.reason);
    return std::optional(std::move(answer));
  }

  // A worker that asks for a task gets nothing from a record that works on another.
  std::optional<Answer> none_of_that_task(const Step& step, const Stimulus& stimulus) {
    if (step.verb != Step::Verb::start) return std::nullopt;
    const Record& record = *world_.find(stimulus.machine, stimulus.key);
    const Machine& machine = world_.machine_of(record.id);
    const std::string task = task_of(machine, record);
    if (task.empty() || task == step.subject.text) return std::nullopt;
    Decision none{.record = record};
    none.answer.kind = Answer::Kind::none;
    none.answer.reason = "it works on " + in_ticks(task);
    Moment moment = moment_of({machine, stimulus, record, none, {}, world_.now()}, world_);
    moment.stimulus = "start " + step.subject.text;
    tell(std::move(moment));
    return none.answer;
  }

  void check(const Step& step, const Whom& whom, const std::optional<Answer>& answer) {
    if (step.expect.members.empty()) return;
    const Record* record = world_.find(whom.machine, whom.key);
    Seen seen{.world = world_,
              .clock = clock_,
              .name = whom.machine + "/" + whom.key,
              .record = record,
              .answer = answer ? &*answer : nullptr,
              .actor = actor_of(step)};
    if (step.expect.find("effects") != nullptr) seen.effects = std::exchange(effects_, {});
    if (step.expect.find("log") != nullptr && record != nullptr) seen.log = new_log_of(record->id);
    for (Problem& problem : compare(step.expect, seen)) add(std::move(problem));
  }

  std::vector<std::string> new_log_of(RecordId id) {
    const std::vector<Entry>& log = world_.log_of(id);
    std::vector<std::string> lines;
    for (std::size_t& asked = asked_[id]; asked < log.size(); ++asked)
      lines.push_back(log_line(log[asked], clock_.zone()));
    return lines;
  }

  void report_error(const Where& where, const Result<void>& played) {
    if (!played) report(where, played.error().message);
  }

  void report(const Where& where, std::string message) {
    add({.position = where.position, .message = std::move(message)});
  }

  void add(Problem problem) {
    problem.step = step_;
    problem.at = world_.now();
    played_.problems.push_back(std::move(problem));
  }

  const Scenario& scenario_;
  const std::string& machine_;
  World& world_;
  const ScenarioClock& clock_;
  Watcher also_;
  Played& played_;
  Whom own_;
  Tokens tokens_;
  std::size_t step_ = 0;
  const Step* playing_ = nullptr;
  bool goes_on_ = true;
  std::vector<std::string> effects_;       // since last asked
  std::map<RecordId, std::size_t> asked_;  // entries of the log that were asked for
};

}  // namespace

Played play(const Scenario& scenario, const std::string& machine,
            const std::vector<std::shared_ptr<const Machine>>& machines, const Zones& zones,
            int decisions_max, Watcher watcher) {
  Played played{.machine = machine, .title = scenario.title, .steps = scenario.steps.size()};
  const auto zone = scenario.tz.empty() ? Result<Zone>(Zone::utc()) : zones.find(scenario.tz);
  if (zone) played.zone = *zone;
  const auto at = parse_instant(scenario.at, played.zone);
  if (!zone || !at) {
    played.problems.push_back({.position = scenario.where.position,
                               .message = zone ? at.error().message : zone.error().message});
    return played;
  }
  const ScenarioClock clock(*zone);
  World world(machines, zones, *at, decisions_max);
  Player(scenario, machine, world, clock, std::move(watcher), played).play();
  played.ended_at = world.now();
  return played;
}

}  // namespace pawl
