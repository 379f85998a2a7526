#include "check/judged.h"

#include <algorithm>

#include "model/row_text.h"
#include "policy/answers.h"
#include "policy/jitter.h"

namespace pawl {
namespace {

using EntryKind = Entry::Kind;

bool is_failure(const Entry& entry) {
  return entry.kind == EntryKind::failed || entry.kind == EntryKind::timed_out ||
         entry.kind == EntryKind::gave_up;
}

// `after 10s`, `after at most 90s`, `after 10s, then longer and longer`.
std::string words_of(const Delays& delays) {
  const auto most = [&](const DurationValue& delay) {
    return delay.is_fixed() ? to_text(jitter_range(delay.fixed, delays).most) : text_of(delay);
  };
  if (delays.kind == Delays::Kind::fixed) return "after " + most(delays.first);
  if (delays.kind == Delays::Kind::formula && delays.max)
    return "after at most " + most(*delays.max);
  if (delays.kind == Delays::Kind::formula && delays.factor_milli == 1'000)
    return "after " + most(delays.first);
  if (delays.kind == Delays::Kind::formula)
    return "after " + most(delays.first) + ", then longer and longer";
  return delays.list.empty() ? "at once" : "after " + most(delays.list.back());
}

class Judge {
 public:
  Judge(const Machine& machine, const Distinctions& distinctions, const Situation& before,
        const Mishap& mishap, const Happened& happened)
      : machine_(machine),
        distinctions_(distinctions),
        before_(before),
        mishap_(mishap),
        after_(happened.after),
        entries_(happened.entries) {}

  Judged judge() {
    judge_failure();
    judge_limits();
    judge_waiting();
    judge_pace();
    judged_.succeeded = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.kind == EntryKind::done || entry.cause == "done";
    });
    judged_.lasted = lasted();
    return std::move(judged_);
  }

 private:
  bool is_start() const { return mishap_.kind == Mishap::Kind::start; }

  // Giving up at a start is no failure of its own.
  void judge_failure() {
    const Record& was = before_.record;
    for (const Entry& entry : entries_) {
      if (!is_failure(entry) || is_start()) continue;
      failure_ = &entry;
      ++judged_.failures;
    }
    is_later_ = after_.record.streak.laters > was.streak.laters;
    if (is_later_) judged_.failures = 0;
    judged_.failed = failure_ != nullptr || is_later_ || mishap_.kind == Mishap::Kind::fail ||
                     mishap_.kind == Mishap::Kind::aside_fails;
    if (!judged_.failed) return;
    judged_.failed_in = owner_of(failure_ ? failure_->from : was.state);
    if (failure_ && failure_->error) judged_.code = failure_->error->code;
    if (judged_.code.empty()) judged_.code = mishap_.code.empty() ? "timeout" : mishap_.code;
    if (mishap_.kind != Mishap::Kind::aside_fails || failure_) return;
    judged_.code = mishap_.name;
    judged_.failures = 1;
  }

  // The first row of that place (`errors.http_429`) with that action.
  const Row* row_of(const std::string& state, std::string_view place, Row::Action action) const {
    constexpr std::string_view kErrors = "errors.";
    if (!place.starts_with(kErrors)) return nullptr;
    for (const ErrorRows* errors : policy_of(state).errors) {
      if (errors->code != place.substr(kErrors.size())) continue;
      for (const Row& row : errors->rows)
        if (row.action == action) return &row;
    }
    return nullptr;
  }

  void judge_limits() {
    if (is_start()) judged_.limits = distinctions_.limits_of(id_of(before_.record.state));
    if (failure_) judged_.limits = distinctions_.limits_of(id_of(failure_->from));
  }

  void judge_waiting() {
    const Record& was = before_.record;
    const Record& is = after_.record;
    if (failure_ && !is_later_) {
      const bool is_last = failure_ == &entries_.back();
      judged_.waits_without_bound = is_last && failure_->next_at && !failure_->delays_left;
      if (judged_.waits_without_bound) judged_.pace = "retry " + words_of(delays_of(*failure_));
    } else if (is_later_) {
      judged_.waits_without_bound = true;
      judged_.pace = "asks again " + words_of(later_delays());
    } else {
      judged_.waits_without_bound = before_.waits_without_bound && was.state == is.state &&
                                    was.task_at == is.task_at &&
                                    comes_back_at(was) == comes_back_at(is);
    }
  }

  const Delays& delays_of(const Entry& entry) const {
    const Row* row = row_of(entry.from, entry.row, Row::Action::retry);
    return row != nullptr && row->delays ? *row->delays : policy_of(entry.from).retry;
  }

  const Delays& later_delays() const {
    for (const ErrorRows* errors : policy_of(before_.record.state).errors) {
      if (!answers_code(errors->code, judged_.code)) continue;
      for (const Row& row : errors->rows)
        if (row.action == Row::Action::later && row.delays) return *row.delays;
    }
    return policy_of(before_.record.state).retry;
  }

  void judge_pace() {
    const bool served = std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
      return entry.kind == EntryKind::schedule || entry.cause == "planned";
    });
    const bool waited = before_.waits_without_bound && (is_start() || came_back());
    judged_.paced = served || waited;
    if (served) judged_.pace = "again at each planned time";
  }

  // Whether the delay was waited for to its end.
  bool came_back() const {
    const bool by_clock =
        mishap_.kind == Mishap::Kind::time_passes || mishap_.kind == Mishap::Kind::tick;
    if (!comes_back_at(before_.record) || !by_clock) return false;
    if (comes_back_at(before_.record) == comes_back_at(after_.record)) return false;
    if (entries_.empty()) return true;
    const Entry& first = entries_.front();
    return first.kind == EntryKind::rewound || first.kind == EntryKind::resumed ||
           first.cause == "resume";
  }

  Duration lasted() const {
    const auto since = [&](Instant at) { return std::max(at - before_.acted_at, Duration{0}); };
    const auto& running = before_.record.running;
    if (running && judged_.failed) return since(running->deadline_at);
    if (mishap_.kind == Mishap::Kind::event_fails) return Duration{0};  // nobody knows when
    if (is_start()) return since(*before_.record.ready_at);
    return since(after_.acted_at);
  }

  StateId id_of(const std::string& state) const { return *machine_.find_state(state); }
  const ResolvedPolicy& policy_of(const std::string& state) const {
    return machine_.policy_of_state(id_of(state));
  }
  std::string owner_of(const std::string& state) const {
    const StateId id = id_of(state);
    return machine_.state(machine_.owner_of(id).value_or(id)).name;
  }

  const Machine& machine_;
  const Distinctions& distinctions_;
  const Situation& before_;
  const Mishap& mishap_;
  const Situation& after_;
  const std::vector<Entry>& entries_;
  const Entry* failure_ = nullptr;  // the last one
  bool is_later_ = false;
  Judged judged_;
};

}  // namespace

Judged judged(const Machine& machine, const Distinctions& distinctions, const Situation& before,
              const Mishap& mishap, const Happened& happened) {
  return Judge(machine, distinctions, before, mishap, happened).judge();
}

}  // namespace pawl
