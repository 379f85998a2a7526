// Slots: places under the limits of tasks. A record that finds none waits at the slot, in a queue
// of its own, and not at the head of the queue that workers claim from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "decide/limits.h"
#include "engine/round.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

// Where records wait at a slot.
std::string slot_queue(const std::string& slot);
bool is_slot_queue(const std::string& queue);

class Slots {
 public:
  // Something may wait there since before the engine was opened.
  // All who do are ready by then.
  void found(const std::string& queue, Instant ready_by);

  // For a new batch: brings those back for whom there is a place, at most so many.
  Result<void> release(Round& round, Batch& batch, std::size_t max);

  // The first of the limits that has no place; none: it may start, and takes `places`.
  Result<std::optional<StartLimit>> find_full(std::span<const StartLimit> limits, Round& round,
                                              Batch& batch);
  // Windows of `rate` as they are once one more has started.
  std::vector<RateWindow> count_start(std::span<const StartLimit> limits, Instant now);

  // The record waits at that slot now.
  void wait(const StartLimit& limit, const Record& record);

  // The units were carried out.
  void committed(std::span<const Unit> units);
  // The batch has failed.
  void take_back();

  bool has_more() const { return !to_look_at_.empty(); }
  std::optional<Instant> next() const;  // when a window is over for which somebody waits

  // That a limit has no place, for people: `3 of 3 run under concurrency:order/pay`. Else empty.
  static Result<std::string> describe_full(const StartLimit& limit, Batch& batch);

 private:
  void forget_batch();
  Result<int> free_places(const StartLimit& limit, Round& round, Batch& batch);
  Result<RateWindow*> window(const StartLimit& limit, Instant now, Batch& batch);
  Result<std::size_t> release(const std::string& slot, std::size_t max, Round& round, Batch& batch);

  std::set<std::string> waited_for_;                       // slots at which somebody may wait
  std::set<std::string> to_look_at_;                       // of these: there may be a place
  std::map<std::string, Instant> reopens_;                 // when the window is over, or all ready
  std::unordered_map<std::uint64_t, std::string> let_go_;  // brought back, and not started yet
  std::map<std::string, std::size_t> let_go_count_;        // the same, by slot
  // Of this batch: as the store has it, and windows as its starts leave them.
  std::map<std::string, int> taken_;
  std::map<std::string, RateWindow> windows_;
};

}  // namespace pawl
