#include "play.h"

#include <algorithm>
#include <memory>
#include <tuple>

#include "machine_of_tape.h"
#include "stimulus_of_tape.h"
#include "surroundings.h"

namespace pawl {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kRecordsMax = 4;  // of one machine
constexpr int kStepsMax = 200;  // of one record
constexpr int kRoundsMax = 20;  // of asking for what is needed

auto parts_of(const std::optional<Stimulus::ChildChanged>& told) {
  const auto given = told.value_or(Stimulus::ChildChanged{});
  return std::make_tuple(told.has_value(), given.child, given.machine, given.was, given.is,
                         given.was_final, given.is_final, given.was_held, given.is_held);
}

bool are_equal(const Decision& a, const Decision& b) {
  return a.answer == b.answer && a.changed == b.changed && a.record == b.record &&
         a.entries == b.entries && a.effects == b.effects &&
         parts_of(a.to_parent) == parts_of(b.to_parent) && a.remember == b.remember &&
         a.reports == b.reports;
}

bool is_migration(const Stimulus& stimulus) {
  const auto* order = std::get_if<Stimulus::Order>(&stimulus.what);
  return order != nullptr && order->verb == Stimulus::Order::Verb::migrate;
}

class Play {
 public:
  Play(Tape& tape, const Machine& machine, const Machine& newest, Played& played,
       const Watcher& watcher)
      : tape_(tape),
        machine_(&machine),
        newest_(newest),
        played_(played),
        watcher_(watcher),
        stimuli_(tape, around_) {
    now_ = Instant{tape.chance(20) ? std::chrono::sys_days{std::chrono::year{2026} / 3 / 28}
                                   : std::chrono::sys_days{std::chrono::year{2026} / 3 / 2}} +
           hours{tape.between(0, 23)};
    if (tape.chance(30)) around_.add_stranger("part", "once");
    if (tape.chance(30)) around_.add_stranger("item", "k");
  }

  void run() {
    const int steps = tape_.between(20, kStepsMax);
    for (int i = 0; i < steps && !tape_.is_used_up(); ++i) step();
  }

 private:
  void step() {
    pass_time();
    Stimulus stimulus = stimuli_.next(*machine_, record_, now_);
    if (!stimulus.idempotency_key.empty())
      stimulus.remembered = around_.remembered(stimulus.idempotency_key);
    if (record_.version < newest_.version() && (is_migration(stimulus) || tape_.chance(3)))
      stimulus.newest = &newest_;
    decide_with_needs(stimulus);
    const Decided step{*machine_, stimulus.newest, record_, stimulus, now_, decision_};
    if (watcher_.step) watcher_.step(step);
    history_.latest_at = std::max(history_.latest_at, step.at());
    check_call(step);
    if (decision_.changed) check_change(step);
    check_dry_run(step);
    ++played_.decisions;
    played_.answers.add(stimulus, decision_.answer.kind);
    commit(step);
  }

  // Nothing, a bit, to what comes next, past it, far, or back.
  void pass_time() {
    const auto next_at = record_.next_at();
    if (record_.running && tape_.chance(50)) return;
    switch (tape_.between(0, 11)) {
      case 4:
        now_ += Duration{1};
        break;
      case 5:
        now_ += seconds{tape_.between(1, 90)};
        break;
      case 6:
        now_ += minutes{tape_.between(1, 200)};
        break;
      case 7:
      case 8:
      case 9:
        if (next_at) now_ = std::max(now_, *next_at);
        if (tape_.chance(30)) now_ += tape_.chance(50) ? Duration{1} : Duration{seconds{70}};
        break;
      case 10:
        now_ += tape_.chance(90) ? days{tape_.between(1, 9)} : days{900};
        break;
      case 11:
        now_ -= tape_.chance(50) ? Duration{seconds{1}} : Duration{hours{1}};
        break;
      default:
        break;
    }
    if (record_.running && tape_.chance(8)) now_ = std::max(now_, record_.running->deadline_at);
    now_ = std::min(now_, kInstantMax);
  }

