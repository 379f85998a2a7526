// LeaseGrace: nobody could beat while the store was closed, so leases are longer by that time.
#pragma once

#include <optional>
#include <unordered_set>

#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

class LeaseGrace {
 public:
  static constexpr Duration kAtLeast = std::chrono::seconds{30};

  LeaseGrace(Instant closed_at, Instant opened_at) : closed_at_(closed_at), opened_at_(opened_at) {}

  // A lease that has run out, of an attempt from before: until when it is to be extended; none when
  // it is over. Once for each attempt, and never beyond its deadline.
  std::optional<Instant> extended(const Record& record, Instant now);

  // Its worker is there again.
  void beaten(const Record& record);

 private:
  bool is_from_before(const Record& record) const;

  Instant closed_at_;
  Instant opened_at_;
  std::unordered_set<std::uint64_t> met_;  // fences of attempts that need no grace any more
};

}  // namespace pawl
