// What a check says of machines whose failures end, repeat, or could not be decided. Those that
// never end are in tests/check, where the simulator plays them.
#include "check/check.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/json_text.h"
#include "check/check_text.h"
#include "pawl/machine_file.h"

namespace pawl {
namespace {

std::shared_ptr<const Machine> machine_of(const std::string& states, const std::string& more) {
  static const Zones zones = *Zones::open();
  const ReadMachine read = read_machine("machine: m\ninitial: a\n" + more + "\nstates:\n" + states +
                                            "\n  z: {final: true}\n"
                                            "tasks: {t: {queue: q, timeout: 10m}}\n",
                                        zones);
  for (const Diagnostic& finding : read.findings)
    EXPECT_NE(finding.severity, Diagnostic::Severity::error) << finding.message;
  return read.machine;
}

Result<CheckedMachine> checked(const std::string& states, const std::string& more = "",
                               const CheckOptions& options = {}) {
  return check_failures(*machine_of(states, more), options);
}

// A line for each state of a machine with these states, `z` and the task `t`.
std::string check_of(const std::string& states, const std::string& more = "",
                     const CheckOptions& options = {}) {
  const auto found = checked(states, more, options);
  return found ? to_text(*found) : found.error().message;
}

// --- Ends ---

TEST(Check, CountsTheFailuresOfABudget) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [1m, 5m]}"),
            "a: ends (at most 3 failures, then on hold; longest 36m)\n");
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: []}"),
            "a: ends (at most 1 failure, then on hold; longest 10m)\n");
}

TEST(Check, DelaysAreAsLongAsTheirJitterMakesThem) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: {first: 10m, factor: 1, jitter: ±50%, "
                     "attempts: 2}}"),
            "a: ends (at most 2 failures, then on hold; longest 35m)\n");
}

TEST(Check, KnowsTheBuiltInPolicy) {
  const auto found = checked("  a: {task: t, done: z}");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->states.size(), 1U);
  EXPECT_EQ(found->states[0].failures_max, 10);
  EXPECT_EQ(found->states[0].outcomes,
            (std::vector<Outcome>{{Outcome::Kind::hold, "a", "gave_up"}}));
}

TEST(Check, FollowsAGiveUpToWhereItEnds) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [1m], give_up: {to: b}}\n"
                     "  b: {task: t, done: z, retry: []}"),
            "a: ends (at most 3 failures, then on hold in `b`; longest 31m)\n"
            "b: ends (at most 1 failure, then on hold; longest 10m)\n");
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [], give_up: {to: z}}"),
            "a: ends (at most 1 failure, then in `z`; longest 10m)\n");
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [], give_up: {to: b}}\n"
                     "  b: {on: {again: a}}"),
            "a: ends (at most 1 failure, then waits in `b`; longest 10m)\n");
}

TEST(Check, AnErrorThatMeansDoneIsASuccess) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [], errors: {paid: done, default: retry}}"),
            "a: ends (at most 1 failure, then on hold or done; longest 10m)\n");
}

TEST(Check, TellsCodesApart) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: 1h, errors: {lost: give_up}}"),
            "a: repeats for ever, visibly: retry after 1h, no bound\n");
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: 1h, errors: {default: give_up}}"),
            "a: ends (at most 1 failure, then on hold; longest 10m)\n");
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [], errors: {default: "
                     "[{if: error.code == 'slow', later: 1h}, {give_up: true}]}}"),
            "a: repeats for ever, visibly: asks again after 1h, no bound\n");
}

TEST(Check, ATimeoutAndALostLeaseAreFailures) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [], errors: {timeout: {to: z}}}"),
            "a: ends (at most 1 failure, then on hold or in `z`; longest 10m)\n");
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, lease: 1m, retry: [], errors: {lease_lost: {to: z}}}"),
      "a: ends (at most 1 failure, then on hold or in `z`; longest 10m)\n");
}

