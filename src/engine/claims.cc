#include "engine/claims.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/mutant.h"
#include "base/sort_unique.h"
#include "engine/queue_name.h"

namespace pawl {
namespace {

bool is_committed(const UnitOutcome& outcome) {
  return outcome.kind == UnitOutcome::Kind::committed;
}

bool is_own(const std::string& queue) { return queue.find(':') != std::string::npos; }

}  // namespace

void Claims::add(ClaimRequest request, Answered answered) {
  request.max = std::clamp<std::size_t>(request.max, 1, kClaimMax);
  waiting_.add(std::move(request), std::move(answered));
}

std::vector<std::string> Claims::queues(Instant now) const {
  std::vector<std::string> names;
  for (const auto& [queues, line] : waiting_.lines())
    for (const std::string& queue : queues)
      if (!is_shut(queue, now)) names.push_back(queue);
  sort_unique(names);
  return names;
}

std::optional<Instant> Claims::next(Instant now) const {
  std::optional<Instant> next = slots_.next();
  const auto consider = [&](std::optional<Instant> at) {
    if (at && (!next || *at < *next)) next = at;
  };
  consider(waiting_.next_end());
  for (const auto& [queues, line] : waiting_.lines()) {
    for (const std::string& queue : queues) {
      const auto breaker = breakers_.find(queue);
      if (breaker == breakers_.end()) continue;
      const auto canary = breaker->second.next();
      if (canary && *canary > now) consider(canary);
    }
  }
  return next;
}

bool Claims::is_shut(const std::string& queue, Instant now) const {
  const auto breaker = breakers_.find(queue);
  return pauses_.of_queue(queue) != nullptr ||
         (breaker != breakers_.end() && !breaker->second.may_start(now));
}

Breaker* Claims::breaker_of(const std::string& queue) {
  if (!queue.starts_with(kChannelQueue)) return nullptr;
  return &breakers_.try_emplace(queue, kUnderWayMax).first->second;
}

void Claims::end_deliveries(std::span<const Unit> units, Instant now) {
  if (deliveries_.empty()) return;
  for (const Unit& unit : units) {
    const auto known = deliveries_.find(unit.record.record.id.value);
    if (known == deliveries_.end() || unit.record.record.running) continue;
    using End = Breaker::End;
    End end = End::given_back;
    if (!unit.record.entries.empty())
      end = unit.record.entries[0].kind == Entry::Kind::done ? End::delivered : End::failed;
    breaker_of(known->second)->ended(end, now);
    deliveries_.erase(known);
  }
}

void Claims::end_held(std::span<const Unit> units) {
  if (held_.empty()) return;
  for (const Unit& unit : units)
    if (!unit.record.record.running) held_.erase(unit.record.record.id.value);
}

std::size_t Claims::waiting() const {
  std::size_t count = 0;
  for (const auto& [queues, line] : waiting_.lines())
    if (std::none_of(queues.begin(), queues.end(), is_own)) count += line.numbers.size();
  return count;
}

void Claims::end_waits(Instant now) { waiting_.end_all_but(is_own, now); }

void Claims::found(const std::string& queue, Instant ready_by) {
  if (is_slot_queue(queue)) slots_.found(queue, ready_by);
  if (is_pause_queue(queue) && !pauses_.is_in_force(queue)) resumed_.insert(queue);
  if (!is_line_queue(queue)) return;
  if (order_.is_ordered(queue)) {
    order_.found(queue);
  } else {  // it was, and all of them may go
    resumed_.insert(queue);
  }
}

void Claims::resume(const PauseTarget& target) { resumed_.insert(pause_queue(target)); }

Result<std::optional<Blocked>> Claims::blocked(const Machine& machine, const Record& record,
                                               Batch& batch) const {
  const Pause* pause = pauses_.of_queue(queue_of(machine, record));
  if (pause == nullptr) pause = pauses_.of_record(record);
  if (pause != nullptr) return std::optional(Blocked{Why::Kind::paused, to_text(*pause)});
  if (const auto first = order_.waits_for(record)) {
    PAWL_TRY(const std::vector<Record> before, batch.load({&*first, 1}));
    return std::optional(Blocked{
        Why::Kind::slot,
        "the channel is ordered, and " + before[0].machine + "/" + before[0].key + " comes first"});
  }
  for (const StartLimit& limit : limits_of(machine, record, batch.now())) {
    PAWL_TRY(const std::string full, Slots::describe_full(limit, batch));
    if (!full.empty()) return std::optional(Blocked{Why::Kind::slot, full});
  }
  return std::optional<Blocked>();
}

// --- serving -----------------------------------------------------------------------------------

Result<void> Claims::serve(Round& round, Batch& batch, std::size_t put_back_max) {
  stored_.clear();
  served_.clear();
  serves_again_ = false;
  PAWL_CHECK(put_back_resumed(round, batch, put_back_max));
  PAWL_CHECK(slots_.release(round, batch, put_back_max));
  PAWL_CHECK(order_.release(round, put_back_max));
  waiting_.begin(round.now());
  std::map<WaitingClaims::Number, const WaitingClaims::Line*> heads;
  for (const auto& [queues, line] : waiting_.lines()) {
    heads.emplace(*line.numbers.begin(), &line);
    for (const std::string& queue : queues) stored_[queue].wanted += line.wanted;
  }
  while (!heads.empty() && !round.is_full()) {
    const auto [number, line] = *heads.begin();
    heads.erase(heads.begin());
    WaitingClaim& waiting = waiting_[number];
    served_.push_back(number);
    PAWL_TRY(const bool is_filled, fill(waiting, round, batch));
    if (waiting.started.empty()) served_.pop_back();
    if (!is_filled) continue;  // nothing is left for those behind it either
    const auto behind = line->numbers.upper_bound(number);
    if (behind != line->numbers.end()) heads.emplace(*behind, line);
  }
  return {};
}

// One of each queue in turn. False when there is less than was asked for.
Result<bool> Claims::fill(WaitingClaim& waiting, Round& round, Batch& batch) {
  const auto& queues = waiting.request.queues;
  std::size_t& turn = turns_[queues];
  std::size_t empty = 0;  // queues in a row that had nothing
  while (waiting.started.size() < waiting.request.max) {
    if (empty == queues.size() || round.is_full()) return false;
    PAWL_TRY(const bool started, start_one(waiting, queues[turn % queues.size()], round, batch));
    empty = started ? 0 : empty + 1;
    ++turn;
  }
  return true;
}

Result<std::vector<GivenAttempt>> Claims::look(ClaimRequest request, Round& round, Batch& batch) {
  WaitingClaims waiting = std::exchange(waiting_, {});  // thousands, which are not looked at
  Claims own = *this;
  waiting_ = std::move(waiting);
  own.add(std::move(request), {});
  PAWL_CHECK(own.serve(round, batch, round.room()));
  std::vector<GivenAttempt> given;
  for (const WaitingClaims::Number number : own.served_)
    for (WaitingClaim::Started& started : own.waiting_[number].started) {
      started.attempt.token.clear();
      given.push_back(std::move(started.attempt));
    }
  return given;
}

Result<void> Claims::put_back_resumed(Round& round, Batch& batch, std::size_t max) {
  for (const std::string& queue : resumed_) {
    if (max == 0) return {};
    const Claim claim{.queue = queue, .max = max};
    PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
    for (Claimed& one : claimed) {
      PAWL_TRY(InWork * in, round.records().claimed(std::move(one.record)));
      if (!in->unit) round.put_back(*in);  // else it was decided in this batch, and waits no more
    }
    if (claimed.size() == max) return {};
    max -= claimed.size();
    emptied_.push_back(queue);
  }
  return {};
}

// False when nothing of the queue may start. What is paused or finds its slots full is put aside;
// one that gives up instead of starting makes way for the next.
Result<bool> Claims::start_one(WaitingClaim& waiting, const std::string& queue, Round& round,
                               Batch& batch) {
  Breaker* breaker = breaker_of(queue);
  while (!round.is_full() && !is_shut(queue, round.now())) {
    PAWL_TRY(InWork * in, next_ready(queue, round, batch));
    if (in == nullptr) return false;
    if (const Pause* pause = pauses_.of_record(in->record)) {
      round.put_aside(*in, pause_queue(pause->target));
      continue;
    }
    const DeliveryOrder::Place place = order_.place_of(in->record);
    if (place == DeliveryOrder::Place::behind)
      round.put_aside(*in, line_queue(queue.substr(kChannelQueue.size())));
    if (place != DeliveryOrder::Place::first) continue;
    PAWL_TRY(const auto limits, round.limits_of(*in));
    PAWL_TRY(const auto full, slots_.find_full(limits, round, batch));
    if (full) {
      slots_.wait(*full, in->record);
      round.put_aside(*in, slot_queue(full->slot));
      continue;
    }
    std::string token = token_text(mutant(Mutant::token_reused) ? RandomBits{} : random_());
    Stimulus::Start start{.token_hash = hash_of_token(token), .worker = waiting.request.worker};
    for (const StartLimit& limit : limits)
      if (limit.kind == StartLimit::Kind::concurrency) start.slots.push_back(limit.slot);
    Round::Decided decided;
    PAWL_CHECK(round.start(*in, std::move(start), decided));
    if (decided.answer.kind != Answer::Kind::ok) continue;
    round.count_rates(*in, slots_.count_start(limits, round.now()));
    if (breaker != nullptr) {
      breaker->started();
      deliveries_[in->record.id.value] = queue;
    }
    WaitingClaim::Started& started = waiting.started.emplace_back();
    started.attempt.given = std::move(decided.answer);
    started.attempt.record = in->record.id;
    started.attempt.queue = queue;
    started.attempt.token = std::move(token);
    started.unit = *decided.unit;
    return true;
  }
  return false;
}

// The first of what the store has, and of what this batch has left ready.
Result<InWork*> Claims::next_ready(const std::string& queue, Round& round, Batch& batch) {
  Stored& stored = stored_[queue];
  Round::Ready& left = round.left_ready(queue);
  for (;;) {
    if (stored.records.empty() && !stored.is_all) {
      const Claim claim{.queue = queue, .max = std::min(stored.wanted, round.room())};
      PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
      stored.is_all = claimed.size() < claim.max;
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

void Claims::answer(std::span<const Unit> units, std::span<const UnitOutcome> outcomes,
                    Instant now) {
  const bool is_all_done = std::all_of(outcomes.begin(), outcomes.end(), is_committed);
  if (is_all_done) {
    slots_.committed(units);
    for (const std::string& queue : emptied_) resumed_.erase(queue);
  } else {  // who was to be put back may still wait where he was
    slots_.take_back();
  }
  emptied_.clear();
  order_.committed(units, outcomes, is_all_done);
  end_deliveries(units, now);
  end_held(units);
  std::vector<WaitingClaims::Number> over = waiting_.ended(now);
  over.insert(over.end(), served_.begin(), served_.end());
  served_.clear();
  sort_unique(over);
  for (const WaitingClaims::Number number : over) {
    if (!waiting_.has(number)) return;  // who was answered before has closed the engine
    WaitingClaim& one = waiting_[number];
    std::vector<GivenAttempt> given;
    given.reserve(one.started.size());
    for (WaitingClaim::Started& started : one.started) {
      if (is_committed(outcomes[started.unit])) {
        if (!is_own(started.attempt.queue)) held_.insert(started.attempt.record.value);
        given.push_back(std::move(started.attempt));
      } else {
        take_back(started);
      }
    }
    const bool has_lost = given.size() < one.started.size();
    one.started.clear();
    if (given.empty() && has_lost) {
      serves_again_ = true;
    } else {
      waiting_.take(number).answered(std::move(given));
    }
  }
}

void Claims::take_back() {
  slots_.take_back();
  order_.take_back();
  emptied_.clear();
  for (const WaitingClaims::Number number : std::exchange(served_, {}))
    for (const WaitingClaim::Started& started : std::exchange(waiting_[number].started, {}))
      take_back(started);
}

// It is not under way after all.
void Claims::take_back(const WaitingClaim::Started& started) {
  const auto delivery = deliveries_.find(started.attempt.record.value);
  if (delivery == deliveries_.end()) return;
  breaker_of(delivery->second)->ended(Breaker::End::given_back, {});
  deliveries_.erase(delivery);
}

void Claims::fail(const Error& error) {
  served_.clear();
  const WaitingClaims waiting = std::exchange(waiting_, {});
  for (const auto& [number, one] : waiting.all()) one.answered(error);
}

}  // namespace pawl
