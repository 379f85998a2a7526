// Side-by-side measuring: ours and the reference take turns, so that a noisy machine disturbs both
// alike.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pawl::bench {

// One contender: does `operations` operations and returns a checksum of the answers, so that
// nothing is optimised away and the answers can be compared.
struct Contender {
  std::string name;
  std::function<std::uint64_t()> run;
};

// Runs both alternately, prints nanoseconds per operation (CPU and wall: median and range) and the
// ratio reference / ours of the medians and of each round. Returns the median ratio in CPU time.
// Fails the program when the checksums differ.
double compare(const std::string& title, const Contender& ours, const Contender& reference,
               std::int64_t operations, int rounds = 7);

}  // namespace pawl::bench
