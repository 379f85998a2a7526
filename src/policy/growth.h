// Growth: the delays of a formula, one after another.
#pragma once

#include "pawl/time.h"

namespace pawl {

// first, first * factor, first * factor^2, …, each rounded down to the microsecond, and at most
// `max`. The factor is from 1,000 to 1,000,000 thousandths, the durations from zero to
// kDurationMax.
class Growth {
 public:
  Growth(Duration first, int factor_milli, Duration max);

  Duration now() const;

  // Whether all that follow are the same. So after at most 41,000 steps or never changed at all:
  // that many take 1µs to 9,999 years by the factor 1.001.
  bool is_settled() const;

  void step();

 private:
  __extension__ typedef unsigned __int128 Natural;  // NOLINT(modernize-use-using)

  Natural value_;
  Natural most_;
  Natural factor_;
};

// The delay after so many steps, however many they are.
Duration grown(Duration first, int factor_milli, int steps, Duration max);

}  // namespace pawl
