#include "engine/lease_grace.h"

#include <algorithm>

namespace pawl {

bool LeaseGrace::is_from_before(const Record& record) const {
  return record.running && record.running->lease_until && record.running->started_at < opened_at_;
}

std::optional<Instant> LeaseGrace::extended(const Record& record, Instant now) {
  if (!is_from_before(record) || met_.contains(record.id.value)) return std::nullopt;
  const Attempt& attempt = *record.running;
  if (*attempt.lease_until > now) return std::nullopt;  // something else is due
  const Duration closed = std::max(opened_at_ - closed_at_, Duration{0});
  const Instant until =
      std::min(attempt.deadline_at, std::max(*attempt.lease_until + closed, opened_at_ + kAtLeast));
  met_.insert(record.id.value);
  return until > now ? std::optional(until) : std::nullopt;
}

void LeaseGrace::beaten(const Record& record) {
  if (is_from_before(record)) met_.insert(record.id.value);
}

}  // namespace pawl
