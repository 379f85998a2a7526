// Input: what callers give, looked at before anything is decided on it.
#pragma once

#include <cstddef>
#include <string>

#include "pawl/stimulus.h"

namespace pawl {

inline constexpr std::size_t kKeyMax = 512;                 // bytes; of idempotency keys as well
inline constexpr std::size_t kPayloadMax = 256U << 10U;     // of payloads, results, progress
inline constexpr std::size_t kErrorMessageMax = 4U << 10U;  // the rest is cut off

// What is wrong with it and what to do, or empty. A result that is no JSON, or too long, becomes
// the failure `bad_result` of the attempt: the work is done, and its worker cannot do anything
// about it.
std::string check_input(Stimulus& stimulus);

}  // namespace pawl