  // As an engine: what is needed is looked up and given with the next call.
  void decide_with_needs(Stimulus& stimulus) {
    for (int round = 0; round < kRoundsMax; ++round) {
      decide(*machine_, record_, stimulus, now_, decision_);
      if (decision_.answer.need.empty()) return;
      expect(!decision_.changed && decision_.record == record_, "who needs has not decided");
      for (const KnownRecord& needed : decision_.answer.need) {
        const bool is_known = std::any_of(
            stimulus.known.begin(), stimulus.known.end(), [&](const KnownRecord& known) {
              return known.machine == needed.machine && known.key == needed.key;
            });
        expect(!is_known, "what was given is not asked for again");
        stimulus.known.push_back(around_.look_up(needed.machine, needed.key));
      }
    }
    expect(false, "asking for what is needed ends");
  }

  // What is true of every answer.
  void check_call(const Decided& step) {
    check_answer(step);
    check_remembered(step);
    check_token(step, history_);
    check_start(step, history_);
    check_wake(step);
    check_permitted(step);
  }

  // What is true of every record; one that is not changed is as it was.
  void check_change(const Decided& step) {
    const Record core_before = history_.core;
    check_log(step, history_);
    check_leaving_final(step);
    check_hold(step);
    check_when(step);
    check_never_stranded(step);
    check_limits(step);
    check_data(step, history_);
    check_parent_is_told(step);
    check_effects(step, history_);
    check_why(step);
    check_instants(step);
    check_timers(step, history_);
    check_plan(step, history_);
    check_failures(step, history_);
    check_replay(step, core_before);
  }

  // The same again, into a decision that is new.
  void check_dry_run(const Decided& step) {
    Stimulus dry = step.stimulus;
    dry.dry_run = true;
    const Decision again = decide(step.machine, step.before, dry, step.now);
    expect(are_equal(again, decision_), "a dry run says what the run says");
  }

  void commit(const Decided& step) {
    remember_tokens(step);
    around_.commit(step.stimulus, decision_);
    if (decision_.record.id.value != 0) check_children(step, around_);
    machine_ = &step.machine_after();
    if (decision_.changed) record_ = decision_.record;
  }

  void remember_tokens(const Decided& step) {
    const auto& was = step.before.running;
    const auto& is = decision_.record.running;
    if (was && (!is || is->token_hash != was->token_hash)) history_.dead.insert(was->token_hash);
    if (!step.is(Answer::Kind::ok) || step.stimulus.remembered) return;
    if (const auto* done = step.given<Stimulus::Done>())
      history_.settled[done->token_hash] = decision_.answer;
    if (const auto* fail = step.given<Stimulus::Fail>())
      history_.settled[fail->token_hash] = decision_.answer;
  }

  Tape& tape_;
  const Machine* machine_;
  const Machine& newest_;
  Played& played_;
  const Watcher& watcher_;
  Surroundings around_;
  StimulusOfTape stimuli_;
  Instant now_;
  Record record_;
  History history_;
  Decision decision_;  // used again and again
};

}  // namespace

void play_tape(std::span<const std::uint8_t> bytes, const Zones& zones, Played& played,
               const Watcher& watcher) {
  Tape tape(bytes);
  const Definition definition = definition_of(tape);
  const bool has_newest = tape.chance(35);
  if (watcher.machine) watcher.machine(definition);
  const auto machine = quickly_made(definition, zones);
  auto newest = machine;
  if (has_newest) newest = quickly_made(next_version_of(definition, tape), zones);
  ++played.machines;
  for (int i = 0; i < kRecordsMax && !tape.is_used_up(); ++i) {
    Play(tape, *machine, *newest, played, watcher).run();
    ++played.records;
  }
}

}  // namespace pawl
