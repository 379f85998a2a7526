// A store in memory: gone with the process. For tests and simulation, and what the other stores are
// compared with.
#pragma once

#include <functional>
#include <memory>

#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

std::unique_ptr<Store> open_memory_store(std::function<Instant()> clock);

}  // namespace pawl
