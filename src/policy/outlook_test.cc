#include "policy/outlook.h"

#include <chrono>

#include "tests/policy/example_machine.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

Outlook outlook(const std::shared_ptr<const Machine>& machine, const char* state = "working") {
  return outlook_of(*machine, *machine->find_state(state));
}

Outlook outlook(const std::string& keys, const std::string& more = "") {
  return outlook(machine_with(keys, more));
}

Between from_to(Duration least, Duration most) { return {least, most}; }

TEST(Outlook, SumsUpEveryFailureOfAList) {  // S2-42
  const Outlook seen = outlook(machine_in("big_table_week"), "refreshing");
  ASSERT_EQ(seen.runs.size(), 1U);
  const Outlook::Run& run = seen.runs[0];
  EXPECT_EQ(run.codes, Names{"default"});
  ASSERT_EQ(run.failed.size(), 6U);
  EXPECT_EQ(run.failed[0].next_start, from_to(0s, 1h));
  EXPECT_EQ(run.failed[5].wait, from_to(1h, 1h));
  EXPECT_EQ(run.failed[5].next_start, from_to(111min, 6h + 111min));
  EXPECT_FALSE(run.goes_on);
  EXPECT_EQ(run.last, 7);
  EXPECT_EQ(run.gives_up_after, from_to(111min, 7h + 111min));
  EXPECT_EQ(seen.align, Policy::Align::planned);
  ASSERT_EQ(seen.ends.size(), 2U);  // a week of failures, and no delay left
  EXPECT_EQ(seen.ends[0].to, "idle");
  EXPECT_TRUE(seen.ends[0].hold);
  EXPECT_EQ(seen.ends[0].notifies, Names{"customer_mail"});
  EXPECT_EQ(seen.ends[1].to, "idle");
  EXPECT_FALSE(seen.ends[1].hold);
}

TEST(Outlook, AWeekOfFailuresIsCountedOverRounds) {  // S2-43
  const Outlook seen = outlook(machine_in("big_table_week"), "refreshing");
  ASSERT_EQ(seen.ends.size(), 2U);
  EXPECT_EQ(seen.ends[0].elapsed, "7d");
  EXPECT_TRUE(seen.ends[0].over_rounds);
  EXPECT_TRUE(seen.ends[0].comes_late);
  EXPECT_FALSE(seen.ends[1].hold);
  EXPECT_FALSE(seen.ends[1].over_rounds);
}

TEST(Outlook, ThreeAttemptsOfTheExam) {  // S0-18, S0-19, S0-21
  const Outlook seen = outlook(machine_in("attempt"), "completed");
  ASSERT_EQ(seen.runs.size(), 1U);
  EXPECT_EQ(seen.runs[0].codes, (Names{"async_retry", "default"}));
  EXPECT_EQ(seen.runs[0].last, 3);
  EXPECT_EQ(seen.runs[0].gives_up_after, from_to(20min, 110min));
  EXPECT_EQ(seen.ends[0].alert, "opsgenie");
}

TEST(Outlook, BackoffWithoutEndShowsItsFirstRows) {  // S1-29
  const Outlook seen = outlook(machine_in("qanal"), "reset_offset");
  const Outlook::Run& run = seen.runs.at(0);
  ASSERT_EQ(run.failed.size(), 10U);
  EXPECT_EQ(run.failed[0].wait, from_to(150ms, 450ms));
  EXPECT_EQ(run.failed[8].wait, from_to(38'400ms, 115'200ms));
  EXPECT_EQ(run.failed[9].wait, from_to(45s, 135s));
  EXPECT_TRUE(run.goes_on);
  EXPECT_EQ(run.then_every, from_to(45s, 135s));
  EXPECT_EQ(run.last, std::nullopt);
  EXPECT_FALSE(seen.can_give_up);
  EXPECT_EQ(seen.through, Names{"assign"});
}

