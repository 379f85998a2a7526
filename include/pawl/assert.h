// Assertions on state that Pawl itself owns; they stay on in release builds.
//
// A broken one means a bug of ours, and going on would write it to disk. Anything derivable from
// input is an Error (result.h), never an assertion.
#pragma once

namespace pawl {

// Prints the broken invariant and aborts.
[[noreturn]] void assertion_failed(const char* condition, const char* why, const char* file,
                                   int line);

}  // namespace pawl

#define PAWL_ASSERT(condition, why)   \
  ((condition) ? static_cast<void>(0) \
               : ::pawl::assertion_failed(#condition, why, __FILE__, __LINE__))
