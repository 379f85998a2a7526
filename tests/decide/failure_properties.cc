#include <algorithm>

#include "policy/delays.h"
#include "properties.h"

namespace pawl {
namespace {

// What the policy of a state can answer a failure with.
struct Answers {
  bool own_delays = false;
  bool gives_up_at_once = false;
  bool elapsed = false;
};

Answers answers_of(const ResolvedPolicy& policy) {
  Answers answers;
  for (const ErrorRows* errors : policy.errors)
    for (const Row& row : errors->rows) {
      if (row.action == Row::Action::retry && row.delays) answers.own_delays = true;
      if (row.action == Row::Action::give_up) answers.gives_up_at_once = true;
    }
  for (const Row& row : policy.give_up)
    if (row.elapsed) answers.elapsed = true;
  return answers;
}

bool is_used_up(const Delays& delays, int failures) {
  const auto count = delay_count(delays);
  return count && failures > *count;
}

void check_retry(const ResolvedPolicy& policy, const Entry& entry, const Record& core,
                 bool has_schedule) {
  const Answers answers = answers_of(policy);
  expect(core.failures > 0, "what is tried again has failed");
  expect(*entry.next_at >= entry.at, "a retry is not in the past");
  if (answers.own_delays) return;
  expect(!is_used_up(policy.retry, core.failures), "no more retries than the policy allows");
  expect(entry.delays_left == delays_left(policy.retry, core.failures), "delays are counted down");
  if (has_schedule || policy.retry.kind != Delays::Kind::list) return;
  const DurationValue& delay = policy.retry.list[static_cast<std::size_t>(core.failures) - 1];
  if (!delay.is_fixed()) return;
  const Duration wait = std::max(delay.fixed, entry.error->retry_after.value_or(Duration{0}));
  expect(*entry.next_at == entry.at + wait, "failure k waits delay k");
}

void check_give_up(const ResolvedPolicy& policy, const Entry& entry, const Record& core,
                   bool at_start) {
  const Answers answers = answers_of(policy);
  const bool may =
      answers.elapsed || (!at_start && (answers.own_delays || answers.gives_up_at_once ||
                                        is_used_up(policy.retry, core.failures)));
  // Counters are zero after a give-up that goes on.
  const bool goes_on =
      std::any_of(policy.give_up.begin(), policy.give_up.end(),
                  [&](const Row& row) { return row.to && !row.hold && row.to->name == entry.to; });
  expect(may || goes_on, "it gives up when the policy says so");
  expect(goes_on || core.hold, "who gives up goes elsewhere or is on hold");
}

}  // namespace

void check_failures(const Decided& step, const History& history) {
  const Machine& machine = step.machine_after();
  const auto& entries = step.decision.entries;
  int give_ups = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const auto from = machine.find_state(entry.from);
    if (!from) continue;
    const ResolvedPolicy& policy = machine.policy_of_state(*from);
    const bool failed = entry.kind == Entry::Kind::failed || entry.kind == Entry::Kind::timed_out;
    const int failures = i == 0 ? step.before.failures : history.cores[i - 1].failures;
    if (history.cores[i].failures > failures)
      expect(failed || entry.kind == Entry::Kind::gave_up, "what counts a failure says so");
    if (failed && entry.next_at)
      check_retry(policy, entry, history.cores[i], machine.definition().schedule.has_value());
    if (entry.kind != Entry::Kind::gave_up) continue;
    check_give_up(policy, entry, history.cores[i],
                  step.given<Stimulus::Start>() && entry.cause.empty());
    if (entry.event.empty() && entry.cause.empty()) ++give_ups;
  }
  expect(give_ups <= 1, "a run of failures ends in one give-up");
}

}  // namespace pawl
