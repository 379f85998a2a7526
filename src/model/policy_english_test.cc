#include "model/policy_english.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <set>

#include "base/text.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

const Row kPanic = {.hold = HoldText{"gave_up", "{error.message}"}};

Ref planned() { return std::string(kPlannedState); }
Row held(const char* text) { return {.hold = HoldText{"gave_up", text}}; }
Delays listed(std::vector<DurationValue> list) { return {.list = std::move(list)}; }
Schedule every(Duration duration) { return {.kind = Schedule::Kind::every, .every = duration}; }
Schedule daily(const char* hours, const char* minutes = "0") {
  return {.rule =
              std::string("FREQ=DAILY;BYHOUR=") + hours + ";BYMINUTE=" + minutes + ";BYSECOND=0"};
}

// What is wrong with the text: each finding with id and message, or nothing.
std::string findings(std::string_view text) {
  Diagnostics diagnostics;
  const auto policy = parse_policy_english(text, {}, diagnostics);
  EXPECT_EQ(policy.has_value(), !diagnostics.has_errors());
  std::string shown;
  for (const Diagnostic& finding : diagnostics.sorted())
    shown += (shown.empty() ? "" : "\n") + std::string(finding.id) + ": " + finding.message;
  return shown;
}

EnglishPolicy read(std::string_view text) {
  EXPECT_EQ(findings(text), "") << text;
  Diagnostics diagnostics;
  return parse_policy_english(text, {}, diagnostics).value_or(EnglishPolicy{});
}

std::string lines(const EnglishPolicy& policy) {
  return join(in_english(policy).lines, "\n", "\n");
}
std::string unsaid(const EnglishPolicy& policy) {
  return join(in_english(policy).unsaid, "\n", "\n");
}

// S2-11
TEST(PolicyEnglish, ReadsARefreshPolicyAsItsList) {
  const EnglishPolicy policy = read(R"(
        - Refresh the model every 2 hours
        - Allow 1 hour for a response
        - On the first failure, retry immediately
        - On the second failure, retry after 1 minute
        - On the third failure, retry after 5 minutes
        - On the fourth failure, retry after 10 minutes
        - On the fifth failure, retry after 15 minutes
        - Panic
    )");
  EXPECT_EQ(policy, (EnglishPolicy{{.timeout = Duration{1h},
                                    .retry = listed({Duration{0}, Duration{1min}, Duration{5min},
                                                     Duration{10min}, Duration{15min}}),
                                    .give_up = {kPanic}},
                                   every(2h)}));
  EXPECT_EQ(lines(policy),
            "Refresh every 2 hours\n"
            "Allow 1 hour to complete\n"
            "On the first failure, retry immediately\n"
            "On the second failure, retry after 1 minute\n"
            "On the third failure, retry after 5 minutes\n"
            "On the fourth failure, retry after 10 minutes\n"
            "On the fifth failure, retry after 15 minutes\n"
            "Panic");
  EXPECT_EQ(unsaid(policy), "");
}

// Retries, then the next slot, and giving up only after a week.
TEST(PolicyEnglish, WaitsForThePlanAndGivesUpAfterAWeek) {
  const char* text =
      "Refresh twice per day at 6 AM and 4 PM\n"
      "Allow 1 hour to complete\n"
      "On the first failure, retry immediately\n"
      "On the second failure, retry after 1 hour\n"
      "On the third failure, wait for the next planned time\n"
      "Give up after 1 week of failures\n"
      "Then hold: \"auto-refresh of {record.key} is disabled\"\n"
      "Notify oncall";
  const EnglishPolicy policy = read(text);
  Row after_a_week = held("auto-refresh of {record.key} is disabled");
  after_a_week.elapsed = Duration{168h};
  after_a_week.alert = "oncall";
  EXPECT_EQ(policy, (EnglishPolicy{{.timeout = Duration{1h},
                                    .retry = listed({Duration{0}, Duration{1h}}),
                                    .give_up = {after_a_week, Row{.to = planned()}}},
                                   daily("6,16")}));
  EXPECT_EQ(lines(policy), text);
}

