#include "policy/course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace pawl {
namespace {

using namespace std::chrono_literals;

const Between kUnknown{std::nullopt, std::nullopt};

Between between(Duration least, Duration most) { return {least, most}; }

Delays listed(std::vector<DurationValue> list) { return {.list = std::move(list)}; }

Delays formula(Duration first, std::optional<DurationValue> max = {},
               std::optional<int> attempts = {}) {
  return {
      .kind = Delays::Kind::formula, .first = first, .max = std::move(max), .attempts = attempts};
}

TEST(Course, GoesFromFailureToFailure) {
  const Delays delays = listed({0s, 1min});
  Course course(delays, 30s);
  EXPECT_EQ(course.failure(), 1);
  EXPECT_EQ(course.failed_at(), between(0s, 30s));
  EXPECT_EQ(course.wait(), between(0s, 0s));
  EXPECT_EQ(course.next_start(), between(0s, 30s));
  course.go_on();
  EXPECT_EQ(course.failed_at(), between(0s, 1min));
  EXPECT_EQ(course.next_start(), between(1min, 2min));
  EXPECT_FALSE(course.gives_up());
  course.go_on();
  EXPECT_TRUE(course.gives_up());
  EXPECT_EQ(course.failure(), 3);
  EXPECT_EQ(course.failed_at(), between(1min, 2min + 30s));
}

TEST(Course, JitterIsShortAtTheSoonestAndLongAtTheLatest) {
  Delays delays = formula(10s, 1min);
  delays.jitter = Delays::Jitter::percent;
  delays.jitter_percent = 20;
  Course course(delays, 0s);
  EXPECT_EQ(course.wait(), between(8s, 12s));
  course.go_on();
  EXPECT_EQ(course.wait(), between(16s, 24s));
  EXPECT_EQ(course.next_start(), between(24s, 36s));
}

TEST(Course, SettlesWhereItsDelaysDo) {
  const Delays growing = formula(10s, 20s);
  Course course(growing, 1s);
  EXPECT_FALSE(course.is_settled());
  course.go_on();
  EXPECT_TRUE(course.is_settled());
  EXPECT_EQ(course.apart(), between(20s, 21s));
  course.go_on(1'000);
  EXPECT_EQ(course.failure(), 1'002);
  EXPECT_EQ(course.failed_at(), between(20'010s, 21'012s));
  const Delays fixed{.kind = Delays::Kind::fixed, .first = 30s};
  EXPECT_TRUE(Course(fixed, 1s).is_settled());
  EXPECT_FALSE(Course(fixed, 1s).go_to_end());
}

TEST(Course, WithoutATimeoutTheLatestIsNotKnown) {
  const Delays delays = listed({10min, 10min});
  Course course(delays, {});
  EXPECT_EQ(course.next_start(), (Between{10min, std::nullopt}));
  EXPECT_TRUE(course.go_to_end());
  EXPECT_EQ(course.failed_at(), (Between{20min, std::nullopt}));
}

TEST(Course, ATemplateMakesEverySumAfterItUnknown) {
  const Delays delays = listed({1s, "{data.wait}", 5s});
  Course course(delays, 1min);
  EXPECT_EQ(course.next_start(), between(1s, 61s));
  course.go_on();
  EXPECT_EQ(course.wait(), kUnknown);
  course.go_on();
  EXPECT_EQ(course.wait(), between(5s, 5s));
  EXPECT_EQ(course.next_start(), kUnknown);
  Delays growing = formula(1s, DurationValue("{data.max}"), 1'000'000);
  Course unknown(growing, 1min);
  EXPECT_EQ(unknown.wait(), kUnknown);
  EXPECT_TRUE(unknown.go_to_end());
  EXPECT_EQ(unknown.failure(), 1'000'000);
}

TEST(Course, OneAttemptGivesUpAtOnce) {
  const Delays delays = listed({});
  Course course(delays, 5min);
  EXPECT_TRUE(course.gives_up());
  EXPECT_TRUE(course.go_to_end());
  EXPECT_EQ(course.failure(), 1);
  EXPECT_EQ(course.failed_at(), between(0s, 5min));
}

TEST(Course, SumsStopAtTheLongestDuration) {
  const Delays delays = formula(1h, {}, 2'000'000'000);  // settles after 9,999 years
  Course course(delays, 1h);
  EXPECT_TRUE(course.go_to_end());
  EXPECT_EQ(course.failure(), 2'000'000'000);
  EXPECT_EQ(course.failed_at(), between(kDurationMax, kDurationMax));
}

TEST(Course, WhatGrowsForTooLongIsNotFollowed) {
  Delays delays = formula(1s, {}, 1'001);
  delays.factor_milli = 1'001;
  Course at_the_limit(delays, 0s);
  EXPECT_TRUE(at_the_limit.go_to_end());
  EXPECT_TRUE(at_the_limit.failed_at().most.has_value());
  delays.attempts = 1'002;
  Course beyond(delays, 0s);
  EXPECT_TRUE(beyond.go_to_end());
  EXPECT_EQ(beyond.failure(), 1'002);
  EXPECT_EQ(beyond.failed_at(), kUnknown);
  EXPECT_EQ(failures_until(Course(delays, 0s), 1'000s), 694);
  EXPECT_EQ(failures_until(Course(delays, 0s), 1h), std::nullopt);
}

Delays any_delays(std::mt19937_64& random) {
  Delays delays = formula(Duration{static_cast<std::int64_t>(random() % 5'000'000)},
                          DurationValue(Duration{static_cast<std::int64_t>(random() % 60'000'000)}),
                          1 + static_cast<int>(random() % 60));
  delays.factor_milli = 1'000 + static_cast<int>(random() % 3'000);
  delays.jitter = static_cast<Delays::Jitter>(random() % 4);
  delays.jitter_percent = 1 + static_cast<int>(random() % 100);
  return delays;
}

TEST(Course, TheEndIsWhereAllStepsLead) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 2'000; ++i) {
    const Delays delays = any_delays(random);
    Course steps(delays, 7s);
    while (!steps.gives_up()) steps.go_on();
    Course at_once(delays, 7s);
    ASSERT_TRUE(at_once.go_to_end());
    EXPECT_EQ(at_once.failure(), *delays.attempts);
    EXPECT_EQ(at_once.failure(), steps.failure());
    EXPECT_EQ(at_once.failed_at(), steps.failed_at());
  }
}

TEST(FailuresUntil, CountsToTheFirstFailureOrStartThatLate) {
  const Delays delays =
      listed({1min, 1min});  // at the latest: fails 10s, 80s, 150s; starts 70s, 140s
  EXPECT_EQ(failures_until(Course(delays, 10s), 0s), 1);
  EXPECT_EQ(failures_until(Course(delays, 10s), 70s), 1);
  EXPECT_EQ(failures_until(Course(delays, 10s), 71s), 2);
  EXPECT_EQ(failures_until(Course(delays, 10s), 150s), 3);
  EXPECT_EQ(failures_until(Course(delays, 10s), 151s), std::nullopt);
}

TEST(FailuresUntil, GoesFarWithoutEnd) {
  const Delays fixed{.kind = Delays::Kind::fixed, .first = 1ms};
  EXPECT_EQ(failures_until(Course(fixed, 0s), 24h * 365), 31'536'000'000);
  const Delays at_once{.kind = Delays::Kind::fixed};
  EXPECT_EQ(failures_until(Course(at_once, 0s), 1h), std::nullopt);
  EXPECT_EQ(failures_until(Course(fixed, {}), 1h), std::nullopt);
}

TEST(FailuresUntil, AgreesWithEveryStepTaken) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 2'000; ++i) {
    const Delays delays = any_delays(random);
    const Duration elapsed{static_cast<std::int64_t>(random() % 1'000'000'000)};
    std::optional<std::int64_t> expected;
    Course course(delays, 2s);
    for (; !course.gives_up() && !expected; course.go_on())
      if (*course.next_start().most >= elapsed) expected = course.failure();
    if (!expected && *course.failed_at().most >= elapsed) expected = course.failure();
    EXPECT_EQ(failures_until(Course(delays, 2s), elapsed), expected);
  }
}

}  // namespace
}  // namespace pawl
