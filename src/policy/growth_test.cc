#include "policy/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <random>

namespace pawl {
namespace {

using namespace std::chrono_literals;

__extension__ typedef unsigned __int128 Natural;  // NOLINT(modernize-use-using)

TEST(Growth, SettlesAtItsMaximum) {
  Growth growth(10s, 2'000, 35s);
  for (const Duration delay : {10s, 20s, 35s}) {
    EXPECT_EQ(growth.now(), delay);
    EXPECT_EQ(growth.is_settled(), delay == 35s);
    growth.step();
  }
  EXPECT_EQ(growth.now(), 35s);
}

TEST(Growth, SettlesWithinItsBound) {
  Growth growth(1us, 1'001, kDurationMax);
  int steps = 0;
  for (; !growth.is_settled(); ++steps) growth.step();
  EXPECT_EQ(growth.now(), kDurationMax);
  EXPECT_GT(steps, 40'000);
  EXPECT_LE(steps, 41'000);
}

TEST(Growth, WhatCannotGrowIsSettled) {
  EXPECT_TRUE(Growth(0s, 2'000, 1h).is_settled());
  EXPECT_TRUE(Growth(5s, 1'000, 1h).is_settled());
  EXPECT_TRUE(Growth(5h, 2'000, 1h).is_settled());
  EXPECT_FALSE(Growth(1us, 1'001, 1h).is_settled());
}

TEST(Grown, IsExactWhereTheResultIsWhole) {
  EXPECT_EQ(grown(10s, 1'500, 2, kDurationMax), 22'500ms);
  EXPECT_EQ(grown(10s, 1'100, 3, kDurationMax), 13'310ms);
  EXPECT_EQ(grown(1us, 2'000, 58, kDurationMax), Duration{std::int64_t{1} << 58});
  EXPECT_EQ(grown(Duration{std::int64_t{1} << 19}, 1'125, 6, kDurationMax),
            Duration{2 * 9 * 9 * 9 * 9 * 9 * 9});
  EXPECT_EQ(grown(Duration{1'000'000'000'000'000}, 1'001, 5, kDurationMax),
            Duration{1'001LL * 1'001 * 1'001 * 1'001 * 1'001});
  EXPECT_EQ(grown(1us, 1'000'000, 5, kDurationMax), Duration{1'000'000'000'000'000});
}

TEST(Grown, RoundsDownAndCarriesTheRest) {
  EXPECT_EQ(grown(1us, 1'500, 1, kDurationMax), 1us);
  EXPECT_EQ(grown(1us, 1'500, 2, kDurationMax), 2us);  // 2.25
  EXPECT_EQ(grown(1us, 1'500, 3, kDurationMax), 3us);  // 3.375
  EXPECT_EQ(grown(1us, 1'001, 692, kDurationMax), 1us);
  EXPECT_EQ(grown(1us, 1'001, 694, kDurationMax), 2us);  // 2.001
}

TEST(Grown, NeverGoesBeyondItsMaximum) {
  for (const int factor : {1'001, 1'500, 2'000, 999'999, 1'000'000})
    for (const Duration first : {Duration{1us}, Duration{1h}, kDurationMax - 1us, kDurationMax})
      for (const Duration max : {Duration{1us}, Duration{1h}, kDurationMax - 1us, kDurationMax})
        EXPECT_EQ(grown(first, factor, INT_MAX, max), max);
}

TEST(Grown, NoughtAndTheFactorOneStay) {
  EXPECT_EQ(grown(0s, 1'000'000, INT_MAX, kDurationMax), 0s);
  EXPECT_EQ(grown(7s, 1'000, INT_MAX, kDurationMax), 7s);
  EXPECT_EQ(grown(7s, 1'000, INT_MAX, 5s), 5s);
  EXPECT_EQ(grown(7s, 1'500, 0, kDurationMax), 7s);
}

// Against the exact fraction, whose parts fit as long as the steps are few.
TEST(Grown, AgreesWithExactArithmetic) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto first = static_cast<std::int64_t>(random() % 10'000'000);
    const int factor = 1'000 + static_cast<int>(random() % (i % 2 == 0 ? 3'000 : 999'001));
    const auto longest = static_cast<Natural>(kDurationMax.count());
    Natural above = static_cast<std::uint64_t>(first);
    Natural below = 1;
    for (int steps = 0; steps < 5; ++steps, above *= static_cast<unsigned>(factor), below *= 1'000)
      ASSERT_EQ(grown(Duration{first}, factor, steps, kDurationMax),
                Duration{static_cast<std::int64_t>(std::min(above / below, longest))})
          << first << "us by " << factor << " after " << steps;
  }
}

TEST(Grown, NeverShrinks) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2'000; ++i) {
    const Duration first{static_cast<std::int64_t>(random() % 1'000'000'000)};
    const Duration max{static_cast<std::int64_t>(random() >> (6 + random() % 40))};
    const int factor = 1'000 + static_cast<int>(random() % 999'001);
    Duration before{0};
    for (int steps = 0; steps < 40; ++steps) {
      const Duration now = grown(first, factor, steps, std::min(max, kDurationMax));
      ASSERT_GE(now, before);
      ASSERT_LE(now, max);
      before = now;
    }
  }
}

}  // namespace
}  // namespace pawl