TEST(PolicyEnglish, ReadsSchedules) {
  const auto schedule = [](std::string_view text) { return *read(text).schedule; };
  EXPECT_EQ(schedule("Refresh every 2 hours"), every(2h));
  EXPECT_EQ(schedule("Export the big table every hour"), every(1h));
  EXPECT_EQ(schedule("refresh EVERY thirty minutes"), every(30min));
  EXPECT_EQ(schedule("Refresh BigTable twice per day at 6 AM and 4 PM"), daily("6,16"));
  EXPECT_EQ(schedule("Refresh once per day at 6:30 AM"), daily("6", "30"));
  EXPECT_EQ(schedule("Refresh three times per day at 4 PM, 12 AM and 12 PM"), daily("0,12,16"));
  EXPECT_EQ(schedule("Refresh 3 times per day at 08:15, 10:15, and 12:15"), daily("8,10,12", "15"));
  EXPECT_EQ(schedule("Refresh four times per day at 6 AM, 6:30 AM, 4 PM and 4:30 PM"),
            daily("6,16", "0,30"));
  EXPECT_EQ(schedule("Refresh every day at 06:00"), daily("6"));
  EXPECT_EQ(schedule("Refresh twice every day at 6 AM and 7 AM"), daily("6,7"));
}

TEST(PolicyEnglish, TimesThatNoRuleCanSayAreRefused) {
  EXPECT_EQ(
      findings("Refresh twice per day at 6:30 AM and 4 PM"),
      "english_times: 'Refresh twice per day at 6:30 AM and 4 PM' has times that one rule cannot express; use `schedule: {rrule: …}` instead");
  EXPECT_EQ(
      findings("Refresh three times per day at 6 AM and 4 PM"),
      "english_times: 'Refresh three times per day at 6 AM and 4 PM' says three, but has two times of the day; make them agree");
  EXPECT_EQ(
      findings("Refresh twice every day at 6 AM"),
      "english_times: 'Refresh twice every day at 6 AM' says two, but has one time of the day; make them agree");
  EXPECT_EQ(
      findings("Refresh twice per day at 6 AM and 06:00"),
      "english_times: 'Refresh twice per day at 6 AM and 06:00' has 6 AM twice; leave one out");
  EXPECT_EQ(
      findings("Refresh once per day at 6"),
      "english_times: 'Refresh once per day at 6': '6' is not a time of day; write for example 6 AM, 6:30 PM or 18:30");
  EXPECT_EQ(
      findings("Refresh BigTable per day at 6 AM"),
      "english_times: 'Refresh BigTable per day at 6 AM' does not say how often; write once, twice or three times per day");
}

// A sentence on retries must not become a plan because it has `every` in it.
TEST(PolicyEnglish, WhatIsNoPlanIsNotReadAsOne) {
  const std::string none = " is not a sentence of a policy; the nearest is ";
  EXPECT_EQ(findings("Retry every 2 hours"),
            "english_unknown_sentence: 'Retry every 2 hours'" + none + "'Refresh every 2 hours'");
  EXPECT_EQ(findings("On the first failure, retry every 5 minutes"),
            "english_unknown_sentence: 'On the first failure, retry every 5 minutes'" + none +
                "'On the first failure, retry immediately'");
  EXPECT_EQ(findings("Allow 1 hour every 2 hours"),
            "english_unknown_sentence: 'Allow 1 hour every 2 hours'" + none +
                "'Allow 1 hour to complete'");
  EXPECT_EQ(
      findings("Refresh twice every 2 hours"),
      "english_unknown_sentence: 'Refresh twice every 2 hours'" + none + "'Refresh every 2 hours'");
  EXPECT_EQ(findings("every 2 hours"),
            "english_unknown_sentence: 'every 2 hours'" + none + "'Refresh every 2 hours'");
  EXPECT_EQ(findings("twice per day at 6 AM and 4 PM"),
            "english_unknown_sentence: 'twice per day at 6 AM and 4 PM'" + none +
                "'Refresh twice per day at 6 AM and 4 PM'");
}

TEST(PolicyEnglish, ReadsTimeouts) {
  EXPECT_EQ(read("Allow 1 hour to complete").policy, (Policy{.timeout = Duration{1h}}));
  EXPECT_EQ(read("allow ninety minutes for a response").policy,
            (Policy{.timeout = Duration{90min}}));
  EXPECT_EQ(read("Allow PT1H30M to complete").policy, (Policy{.timeout = Duration{90min}}));
  EXPECT_EQ(
      findings("Allow 1 hors to complete"),
      "english_unknown_sentence: 'Allow 1 hors to complete': unknown unit 'hors'; did you mean hours? (milliseconds, seconds, minutes, hours, days, weeks)");
}

