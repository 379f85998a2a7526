// Work that ended: done, or failed and what its policy makes of that.
#include <algorithm>

#include "decide/data.h"
#include "decide/fingerprint.h"
#include "decide/turn.h"
#include "model/edges.h"
#include "model/expression/duration_of.h"
#include "model/expression/value_program.h"
#include "policy/align.h"
#include "policy/answers.h"
#include "policy/counting.h"
#include "policy/delays.h"
#include "policy/jitter.h"

namespace pawl {
std::optional<Duration> Turn::read_duration(const DurationValue& duration, std::string_view what) {
  if (duration.is_fixed()) return duration.fixed;
  auto read = duration_of(duration, sight(), scratch_);
  if (read) return *read;
  bad_value("`" + std::string(what) + "`: " + read.error().message);
  return std::nullopt;
}

std::optional<Duration> Turn::read_period(const DurationValue& duration) {
  const auto period = read_duration(duration, "every");
  if (!period || *period > Duration{0}) return period;
  bad_value("`every` needs a duration above zero");
  return std::nullopt;
}

// The `done` rows. `error_row`: the error row that says the world is as wanted already.
void Turn::complete_work(std::string_view result, const Row* error_row) {
  record_.streak.laters = 0;
  record_.result = result == "null" ? std::string_view() : result;
  touch(kCoreResult);
  result_ = record_.result.empty() ? std::string_view("null") : record_.result;
  const Choice choice = choose(machine_->state(owner()).done);
  const bool is_part_of_row = is_open();  // one that fails with this error
  const bool fails = choice && (choice.row->fail || (choice.event_row && choice.event_row->fail));
  Log log{fails ? Entry::Kind::failed : Entry::Kind::done};
  if (choice.event_row) {
    if (!fails) log.kind = Entry::Kind::event;
    log.event = machine_->event_name(choice.event);
    log.cause = "done";
  }
  open(log);
  entry().kind = log.kind;
  if (error_row) {
    entry().error = *failure_;
    ask(error_row->effects);
  }
  const int hops = hops_;
  if (choice) {
    completes_ = true;
    carry_out(*choice.row, choice, {}, By::done);
    completes_ = false;
  } else {
    leave_started();
    record_.task_at = now_;
    put_on_hold("no_row", "no `done` row matches this result", Hold::By::engine);
  }
  if (choice && hops_ == hops && !fails) {  // done, and stays
    if (state_ != owner()) hop(owner(), By::started);
    record_.spent = true;
    record_.task_at.reset();
  }
  if (!is_part_of_row) close();
}

// --- failing -----------------------------------------------------------------------------------

void Turn::fail_work(Failure failure, const Log& log) {
  revokes_attempt_ = record_.running.has_value();
  failure.at = now_;
  failure.fingerprint = fingerprint_of(failure.code, failure.message);
  failure_ = std::move(failure);
  const Row* found = nullptr;
  std::string place;
  for (const ErrorRows* errors : policy().errors) {
    if (!answers_code(errors->code, failure_->code)) continue;
    const Choice choice = choose(errors->rows);
    if (!choice) continue;
    found = choice.row;
    place = "errors." + errors->code;
    break;
  }
  failure_->transient = found && found->transient;
  if (found && found->action == Row::Action::done) {
    record_.running.reset();
    apply_set(found->set);
    if (completes_) {
      stop_loop("its `done` row fails with an error that leads back to `done`");
    } else {
      complete_work(failure_->detail.empty() ? "null" : failure_->detail, found);
    }
    return;
  }
  const bool is_part_of_row = is_open();
  const bool is_quiet = found && found->action == Row::Action::later && found->set.empty() &&
                        found->effects.empty() && !is_part_of_row && state_ == owner();
  if (!is_quiet) {
    open(log);
    entry().error = *failure_;
    entry().attempt = record_.attempt;
    entry().row = std::move(place);
  }
  if (!found || found->action != Row::Action::later) {
    record_.error = *failure_;
    record_.failed_from = record_.state;
    touch(kCoreError | kCoreFailures);
  }
  if (found) {
    apply_set(found->set);
    ask(found->effects);
  }
  record_.running.reset();
  record_.spent = false;  // a row may fail what was done
  if (!found || found->action == Row::Action::retry || found->action == Row::Action::give_up) {
    retry(found);
  } else if (found->action == Row::Action::later) {
    ask_again_later(*found);
  } else {
    std::string text;
    if (found->hold) found->hold->text.program->render_text(sight(), scratch_, text);
    if (found->to) {
      hop(found->to->id, By::done);
    } else {
      leave_started();
    }
    if (found->hold) put_on_hold(found->hold->code, std::move(text), Hold::By::machine);
    if (here().task) record_.task_at = now_;
  }
  if (!is_part_of_row) close();
}

// Not a failure: the attempt is not counted, and the record stays where its task is.
void Turn::ask_again_later(const Row& row) {
  const bool was_attempt = attempt_started_ || revokes_attempt_;
  const int attempt = record_.attempt;
  if (was_attempt && record_.attempt > 0) --record_.attempt;  // a new epoch has forgotten it
  ++record_.streak.laters;
  int k = record_.streak.laters;
  if (row.delays->kind == Delays::Kind::list)
    k = std::min(k, static_cast<int>(row.delays->list.size()));
  Delays unbounded = *row.delays;
  unbounded.attempts.reset();
  const Delay delay = delay_after(
      unbounded, k, jitter_draw(record_.machine, record_.key, record_.revision, record_.fence),
      sight(), scratch_);
  if (delay.kind == Delay::Kind::bad_value) bad_value(delay.why);
  const Duration wait = std::max(delay.wait, failure_->retry_after.value_or(Duration{0}));
  const int laters = record_.streak.laters;
  leave_started();
  record_.streak.laters = laters;
  record_.task_at = after(now_, wait);
  out_.later = AskedLater{failure_->code, failure_->fingerprint, attempt, *record_.task_at};
}

// Back to the owner of a `started` state: no attempt runs any more.
void Turn::leave_started() {
  if (state_ != owner()) hop(owner(), By::failing);
}

StateId Turn::checkpoint_of_failure(const Row* row) const {
  if (row && row->checkpoint) return row->checkpoint->id;
  return checkpoint_of(*machine_, state_);
}

// In the failure state, or at the checkpoint, of the run of failures before.
bool Turn::is_on_the_way_back() const {
  const Streak& streak = record_.streak;
  return !streak.state.empty() && record_.failures > 0 &&
         (machine_->state(owner()).name == streak.checkpoint || machine_->is_failure_state(state_));
}

void Turn::count_failure() {
  pawl::count_failure(record_,
                      {.state = machine_->state(owner()).name,
                       .is_on_the_way_back = is_on_the_way_back(),
                       .since = attempt_started_.value_or(now_),
                       .was_attempt = attempt_started_ || revokes_attempt_},
                      failure_->code, policy().count);
  touch(kCoreFailures);
}

void Turn::retry(const Row* row) {
  const StateId checkpoint = checkpoint_of_failure(row);
  count_failure();
  const bool is_permanent = row && row->action == Row::Action::give_up;
  if (give_up(!is_permanent, checkpoint)) return;
  const bool own_delays = row && row->delays;
  const Delays& delays = own_delays ? *row->delays : policy().retry;
  const int k = own_delays ? record_.streak.code_failures : record_.failures;
  const std::uint64_t draw =
      jitter_draw(record_.machine, record_.key, record_.revision, record_.fence);
  const Delay delay = delay_after(delays, k, draw, sight(), scratch_);
  if (delay.kind == Delay::Kind::bad_value) {
    bad_value(delay.why);
    return;
  }
  if (delay.kind == Delay::Kind::used_up) {
    give_up(false, checkpoint);
    return;
  }
  entry().delays_left = delays_left(delays, k);
  const Duration wait = std::max(delay.wait, failure_->retry_after.value_or(Duration{0}));
  const auto timeout = read_duration(policy().timeout, "timeout");
  const Instant at =
      align(policy().align, now_, wait, timeout.value_or(Duration{0}), next_planned());
  wait_for_retry(std::min(at, kInstantMax), checkpoint);
  entry().next_at = at;
}

// Visibly in the failure state, or in place: there, or at once at the checkpoint.
void Turn::wait_for_retry(Instant at, StateId checkpoint) {
  const auto failure_state = policy().failure;
  const bool is_visible = failure_state.has_value();
  const int hops = hops_;
  if (is_visible && state_ != *failure_state) {
    hop(*failure_state, By::failing);
  } else if (!is_visible && state_ != checkpoint) {
    hop(checkpoint, By::failing);
  } else {
    std::erase_if(record_.timers,
                  [](const Timer& timer) { return timer.kind == Timer::Kind::come_back; });
  }
  record_.streak.checkpoint = machine_->state(checkpoint).name;
  if (hops_ == hops && follows_when_) stops_when_ = true;
  const bool is_simply_ready = !is_visible && here().task && here().resume.empty();
  if (is_simply_ready) {
    record_.task_at = at;
    return;
  }
  record_.task_at.reset();
  record_.timers.push_back({Timer::Kind::come_back, 0, at});
}

// --- giving up ---------------------------------------------------------------------------------

const Row* Turn::give_up_row(bool only_elapsed) {
  PAWL_ASSERT(record_.failing_since.has_value(), "only what fails gives up");
  for (const Row& row : policy().give_up) {
    if (only_elapsed && !row.elapsed) continue;
    if (row.elapsed) {
      const auto limit = read_duration(*row.elapsed, "elapsed");
      if (!limit || now_ - *record_.failing_since < *limit) continue;
    }
    if (holds(row, sight())) return &row;
  }
  return nullptr;
}

// Whether it gave up: always, or when only an `elapsed` row is asked for, if one is due.
bool Turn::give_up(bool only_elapsed, StateId checkpoint) {
  const Row* row = give_up_row(only_elapsed);
  if (!row && only_elapsed) return false;
  entry().kind = Entry::Kind::gave_up;
  entry().delays_left = 0;
  std::string text = failure_->message;
  std::string code = "gave_up";
  const bool goes_on = row && row->to && !row->hold;
  if (row) {
    apply_set(row->set);
    if (row->hold) {
      code = row->hold->code;
      text.clear();
      row->hold->text.program->render_text(sight(), scratch_, text);
    }
    const bool is_ours = policy().give_up.data() == Machine::built_in_policy().give_up.data();
    if (!failure_->transient) alert(is_ours ? stimulus_.alerts : row->alert);
    ask(row->effects);
  }
  const auto failure_state = policy().failure;
  const Policy::Count count = policy().count;
  if (row && row->to) {
    record_.streak.checkpoint.clear();
    hop(row->to->id, By::giving_up);
    if (goes_on && count == Policy::Count::state) count_giving_up(record_);
    touch(kCoreFailures);
  } else {
    if (failure_state && state_ != *failure_state) hop(*failure_state, By::failing);
    leave_started();
    record_.streak.checkpoint = machine_->state(checkpoint).name;
    record_.task_at.reset();
    std::erase_if(record_.timers,
                  [](const Timer& timer) { return timer.kind == Timer::Kind::come_back; });
  }
  record_.streak.gave_up = !goes_on;
  if (!goes_on) put_on_hold(code, std::move(text), Hold::By::policy);
  return true;
}

}  // namespace pawl
