// A checksum: finds what a disk or a bug has changed, not what an attacker has.
#pragma once

#include <cstdint>
#include <string_view>

namespace pawl {

// Stored: the same for all versions of Pawl. `seed` ties it to what stands beside the bytes.
std::uint64_t checksum(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace pawl
