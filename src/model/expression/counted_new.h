// For tests that prove that nothing is allocated: counts what the whole program allocates.
#pragma once

#include <cstddef>

namespace pawl {

// Calls of operator new so far, of all threads.
std::size_t news_so_far();

}  // namespace pawl
