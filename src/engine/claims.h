// Claims: workers that ask for attempts, served from what is ready.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/breaker.h"
#include "engine/delivery_order.h"
#include "engine/pauses.h"
#include "engine/round.h"
#include "engine/slots.h"
#include "engine/token.h"
#include "engine/waiting_claims.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/task.h"
#include "pawl/time.h"
#include "pawl/why.h"
#include "store/store.h"

namespace pawl {

inline constexpr int kUnderWayMax = 8;                           // deliveries to one channel
inline constexpr std::string_view kFunctionWorker = "function";  // tasks of this process

class Claims {
 public:
  using Answered = WaitingClaim::Answered;

  Claims(std::function<RandomBits()> random, Pauses pauses, DeliveryOrder order)
      : random_(std::move(random)), pauses_(std::move(pauses)), order_(std::move(order)) {}

  // A queue in which records wait since before the engine was opened.
  // They were ready by then, which may be in the future of a clock that has gone back.
  void found(const std::string& queue, Instant ready_by);

  Pauses& pauses() { return pauses_; }
  // What was paused may go on.
  void resume(const PauseTarget& target);

  void add(ClaimRequest request, Answered answered);
  // What it would be given now. Nothing is kept of it, and the batch is not to be committed.
  Result<std::vector<GivenAttempt>> look(ClaimRequest request, Round& round, Batch& batch);

  // Starts what is ready for those who wait, the first who came first, one of each queue in turn.
  // Before that, what waits at slots that are free or for pauses that are over is put back; at most
  // `put_back_max`.
  Result<void> serve(Round& round, Batch& batch, std::size_t put_back_max);

  // Once the units are carried out, those that got something are answered, and those that have
  // waited long enough. What was lost is claimed again.
  void answer(std::span<const Unit> units, std::span<const UnitOutcome> outcomes, Instant now);
  // The batch has failed: nothing was started.
  void take_back();
  // The engine has stopped.
  void fail(const Error& error);

  // Workers wait no longer: those who do get what is ready now, or nothing.
  void end_waits(Instant now);
  // Attempts given to workers since the start that are not over.
  std::size_t held() const { return held_.size(); }

  std::size_t waiting() const;  // claims of workers

  bool has_more() const {
    return serves_again_ || slots_.has_more() || order_.has_more() || !resumed_.empty();
  }
  std::vector<std::string> queues(Instant now) const;  // that are waited for, and not shut
  // When somebody has waited long enough, or a limit lets somebody start again.
  std::optional<Instant> next(Instant now) const;

  // Why a ready record is not started, as far as it is not for want of workers.
  Result<std::optional<Blocked>> blocked(const Machine& machine, const Record& record,
                                         Batch& batch) const;

 private:
  // What the store has of a queue in this batch.
  struct Stored {
    std::size_t wanted = 0;  // by all who wait, a share of those who name other queues as well
    std::deque<RecordId> records = {};
    bool is_all = false;
  };

  Result<bool> fill(WaitingClaim& waiting, Round& round, Batch& batch);
  Result<bool> start_one(WaitingClaim& waiting, const std::string& queue, Round& round,
                         Batch& batch);
  Result<InWork*> next_ready(const std::string& queue, Round& round, Batch& batch);

  bool is_shut(const std::string& queue, Instant now) const;
  Breaker* breaker_of(const std::string& queue);
  void take_back(const WaitingClaim::Started& started);
  void end_deliveries(std::span<const Unit> units, Instant now);
  void end_held(std::span<const Unit> units);
  Result<void> put_back_resumed(Round& round, Batch& batch, std::size_t max);

  std::function<RandomBits()> random_;
  Pauses pauses_;
  DeliveryOrder order_;
  std::map<std::string, Breaker> breakers_;                    // by queue
  std::unordered_map<std::uint64_t, std::string> deliveries_;  // under way, by record: their queues
  std::unordered_set<std::uint64_t> held_;                     // records, by workers
  Slots slots_;
  std::set<std::string> resumed_;                          // queues of pauses that are over
  std::vector<std::string> emptied_;                       // of these, in this batch
  std::map<std::vector<std::string>, std::size_t> turns_;  // of the queues that claims name
  WaitingClaims waiting_;
  std::vector<WaitingClaims::Number> served_;  // in this batch
  bool serves_again_ = false;                  // somebody has lost what he was to get
  std::map<std::string, Stored> stored_;       // of this batch
};

}  // namespace pawl
