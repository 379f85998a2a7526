// TimeSet: offsets in seconds within a period of a day or less: every hour with every minute with
// every second of three sets.
#pragma once

#include <cstdint>
#include <vector>

namespace pawl {

class TimeSet {
 public:
  // The masks are not empty; bit 0 = 0.
  TimeSet(std::uint32_t hours, std::uint64_t minutes, std::uint64_t seconds);

  int size() const;

  // The element at that place in rising order, 0 <= rank < size().
  int at(int rank) const;

  // The smallest element >= from, or -1.
  int first(int from) const;

  // Only the elements at these places: 1 = the first, -1 = the last; places that do not exist are
  // left out.
  void choose(const std::vector<int>& positions);

 private:
  std::uint32_t hours_;
  std::uint64_t minutes_;
  std::uint64_t seconds_;
  bool chosen_ = false;
  std::vector<int> choice_;  // sorted; what is left once chosen
};

}  // namespace pawl
