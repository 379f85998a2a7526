#include "calendar/time_set.h"

#include <algorithm>
#include <bit>

#include "base/sort_unique.h"
#include "calendar/bits.h"
#include "pawl/assert.h"

namespace pawl {
TimeSet::TimeSet(std::uint32_t hours, std::uint64_t minutes, std::uint64_t seconds)
    : hours_(hours), minutes_(minutes), seconds_(seconds) {
  PAWL_ASSERT(hours != 0 && minutes != 0 && seconds != 0,
              "a set of times names an hour, a minute and a second");
}

int TimeSet::size() const {
  if (chosen_) return static_cast<int>(choice_.size());
  return std::popcount(hours_) * std::popcount(minutes_) * std::popcount(seconds_);
}

int TimeSet::at(int rank) const {
  if (chosen_) return choice_[static_cast<std::size_t>(rank)];
  const int seconds = std::popcount(seconds_);
  const int minutes = std::popcount(minutes_);
  return nth_bit(hours_, rank / seconds / minutes) * 3600 +
         nth_bit(minutes_, rank / seconds % minutes) * 60 + nth_bit(seconds_, rank % seconds);
}

int TimeSet::first(int from) const {
  if (chosen_) {
    const auto found = std::lower_bound(choice_.begin(), choice_.end(), from);
    return found == choice_.end() ? -1 : *found;
  }
  const int first_second = std::countr_zero(seconds_);
  const int first_minute = std::countr_zero(minutes_);
  const int hour = from / 3600;
  if ((hours_ >> hour & 1) != 0) {
    const int minute = from / 60 % 60;
    if ((minutes_ >> minute & 1) != 0) {
      const int second = bit_from(seconds_, from % 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const int later = bit_from(minutes_, minute + 1);
    if (later >= 0) return hour * 3600 + later * 60 + first_second;
  }
  const int later = bit_from(hours_, hour + 1);
  return later < 0 ? -1 : later * 3600 + first_minute * 60 + first_second;
}

void TimeSet::choose(const std::vector<int>& positions) {
  const int all = size();
  std::vector<int> choice;
  for (const int position : positions) {
    const int rank = position > 0 ? position - 1 : all + position;
    if (rank >= 0 && rank < all) choice.push_back(at(rank));
  }
  sort_unique(choice);
  choice_ = std::move(choice);
  chosen_ = true;
}

}  // namespace pawl
