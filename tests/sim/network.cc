#include "network.h"

#include <utility>
#include <vector>

#include "base/checksum.h"
#include "model/codec.h"

namespace pawl::sim {

void Network::see(const std::string& text) { hash_ = checksum(text, hash_); }

void Network::later(std::size_t steps, std::function<void()> what) {
  on_the_way_.emplace(step_ + steps, std::move(what));
}

void Network::send(RequestId id, bool is_repeated, Arrives arrives) {
  if (is_repeated || arrives) waiting_[id] = {step_, std::move(arrives)};
  dispatch(id);
}

void Network::dispatch(RequestId id) {
  int copies = 1;
  if (swarm_.strikes(Fault::request_lost)) {
    hits_.struck(Fault::request_lost);
    copies = 0;
  } else if (swarm_.strikes(Fault::request_twice)) {
    hits_.struck(Fault::request_twice);
    copies = 2;
  }
  for (; copies > 0; --copies) {
    std::size_t delay = 0;
    if (swarm_.strikes(Fault::request_late)) {
      hits_.struck(Fault::request_late);
      delay = 1 + tape_.below(kLateness);
    }
    later(delay, [this, id] { submit(id); });
  }
}

void Network::submit(RequestId id) {
  ledger_.submitted(id, process_.now());
  process_.engine().submit(ledger_.stimulus(id),
                           [this, id](Result<Answer> answer) { answered(id, answer); });
}

void Network::answered(RequestId id, const Result<Answer>& answer) {
  hits_.answered(ledger_.stimulus(id), answer);
  see(std::to_string(id) + (answer ? answer_text(*answer) : answer.error().message));
  ledger_.answered(id, answer, process_.now());
  if (swarm_.strikes(Fault::answer_lost)) return hits_.struck(Fault::answer_lost);
  std::size_t delay = 0;
  if (swarm_.strikes(Fault::answer_late)) {
    hits_.struck(Fault::answer_late);
    delay = 1 + tape_.below(kLateness);
  }
  later(delay, [this, id, answer] { arrived(id, answer); });
}

void Network::arrived(RequestId id, const Result<Answer>& answer) {
  const auto waiting = waiting_.find(id);
  if (waiting == waiting_.end() || !answer) return;  // what failed is asked again, in a while
  const Arrives arrives = std::move(waiting->second.arrives);
  waiting_.erase(waiting);
  const bool has_key = !ledger_.stimulus(id).idempotency_key.empty();
  if (answer->kind == Answer::Kind::ok && has_key) answered_.push_back(id);
  if (arrives) arrives(*answer);
}

void Network::turn() {
  ++step_;
  std::vector<std::function<void()>> due;
  const auto end = on_the_way_.upper_bound(step_);
  for (auto at = on_the_way_.begin(); at != end; ++at) due.push_back(std::move(at->second));
  on_the_way_.erase(on_the_way_.begin(), end);
  for (const auto& deliver : due) deliver();
  std::vector<RequestId> again;
  for (auto& [id, waiting] : waiting_) {
    if (waiting.asked_at + kPatience > step_) continue;
    waiting.asked_at = step_;
    again.push_back(id);
  }
  for (const RequestId id : again) dispatch(id);
  if (answered_.empty() || !swarm_.strikes(Fault::repeated_with_its_key)) return;
  hits_.struck(Fault::repeated_with_its_key);
  dispatch(answered_[tape_.below(answered_.size())]);
}

}  // namespace pawl::sim
