// Retention: what is kept no longer. Records that are over, old entries of long logs, answers to
// old requests; in bounded steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>

#include "engine/machines.h"
#include "engine/round.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

class Retention {
 public:
  static constexpr Duration kRequestsKept = std::chrono::days{7};
  static constexpr Duration kSweepEvery = std::chrono::days{1};

  Retention(Store& store, Instant opened_at) : store_(store), next_sweep_(opened_at) {}

  // Removes records that are over, and shortens logs that have grown too long; at most so many.
  // True: there may be more.
  Result<bool> run(Round& round, Batch& batch, std::size_t max);

  // Notes whose log has grown.
  void committed(std::span<const Unit> units, const Machines& machines);

  // Forgets answers to old requests, once in a while; not while a batch is under way. True: there
  // may be more.
  Result<bool> sweep(Instant now);

  // When something is to be done; none when a record says so itself.
  Instant next() const { return next_sweep_; }
  bool has_more() const { return !long_logs_.empty(); }

 private:
  Result<void> remove(InWork& in, Round& round);
  Result<void> shorten(InWork& in, Round& round);

  Store& store_;
  Instant next_sweep_;
  std::set<RecordId> long_logs_;
};

}  // namespace pawl
