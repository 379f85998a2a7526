#include "engine/breaker.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Instant kNow{};

void fail(Breaker& breaker, int times, Instant now) {
  for (int i = 0; i < times; ++i) {
    breaker.started();
    breaker.ended(Breaker::End::failed, now);
  }
}

TEST(BreakerTest, LetsAsManyRunAsMay) {
  Breaker breaker(2);
  breaker.started();
  EXPECT_TRUE(breaker.may_start(kNow));
  breaker.started();
  EXPECT_FALSE(breaker.may_start(kNow));
  breaker.ended(Breaker::End::given_back, kNow);
  EXPECT_TRUE(breaker.may_start(kNow));
}

TEST(BreakerTest, OpensAfterFailuresInARow) {
  Breaker breaker(8);
  fail(breaker, 4, kNow);
  breaker.started();
  breaker.ended(Breaker::End::delivered, kNow);
  fail(breaker, 4, kNow);
  EXPECT_FALSE(breaker.is_open());
  fail(breaker, 1, kNow);
  EXPECT_TRUE(breaker.is_open());
  EXPECT_FALSE(breaker.may_start(kNow));
}

TEST(BreakerTest, LetsSingleCanariesThroughFurtherAndFurtherApart) {
  Breaker breaker(8);
  fail(breaker, 5, kNow);
  EXPECT_EQ(breaker.next(), kNow + seconds{5});
  EXPECT_FALSE(breaker.may_start(kNow + seconds{4}));
  EXPECT_TRUE(breaker.may_start(kNow + seconds{5}));
  breaker.started();
  EXPECT_FALSE(breaker.may_start(kNow + hours{1}));
  EXPECT_EQ(breaker.next(), std::nullopt);  // it is under way
  breaker.ended(Breaker::End::failed, kNow + seconds{6});
  EXPECT_EQ(breaker.next(), kNow + seconds{16});
  Instant now = kNow;
  for (int i = 0; i < 10; ++i) {
    now = *breaker.next();
    fail(breaker, 1, now);
  }
  EXPECT_EQ(breaker.next(), now + Breaker::kLongestPause);
}

TEST(BreakerTest, ReopensInSteps) {
  Breaker breaker(5);
  fail(breaker, 5, kNow);
  const auto may_run = [&](Instant now) {
    int count = 0;
    for (; breaker.may_start(now); ++count) breaker.started();
    return count;
  };
  const Instant later = kNow + seconds{5};
  EXPECT_EQ(may_run(later), 1);
  breaker.ended(Breaker::End::delivered, later);
  EXPECT_EQ(may_run(later), 2);
  breaker.ended(Breaker::End::delivered, later);
  EXPECT_EQ(may_run(later), 3);
  breaker.ended(Breaker::End::delivered, later);
  EXPECT_EQ(may_run(later), 2);
}

TEST(BreakerTest, OneFailureOnTheWayBackOpensItAgain) {
  Breaker breaker(8);
  fail(breaker, 5, kNow);
  breaker.started();
  breaker.ended(Breaker::End::delivered, kNow + seconds{5});
  fail(breaker, 1, kNow + seconds{5});
  EXPECT_FALSE(breaker.may_start(kNow + seconds{5}));
  EXPECT_TRUE(breaker.may_start(kNow + seconds{10}));
}

}  // namespace
}  // namespace pawl