TEST(PolicyEnglish, BulletsBlanksCaseAndFullStopsDoNotMatter) {
  const EnglishPolicy plain = read(
      "Allow 1 hour to complete\nOn the first failure, retry immediately\nThen hold: \"a  b\"\nNotify oncall");
  EXPECT_EQ(
      read(
          "\n  * ALLOW   1\tHour to complete.  \r\n\n- on the First failure retry IMMEDIATELY .\n\t- then  hold:   \"a  b\".\n*  notify Oncall.\n\n"),
      plain);
}

TEST(PolicyEnglish, RetriesAreCountedWithoutGaps) {
  EXPECT_EQ(
      read("On the 1st failure, retry after 0 seconds\nOn the second failure, retry after one day")
          .policy.retry,
      listed({Duration{0}, Duration{24h}}));
  EXPECT_EQ(
      findings(
          "On the first failure, retry immediately\nOn the third failure, retry after 1 minute\nOn the fourth failure, retry after 1 minute"),
      "english_ordinal_gap: line 2: 'On the third failure, retry after 1 minute' leaves a gap: nothing is said about the second failure");
  EXPECT_EQ(
      findings("On the second failure, retry immediately"),
      "english_ordinal_gap: 'On the second failure, retry immediately' leaves a gap: nothing is said about the first failure");
  EXPECT_EQ(
      findings(
          "On the first failure, retry immediately\n\nOn the first failure, retry after 1 minute"),
      "english_ordinal_gap: line 3: 'On the first failure, retry after 1 minute' is out of order: the second failure is next");
  EXPECT_EQ(
      findings("On the frist failure, retry immediately"),
      "english_unknown_sentence: 'On the frist failure, retry immediately': 'frist' is not an ordinal; write first, second, third … or 13th");
  EXPECT_EQ(
      findings("On the first failure, retry after 5"),
      "english_unknown_sentence: 'On the first failure, retry after 5': the duration '5' has no unit; write 5s for seconds, or ms, m, h, d");
}

TEST(PolicyEnglish, LongListsOfRetriesGoOnInDigits) {
  EnglishPolicy policy = {{.retry = listed(std::vector<DurationValue>(120, Duration{1min}))}};
  const PolicyInEnglish told = in_english(policy);
  EXPECT_EQ(told.lines[98], "On the ninety-ninth failure, retry after 1 minute");
  EXPECT_EQ(told.lines[100], "On the 101st failure, retry after 1 minute");
  EXPECT_EQ(read(lines(policy)), policy);
}

TEST(PolicyEnglish, TheWaitForThePlanFollowsTheLastRetry) {
  EXPECT_EQ(read("On the first failure, wait for the next planned time").policy,
            (Policy{.retry = listed({}), .give_up = {Row{.to = planned()}}}));
  EXPECT_EQ(
      findings(
          "On the first failure, retry immediately\nOn the third failure, wait for the next planned time"),
      "english_ordinal_gap: line 2: 'On the third failure, wait for the next planned time' leaves a gap: nothing is said about the second failure");
  EXPECT_EQ(
      findings(
          "On the first failure, wait for the next planned time\nOn the second failure, retry immediately"),
      "english_ordinal_gap: line 2: 'On the second failure, retry immediately' comes after the wait for the next planned time, which covers all further failures; put it before, or leave it out");
  EXPECT_EQ(
      findings("On the first failure, wait for the next planned time\nPanic"),
      "english_said_twice: line 2: 'Panic' says again what happens on giving up, as line 1 does; keep one of them");
  EXPECT_EQ(
      findings("Panic\nOn the first failure, wait for the next planned time"),
      "english_said_twice: line 2: 'On the first failure, wait for the next planned time' says again what happens on giving up, as line 1 does; keep one of them");
}

TEST(PolicyEnglish, EndingsBelongToTheSentenceOnGivingUpBeforeThem) {
  Row after_a_day = held("x");
  after_a_day.elapsed = Duration{24h};
  Row paged = kPanic;
  paged.alert = "billing_team";
  EXPECT_EQ(read("Panic\nNotify billing_team\nGive up after one day of failures\nThen hold: \"x\"")
                .policy,
            (Policy{.give_up = {after_a_day, paged}}));
  EXPECT_EQ(
      read(
          "Give up after 1d of failures\nOn the first failure, retry immediately\nThen hold: \"x\"")
          .policy,
      (Policy{.retry = listed({Duration{0}}), .give_up = {after_a_day}}));
  EXPECT_EQ(
      read(
          "Give up after 3 hours of failures\nOn the first failure, wait for the next planned time\nNotify oncall")
          .policy.give_up,
      (Rows{Row{.elapsed = Duration{3h}}, Row{.to = planned(), .alert = "oncall"}}));
  EXPECT_EQ(read("Notify oncall").policy, (Policy{.give_up = {Row{.alert = "oncall"}}}));
}

