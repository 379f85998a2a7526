#include "engine/slots.h"

#include <algorithm>
#include <utility>

namespace pawl {
namespace {

constexpr std::string_view kSlotPrefix = "slot:";

}  // namespace

std::string slot_queue(const std::string& slot) { return std::string(kSlotPrefix) + slot; }

bool is_slot_queue(const std::string& queue) { return queue.starts_with(kSlotPrefix); }

void Slots::found(const std::string& queue, Instant ready_by) {
  std::string slot = queue.substr(kSlotPrefix.size());
  to_look_at_.insert(slot);
  reopens_[slot] = ready_by;
  waited_for_.insert(std::move(slot));
}

std::optional<Instant> Slots::next() const {
  std::optional<Instant> next;
  for (const auto& [slot, at] : reopens_)
    if (!next || at < *next) next = at;
  return next;
}

// --- places ------------------------------------------------------------------------------------

// A window begins with the first start after the one before is over.
Result<RateWindow*> Slots::window(const StartLimit& limit, Instant now, Batch& batch) {
  auto known = windows_.find(limit.slot);
  if (known == windows_.end()) {
    PAWL_TRY(auto stored, batch.slots({&limit.slot, 1}));
    known = windows_.emplace(limit.slot, stored[0].rate).first;
  }
  RateWindow& window = known->second;
  if (window.started > 0 && window.window + limit.every <= now) window.started = 0;
  return &window;
}

Result<int> Slots::free_places(const StartLimit& limit, Round& round, Batch& batch) {
  if (limit.kind == StartLimit::Kind::rate) {
    PAWL_TRY(const RateWindow* window, this->window(limit, round.now(), batch));
    return limit.max - window->started;
  }
  auto taken = taken_.find(limit.slot);
  if (taken == taken_.end()) {
    PAWL_TRY(const auto stored, batch.slots({&limit.slot, 1}));
    taken = taken_.emplace(limit.slot, stored[0].taken).first;
  }
  return limit.max - taken->second - round.taken_here(limit.slot);
}

void Slots::forget_batch() {
  taken_.clear();
  windows_.clear();
}

// Whether those who were let go came back is not known: all slots are looked at again.
void Slots::take_back() {
  forget_batch();
  let_go_.clear();
  let_go_count_.clear();
  to_look_at_ = waited_for_;
}

Result<std::string> Slots::describe_full(const StartLimit& limit, Batch& batch) {
  PAWL_TRY(const auto stored, batch.slots({&limit.slot, 1}));
  const bool is_rate = limit.kind == StartLimit::Kind::rate;
  const Instant reopens = stored[0].rate.window + limit.every;
  const int taken = !is_rate ? stored[0].taken : reopens > batch.now() ? stored[0].rate.started : 0;
  if (taken < limit.max) return std::string();
  std::string text = std::to_string(taken) + " of " + std::to_string(limit.max);
  text += is_rate ? " attempts have started under " : " attempts are running under ";
  text += limit.slot;
  if (is_rate) text += "; the limit resets at " + to_text(reopens);
  return text;
}

Result<std::optional<StartLimit>> Slots::find_full(std::span<const StartLimit> limits, Round& round,
                                                   Batch& batch) {
  for (const StartLimit& limit : limits) {
    PAWL_TRY(const int free, free_places(limit, round, batch));
    if (free <= 0) return std::optional(limit);
  }
  return std::optional<StartLimit>();
}

std::vector<RateWindow> Slots::count_start(std::span<const StartLimit> limits, Instant now) {
  std::vector<RateWindow> counted;
  for (const StartLimit& limit : limits) {
    if (limit.kind != StartLimit::Kind::rate) continue;
    RateWindow& window = windows_.at(limit.slot);
    if (window.started == 0) window.window = now;
    ++window.started;
    counted.push_back(window);
    if (waited_for_.contains(limit.slot)) reopens_[limit.slot] = window.window + limit.every;
  }
  return counted;
}

// --- those who wait ----------------------------------------------------------------------------

void Slots::wait(const StartLimit& limit, const Record& record) {
  waited_for_.insert(limit.slot);
  if (limit.kind == StartLimit::Kind::rate)
    reopens_[limit.slot] = windows_.at(limit.slot).window + limit.every;
  if (const auto known = let_go_.find(record.id.value); known != let_go_.end()) {
    --let_go_count_[known->second];
    let_go_.erase(known);
  }
}

Result<void> Slots::release(Round& round, Batch& batch, std::size_t max) {
  forget_batch();
  if (waited_for_.empty() && reopens_.empty()) {
    to_look_at_.clear();  // nobody waits there any more
    return {};
  }
  for (const std::string& slot : round.freed_slots())
    if (waited_for_.contains(slot)) to_look_at_.insert(slot);
  for (auto at = reopens_.begin(); at != reopens_.end();) {
    const bool is_over = at->second <= round.now();
    if (is_over) to_look_at_.insert(at->first);
    at = is_over ? reopens_.erase(at) : std::next(at);
  }
  while (!to_look_at_.empty() && max > 0) {
    const std::string slot = *to_look_at_.begin();
    PAWL_TRY(const std::size_t released, release(slot, max, round, batch));
    if (released == max) return {};  // there may be more
    max -= released;
    to_look_at_.erase(slot);
  }
  return {};
}

// Those who have been let go and not started are counted as if they had.
Result<std::size_t> Slots::release(const std::string& slot, std::size_t max, Round& round,
                                   Batch& batch) {
  for (std::size_t released = 0; released < max; ++released) {
    const Claim claim{.queue = slot_queue(slot)};
    PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
    if (claimed.empty()) {
      if (released == 0) waited_for_.erase(slot);
      return released;
    }
    waited_for_.insert(slot);
    PAWL_TRY(InWork * in, round.records().claimed(std::move(claimed[0].record)));
    if (in->unit) continue;  // it was decided in this batch, and waits no more
    PAWL_TRY(const auto limits, round.limits_of(*in));
    const auto limit = std::find_if(limits.begin(), limits.end(),
                                    [&](const StartLimit& one) { return one.slot == slot; });
    if (limit != limits.end()) {  // else the limit is gone
      PAWL_TRY(const int free, free_places(*limit, round, batch));
      if (free <= static_cast<int>(let_go_count_[slot])) {
        if (limit->kind == StartLimit::Kind::rate && let_go_count_[slot] == 0)
          reopens_[slot] = windows_.at(slot).window + limit->every;
        return released;
      }
    }
    let_go_[in->record.id.value] = slot;
    ++let_go_count_[slot];
    round.put_back(*in);
  }
  return max;
}

// Whoever was let go and is not ready any more makes way for the next.
void Slots::committed(std::span<const Unit> units) {
  forget_batch();
  if (let_go_.empty()) return;
  for (const Unit& unit : units) {
    const Record& record = unit.record.record;
    const auto known = let_go_.find(record.id.value);
    if (known == let_go_.end() || record.ready_at) continue;
    if (!record.running) to_look_at_.insert(known->second);
    --let_go_count_[known->second];
    let_go_.erase(known);
  }
}

}  // namespace pawl
