#include "pipe/load_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace pawl {
namespace {

using Items = std::vector<std::uint32_t>;

Items next_of(LoadPlan& plan) {
  const auto group = plan.next();
  return {group.begin(), group.end()};
}

std::uint32_t below(std::uint32_t end, std::mt19937& random) {
  return std::uniform_int_distribution<std::uint32_t>(0, end - 1)(random);
}

TEST(LoadPlan, BeginsWithAllOfThem) {
  LoadPlan plan(4);
  EXPECT_EQ(next_of(plan), (Items{0, 1, 2, 3}));
  EXPECT_EQ(plan.remaining(), 4U);
  EXPECT_FALSE(plan.empty());
}

TEST(LoadPlan, OfNothingIsEmpty) {
  LoadPlan plan(0);
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(next_of(plan), Items{});
}

TEST(LoadPlan, IsEmptyWhenAllAreFinished) {
  LoadPlan plan(3);
  plan.finished(plan.next());
  EXPECT_TRUE(plan.empty());
  EXPECT_EQ(next_of(plan), Items{});
}

TEST(LoadPlan, GivesAgainOnlyWhatHasToBeSentAgain) {
  LoadPlan plan(4);
  plan.finished(Items{0, 3});
  plan.again(Items{1, 2});
  EXPECT_EQ(plan.remaining(), 2U);
  EXPECT_EQ(next_of(plan), (Items{1, 2}));
  plan.again(plan.next());
  EXPECT_EQ(next_of(plan), (Items{1, 2}));
  plan.again(Items{});
  plan.finished(plan.next());
  EXPECT_TRUE(plan.empty());
}

TEST(LoadPlan, GivesWhatNothingWasSaidOf) {
  LoadPlan plan(4);
  plan.finished(Items{2});
  EXPECT_EQ(next_of(plan), (Items{0, 1, 3}));
  plan.again(Items{0});
  EXPECT_EQ(next_of(plan), (Items{1, 3}));
  plan.finished(plan.next());
  EXPECT_EQ(next_of(plan), Items{0});
}

TEST(LoadPlan, SendsHalvesNext) {
  LoadPlan plan(5);
  EXPECT_TRUE(plan.split());
  EXPECT_EQ(next_of(plan), (Items{0, 1}));
  EXPECT_TRUE(plan.split());
  EXPECT_EQ(next_of(plan), Items{0});
  EXPECT_FALSE(plan.split()) << "it is the one";
  EXPECT_EQ(next_of(plan), Items{0});
  plan.again(plan.next());
  EXPECT_EQ(next_of(plan), Items{1});
  plan.finished(plan.next());
  EXPECT_EQ(next_of(plan), (Items{2, 3, 4})) << "halves come before what waits behind";
  plan.finished(plan.next());
  EXPECT_EQ(next_of(plan), Items{0});
}

TEST(LoadPlan, CountsHowOftenAGroupFailed) {
  LoadPlan plan(4);
  EXPECT_EQ(plan.failed(), 1);
  EXPECT_EQ(next_of(plan), (Items{0, 1, 2, 3}));
  EXPECT_EQ(plan.failed(), 2);
  EXPECT_TRUE(plan.split());
  EXPECT_EQ(plan.failed(), 1) << "a half is a group of its own";
  plan.finished(plan.next());
  EXPECT_EQ(plan.failed(), 1);
}

TEST(LoadPlanDeathTest, RefusesWhatWasNotSent) {
  LoadPlan plan(4);
  EXPECT_TRUE(plan.split());
  EXPECT_DEATH(plan.finished(Items{9}), "once");
  EXPECT_DEATH(plan.finished(Items({1, 1})), "once");
  EXPECT_DEATH(
      {
        plan.finished(Items{3});
        plan.next();
      },
      "only of items of the group");
}

// Says anything at all of groups until nothing is left.
TEST(LoadPlan, FinishesEachOnceWhateverIsAnswered) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::uint32_t items = below(200, random);
    LoadPlan plan(items);
    std::vector<int> finished(items);
    std::size_t left = items;
    while (!plan.empty()) {
      Items group = next_of(plan);
      ASSERT_FALSE(group.empty());
      ASSERT_EQ(std::set<std::uint32_t>(group.begin(), group.end()).size(), group.size());
      const std::uint32_t answer = below(8, random);
      if (answer == 0) {
        ASSERT_EQ(plan.split(), group.size() > 1);
      } else if (answer == 1) {
        plan.failed();
      } else {
        std::shuffle(group.begin(), group.end(), random);
        const auto size = static_cast<std::uint32_t>(group.size());
        const std::uint32_t done_count = below(size + 1, random);
        const auto done = group.begin() + done_count;
        const auto later = done + below(size - done_count + 1, random);
        plan.finished({group.begin(), done});
        plan.again({done, later});
        for (auto item = group.begin(); item != done; ++item) ++finished[*item];
        left -= static_cast<std::size_t>(done - group.begin());
      }
      ASSERT_EQ(plan.remaining(), left);
    }
    EXPECT_EQ(std::count(finished.begin(), finished.end(), 1), items);
  }
}

// A request with a poisoned item fails as a whole; one without succeeds.
TEST(LoadPlan, FindsPoisonInFewRequests) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::uint32_t items = 1 + below(3'000, random);
    std::set<std::uint32_t> poison;
    for (std::uint32_t at = below(6, random); at > 0; --at) poison.insert(below(items, random));
    LoadPlan plan(items);
    std::set<std::uint32_t> found;
    std::size_t requests = 0;
    for (; !plan.empty(); ++requests) {
      const auto group = plan.next();
      const bool fails = std::any_of(group.begin(), group.end(),
                                     [&](std::uint32_t item) { return poison.contains(item); });
      if (fails && plan.split()) continue;
      if (fails) found.insert(plan.next().front());
      plan.finished(plan.next());
    }
    EXPECT_EQ(found, poison);
    const auto levels = static_cast<std::size_t>(std::bit_width(items - 1));  // log₂, rounded up
    EXPECT_LE(requests, std::max<std::size_t>(1, poison.size() * (2 * levels + 2)));
  }
}

}  // namespace
}  // namespace pawl
