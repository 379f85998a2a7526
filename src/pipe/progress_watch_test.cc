#include "pipe/progress_watch.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using std::chrono::seconds;

const Instant kWatchStart = *parse_instant("2026-03-02T09:00:00Z");

PartitionView view_of(std::uint64_t consumed, std::uint64_t indexed, std::int64_t high = 1'000) {
  PartitionView view{.id = {"events", 0},
                     .state = "load",
                     .watermark = static_cast<std::int64_t>(indexed),
                     .high = high,
                     .consumed = consumed};
  view.counted.indexed = indexed;
  return view;
}

PartitionView told(const ProgressWatch& watch) {
  PartitionView view{.id = {"events", 0}};
  watch.tell(view);
  return view;
}

TEST(ProgressWatch, SaysHowFastThingsWentInTheLastSeconds) {
  ProgressWatch watch;
  for (int second = 0; second <= 30; ++second) {
    // 100 a second, and in the last ten seconds 10.
    const auto count =
        static_cast<std::uint64_t>(second < 20 ? second * 100 : 2'000 + (second - 20) * 10);
    watch.look({view_of(count + 5, count)}, kWatchStart + seconds{second});
  }
  EXPECT_DOUBLE_EQ(told(watch).in_per_second, 10);
  EXPECT_DOUBLE_EQ(told(watch).out_per_second, 10);
}

TEST(ProgressWatch, SaysNothingOfOneLookOrOfCountsThatBeganAgain) {
  ProgressWatch watch;
  watch.look({view_of(100, 50)}, kWatchStart);
  EXPECT_EQ(told(watch).in_per_second, 0);
  watch.look({view_of(200, 60)}, kWatchStart + seconds{1});
  EXPECT_EQ(told(watch).in_per_second, 100);
  watch.look({view_of(10, 0)}, kWatchStart + seconds{2});
  EXPECT_EQ(told(watch).in_per_second, 0);
  watch.look({}, kWatchStart + seconds{3});
  EXPECT_EQ(told(watch).in_per_second, 0);
}

TEST(ProgressWatch, SaysHowLongItHasBeenInEachState) {  // S1-19
  ProgressWatch watch;
  watch.look({view_of(1, 1)}, kWatchStart);
  EXPECT_TRUE(told(watch).state_seconds.empty());
  watch.look({view_of(1, 1)}, kWatchStart + seconds{2});
  PartitionView retrying = view_of(1, 1);
  retrying.state = "retrying";
  watch.look({retrying}, kWatchStart + seconds{5});
  watch.look({retrying}, kWatchStart + seconds{6});
  const std::map<std::string, double> expected = {{"load", 2.0}, {"retrying", 4.0}};
  EXPECT_EQ(told(watch).state_seconds, expected);
}

TEST(ProgressWatch, FindsAPartitionThatStandsStillForNoReason) {
  ProgressWatch watch;
  watch.look({view_of(100, 50)}, kWatchStart);
  EXPECT_TRUE(watch.look({view_of(100, 50)}, kWatchStart + seconds{59}).empty());
  EXPECT_FALSE(told(watch).is_stalled);
  EXPECT_EQ(watch.look({view_of(100, 50)}, kWatchStart + seconds{60}).size(), 1U);
  EXPECT_TRUE(told(watch).is_stalled);
  EXPECT_TRUE(watch.look({view_of(100, 50)}, kWatchStart + seconds{61}).empty());  // said once
  EXPECT_TRUE(watch.look({view_of(100, 51)}, kWatchStart + seconds{62}).empty());
  EXPECT_FALSE(told(watch).is_stalled);
}

TEST(ProgressWatch, KnowsWhyAPartitionStandsStill) {
  PartitionView retrying = view_of(100, 50);
  retrying.state = "retrying";
  PartitionView paused = view_of(100, 50);
  paused.is_paused = true;
  PartitionView held = view_of(100, 50);
  held.hold = "look at it";
  for (const PartitionView& view :
       {retrying, paused, held, view_of(50, 50, 50), view_of(50, 50, -1)}) {
    ProgressWatch watch;
    watch.look({view}, kWatchStart);
    EXPECT_TRUE(watch.look({view}, kWatchStart + seconds{100}).empty()) << view.state;
    EXPECT_FALSE(told(watch).is_stalled);
  }
}

TEST(ProgressWatch, LooksOnceASecond) {
  ProgressWatch watch;
  EXPECT_TRUE(watch.is_due(kWatchStart));
  watch.look({}, kWatchStart);
  EXPECT_FALSE(watch.is_due(kWatchStart + std::chrono::milliseconds{999}));
  EXPECT_TRUE(watch.is_due(kWatchStart + seconds{1}));
  EXPECT_TRUE(watch.is_due(kWatchStart - seconds{1}));  // the clock was put back
}

}  // namespace
}  // namespace pawl
