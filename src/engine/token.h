// Attempt tokens: proof of the live attempt. 128 random bits; what is stored is a hash of them.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "pawl/task.h"  // hash_of_token

namespace pawl {

using RandomBits = std::array<std::byte, 16>;

// Of the operating system.
RandomBits random_bits();

// As the worker is given it: 32 hex digits.
std::string token_text(const RandomBits& bits);

}  // namespace pawl
