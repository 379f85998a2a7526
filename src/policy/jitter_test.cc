#include "policy/jitter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <random>
#include <set>
#include <string>

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Jitter = Delays::Jitter;

constexpr std::uint64_t kLast = 0xffff'ffff'ffff'ffff;

Delays with(Jitter jitter, int percent = 0) {
  return {.kind = Delays::Kind::formula, .jitter = jitter, .jitter_percent = percent};
}

TEST(JitterDraw, IsTheSameForEver) {
  // What was drawn once is drawn in every replay: these numbers may not change.
  EXPECT_EQ(jitter_draw("", "", 0, 0), 13'996'227'117'022'396'525U);
  EXPECT_EQ(jitter_draw("order", "A-1", 7, 1'770'000'000'000'000), 15'832'910'824'043'482'825U);
  EXPECT_EQ(jitter_draw("order", "Ä", -1, -2), 9'832'011'134'859'342'141U);
}

TEST(JitterDraw, DependsOnEveryArgument) {
  const std::set<std::uint64_t> draws = {
      jitter_draw("order", "a", 1, 1), jitter_draw("orders", "a", 1, 1),
      jitter_draw("order", "b", 1, 1), jitter_draw("order", "a", 2, 1),
      jitter_draw("order", "a", 1, 2), jitter_draw("order", "a", -1, 1),
      jitter_draw("ordera", "", 1, 1), jitter_draw("", "ordera", 1, 1),
      jitter_draw("a", "order", 1, 1), jitter_draw("order", std::string(1, '\0'), 1, 1),
      jitter_draw("order", "", 1, 1),  jitter_draw("order", "\xff", 1, 1)};
  EXPECT_EQ(draws.size(), 12U);
}

TEST(JitterDraw, IsEvenlySpreadOverRecordsThatDifferInOneDigit) {
  // 64,000 draws into 64 boxes: 1,000 each, and 5 standard deviations (158) either way.
  constexpr int kBoxes = 64;
  std::array<int, kBoxes> by_key{};
  std::array<int, kBoxes> by_revision{};
  std::array<int, kBoxes> by_fence{};
  for (int i = 0; i < kBoxes * 1'000; ++i) {
    ++by_key[jitter_draw("order", std::to_string(i), 3, 1'770'000'000'000'000) >> 58];
    ++by_revision[jitter_draw("order", "A-1", i, 1'770'000'000'000'000) >> 58];
    ++by_fence[jitter_draw("order", "A-1", 3, 1'770'000'000'000'000 + i) >> 58];
  }
  for (const auto& boxes : {by_key, by_revision, by_fence}) {
    EXPECT_GT(*std::min_element(boxes.begin(), boxes.end()), 842);
    EXPECT_LT(*std::max_element(boxes.begin(), boxes.end()), 1'158);
  }
}

TEST(JitterDraw, OneBitOfAnArgumentTurnsHalfTheBits) {
  double turned = 0;
  int pairs = 0;
  for (std::int64_t revision = 0; revision < 200; ++revision)
    for (int bit = 0; bit < 63; ++bit, ++pairs)
      turned += std::popcount(jitter_draw("m", "k", revision, 5) ^
                              jitter_draw("m", "k", revision ^ (std::int64_t{1} << bit), 5));
  EXPECT_NEAR(turned / pairs, 32, 0.5);
}

TEST(Jitter, NoneLeavesTheDelay) {
  for (const std::uint64_t draw : {std::uint64_t{0}, kLast})
    EXPECT_EQ(jittered(10s, with(Jitter::none), draw), 10s);
}

TEST(Jitter, RangesAreThoseOfTheLanguage) {
  EXPECT_EQ(jitter_range(10s, with(Jitter::none)), (JitterRange{10s, 10s}));
  EXPECT_EQ(jitter_range(10s, with(Jitter::full)), (JitterRange{0s, 10s}));
  EXPECT_EQ(jitter_range(10s, with(Jitter::equal)), (JitterRange{5s, 10s}));
  EXPECT_EQ(jitter_range(10s, with(Jitter::percent, 20)), (JitterRange{8s, 12s}));
  EXPECT_EQ(jitter_range(10s, with(Jitter::percent, 100)), (JitterRange{0s, 20s}));
  EXPECT_EQ(jitter_range(10s, with(Jitter::percent, 1)), (JitterRange{9'900ms, 10'100ms}));
}

TEST(Jitter, RangesAreRoundedInward) {
  EXPECT_EQ(jitter_range(3us, with(Jitter::equal)), (JitterRange{2us, 3us}));
  EXPECT_EQ(jitter_range(99us, with(Jitter::percent, 1)), (JitterRange{99us, 99us}));
  EXPECT_EQ(jitter_range(199us, with(Jitter::percent, 50)), (JitterRange{100us, 298us}));
}

TEST(Jitter, BothEndsAreReached) {
  for (const Delays& delays : {with(Jitter::full), with(Jitter::equal), with(Jitter::percent, 50)})
    for (const Duration delay : {Duration{0us}, Duration{1us}, Duration{10s}, kDurationMax}) {
      const JitterRange range = jitter_range(delay, delays);
      EXPECT_EQ(jittered(delay, delays, 0), range.least);
      EXPECT_EQ(jittered(delay, delays, kLast), range.most);
    }
}

TEST(Jitter, IsNeverNegativeAndNeverBeyondTheLongestDuration) {
  for (const Delays& delays : {with(Jitter::none), with(Jitter::full), with(Jitter::equal),
                               with(Jitter::percent, 1), with(Jitter::percent, 100)})
    for (const Duration delay : {Duration{0}, Duration{1}, kDurationMax / 2 + 1us, kDurationMax}) {
      const JitterRange range = jitter_range(delay, delays);
      EXPECT_GE(range.least, Duration{0});
      EXPECT_LE(range.least, range.most);
      EXPECT_LE(range.most, kDurationMax);
    }
}

TEST(Jitter, EveryMicrosecondOfTheRangeIsAsLikely) {
  std::mt19937_64 random(7);
  std::array<int, 11> boxes{};
  for (int i = 0; i < 110'000; ++i)
    ++boxes[static_cast<std::size_t>(jittered(10us, with(Jitter::percent, 50), random()).count() -
                                     5)];
  EXPECT_GT(*std::min_element(boxes.begin(), boxes.end()), 9'500);
  EXPECT_LT(*std::max_element(boxes.begin(), boxes.end()), 10'500);
}

}  // namespace
}  // namespace pawl
