// Limits: what bounds the starts of a task, for one record.
#pragma once

#include <string>
#include <vector>

#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

struct StartLimit {
  enum class Kind { concurrency, rate };

  Kind kind = Kind::concurrency;
  std::string slot = {};  // its name: what is counted together
  int max = 1;            // attempts that run; of `rate` starts in a window
  Duration every = {};    // of `rate`: how long a window is

  friend bool operator==(const StartLimit&, const StartLimit&) = default;
};

// Of the task of the record's state; none when it has no task. A `per` that is absent is counted
// like an empty one.
std::vector<StartLimit> limits_of(const Machine& machine, const Record& record, Instant now);

}  // namespace pawl
