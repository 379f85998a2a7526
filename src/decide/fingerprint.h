// Fingerprint: tells errors of one kind from others, whatever numbers and names they carry.
#pragma once

#include <cstdint>
#include <string_view>

namespace pawl {

// A hash of the code and of the message with numbers, hex, UUIDs and quoted text replaced.
std::uint64_t fingerprint_of(std::string_view code, std::string_view message);

}  // namespace pawl
