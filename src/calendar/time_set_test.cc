#include "calendar/time_set.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(TimeSet, FirstAndAtAgreeWithTheListOfAll) {
  const TimeSet set(0b1000'0000'0001, std::uint64_t{1} << 59 | 0b101, std::uint64_t{1} << 30 | 1);
  std::vector<int> all;
  for (const int hour : {0, 11}) {
    for (const int minute : {0, 2, 59}) {
      for (const int second : {0, 30}) all.push_back(hour * 3600 + minute * 60 + second);
    }
  }
  ASSERT_EQ(set.size(), static_cast<int>(all.size()));
  for (int rank = 0; rank < set.size(); ++rank)
    EXPECT_EQ(set.at(rank), all[static_cast<std::size_t>(rank)]);
  for (int from = 0; from < 86'400; ++from) {
    const auto expected = std::lower_bound(all.begin(), all.end(), from);
    ASSERT_EQ(set.first(from), expected == all.end() ? -1 : *expected) << from;
  }
}

TEST(TimeSet, ChooseKeepsPlacesThatExist) {
  TimeSet set(0b111, 1, 1);
  set.choose({-1, 1, 3, 7, -9});
  EXPECT_EQ(set.size(), 2);
  EXPECT_EQ(set.at(0), 0);
  EXPECT_EQ(set.at(1), 7200);
  EXPECT_EQ(set.first(1), 7200);
  EXPECT_EQ(set.first(7201), -1);
  TimeSet none(1, 1, 1);
  none.choose({2});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(none.first(0), -1);
}

}  // namespace
}  // namespace pawl
