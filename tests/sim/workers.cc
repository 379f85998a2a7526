#include "workers.h"

#include <algorithm>
#include <utility>

#include "base/sort_unique.h"
#include "engine/token.h"

namespace pawl::sim {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const std::vector<std::string> kQueues{"jobs", "packers", "renderers", "channel:told",
                                       "channel:once"};
constexpr std::size_t kHugeResult = 1'100'000;  // more than `data` can hold

}  // namespace

// --- claims ------------------------------------------------------------------------------------

void Workers::claim() {
  std::vector<std::string> queues{tape_.of(kQueues)};
  if (tape_.chance(50)) queues.push_back(tape_.of(kQueues));
  const auto wait = tape_.chance(30) ? seconds{tape_.between(1, 120)} : seconds{0};
  ask(std::move(queues), static_cast<std::size_t>(tape_.between(1, 4)), wait);
}

void Workers::serve() {
  all_are_honest_ = true;
  if (waiting_.empty()) ask(kQueues, 5, hours{6});
}

void Workers::ask(std::vector<std::string> queues, std::size_t max, Duration wait) {
  const std::uint64_t id = ++claims_;
  waiting_[id] = queues;
  const auto answered = [this, id](Result<std::vector<GivenAttempt>> given) {
    waiting_.erase(id);
    if (!given) {
      const bool is_unknown = given.error().code == ErrorCode::outcome_unknown;
      hits_.claimed(is_unknown ? "unknown" : "failed");
      return;
    }
    hits_.claimed(given->empty() ? "empty" : "given");
    for (GivenAttempt& attempt : *given) {
      network_.see(attempt.token + attempt.given.key + std::to_string(attempt.given.fence));
      ledger_.given(attempt);
      take(std::move(attempt));
    }
  };
  process_.engine().claim(
      {.queues = std::move(queues), .max = max, .worker = "w" + std::to_string(id), .wait = wait},
      answered);
}

std::vector<std::string> Workers::queues_waited_for() const {
  std::vector<std::string> all;
  for (const auto& [id, queues] : waiting_) all.insert(all.end(), queues.begin(), queues.end());
  sort_unique(all);
  return all;
}

// The answer may be lost, and the worker may die over it: nobody works on the attempt then.
void Workers::take(GivenAttempt given) {
  if (swarm_.strikes(Fault::worker_gone)) return hits_.struck(Fault::worker_gone);
  Attempt attempt{std::move(given)};
  attempt.beats_left = all_are_honest_ ? 0 : tape_.between(0, 3);
  const auto is = [&](Fault fault, Manner manner) {
    if (attempt.manner != Manner::honest || !swarm_.strikes(fault)) return;
    hits_.struck(fault);
    attempt.manner = manner;
  };
  is(Fault::worker_slow, Manner::slow);
  is(Fault::worker_zombie, Manner::zombie);
  is(Fault::worker_beats_for_ever, Manner::beats_for_ever);
  is(Fault::worker_never_beats, Manner::never_beats);
  if (swarm_.strikes(Fault::worker_settles_twice)) {
    hits_.struck(Fault::worker_settles_twice);
    attempt.settles_left = 2;
  }
  if (all_are_honest_) return settle(attempt);
  attempts_.push_back(std::move(attempt));
}

// --- attempts ----------------------------------------------------------------------------------

void Workers::act() {
  if (attempts_.empty()) return;
  const std::size_t index = tape_.below(attempts_.size());
  Attempt& attempt = attempts_[index];
  if (attempt.manner == Manner::beats_for_ever) return beat(attempt);
  if (waits(attempt)) return;
  if (attempt.beats_left > 0 && attempt.manner != Manner::never_beats) {
    --attempt.beats_left;
    return beat(attempt);
  }
  settle(attempt);
  if (--attempt.settles_left <= 0)
    attempts_.erase(attempts_.begin() + static_cast<std::ptrdiff_t>(index));
}

// A slow one is late for its lease, a zombie comes back when others have had their turn.
bool Workers::waits(const Attempt& attempt) const {
  const Answer& given = attempt.given.given;
  if (attempt.manner == Manner::slow)
    return process_.now() < given.lease_until.value_or(*given.deadline_at);
  if (attempt.manner == Manner::zombie) return process_.now() < *given.deadline_at + seconds{30};
  return false;
}

void Workers::beat(const Attempt& attempt) {
  Stimulus::Beat beat{.token_hash = hash_of_token(attempt.given.token)};
  if (tape_.chance(50)) beat.progress = R"({"page":)" + std::to_string(tape_.below(9)) + "}";
  const RecordName name{attempt.given.given.machine, attempt.given.given.key};
  network_.send(ledger_.add({.what = std::move(beat),
                             .machine = name.machine,
                             .key = tape_.chance(2) ? "nobody" : name.key,
                             .actor = {.name = "worker"}}),
                false);
}

void Workers::settle(const Attempt& attempt) {
  const Answer& given = attempt.given.given;
  const bool is_done = all_are_honest_ || tape_.chance(50);
  if (swarm_.strikes(Fault::worker_wrong_token)) {
    hits_.struck(Fault::worker_wrong_token);
    settle_with("0123456789abcdef0123456789abcdef", given, is_done);
  }
  if (swarm_.strikes(Fault::worker_foreign_token)) {
    hits_.struck(Fault::worker_foreign_token);
    settle_with(tape_.of(attempts_).given.token, given, is_done);
  }
  settle_with(attempt.given.token, given, is_done);
}

void Workers::settle_with(const std::string& token, const Answer& whose, bool is_done) {
  const TokenHash hash = hash_of_token(token);
  Stimulus stimulus{.machine = whose.machine, .key = whose.key, .actor = {.name = "worker"}};
  if (is_done) {
    stimulus.what = Stimulus::Done{hash, some_result()};
  } else {
    const std::string code = tape_.of({"flaky", "boom", "flaky", "busy", "flaky", "fatal"});
    stimulus.what = Stimulus::Fail{hash, {.code = code, .message = "it went wrong"}};
  }
  if (!all_are_honest_ && tape_.chance(2)) stimulus.key = "nobody";
  network_.send(ledger_.add(std::move(stimulus)), true);
}

std::string Workers::some_result() {
  if (swarm_.strikes(Fault::worker_bad_result)) {
    hits_.struck(Fault::worker_bad_result);
    return R"({"n":"many"})";
  }
  if (swarm_.strikes(Fault::worker_huge_result)) {
    hits_.struck(Fault::worker_huge_result);
    return R"({"n":1,"text":")" + std::string(kHugeResult, 'x') + R"("})";
  }
  return R"({"n":1})";
}

}  // namespace pawl::sim
