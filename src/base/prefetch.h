// prefetch: bytes that are going to be read soon, and that another core has written.
#pragma once

#include <cstddef>

namespace pawl {

// Only costs time where there is nothing at that address.
inline void prefetch(const void* bytes, std::size_t size) {
  constexpr std::size_t kLine = 64;
  const char* const begin = static_cast<const char*>(bytes);
  for (std::size_t at = 0; at < size; at += kLine) __builtin_prefetch(begin + at);
}

}  // namespace pawl
