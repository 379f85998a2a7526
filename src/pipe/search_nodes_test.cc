#include "pipe/search_nodes.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using namespace std::chrono_literals;

constexpr SearchNodes::Time kBegin{1h};

TEST(SearchNodes, TakeTurns) {
  SearchNodes nodes({"a", "b", "c"});
  for (const std::size_t expected : {0U, 1U, 2U, 0U, 1U}) EXPECT_EQ(nodes.choose(kBegin), expected);
  EXPECT_EQ(nodes.views()[0].url, "a");
  EXPECT_EQ(nodes.views()[0].bulks, 2U);
  EXPECT_EQ(nodes.views()[2].bulks, 1U);
}

TEST(SearchNodes, LeaveOutOneThatFailedForASecond) {
  SearchNodes nodes({"a", "b"});
  EXPECT_EQ(nodes.choose(kBegin), 0U);
  nodes.failed(0, "refused", kBegin);
  EXPECT_EQ(nodes.choose(kBegin), 1U);
  EXPECT_EQ(nodes.choose(kBegin + 999ms), 1U);
  EXPECT_TRUE(nodes.views()[0].is_down);
  EXPECT_EQ(nodes.views()[0].error, "refused");
  EXPECT_EQ(nodes.views()[0].failures, 1U);
  EXPECT_EQ(nodes.choose(kBegin + 1s), 0U);
  EXPECT_EQ(nodes.choose(kBegin + 1s), 1U);
  EXPECT_EQ(nodes.choose(kBegin + 1s), 1U) << "one at a time tries it again";
  nodes.answered(0);
  EXPECT_FALSE(nodes.views()[0].is_down);
  EXPECT_EQ(nodes.choose(kBegin + 1s), 0U);
}

// How long a node is left alone after it failed once more.
std::chrono::milliseconds delay_of(SearchNodes& nodes, SearchNodes::Time& now) {
  for (const auto begin = now;; now += 500ms)
    if (nodes.choose(now) == 0) {
      nodes.failed(0, "still refused", now);
      return std::chrono::duration_cast<std::chrono::milliseconds>(now - begin);
    }
}

TEST(SearchNodes, WaitTwiceAsLongUpToHalfAMinute) {
  SearchNodes nodes({"a", "b"});
  SearchNodes::Time now = kBegin;
  EXPECT_EQ(delay_of(nodes, now), 0s);
  for (const auto expected : {1s, 2s, 4s, 8s, 16s, 30s, 30s})
    EXPECT_EQ(delay_of(nodes, now), expected);
  nodes.answered(0);
  nodes.failed(0, "refused", now);
  EXPECT_EQ(delay_of(nodes, now), 1s) << "from the beginning";
}

TEST(SearchNodes, CountWhatFailsTogetherOnce) {
  SearchNodes nodes({"a", "b"});
  for (int at = 0; at < 8; ++at) nodes.choose(kBegin);
  for (int at = 0; at < 4; ++at) nodes.failed(0, "closed", kBegin);
  EXPECT_EQ(nodes.views()[0].failures, 4U);
  SearchNodes::Time now = kBegin;
  EXPECT_EQ(delay_of(nodes, now), 1s);
}

TEST(SearchNodes, TryTheOneThatIsDueSoonestWhenAllAreDown) {
  SearchNodes nodes({"a", "b", "c"});
  nodes.failed(1, "", kBegin);
  nodes.failed(2, "", kBegin + 1ms);
  nodes.failed(0, "", kBegin + 2ms);
  EXPECT_EQ(nodes.choose(kBegin + 3ms), 1U);
  EXPECT_EQ(nodes.choose(kBegin + 3ms), 2U);
  EXPECT_EQ(nodes.choose(kBegin + 3ms), 0U);
  EXPECT_EQ(nodes.choose(kBegin + 3ms), 1U) << "and never waits";
}

}  // namespace
}  // namespace pawl
