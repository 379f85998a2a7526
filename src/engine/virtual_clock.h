// A clock that stands still until it is moved, so that nobody has to wait for it.
#pragma once

#include <atomic>

#include "pawl/time.h"

namespace pawl {

// Read from any thread, moved by one.
class VirtualClock {
 public:
  explicit VirtualClock(Instant now) : now_(now.time_since_epoch().count()) {}

  Instant now() const { return Instant{Duration{now_.load()}}; }
  void move_to(Instant now) { now_ = now.time_since_epoch().count(); }

 private:
  std::atomic<Duration::rep> now_;
};

}  // namespace pawl