TEST(PolicyEnglish, TheTextOfAHoldStandsBetweenTheFirstAndTheLastQuote) {
  const auto text = [](std::string_view line) {
    return read(line).policy.give_up.at(0).hold->text;
  };
  EXPECT_EQ(text("Then hold: \"Say \"no\" to C:\\dir.\""), Value("Say \"no\" to C:\\dir."));
  EXPECT_EQ(text("Then hold: \" Panic \"."), Value(" Panic "));
  EXPECT_EQ(text("Then hold: \"\""), Value(""));
  EXPECT_EQ(text("Then hold: \"{error.message}\""), Value("{error.message}"));
  const std::string in_quotes = ": put the text in quotes: Then hold: \"text\"";
  EXPECT_EQ(findings("Then hold: broken"),
            "english_unknown_sentence: 'Then hold: broken'" + in_quotes);
  EXPECT_EQ(findings("Then hold: \""), "english_unknown_sentence: 'Then hold: \"'" + in_quotes);
}

TEST(PolicyEnglish, NotifyNamesAChannel) {
  EXPECT_EQ(
      findings("Notify the team"),
      "english_unknown_sentence: 'Notify the team': 'the team' is not a channel; a name has only a to z, 0 to 9 and _");
}

TEST(PolicyEnglish, NothingIsSaidTwice) {
  const auto twice = [](const std::string& first, const std::string& second,
                        const std::string& what) {
    EXPECT_EQ(findings(first + "\n" + second), "english_said_twice: line 2: '" + second +
                                                   "' says again " + what +
                                                   ", as line 1 does; keep one of them");
  };
  twice("Allow 1 hour to complete", "Allow 1 hour to complete", "how long an attempt may take");
  twice("Refresh every 2 hours", "Refresh once per day at 6 AM", "when it is planned");
  twice("Refresh every day at 6 AM", "Refresh every day", "when it is planned");
  twice("Give up after 1 day of failures", "Give up after 1 week of failures",
        "how long failures may go on");
  twice("Then hold: \"x\"", "Panic", "what happens on giving up");
  twice("Panic", "Then hold: \"x\"", "what happens on giving up");
  twice("Notify oncall", "Notify ops", "who is notified");
}

TEST(PolicyEnglish, EveryWrongLineIsReportedWithTheNearestSentence) {
  const std::string none = " is not a sentence of a policy; ";
  EXPECT_EQ(
      findings(
          "Alow 1 hour to complete\nPanic\nPanik now\n\nGive up after the final unsuccessful retry\n-\nxyzzy"),
      "english_unknown_sentence: line 1: 'Alow 1 hour to complete'" + none +
          "the nearest is 'Allow 1 hour to complete'\n"
          "english_unknown_sentence: line 3: 'Panik now'" +
          none +
          "they begin with Refresh, Allow, On the … failure, Give up after, Then hold, Panic or Notify\n"
          "english_unknown_sentence: line 5: 'Give up after the final unsuccessful retry'" +
          none +
          "the nearest is 'Give up after one week of failures'\n"
          "english_unknown_sentence: line 6: '-'" +
          none +
          "they begin with Refresh, Allow, On the … failure, Give up after, Then hold, Panic or Notify\n"
          "english_unknown_sentence: line 7: 'xyzzy'" +
          none +
          "they begin with Refresh, Allow, On the … failure, Give up after, Then hold, Panic or Notify");
  EXPECT_EQ(findings("Panik"),
            "english_unknown_sentence: 'Panik'" + none + "the nearest is 'Panic'");
  EXPECT_EQ(findings("On the 2nd failure, wait until next scheduled refresh"),
            "english_unknown_sentence: 'On the 2nd failure, wait until next scheduled refresh'" +
                none + "the nearest is 'On the seventh failure, wait for the next planned time'");
}

