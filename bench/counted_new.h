// Counts what a bench allocates: link counted_new.cc.
#pragma once

#include <cstdint>

namespace pawl::bench {

// Calls of operator new so far.
std::int64_t allocations();

}  // namespace pawl::bench