TEST(Check, ACounterInTheDataBounds) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, errors: {default: [{if: data.n < 5, to: a, set: {n: "
                     "\"{data.n + 1}\"}}, {give_up: true}]}}",
                     "data: {n: {type: int, default: 0}}"),
            "a: ends (at most 6 failures, then on hold; longest 1h)\n");
}

TEST(Check, OneBudgetForAllStatesBounds) {
  const std::string states =
      "  a: {task: t, done: z, resume: b}\n  b: {task: t, done: z, resume: a}\n  f: {}";
  EXPECT_EQ(check_of(states, "failure: f\nretry: [1m]\ncount: epoch"),
            "a: ends (at most 2 failures, then on hold in `f`; longest 21m)\n"
            "b: ends (at most 2 failures, then on hold in `f`; longest 21m)\n");
}

// --- Ends by the clock ---

TEST(Check, ElapsedTimeBounds) {
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, retry: 10s, give_up: [{elapsed: 1d, hold: x}, {hold: y}]}"),
      "a: ends (bounded by elapsed 1d, then on hold)\n");
}

TEST(Check, AfterBounds) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: 10s, after: {1d: z}}"),
            "a: ends (bounded by after 1d in `a`, then in `z`)\n");
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, retry: 10s, after: {1d: {set: {n: 1}}}}", "data: {n: int}"),
      "a: repeats for ever, visibly: retry after 10s, no bound\n");
}

TEST(Check, AMessageToItselfBounds) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: 10s, effects: [{send: expire, to: self, in: "
                     "1d}], on: {expire: z}}"),
            "a: ends (bounded by the message `expire`, then in `z`)\n");
}

TEST(Check, TicksThatChangeNothingHideNothing) {
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, retry: [10s, 10s], every: {1s: {set: {n: 3}}}, resume: {}}",
               "data: {n: int}"),
      "a: ends (at most 3 failures, then on hold)\n");
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, retry: 10s, every: {1m: {set: {n: 3}}}, after: {3h: z}}",
               "data: {n: int}"),
      "a: ends (bounded by after 3h in `a`, then in `z`)\n");
}

// --- Repeats ---

TEST(Check, ARetryWithoutBoundIsAskedFor) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: {first: 1s, max: 90s, jitter: ±50%}}"),
            "a: repeats for ever, visibly: retry after at most 135s, no bound\n");
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: 1h, errors: {default: {retry: true, set: {n: "
                     "\"{data.n + 1}\"}}}}",
                     "data: {n: {type: int, default: 0}}"),
            "a: repeats for ever, visibly: retry after 1h, no bound\n");
}

TEST(Check, LaterIsAskedForUnlessAfterBoundsIt) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [], errors: {busy: {later: 5s}}}"),
            "a: repeats for ever, visibly: asks again after 5s, no bound\n");
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, retry: [], errors: {busy: {later: 5s}}, after: {1h: z}}"),
      "a: ends (at most 1 failure, bounded by after 1h in `a`, then in `z` or on hold)\n");
}

TEST(Check, WaitingForThePlanIsAskedFor) {
  EXPECT_EQ(
      check_of("  idle: {planned: a}\n  a: {task: t, done: idle, retry: [1s], give_up: {to: idle}}",
               "schedule: {every: 1d}"),
      "a: repeats for ever, visibly: again at each planned time, no bound\n");
}

TEST(Check, AnEventThatReportsAFailureIsOne) {
  EXPECT_EQ(check_of("  a: {on: {broken: {fail: broken}, ok: z}}", "retry: [1h]"),
            "a: ends (at most 2 failures, then waits in `a` or on hold; longest 1h)\n");
  EXPECT_EQ(check_of("  a: {on: {broken: {fail: broken}, ok: z}}", "retry: 1h"),
            "a: repeats for ever, visibly: retry after 1h, no bound\n");
  EXPECT_EQ(check_of("  a: {on: {broken: {fail: broken}, ok: z}}",
                     "retry: 1h\nevents: {broken: {by: [clerk]}}"),
            "a: ends (at most 0 failures, then waits in `a`; longest 0s)\n");
}

// --- Data ---

constexpr const char* kPatient =
    "  a: {task: t, done: z, errors: {default: [{if: data.patient, retry: 1h}, {give_up: true}]}}";

TEST(Check, ConditionsSeeTheGivenData) {
  const std::string fields = "data: {patient: {type: bool, default: false}}";
  EXPECT_EQ(check_of(kPatient, fields), "a: ends (at most 1 failure, then on hold; longest 10m)\n");
  EXPECT_EQ(check_of(kPatient, fields, {.data = R"({"patient": true})"}),
            "a: repeats for ever, visibly: retry after 1h, no bound\n");
}