TEST(PolicyEnglish, NoMoreWrongLinesAreLookedAtThanAreShown) {
  std::string text;
  for (std::size_t line = 0; line <= kFindingsMax; ++line) text += "Panik\n";
  const std::string shown = findings(text);
  EXPECT_NE(shown.find("line 100: 'Panik' is not a sentence of a policy; the nearest"),
            std::string::npos);
  EXPECT_EQ(shown.find("line 101:"), std::string::npos);
  EXPECT_TRUE(shown.ends_with(
      "too_many_findings: there may be more findings than these 100; fix these first"));
}

TEST(PolicyEnglish, ATextWithoutSentencesIsRefused) {
  for (const char* text : {"", "\n", "  \n\t\r\n"})
    EXPECT_EQ(
        findings(text),
        "english_empty: the policy is empty; write sentences such as 'Allow 1 hour to complete', one per line");
}

// In a text of one line the place is exact; in others only where the text begins is known.
TEST(PolicyEnglish, FindingsHaveTheirPlace) {
  const auto place = [](std::string_view text, Where where) {
    Diagnostics diagnostics;
    EXPECT_FALSE(parse_policy_english(text, where, diagnostics));
    const Position position = diagnostics.sorted().at(0).position;
    return std::to_string(position.line) + ":" + std::to_string(position.column);
  };
  EXPECT_EQ(place("- Allow 1 hor to complete\n", {{7, 4}, 5}), "7:13");
  EXPECT_EQ(place("- Alow", {{7, 4}, 5}), "7:7");
  EXPECT_EQ(place("- Allow 1 hor to complete", {{7, 4}, 0}), "7:4");
  EXPECT_EQ(place("Panic\nAllow 1 hor to complete", {{7, 4}, 5}), "7:4");
  EXPECT_EQ(place("", {{7, 4}, 5}), "7:4");
}

TEST(PolicyEnglish, WhatIsReadKnowsItsPlace) {
  Diagnostics diagnostics;
  const auto policy = parse_policy_english("Allow 1 hour to complete", {{3, 10}, 11}, diagnostics);
  EXPECT_EQ(policy.value().policy.timeout->at.position, (Position{3, 17}));
}

TEST(PolicyInEnglish, NamesTheKeysThatNoSentenceCanSay) {
  const EnglishPolicy policy = {
      {.timeout = "{data.timeout}",
       .lease = Duration{30s},
       .retry = Delays{.kind = Delays::Kind::formula, .first = Duration{10s}},
       .errors = {{"default", {Row{.action = Row::Action::retry}}}},
       .give_up = {kPanic},
       .failure = "failed",
       .count = Policy::Count::epoch,
       .align = Policy::Align::retry,
       .policy = "gentle"},
      Schedule{.kind = Schedule::Kind::cron, .rule = "0 6 * * *"}};
  EXPECT_EQ(lines(policy), "Panic");
  EXPECT_EQ(unsaid(policy),
            "schedule: a cron rule\n"
            "timeout: taken from a template\n"
            "retry: a formula ({first, factor, max})\n"
            "lease: how long a worker may be silent\n"
            "errors: actions for single error codes\n"
            "failure: where a failed record waits\n"
            "count: the span over which failures are counted\n"
            "align: how retries fit in with planned times\n"
            "policy: another policy, 'gentle'");
}

TEST(PolicyInEnglish, SaysWhyRetriesCannotBeSaid) {
  const auto retry = [](Delays delays) {
    const EnglishPolicy policy = {{.retry = std::move(delays)}};
    EXPECT_EQ(lines(policy), "");
    return unsaid(policy);
  };
  EXPECT_EQ(retry({.kind = Delays::Kind::fixed, .first = Duration{5min}}),
            "retry: one delay for ever");
  EXPECT_EQ(retry({}), "retry: none at all ([])");
  EXPECT_EQ(retry({.list = {Duration{0}, "{data.delay}"}}),
            "retry: a delay is taken from a template");
  EXPECT_EQ(retry({.list = {Duration{-1}}}), "retry: a delay is a duration that cannot be written");
  EXPECT_EQ(retry({.list = {Duration{1}}, .attempts = 2}), "retry: a list with keys of a formula");
}

