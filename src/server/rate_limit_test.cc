#include "server/rate_limit.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(RateLimit, ASecondsWorthMayComeAtOnceAndThenFlowsInAgain) {
  RateLimit rate(10);
  const TokenHash who{};
  const RateLimit::Clock::time_point start{seconds{100}};
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rate.refused(who, start)) << i;
  EXPECT_EQ(rate.refused(who, start), milliseconds{100});
  EXPECT_EQ(rate.refused(who, start + milliseconds{60}), milliseconds{40});
  EXPECT_FALSE(rate.refused(who, start + milliseconds{100}));
  EXPECT_TRUE(rate.refused(who, start + milliseconds{100}));
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(rate.refused(who, start + seconds{60})) << i;
  EXPECT_TRUE(rate.refused(who, start + seconds{60}));
}

TEST(RateLimit, EachTokenHasItsOwn) {
  RateLimit rate(1);
  const RateLimit::Clock::time_point start{seconds{100}};
  for (int i = 0; i < 5'000; ++i) {  // more than are remembered when they are full
    TokenHash who{};
    who[0] = static_cast<std::byte>(i % 256);
    who[1] = static_cast<std::byte>(i / 256);
    EXPECT_FALSE(rate.refused(who, start));
    EXPECT_TRUE(rate.refused(who, start));
  }
  EXPECT_TRUE(rate.refused(TokenHash{}, start));
}

TEST(RateLimit, ZeroIsNoBound) {
  RateLimit rate(0);
  for (int i = 0; i < 1'000; ++i) EXPECT_FALSE(rate.refused(TokenHash{}, {}));
}

}  // namespace
}  // namespace pawl
