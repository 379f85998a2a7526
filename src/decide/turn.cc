#include "decide/turn.h"

#include <algorithm>

#include "base/json_text.h"
#include "base/mutant.h"
#include "decide/bound_schedule.h"
#include "model/built_in_names.h"
#include "model/edges.h"
#include "model/expression/duration_of.h"

namespace pawl {
namespace {

// What entries usually hold, so that one allocation is enough.
constexpr std::size_t kUsualInput = 384;
constexpr std::size_t kUsualChanges = 192;

// Reused by every decision of a thread; holds nothing between them.
Scratch& thread_scratch() {
  thread_local Scratch scratch;
  scratch.clear();
  return scratch;
}

// What its texts have allocated is kept.
void reset(Decision& decision) {
  static const Answer kNothing;
  decision.answer = kNothing;
  decision.changed = false;
  decision.entries.clear();
  decision.effects.clear();
  decision.to_parent.reset();
  decision.remember.reset();
  decision.later.reset();
  decision.reports.clear();
}

// Of an entry that says why a stimulus came to nothing.
Entry::Kind kind_of(const Stimulus& stimulus) {
  if (std::holds_alternative<Stimulus::Start>(stimulus.what)) return Entry::Kind::started;
  if (std::holds_alternative<Stimulus::Wake>(stimulus.what)) return Entry::Kind::timer;
  if (std::holds_alternative<Stimulus::Fail>(stimulus.what)) return Entry::Kind::failed;
  return Entry::Kind::event;
}

void earlier(std::optional<Instant>& instant, const std::optional<Instant>& other) {
  if (other && (!instant || *other < *instant)) instant = other;
}

}  // namespace

Instant after(Instant now, Duration delay) {
  return delay > kInstantMax - now ? kInstantMax : now + delay;
}

Turn::Turn(const Machine& machine, const Record& before, const Stimulus& stimulus, Instant now,
           Decision& into)
    : given_machine_(machine),
      machine_(&machine),
      before_(before),
      stimulus_(stimulus),
      now_(std::clamp(std::max(now, before.changed_at), kInstantMin, kInstantMax)),
      out_(into),
      record_(into.record),
      scratch_(thread_scratch()) {
  reset(into);
  record_ = before;
  if (before.id.value == 0) return;
  const auto state = machine.find_state(before.state);
  PAWL_ASSERT(state.has_value(), "a record is in a state of its machine");
  state_ = *state;
  zone_ = zone_in_force(machine.definition().schedule, sight(), machine.zones(), scratch_);
}

void Turn::decide() {
  if (stimulus_.remembered) {
    if (stimulus_.remembered->content == content_of(stimulus_)) {
      out_.answer = read_answer(stimulus_.remembered->answer);
    } else {
      answer(Answer::Kind::error,
             "this idempotency key was used for another request: use a new key");
    }
    return;
  }
  const bool creates = std::holds_alternative<Stimulus::Create>(stimulus_.what) ||
                       std::holds_alternative<Stimulus::Fire>(stimulus_.what);
  if (before_.id.value == 0 && !creates) {
    answer_no_such_record();
    return;
  }
  if (before_.id.value != 0) migrate();
  std::visit([&](const auto& what) { on(what); }, stimulus_.what);
  conclude();
}

void Turn::answer(Answer::Kind kind, std::string reason) {
  out_.answer.kind = kind;
  out_.answer.reason = std::move(reason);
}

void Turn::answer_no_such_record() {
  answer(Answer::Kind::error, "there is no such record");
  out_.answer.missing = Answer::Missing::record;
}

void Turn::bad_value(std::string text) {
  if (bad_value_.empty()) bad_value_ = std::move(text);
}

// --- entries -----------------------------------------------------------------------------------

void Turn::open(const Log& log) {
  if (entry_open_) return;
  entry_open_ = true;
  effects_before_ = out_.effects.size();
  position_ = 0;
  Entry& entry = out_.entries.emplace_back();
  entry.seq = record_.revision + 1;
  entry.at = now_;
  entry.kind = log.kind;
  entry.event = log.event;
  entry.cause = log.cause;
  entry.from = record_.state;
  entry.actor = stimulus_.actor;
  if (out_.entries.size() == 1) {
    entry.input.reserve(kUsualInput);
    append_input(entry.input, stimulus_, before_);
    entry.idempotency_key = stimulus_.idempotency_key;
  }
}

void Turn::close() {
  if (!entry_open_) return;
  entry_open_ = false;
  Entry& entry = out_.entries.back();
  entry.to = record_.state;
  entry.epoch = record_.epoch;
  if (entry.attempt == 0) entry.attempt = record_.attempt;
  entry.fence = record_.fence;
  entry.changes.reserve((touched_ & kCoreData ? record_.data.size() : 0) + kUsualChanges);
  append_changes(entry.changes, record_, touched_);
  touched_ = 0;
  for (std::size_t i = effects_before_; i < out_.effects.size(); ++i)
    if (out_.effects[i].epoch_only) out_.effects[i].epoch_only = record_.epoch;
  record_.revision = entry.seq;
  record_.changed_at = now_;
}

// Nothing was set, asked or held: there is nothing to say.
void Turn::drop() {
  entry_open_ = false;
  out_.entries.pop_back();
}

// --- the end of the decision -------------------------------------------------------------------

void Turn::follow_when() {
  for (int round = 0; !is_held() && !here().final && !stops_when_ && bad_value_.empty(); ++round) {
    event_.reset();
    result_.reset();
    actor_ = nullptr;
    const Choice choice = choose(here().when);
    if (!choice) return;
    if (hops_ >= kHopsMax || round >= kHopsMax) {  // the event that a row fires may not hop
      hold_as_loop(Entry::Kind::when);
      return;
    }
    follows_when_ = true;
    take(choice, {Entry::Kind::when, {}, "when"}, By::done);
    follows_when_ = false;
  }
}

void Turn::hold_as_loop(Entry::Kind kind) {
  open({kind});
  stop_loop("more than " + std::to_string(kHopsMax) +
            " hops in one decision: its rows form a loop");
  close();
}

// Within an entry. Work that had ended is ready again for when a person has looked.
void Turn::stop_loop(std::string text) {
  if (!record_.running && state_ != owner()) hop(owner(), By::failing);
  if (!record_.running && here().task && !record_.spent && !record_.task_at) record_.task_at = now_;
  put_on_hold("loop", std::move(text), Hold::By::engine);
}

// A state whose rows were checked never gets here; one that a timer used up may.
void Turn::hold_if_stranded() {
  if (!is_stranded()) return;
  open({Entry::Kind::resumed});
  put_on_hold("no_way_back", "nothing is left that can move the record on", Hold::By::engine);
  close();
}

// But for a hold. Timers and events do not excuse a task that is never ready.
bool Turn::has_no_way_on() const {
  const State& state = here();
  if (state.final || record_.running) return false;
  if (state.task && !record_.spent)
    return !record_.task_at &&
           std::none_of(record_.timers.begin(), record_.timers.end(),
                        [](const Timer& timer) { return timer.kind == Timer::Kind::come_back; });
  if (!record_.timers.empty() || record_.plan.next) return false;
  const auto is_taken = [](const Row& row) { return row.held != Row::Held::yes; };
  for (const EventRows& on : state.on)
    if (std::any_of(on.rows.begin(), on.rows.end(), is_taken)) return false;
  for (const EventId event : machine_->machine_events())
    for (const MachineRow& row : machine_->machine_rows(event))
      if (!row.implicit && row.in[state_] && is_taken(*row.row)) return false;
  const bool has_open_children =
      std::any_of(record_.children.begin(), record_.children.end(),
                  [](const ChildCounts& counts) { return counts.open > 0; });
  return !has_open_children || std::none_of(state.when.begin(), state.when.end(), reads_children);
}

// By `keep`, once it is final. What a built-in machine could not carry out is kept for a while for
// people to look at.
std::optional<Instant> Turn::removal() {
  if (here().final) {
    const auto& keep = machine_->definition().keep;
    if (!keep || !keep->final) return std::nullopt;
    const auto delay = duration_of(*keep->final, sight(), scratch_);
    return delay ? std::optional(after(record_.entered_at, *delay)) : std::nullopt;
  }
  if (!is_held() || record_.running || !is_built_in(record_.machine)) return std::nullopt;
  return after(record_.hold->since, kHeldKept);
}

void Turn::derive_instants() {
  record_.ready_at.reset();
  record_.wake_at.reset();
  record_.remove_at = removal();
  if (!here().task) record_.task_at.reset();  // `later` or another version left it without one
  if (record_.running) {
    record_.wake_at = record_.running->deadline_at;
    earlier(record_.wake_at, record_.running->lease_until);
  }
  if (is_held()) return;
  if (here().task && !record_.spent && !record_.running) record_.ready_at = record_.task_at;
  for (const Timer& timer : record_.timers) earlier(record_.wake_at, timer.at);
  earlier(record_.wake_at, record_.plan.next);
}

void Turn::undo() {
  machine_ = &given_machine_;
  record_ = before_;
  state_ = before_.id.value == 0 ? kNoState : machine_->find_state(before_.state).value_or(state_);
  out_.entries.clear();
  out_.effects.clear();
  out_.later.reset();
  commits_ = false;
}

// The row could not be carried out: as if it had not been tried. Whoever asked is told; where
// nobody did, or there were too many items, a person has to look.
void Turn::conclude_bad_value() {
  const auto first = std::find_if(out_.entries.begin(), out_.entries.end(), [](const Entry& entry) {
    return entry.kind != Entry::Kind::migrated;
  });  // that is undone
  Entry tried = first == out_.entries.end() ? Entry{.kind = kind_of(stimulus_)} : std::move(*first);
  if (tried.kind == Entry::Kind::gave_up) tried.kind = Entry::Kind::failed;  // it did not
  if (attempt_started_ && std::holds_alternative<Stimulus::Wake>(stimulus_.what))
    tried.kind = Entry::Kind::timed_out;
  std::string text = std::move(bad_value_);
  bad_value_.clear();
  undo();
  const bool someone_asks = std::holds_alternative<Stimulus::Fire>(stimulus_.what) ||
                            std::holds_alternative<Stimulus::Order>(stimulus_.what);
  if (before_.id.value == 0 || (someone_asks && !too_many_items_)) {
    answer(Answer::Kind::error, std::move(text));
    return;
  }
  commits_ = true;
  if (std::holds_alternative<Stimulus::Start>(stimulus_.what)) {
    out_.answer = {};
    answer(Answer::Kind::none, text);
  }
  if (const auto* changed = std::get_if<Stimulus::ChildChanged>(&stimulus_.what)) on(*changed);
  open({tried.kind, tried.event, tried.cause});
  if (attempt_started_) end_attempt();  // it is over all the same
  if (!record_.running) leave_started();
  if (!record_.running && here().task && !record_.spent) record_.task_at = now_;
  put_on_hold("bad_value", std::move(text), Hold::By::engine);
  close();
}

void Turn::conclude() {
  const bool is_beat = std::holds_alternative<Stimulus::Beat>(stimulus_.what);
  if (out_.answer.kind == Answer::Kind::ok) commits_ = true;
  // What was due in the old version may be due later in the new one: it must not wake it again.
  if (migrated_ && std::holds_alternative<Stimulus::Wake>(stimulus_.what)) commits_ = true;
  if (commits_ && bad_value_.empty() && !is_beat) {
    follow_when();
    plan_again();
  }
  if (commits_ && !bad_value_.empty()) conclude_bad_value();
  if (!out_.answer.need.empty()) commits_ = false;
  if (!commits_) {
    undo();
    return;
  }
  if (!is_beat) hold_if_stranded();
  keep_progress();
  hand_over_nothing_revoked();
  derive_instants();
  PAWL_ASSERT(!entry_open_ && touched_ == 0, "the core changes only with an entry");
  PAWL_ASSERT(out_.entries.empty() || out_.entries.back().to == record_.state,
              "the last entry says where the record is");
  PAWL_ASSERT(!is_stranded(), "a record is never stranded");
  settle_answer();
  tell_parent();
}

// What an attempt has said is for the next one at the same task, and for no other.
void Turn::keep_progress() {
  if (record_.task_seq != before_.task_seq) {
    record_.progress.clear();
  } else if (before_.running && !record_.running && !before_.running->progress.empty()) {
    record_.progress = before_.running->progress;
  }
}

// `when` may move the record on in the decision that starts its task.
void Turn::hand_over_nothing_revoked() {
  const bool starts = std::holds_alternative<Stimulus::Start>(stimulus_.what);
  if (!starts || out_.answer.kind != Answer::Kind::ok || record_.running) return;
  out_.answer = {};
  answer(Answer::Kind::none, "the record moved on before the attempt started");
}

void Turn::settle_answer() {
  if (settling_) {
    settling_->state = record_.state;
    settling_->seq = record_.revision;
    record_.settled = std::move(settling_);
  }
  const bool remembers = out_.answer.kind == Answer::Kind::ok && !stimulus_.idempotency_key.empty();
  out_.changed = record_ != before_ || remembers;
  if (out_.changed && !std::holds_alternative<Stimulus::Beat>(stimulus_.what)) ++record_.writes;
  out_.answer.state = record_.state;
  out_.answer.revision = record_.revision;
  if (remembers) out_.remember = Remembered{content_of(stimulus_), answer_text(out_.answer)};
}

void Turn::tell_parent() {
  if (!record_.parent || mutant(Mutant::child_not_counted)) return;
  const auto was = given_machine_.find_state(before_.state);
  Stimulus::ChildChanged moved{.child = record_.id,
                               .machine = record_.machine,
                               .was = before_.state,
                               .is = record_.state,
                               .was_final = was && given_machine_.state(*was).final,
                               .is_final = here().final,
                               .was_held = before_.hold.has_value(),
                               .is_held = is_held()};
  if (moved.was != moved.is || moved.was_held != moved.is_held) out_.to_parent = std::move(moved);
}

}  // namespace pawl