TEST(Check, RequiredFieldsGetSamples) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: [\"{data.pause}\"]}",
                     "data: {pause: duration!, kind: string!, n: int!}"),
            "a: ends (at most 2 failures, then on hold; longest 21m)\n");
}

TEST(Check, DataThatNoRecordCanHaveIsAnError) {
  EXPECT_FALSE(checked(kPatient, "data: {patient: bool}", {.data = R"({"patient": 7})"}));
  EXPECT_FALSE(checked(kPatient, "data: {patient: bool}", {.data = "[]"}));
  EXPECT_FALSE(checked(kPatient, "data: {patient: bool}", {.data = "{"}));
}

TEST(Check, SaysWhatItDoesNotVary) {
  const auto found = checked(
      "  a: {task: t, done: z, errors: {default: [{if: now > data.until, give_up: true}, {retry: true}]}}",
      "data: {until: {type: time, default: 2030-01-01T00:00:00Z}}");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->unvaried, std::vector<std::string>{"now"});
  EXPECT_EQ(summary_text(*found), "1 state ends (conditions also read `now`)");
}

// --- Undecided ---

TEST(Check, GivesUpBeyondTheLimit) {
  EXPECT_EQ(
      check_of("  a: {task: t, done: z, errors: {default: [{if: data.n < 100000, to: a, set: {n: "
               "\"{data.n + 1}\"}}, {give_up: true}]}}",
               "data: {n: {type: int, default: 0}}", {.situations_max = 100}),
      "a: NOT DECIDED: more than 100 situations\n");
}

TEST(Check, ACircleThatDoesNotComeRoundIsNotDecided) {
  EXPECT_EQ(
      check_of(
          "  a: {task: t, done: z, errors: {default: [{if: record.revision < 4, to: a}, {give_up: true}]}}"),
      "a: NOT DECIDED: it seems to loop, but does not when replayed: `a` fails with oops; and so on\n");
}

TEST(Check, AStateThatNoRecordReachesIsNotDecided) {
  const std::string lines = check_of(
      "  a: {task: t, done: b, retry: []}\n"
      "  b: {task: t, done: z, retry: [], after: {\"{data.d}\": z}}",
      "data: {d: duration}");
  EXPECT_EQ(lines.substr(0, lines.find('\n')),
            "a: ends (at most 1 failure, then on hold; longest 10m)");
  EXPECT_NE(lines.find("b: NOT DECIDED: cannot bring a record there: "), std::string::npos)
      << lines;
}

// --- All of it ---

TEST(Check, LongBudgetsAreCut) {
  EXPECT_EQ(check_of("  a: {task: t, done: z, retry: {first: 1s, factor: 1, attempts: 5000}}"),
            "a: ends (bounded by more than 100 delays, then on hold)\n");
}

TEST(Check, WhereNothingCanFailThereIsNothingToSay) {
  const auto found = checked("  a: {on: {go: z}}");
  ASSERT_TRUE(found);
  EXPECT_EQ(to_text(*found), "");
  EXPECT_EQ(summary_text(*found), "no work can fail");
}

TEST(Check, CountsVerdicts) {
  const auto found = checked(
      "  a: {task: t, done: b}\n  b: {task: t, done: c}\n  c: {task: t, done: z, retry: 1h}");
  ASSERT_TRUE(found);
  EXPECT_EQ(summary_text(*found), "2 states end, 1 repeats for ever, visibly");
}

TEST(Check, IsJsonToo) {
  const auto found = checked("  a: {task: t, done: z, retry: [1m], errors: {gone: {to: z}}}");
  ASSERT_TRUE(found);
  EXPECT_EQ(
      to_text(to_json(*found)),
      R"({"states":[{"state":"a","verdict":"ends","failures_max":2,"longest":"21m","bounded_by":[],)"
      R"("outcomes":[{"kind":"final","state":"z"},{"kind":"hold","state":"a","hold":"gave_up"}]}],)"
      R"("unvaried":[],"shortened":false})");
}

}  // namespace
}  // namespace pawl