TEST(PolicyInEnglish, SaysWhyARowCannotBeSaid) {
  const auto row = [](Row given) {
    const EnglishPolicy policy = {{.give_up = {std::move(given)}}};
    EXPECT_EQ(lines(policy), "");
    return unsaid(policy);
  };
  EXPECT_EQ(row({}), "give_up: row 1 has no key");
  EXPECT_EQ(row({.condition = "data.vip", .set = {{"a", 1}}, .effects = {{}}}),
            "give_up: row 1 has an `if`, has a `set` and has `effects`");
  EXPECT_EQ(row({.to = "failed"}), "give_up: row 1 goes to 'failed'");
  EXPECT_EQ(row({.hold = HoldText{"broken", "x"}}), "give_up: row 1 holds with the code 'broken'");
  EXPECT_EQ(row({.hold = HoldText{"gave_up", "x\ny"}}),
            "give_up: row 1 holds with a text that is not one line");
  EXPECT_EQ(row({.hold = HoldText{"gave_up", 5}}),
            "give_up: row 1 holds with a text that is not one line");
  EXPECT_EQ(row({.elapsed = "{data.patience}"}),
            "give_up: row 1 has an `elapsed` that is taken from a template");
  EXPECT_EQ(row({.alert = "The Team"}), "give_up: row 1 notifies 'The Team'");
  EXPECT_EQ(row({.hold = HoldText{"gave_up", "x"}, .transient = true}),
            "give_up: row 1 has keys of other rows");
  EXPECT_EQ(row({.to = planned()}),
            "give_up: row 1 waits for the plan after retries that are not a list");
}

TEST(PolicyInEnglish, SaysOneRowAfterATimeAndThenOneWithoutLimit) {
  const Row after_an_hour = {.elapsed = Duration{1h}};
  const auto told = [](Rows rows) {
    const EnglishPolicy policy = {{.retry = listed({Duration{0}}), .give_up = std::move(rows)}};
    return lines(policy) + "\n" + unsaid(policy);
  };
  const std::string retry = "On the first failure, retry immediately\n";
  EXPECT_EQ(told({after_an_hour, kPanic}), retry + "Panic\nGive up after 1 hour of failures\n");
  EXPECT_EQ(told({kPanic, after_an_hour}),
            retry + "Panic\ngive_up: row 2 stands after the row without limit");
  EXPECT_EQ(
      told({after_an_hour, after_an_hour}),
      retry + "Give up after 1 hour of failures\ngive_up: row 2 is a second one with `elapsed`");
  EXPECT_EQ(told({{.to = planned(), .hold = kPanic.hold}}),
            retry + "give_up: row 1 waits for the plan on hold");
  EXPECT_EQ(told({{.to = planned(), .elapsed = Duration{1h}}}),
            retry + "give_up: row 1 waits for the plan after a time");
  EXPECT_EQ(told({{.condition = "data.vip", .to = planned()}, kPanic}),
            retry + "Panic\ngive_up: row 1 has an `if`");
}

TEST(PolicyInEnglish, SaysTheRuleOfAScheduleAndNamesTheRest) {
  Schedule schedule = every(90min);
  schedule.tz = "Europe/Berlin";
  schedule.anchor = "{data.start}";
  schedule.missed = Schedule::Missed::all;
  schedule.gap = Schedule::Gap::skip;
  schedule.fold = Schedule::Fold::both;
  schedule.ended = {kPanic};
  EXPECT_EQ(lines({{}, schedule}), "Refresh every 90 minutes");
  EXPECT_EQ(unsaid({{}, schedule}),
            "schedule: `tz`, `anchor`, `missed`, `gap`, `fold` and `ended`");
  schedule.every = "{data.period}";
  EXPECT_EQ(lines({{}, schedule}), "");
}

TEST(PolicyInEnglish, SaysARuleThatMeansTimesOfTheDayHoweverItIsWritten) {
  const auto said = [](const char* rule) {
    const EnglishPolicy policy = {{}, Schedule{.rule = rule}};
    return lines(policy) + unsaid(policy);
  };
  EXPECT_EQ(said("FREQ=DAILY;BYSECOND=0;BYMINUTE=30;BYHOUR=16,6"),
            "Refresh twice per day at 6:30 AM and 4:30 PM");
  const std::string more = "schedule: a rule that is more than times of day";
  EXPECT_EQ(said("FREQ=DAILY;BYHOUR=6;BYMINUTE=0"), more);
  EXPECT_EQ(said("FREQ=DAILY;INTERVAL=2;BYHOUR=6;BYMINUTE=0;BYSECOND=0"), more);
  EXPECT_EQ(said("FREQ=DAILY;BYDAY=MO;BYHOUR=6;BYMINUTE=0;BYSECOND=0"), more);
  EXPECT_EQ(said("{data.rrule}"), more);
}