TEST(Outlook, OnlyRowsThatTellSomethingNewAreShown) {
  const Outlook fixed = outlook("retry: 30s");
  EXPECT_EQ(fixed.runs[0].failed.size(), 1U);
  EXPECT_EQ(fixed.runs[0].then_every, from_to(30s, 30s));
  const Outlook few = outlook("retry: {first: 1s, max: 1s, attempts: 11}");
  EXPECT_EQ(few.runs[0].failed.size(), 10U);
  EXPECT_FALSE(few.runs[0].goes_on);
  const Outlook many = outlook("retry: {first: 1s, max: 2s, attempts: 12}");
  EXPECT_EQ(many.runs[0].failed.size(), 2U);
  EXPECT_TRUE(many.runs[0].goes_on);
  EXPECT_EQ(many.runs[0].last, 12);
  EXPECT_EQ(many.runs[0].gives_up_after, from_to(21s, 21s + 12min));
  const Outlook growing = outlook("retry: {first: 1s}");
  EXPECT_EQ(growing.runs[0].failed.size(), 10U);
  EXPECT_EQ(growing.runs[0].then_every, std::nullopt);
  const Outlook none = outlook("retry: false");
  EXPECT_TRUE(none.runs[0].failed.empty());
  EXPECT_EQ(none.runs[0].last, 1);
  EXPECT_EQ(none.runs[0].gives_up_after, from_to(0s, 1min));
}

TEST(Outlook, DelaysOfAnErrorAreARunOfTheirOwn) {  // R4-3
  const Outlook seen = outlook(machine_in("evaluation"), "queued");
  ASSERT_EQ(seen.runs.size(), 2U);
  EXPECT_EQ(seen.runs[1].codes, Names{"lease_lost"});
  EXPECT_TRUE(seen.runs[1].own_delays);
  EXPECT_EQ(seen.runs[1].last, 2);
  EXPECT_EQ(seen.runs[1].gives_up_after, from_to(0s, 20min));
}

TEST(Outlook, LaterIsAskedAgainAndNoFailure) {
  const Outlook seen = outlook("errors: {busy: {later: 5s}}, give_up: {elapsed: 1s, to: over}");
  ASSERT_EQ(seen.runs.size(), 2U);
  EXPECT_TRUE(seen.runs[1].later);
  EXPECT_EQ(seen.runs[1].then_every, from_to(5s, 5s));
}

TEST(Outlook, TheLastDelayOfALaterHoldsForEver) {
  const Outlook seen = outlook("errors: {busy: {later: [5s, 1m]}}");
  ASSERT_EQ(seen.runs.size(), 2U);
  EXPECT_EQ(seen.runs[1].failed.size(), 2U);
  EXPECT_TRUE(seen.runs[1].goes_on);
  EXPECT_EQ(seen.runs[1].then_every, from_to(1min, 1min));
  EXPECT_EQ(seen.runs[1].last, std::nullopt);
}

TEST(Outlook, WhatIsNeverRetriedHasNoRun) {
  const Outlook seen = outlook("errors: {default: give_up}");
  EXPECT_TRUE(seen.runs.empty());
  EXPECT_TRUE(seen.can_give_up);
  EXPECT_TRUE(seen.ends[0].server_alert);
}

TEST(Outlook, ANearerAnswerHidesTheOthers) {
  const Outlook seen =
      outlook("errors: {default: {retry: 5s}}", "errors: {default: retry, x: {retry: 1s}}");
  ASSERT_EQ(seen.runs.size(), 2U);
  EXPECT_EQ(seen.runs[0].codes, Names{"x"});
  EXPECT_EQ(seen.runs[1].codes, Names{"default"});
  EXPECT_TRUE(seen.runs[1].own_delays);
}

TEST(Outlook, ElapsedRowsKnowHowManyFailuresTheyTake) {
  const std::string rows = "give_up: [{elapsed: 1h, hold: a, alert: b}, {hold: c}]";
  const Outlook unbounded = outlook("retry: 1m, " + rows);
  EXPECT_EQ(unbounded.ends[0].failures, 30);  // a minute each for the attempt and the wait
  EXPECT_FALSE(unbounded.ends[0].comes_late);
  EXPECT_TRUE(unbounded.can_give_up);
  EXPECT_EQ(unbounded.ends[0].alert, "b");
  const Outlook short_list = outlook("retry: [1m], " + rows);
  EXPECT_EQ(short_list.ends[0].failures, std::nullopt);
  EXPECT_TRUE(short_list.ends[0].comes_late);
  EXPECT_FALSE(short_list.ends[0].over_rounds);
  const Outlook unknown = outlook("retry: [\"{data.wait}\"], " + rows);
  EXPECT_EQ(unknown.ends[0].failures, std::nullopt);
  EXPECT_FALSE(unknown.ends[0].comes_late);
}

