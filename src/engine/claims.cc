#include "engine/claims.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/sort_unique.h"
#include "engine/queue_name.h"

namespace pawl {

void Claims::add(ClaimRequest request, Answered answered) {
  request.max = std::clamp<std::size_t>(request.max, 1, kClaimMax);
  waiting_.push_back({std::move(request), std::move(answered)});
}

std::vector<std::string> Claims::queues() const {
  std::vector<std::string> names;
  for (const Waiting& waiting : waiting_)
    names.insert(names.end(), waiting.request.queues.begin(), waiting.request.queues.end());
  sort_unique(names);
  return names;
}

std::optional<Instant> Claims::next_end() const {
  std::optional<Instant> next;
  for (const Waiting& waiting : waiting_)
    if (waiting.until && (!next || *waiting.until < *next)) next = waiting.until;
  return next;
}

Result<void> Claims::serve(Round& round, Batch& batch) {
  stored_.clear();
  for (Waiting& waiting : waiting_) {
    if (!waiting.until) waiting.until = round.now() + waiting.request.wait;
    const auto& queues = waiting.request.queues;
    std::size_t empty = 0;  // queues in a row that had nothing
    while (empty < queues.size() && waiting.started.size() < waiting.request.max &&
           !round.is_full()) {
      PAWL_TRY(const bool started,
               start_one(waiting, queues[waiting.turn % queues.size()], round, batch));
      empty = started ? 0 : empty + 1;
      ++waiting.turn;
    }
  }
  return {};
}

// False when nothing of the queue is ready. One that gives up instead of starting makes way for the
// next.
Result<bool> Claims::start_one(Waiting& waiting, const std::string& queue, Round& round,
                               Batch& batch) {
  while (!round.is_full()) {
    const std::size_t wanted = waiting.request.max - waiting.started.size();
    PAWL_TRY(InWork * in, next_ready(queue, wanted, round, batch));
    if (in == nullptr) return false;
    std::string token = token_text(random_());
    PAWL_TRY(Decided decided, round.start(*in, {.token_hash = hash_of_token(token),
                                                .worker = waiting.request.worker}));
    if (decided.answer.kind != Answer::Kind::ok) continue;
    waiting.started.push_back({{std::move(decided.answer), std::move(token)}, *decided.unit});
    return true;
  }
  return false;
}

// The first of what the store has, and of what this batch has left ready.
Result<InWork*> Claims::next_ready(const std::string& queue, std::size_t wanted, Round& round,
                                   Batch& batch) {
  Stored& stored = stored_[queue];
  Round::Ready& left = round.left_ready(queue);
  for (;;) {
    if (stored.records.empty() && !stored.is_all) {
      const Claim claim{.queue = queue, .max = wanted};
      PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
      stored.is_all = claimed.size() < wanted;
      for (Claimed& one : claimed) {
        PAWL_TRY(const InWork* in, round.records().claimed(std::move(one.record)));
        if (!in->unit) stored.records.push_back(in->record.id);  // else it is among those left
      }
      if (stored.records.empty() && !stored.is_all) continue;
    }
    InWork* first = nullptr;
    if (!stored.records.empty()) {
      PAWL_TRY(first, round.records().find(stored.records.front()));
      if (first->unit) {  // changed since
        stored.records.pop_front();
        continue;
      }
    }
    if (left.empty()) {
      if (first != nullptr) stored.records.pop_front();
      return first;
    }
    const auto head = *left.begin();
    if (first != nullptr && std::tuple(first->record.priority, *first->record.ready_at,
                                       first->record.id.value) < head) {
      stored.records.pop_front();
      return first;
    }
    left.erase(left.begin());
    PAWL_TRY(InWork * in, round.records().find(RecordId{std::get<2>(head)}));
    const bool is_still =
        in != nullptr && in->record.ready_at && *in->record.ready_at == std::get<1>(head) &&
        in->record.priority == std::get<0>(head) && queue_of(*in->machine, in->record) == queue;
    if (is_still) return in;
  }
}

void Claims::answer(std::span<const UnitOutcome> outcomes, Instant now) {
  std::deque<Waiting> waiting = std::move(waiting_);
  waiting_.clear();
  for (Waiting& one : waiting) {
    std::vector<GivenAttempt> given;
    for (Started& started : one.started)
      if (outcomes[started.unit].kind == UnitOutcome::Kind::committed)
        given.push_back(std::move(started.attempt));
    one.started.clear();
    if (!given.empty() || (one.until && *one.until <= now)) {
      one.answered(std::move(given));
    } else {
      waiting_.push_back(std::move(one));
    }
  }
}

void Claims::take_back() {
  for (Waiting& waiting : waiting_) waiting.started.clear();
}

void Claims::fail(const Error& error) {
  for (Waiting& waiting : std::exchange(waiting_, {})) waiting.answered(error);
}

}  // namespace pawl