// A policy, the part of it that sentences can say, and the keys of the rest.
struct Drawn {
  EnglishPolicy whole;
  EnglishPolicy sayable;
  std::set<std::string> unsaid;
};

// Draws policies at random.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  EnglishPolicy sayable() {
    EnglishPolicy policy;
    while (policy == EnglishPolicy{}) {
      if (chance(2)) policy.schedule = chance(2) ? every(duration()) : daily_times();
      if (chance(2)) policy.policy.timeout = duration();
      policy.policy.retry.reset();
      if (chance(2)) policy.policy.retry = listed(delays(1));
      policy.policy.give_up.clear();
      if (chance(2)) policy.policy.give_up.push_back(after_a_time());
      if (chance(2)) add_unlimited(policy.policy);
    }
    return policy;
  }

  // A sayable policy in which some parts are replaced by others or joined by further ones.
  Drawn any() {
    Drawn drawn = {sayable(), {}, {}};
    drawn.sayable = drawn.whole;
    spoil_schedule(drawn);
    spoil_timeout(drawn);
    spoil_retry(drawn);
    spoil_give_up(drawn);
    add_other_keys(drawn);
    return drawn;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  Duration duration() {
    const Duration unit = one_of<Duration>({1us, 1ms, 1s, 1min, 1h, 24h, 168h});
    if (chance(20))
      return Duration{
          static_cast<std::int64_t>(below(static_cast<std::uint64_t>(kDurationMax.count()) + 1))};
    if (chance(50)) return kDurationMax;
    return static_cast<std::int64_t>(below(chance(2) ? 3 : 120)) * unit;
  }

  std::vector<DurationValue> delays(std::size_t least) {
    std::vector<DurationValue> list(least + below(chance(50) ? 130 : 8));
    for (DurationValue& delay : list) delay = duration();
    return list;
  }

  std::string numbers(int limit) {
    std::set<int> drawn = {static_cast<int>(below(static_cast<std::uint64_t>(limit)))};
    while (!chance(3)) drawn.insert(static_cast<int>(below(static_cast<std::uint64_t>(limit))));
    std::string text;
    for (const int number : drawn) text += (text.empty() ? "" : ",") + std::to_string(number);
    return text;
  }

  Schedule daily_times() { return daily(numbers(24).c_str(), numbers(60).c_str()); }

  std::string text() {
    std::string text;
    while (!chance(8))
      text += one_of(
          {"a", "\"", "\\", ".", " ", "{error.message}", "ä", "\t", "\r", ",", "- ", "every", ":"});
    return text;
  }

  void add_ending(Row& row) {
    if (chance(2)) row.hold = HoldText{"gave_up", chance(2) ? "{error.message}" : text()};
    if (chance(2)) row.alert = one_of({"oncall", "billing_team", "a1"});
  }

  Row after_a_time() {
    Row row = {.elapsed = duration()};
    add_ending(row);
    return row;
  }

  void add_unlimited(Policy& policy) {
    Row row;
    if (chance(2)) {
      row.to = planned();
      if (chance(2)) row.alert = "oncall";
      policy.retry = listed(delays(0));
    } else {
      while (row == Row{}) add_ending(row);
    }
    policy.give_up.push_back(row);
  }

  void spoil_schedule(Drawn& drawn) {
    if (!drawn.whole.schedule || chance(2)) return;
    drawn.unsaid.insert("schedule");
    Schedule& schedule = *drawn.whole.schedule;
    if (chance(2)) {
      schedule.tz = "Europe/Berlin";
      schedule.missed = one_of({Schedule::Missed::last, Schedule::Missed::none});
      return;
    }
    schedule = one_of<Schedule>({{.rule = "FREQ=WEEKLY"},
                                 {.rule = "{data.rule}"},
                                 {.rule = "x"},
                                 {.rule = 5},
                                 {.kind = Schedule::Kind::cron, .rule = "* * * * *"},
                                 {.kind = Schedule::Kind::every, .every = "{data.every}"}});
    drawn.sayable.schedule.reset();
  }

  DurationValue unsayable_duration() {
    return one_of<DurationValue>(
        {"{data.x}", Duration{-1}, kDurationMax + Duration{1}, Duration::min(), Duration::max()});
  }

  void spoil_timeout(Drawn& drawn) {
    if (!chance(4)) return;
    drawn.whole.policy.timeout = unsayable_duration();
    drawn.sayable.policy.timeout.reset();
    drawn.unsaid.insert("timeout");
  }

  void spoil_retry(Drawn& drawn) {
    if (!chance(4)) return;
    Policy& said = drawn.sayable.policy;
    Delays spoilt = listed(delays(1));
    switch (below(4)) {
      case 0:
        spoilt.kind = one_of({Delays::Kind::formula, Delays::Kind::fixed});
        break;
      case 1:
        spoilt.list[below(spoilt.list.size())] = unsayable_duration();
        break;
      case 2:
        spoilt.jitter = Delays::Jitter::full;
        break;
      default:
        if (said.give_up.empty() || !said.give_up.back().to)
          spoilt.list.clear();
        else
          spoilt.attempts = 3;
    }
    drawn.whole.policy.retry = spoilt;
    said.retry.reset();
    drawn.unsaid.insert("retry");
    if (said.give_up.empty() || !said.give_up.back().to) return;
    said.give_up.pop_back();
    drawn.unsaid.insert("give_up");
  }

  Row unsayable_row() {
    Row row = chance(2) ? after_a_time() : Row{.hold = HoldText{"gave_up", text()}};
    switch (below(10)) {
      case 0:
        row.condition = "data.x";
        break;
      case 1:
        row.set = {{"a", 1}};
        break;
      case 2:
        row.effects = {EffectRow{}};
        break;
      case 3:
        row.to = "elsewhere";
        break;
      case 4:
        row.hold = HoldText{"other", "x"};
        break;
      case 5:
        row.hold = HoldText{"gave_up", one_of<Json>({5, "a\nb", Json::list({}), nullptr})};
        break;
      case 6:
        row.elapsed = unsayable_duration();
        break;
      case 7:
        row.alert = one_of({"Oncall", "on call", "1a", "é"});
        break;
      case 8:
        row.new_epoch = true;
        break;
      default:
        row = {};
        break;
    }
    return row;
  }

  void spoil_give_up(Drawn& drawn) {
    Rows& rows = drawn.whole.policy.give_up;
    while (chance(3)) {
      rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(below(rows.size() + 1)),
                  unsayable_row());
      drawn.unsaid.insert("give_up");
    }
    const Rows& said = drawn.sayable.policy.give_up;
    if (!said.empty() && !said.back().elapsed && chance(4)) {
      rows.push_back(chance(2) ? after_a_time() : kPanic);
      drawn.unsaid.insert("give_up");
    }
  }

  void add_other_keys(Drawn& drawn) {
    Policy& policy = drawn.whole.policy;
    const auto add = [&](const char* key, auto& member, auto value) {
      if (!chance(6)) return;
      member = value;
      drawn.unsaid.insert(key);
    };
    add("lease", policy.lease, DurationValue(duration()));
    add("errors", policy.errors, std::vector<ErrorRows>{{"default", {Row{}}}});
    add("failure", policy.failure, Ref(one_of({"", "failed"})));
    add("count", policy.count, Policy::Count::state);
    add("align", policy.align, Policy::Align::planned);
    add("policy", policy.policy, Ref("other"));
  }

  std::mt19937_64 random_;
};