TEST(Outlook, ElapsedRowsAreReachedByTheRunWithTheFewestFailures) {
  const std::string rows = "give_up: [{elapsed: 1h, hold: a}, {hold: c}]";
  const Outlook once = outlook("retry: [2h], " + rows);
  EXPECT_EQ(once.ends[0].failures, 1);
  EXPECT_FALSE(once.ends[0].comes_late);
  const Outlook one_of_two = outlook("retry: 1m, errors: {x: {retry: [1m]}}, " + rows);
  EXPECT_EQ(one_of_two.ends[0].failures, 30);
  EXPECT_FALSE(one_of_two.ends[0].comes_late);
  EXPECT_EQ(outlook("retry: [1m], errors: {x: {retry: 4m}}, " + rows).ends[0].failures, 12);
  EXPECT_EQ(outlook("retry: 1m, errors: {x: {retry: 4m}}, " + rows).ends[0].failures, 12);
  EXPECT_EQ(outlook("retry: 4m, errors: {x: {retry: 1m}}, " + rows).ends[0].failures, 12);
}

TEST(Outlook, DelaysThatAreUsedUpGiveUp) {
  EXPECT_TRUE(outlook("retry: [1m]").can_give_up);
  EXPECT_FALSE(outlook("retry: 1m").can_give_up);
}

TEST(Outlook, WithoutARowThatAlwaysHoldsItIsHeldInTheEnd) {
  const Outlook seen = outlook("give_up: [{if: data.wait == null, to: over}]");
  ASSERT_EQ(seen.ends.size(), 2U);
  EXPECT_EQ(seen.ends[0].condition, "data.wait == null");
  EXPECT_FALSE(seen.ends[0].hold);
  EXPECT_TRUE(seen.ends[1].hold);
  EXPECT_FALSE(seen.ends[1].server_alert);
}

TEST(Outlook, TemplatesAreNamedAndMakeSumsUnknown) {
  const Outlook seen = outlook("retry: [1s, \"{data.wait}\"], lease: 1m");
  EXPECT_EQ(seen.unknown, Names{"{data.wait}"});
  EXPECT_EQ(seen.runs[0].failed[0].wait_text, "");
  EXPECT_EQ(seen.runs[0].failed[1].wait_text, "{data.wait}");
  EXPECT_EQ(seen.runs[0].gives_up_after, (Between{std::nullopt, std::nullopt}));
  const Outlook formula = outlook("retry: {first: \"{data.wait}\", max: 1h, attempts: 5}");
  EXPECT_EQ(formula.runs[0].failed.size(), 1U);
  EXPECT_EQ(formula.runs[0].failed[0].wait_text, "{data.wait}, at most 1h");
  EXPECT_EQ(formula.runs[0].then_every, std::nullopt);
  EXPECT_EQ(formula.runs[0].last, 5);
}

TEST(Outlook, WithoutATaskThereIsNoLatest) {
  const Outlook seen = outlook(machine_in("attempt"), "solves_processing");
  EXPECT_FALSE(seen.works);
  EXPECT_EQ(seen.runs[0].gives_up_after, (Between{20min, std::nullopt}));
  EXPECT_EQ(seen.through, Names{"attempt_cleanup"});
  EXPECT_EQ(seen.stay, std::nullopt);  // it waits in another state
}

TEST(Outlook, OnlyPlannedTimesLeaveNothingToSum) {
  const Outlook seen = outlook("align: only_planned, retry: [1s, 2s]", "schedule: {every: 1d}");
  EXPECT_TRUE(seen.runs[0].failed.empty());
  EXPECT_TRUE(seen.runs[0].goes_on);
  EXPECT_EQ(seen.runs[0].last, 3);
  EXPECT_TRUE(seen.can_give_up);
  EXPECT_FALSE(outlook("align: only_planned, retry: 1s", "schedule: {every: 1d}").can_give_up);
}

TEST(Outlook, TheStayIsBoundedByItsTimers) {
  EXPECT_EQ(outlook("after: {2h: over, 1h: over}").stay, 1h);
  EXPECT_EQ(outlook("after: {1h: {effects: [{notify: ops}]}}").stay, std::nullopt);
  EXPECT_EQ(outlook("after: {1h: [{if: data.wait == null, to: over}]}").stay, std::nullopt);
}

TEST(Outlook, OfAStartedStateIsItsOwners) {
  const Outlook seen = outlook(machine_in("evaluation"), "processing");
  EXPECT_TRUE(seen.works);
  EXPECT_EQ(seen.runs.size(), 2U);
}

}  // namespace
}  // namespace pawl
