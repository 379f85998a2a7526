// How long a record waits after a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "pawl/definition.h"
#include "pawl/time.h"

namespace pawl {

struct Delay {
  enum class Kind {
    wait,
    used_up,    // no delay is left: it gives up
    bad_value,  // a template has no value, or one that is no duration
  };

  Kind kind = Kind::wait;
  Duration wait = {};    // from zero to kDurationMax
  std::string why = {};  // of bad_value: what is wrong, for people

  friend bool operator==(const Delay&, const Delay&) = default;
};

// The delay after failure number k (1, 2, …) of the run that these delays are indexed by, with its
// jitter. They are those of a machine.
Delay delay_after(const Delays& delays, int k, std::uint64_t draw, const Sight& sight,
                  Scratch& scratch);

// How many delays remain after failure k, its own not counted; none: no bound.
std::optional<int> delays_left(const Delays& delays, int k);

// How many failures are answered with a delay; none: all of them.
std::optional<int> delay_count(const Delays& delays);

}  // namespace pawl