constexpr int kDraws = 10'000;

// S2-11
TEST(PolicyInEnglish, WhatIsSaidReadsBackAsTheSamePolicy) {
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const EnglishPolicy policy = Draw(seed).sayable();
    ASSERT_EQ(unsaid(policy), "") << "seed " << seed;
    ASSERT_EQ(findings(lines(policy)), "") << "seed " << seed;
    ASSERT_TRUE(read(lines(policy)) == policy) << "seed " << seed << "\n" << lines(policy);
  }
}

TEST(PolicyInEnglish, OfAnyPolicyTheSayablePartIsSaidAndTheRestNamed) {
  for (std::uint64_t seed = 1; seed <= kDraws; ++seed) {
    const Drawn drawn = Draw(seed).any();
    const PolicyInEnglish told = in_english(drawn.whole);
    std::set<std::string> keys;
    for (const std::string& key : told.unsaid) keys.insert(key.substr(0, key.find(": ")));
    ASSERT_EQ(keys, drawn.unsaid) << "seed " << seed;
    const std::string text = lines(drawn.whole);
    const EnglishPolicy back = told.lines.empty() ? EnglishPolicy{} : read(text);
    ASSERT_TRUE(back == drawn.sayable) << "seed " << seed << "\n" << text;
  }
}

}  // namespace
}  // namespace pawl
