// Sets of small numbers as bits.
#pragma once

#include <bit>
#include <cstdint>

namespace pawl {

// The first number >= from that is in the set, or -1.
inline int bit_from(std::uint64_t set, int from) {
  const std::uint64_t rest = from >= 64 ? 0 : set >> from << from;
  return rest == 0 ? -1 : std::countr_zero(rest);
}

// The n-th number of the set in rising order, n from 0; there must be so many.
inline int nth_bit(std::uint64_t set, int n) {
  for (; n > 0; --n) set &= set - 1;
  return std::countr_zero(set);
}

}  // namespace pawl
