// The worker is done, or failed.
#include "base/mutant.h"
#include "decide/data.h"
#include "decide/turn.h"

namespace pawl {
namespace {

// In constant time: how much of a guess is right must not show.
bool equal(const TokenHash& a, const TokenHash& b) {
  std::byte difference{0};
  for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
  return difference == std::byte{0};
}

}  // namespace

// An absent token is never equal to an absent token.
bool Turn::is_live(const TokenHash& token) const {
  if (mutant(Mutant::no_fence)) return record_.running.has_value();
  return record_.running && !equal(token, TokenHash{}) && equal(token, record_.running->token_hash);
}

// Only the last tokens are known: what happened to an older attempt is what can be seen now.
std::string Turn::why_over(const TokenHash& token) const {
  if (record_.settled && equal(token, record_.settled->token_hash)) return "it was settled";
  if (is_live(token)) return "its deadline has passed";
  if (record_.running) return "another attempt has started";
  if (record_.hold) return "the record is on hold";
  if (machine_->state(state_).final) return "the record is final";
  return "it timed out or lost its lease, or the record moved on";
}

// The tie goes to the result: the deadline itself is still in time.
bool Turn::is_attempt_over() const { return now_ > record_.running->deadline_at; }

bool Turn::settles(const TokenHash& token, Settled::Verb verb) {
  if (is_live(token) && !is_attempt_over()) {
    settling_ = Settled{.fence = record_.fence, .token_hash = token, .verb = verb};
    return true;
  }
  const auto& settled = record_.settled;
  if (settled && settled->verb == verb && !equal(token, TokenHash{}) &&
      equal(token, settled->token_hash)) {
    answer(Answer::Kind::duplicate, "this attempt was already settled");
    out_.answer.state = settled->state;
    out_.answer.revision = settled->seq;
    out_.answer.result = record_.result;
    return false;
  }
  answer_stale("the token does not belong to the live attempt");
  return false;
}

void Turn::answer_stale(std::string reason) {
  out_.answer.permitted = permitted(stimulus_.actor);
  answer(Answer::Kind::stale, std::move(reason));
}

void Turn::end_attempt() {
  attempt_started_ = record_.running->started_at;
  record_.running.reset();
}

void Turn::on(const Stimulus::Done& done) {
  if (!settles(done.token_hash, Settled::Verb::done)) return;
  const Task& task = machine_->task(machine_->state(owner()).task->id);
  std::string result = done.result;
  if (task.result) {
    auto complete = completed(done.result, *task.result, Others::allowed, machine_->zones());
    if (!complete) {
      end_attempt();
      fail_work({.code = "bad_result", .message = complete.error().message, .detail = done.result},
                {Entry::Kind::failed});
      return;
    }
    result = *std::move(complete);
  }
  end_attempt();
  complete_work(result);
}

void Turn::on(const Stimulus::Fail& fail) {
  if (!settles(fail.token_hash, Settled::Verb::fail)) return;
  end_attempt();
  fail_work(fail.error, {Entry::Kind::failed});
}

}  // namespace pawl
