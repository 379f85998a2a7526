#include "policy/align.h"

#include <algorithm>

namespace pawl {

Instant align(Policy::Align align, Instant now, Duration delay, Duration timeout,
              std::optional<Instant> planned) {
  const Instant retry = std::min(now + delay, kInstantMax);
  if (!planned) return retry;
  switch (align) {
    case Policy::Align::planned:
      return retry + timeout > *planned ? *planned : retry;
    case Policy::Align::retry:
      return retry;
    case Policy::Align::only_planned:
      return *planned;
    case Policy::Align::whichever_first:
      return std::min(retry, *planned);
  }
  return retry;
}

}  // namespace pawl
