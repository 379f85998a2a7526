// What applying machine files would do: which versions they become, and whom they touch.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pawl/apply.h"
#include "pawl/machine.h"
#include "pawl/result.h"
#include "pawl/zones.h"
#include "store/store.h"

namespace pawl {

struct ApplyPlan {
  Applied applied = {};
  std::vector<StoredMachine> stored = {};                     // to put into the store
  std::vector<std::shared_ptr<const Machine>> machines = {};  // the same, compiled
};

// The names of what this process carries out itself.
struct OwnNames {
  std::set<std::string> functions = {};
  std::set<std::string> channels = {};
  bool makes_calls = false;  // of `http:`
};

// Reads only, from any thread.
Result<ApplyPlan> plan_apply(Store& store, const Zones& zones, const Guards& guards,
                             const OwnNames& own, std::span<const MachineText> files,
                             const ApplyOptions& options);

}  // namespace pawl
