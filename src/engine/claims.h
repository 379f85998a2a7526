// Claims: workers that ask for attempts, served from what is ready.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/round.h"
#include "engine/token.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

inline constexpr std::size_t kClaimMax = 1'000;  // attempts

struct ClaimRequest {
  std::vector<std::string> queues;
  std::size_t max = 1;  // at least 1, at most kClaimMax
  std::string worker = {};
  Duration wait = {};  // at most, while nothing is ready
};

// An attempt that a worker was given.
struct GivenAttempt {
  Answer given;       // machine, key, task, fence, payload…
  std::string token;  // what settles it
};

class Claims {
 public:
  using Answered = std::function<void(Result<std::vector<GivenAttempt>>)>;

  explicit Claims(std::function<RandomBits()> random) : random_(std::move(random)) {}

  void add(ClaimRequest request, Answered answered);

  // Starts what is ready for those who wait, the first who came first, one of each queue in turn.
  Result<void> serve(Round& round, Batch& batch);

  // Once the units are carried out, those that got something are answered, and those that have
  // waited long enough. What was lost is claimed again.
  void answer(std::span<const UnitOutcome> outcomes, Instant now);
  // The batch has failed: nothing was started.
  void take_back();
  // The engine has stopped.
  void fail(const Error& error);

  bool is_empty() const { return waiting_.empty(); }
  std::vector<std::string> queues() const;  // that are waited for
  std::optional<Instant> next_end() const;  // when somebody has waited long enough

 private:
  struct Started {
    GivenAttempt attempt;
    std::size_t unit;
  };
  struct Waiting {
    ClaimRequest request;
    Answered answered;
    std::optional<Instant> until = {};  // set at its first batch
    std::size_t turn = 0;               // of the queues
    std::vector<Started> started = {};
  };
  // What the store has of a queue in this batch.
  struct Stored {
    std::deque<RecordId> records = {};
    bool is_all = false;
  };

  Result<bool> start_one(Waiting& waiting, const std::string& queue, Round& round, Batch& batch);
  Result<InWork*> next_ready(const std::string& queue, std::size_t wanted, Round& round,
                             Batch& batch);

  std::function<RandomBits()> random_;
  std::deque<Waiting> waiting_;
  std::map<std::string, Stored> stored_;  // of this batch
};

}  // namespace pawl
