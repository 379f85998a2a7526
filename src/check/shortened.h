// Shortened: a machine as it is walked. Whether failures end does not depend on how large a number
// of attempts is, but the length of a walk does.
#pragma once

#include <memory>

#include "pawl/machine.h"

namespace pawl {

// So many delays are kept of a policy that has more.
inline constexpr int kDelaysWalked = 100;

struct Shortened {
  std::shared_ptr<const Machine> machine;
  bool cut = false;  // whether a policy had more delays
};

// The same machine with at most kDelaysWalked delays in each policy, each as long as its jitter
// can make it.
Shortened shortened(const Machine& machine);

}  // namespace pawl
