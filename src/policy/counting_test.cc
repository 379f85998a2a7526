// R0-4, S2-20: which failures belong together, and when counting begins again.
#include "policy/counting.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

using Count = Policy::Count;

Instant at(int seconds) { return Instant(std::chrono::seconds(seconds)); }

Record failed_in(std::string_view state, int times, Count count = Count::state) {
  Record record;
  for (int k = 1; k <= times; ++k) {
    ++record.attempt;
    count_failure(record, {.state = state, .since = at(k)}, "oops", count);
  }
  return record;
}

TEST(Counting, FailuresOfOneStateAddUp) {
  const Record record = failed_in("paying", 3);
  EXPECT_EQ(record.failures, 3);
  EXPECT_EQ(record.attempt, 3);
  EXPECT_EQ(record.failing_since, at(1));
  EXPECT_EQ(record.streak.state, "paying");
  EXPECT_EQ(record.streak.code_failures, 3);
}

TEST(Counting, AnotherCodeBeginsARunOfItsOwn) {
  Record record = failed_in("paying", 2);
  count_failure(record, {.state = "paying", .since = at(9)}, "lease_lost", Count::state);
  EXPECT_EQ(record.failures, 3);
  EXPECT_EQ(record.streak.code, "lease_lost");
  EXPECT_EQ(record.streak.code_failures, 1);
  count_failure(record, {.state = "paying", .since = at(9)}, "oops", Count::state);
  EXPECT_EQ(record.streak.code_failures, 1);
}

TEST(Counting, AFailureElsewhereBeginsANewStreak) {
  Record record = failed_in("paying", 2);
  record.attempt = 3;
  count_failure(record, {.state = "shipping", .since = at(7)}, "oops", Count::state);
  EXPECT_EQ(record.failures, 1);
  EXPECT_EQ(record.attempt, 1);
  EXPECT_EQ(record.failing_since, at(7));
  EXPECT_EQ(record.streak.state, "shipping");
  EXPECT_EQ(record.streak.code_failures, 1);
  count_failure(record, {.state = "x", .since = at(8), .was_attempt = false}, "c", Count::state);
  EXPECT_EQ(record.attempt, 0);
}

TEST(Counting, FailuresOnTheWayBackCountToo) {
  Record record = failed_in("paying", 2);
  count_failure(record, {.state = "new", .is_on_the_way_back = true, .since = at(7)}, "oops",
                Count::state);
  EXPECT_EQ(record.failures, 3);
  EXPECT_EQ(record.failing_since, at(1));
  EXPECT_EQ(record.streak.state, "paying");
}

TEST(Counting, AnEpochCountsAcrossStates) {
  for (const Count count : {Count::epoch, Count::lifetime}) {
    Record record = failed_in("paying", 2, count);
    count_failure(record, {.state = "shipping", .since = at(7)}, "oops", count);
    EXPECT_EQ(record.failures, 3);
    EXPECT_EQ(record.attempt, 2);
    EXPECT_EQ(record.failing_since, at(1));
    EXPECT_EQ(record.streak.state, "shipping");
    EXPECT_EQ(record.streak.code_failures, 3);
  }
}

TEST(Counting, AFailureAfterAGiveUpIsNotTheGiveUp) {
  Record record;
  record.streak = {.state = "a", .gave_up = true};
  count_failure(record, {.state = "a"}, "c", Policy::Count::state);
  EXPECT_FALSE(record.streak.gave_up);
}

TEST(Counting, LaterAnswersAreForgottenByAFailure) {
  Record record;
  record.streak.laters = 4;
  count_failure(record, {.state = "paying"}, "oops", Count::state);
  EXPECT_EQ(record.streak.laters, 0);
}

TEST(Counting, LeavingTheFailingStateEndsTheStreak) {
  Record record = failed_in("paying", 2);
  EXPECT_TRUE(count_leaving(record, "paying"));
  EXPECT_EQ(record, Record{});
}

TEST(Counting, LeavingAStateThatDidNotFailZeroesTheAttempt) {
  Record record;
  record.attempt = 1;
  EXPECT_FALSE(count_leaving(record, "paying"));
  EXPECT_EQ(record.attempt, 0);
}

TEST(Counting, OnTheWayBackNothingIsCleared) {
  Record record = failed_in("paying", 2);
  const Record before = record;
  EXPECT_FALSE(count_leaving(record, "new"));
  EXPECT_EQ(record, before);
}

// R2-15: a week of failures goes on over give-ups that wait for the next plan.
TEST(Counting, GivingUpToAStateKeepsSinceWhenNothingHasWorked) {
  Record record = failed_in("refreshing", 3);
  count_giving_up(record);
  EXPECT_EQ(record.failures, 0);
  EXPECT_EQ(record.attempt, 0);
  EXPECT_EQ(record.streak.code_failures, 0);
  EXPECT_EQ(record.failing_since, at(1));
  EXPECT_FALSE(count_leaving(record, "idle"));
  EXPECT_EQ(record.failing_since, at(1));
  ++record.attempt;
  count_failure(record, {.state = "refreshing", .since = at(50)}, "oops", Count::state);
  EXPECT_EQ(record.failures, 1);
  EXPECT_EQ(record.attempt, 1);
  EXPECT_EQ(record.failing_since, at(1));
  EXPECT_TRUE(count_leaving(record, "refreshing"));
  EXPECT_EQ(record.failing_since, std::nullopt);
}

TEST(Counting, LeavingAfterAGiveUpForgetsSinceWhen) {
  Record record = failed_in("refreshing", 3);
  count_giving_up(record);
  EXPECT_TRUE(count_leaving(record, "refreshing"));
  EXPECT_EQ(record.failing_since, std::nullopt);
  EXPECT_FALSE(count_leaving(record, "refreshing"));
}

TEST(Counting, AnotherStateIsNotCountedAfterAGiveUp) {
  Record record = failed_in("refreshing", 3);
  count_giving_up(record);
  record.attempt = 1;
  EXPECT_FALSE(count_leaving(record, "checking"));
  EXPECT_EQ(record.attempt, 0);
}

TEST(Counting, TheOutsideKeyOfAStateIsRemembered) {
  Record record;
  record.task_seq = 4;
  remember_task(record, "new");
  record.task_seq = 6;
  remember_task(record, "paying");
  remember_task(record, "new");
  EXPECT_EQ(remembered_task(record, "new"), 6);
  EXPECT_EQ(remembered_task(record, "paying"), 6);
  EXPECT_EQ(remembered_task(record, "other"), std::nullopt);
  forget_task(record, "new");
  EXPECT_EQ(remembered_task(record, "new"), std::nullopt);
  EXPECT_EQ(record.left_tasks.size(), 1U);
}

}  // namespace
}  // namespace pawl
