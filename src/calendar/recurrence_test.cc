#include "calendar/recurrence.h"

#include <gtest/gtest.h>

#include "pawl/zones.h"

namespace pawl {
namespace {

using namespace std::chrono;

struct Asked {
  const char* rrule;
  const char* start = "2026-01-01T00:00:00";
  const char* zone = "UTC";
};

Result<Recurrence> make(const Asked& asked) {
  const Zone zone = *Zones::open()->find(asked.zone);
  PAWL_TRY(Rrule rule, parse_rrule(asked.rrule));
  return Recurrence::make({.start = {floor<seconds>(parse_stamp(asked.start)->local)},
                           .zone = zone,
                           .rrules = {std::move(rule)}});
}

std::string next(const Asked& asked, const char* after) {
  const auto recurrence = make(asked);
  if (!recurrence) return recurrence.error().message;
  const auto found = recurrence->next(*parse_instant(after));
  return found ? to_text(found->at) : "none";
}

TEST(Recurrence, NextIsStrictlyAfter) {
  EXPECT_EQ(next({"FREQ=DAILY"}, "2026-01-01T00:00:00Z"), "2026-01-02T00:00:00Z");
  EXPECT_EQ(next({"FREQ=DAILY"}, "2025-12-31T23:59:59.999999Z"), "2026-01-01T00:00:00Z");
  EXPECT_EQ(next({"FREQ=DAILY"}, "2026-01-01T23:59:59.999999Z"), "2026-01-02T00:00:00Z");
}

// R2-5: the anchor is fixed, so the answer depends on nothing but rule, anchor and instant.
TEST(Recurrence, IsAPureFunctionOfRuleAnchorAndInstant) {
  EXPECT_EQ(next({"FREQ=HOURLY;INTERVAL=5"}, "2026-01-01T19:00:00Z"), "2026-01-01T20:00:00Z");
  EXPECT_EQ(next({"FREQ=HOURLY;INTERVAL=5"}, "2026-01-01T20:00:00Z"), "2026-01-02T01:00:00Z");
  EXPECT_EQ(next({"FREQ=WEEKLY;INTERVAL=2", "2025-01-06T00:00:00"}, "2025-01-13T00:00:00Z"),
            "2025-01-20T00:00:00Z");
  EXPECT_EQ(next({"FREQ=WEEKLY;INTERVAL=2", "2025-01-06T00:00:00"}, "2025-01-15T00:00:00Z"),
            "2025-01-20T00:00:00Z");
}

// S2-4: start 08:00, success 08:10, rule every 2 h from 00:00 → 10:00. S2-42: twice a day.
TEST(Recurrence, AnswersTheQuestionOfSeed002) {
  EXPECT_EQ(next({"FREQ=HOURLY;INTERVAL=2"}, "2026-01-01T08:10:00Z"), "2026-01-01T10:00:00Z");
  const Asked twice{"FREQ=DAILY;BYHOUR=6,16;BYMINUTE=0;BYSECOND=0", "2026-01-01T00:00:00",
                    "Europe/Berlin"};
  EXPECT_EQ(next(twice, "2026-07-01T00:00:00Z"), "2026-07-01T04:00:00Z");
  EXPECT_EQ(next(twice, "2026-07-01T04:00:00Z"), "2026-07-01T14:00:00Z");
}

TEST(Recurrence, EndsAfterCountUntilOrTheYear9999) {
  EXPECT_EQ(next({"FREQ=DAILY;COUNT=2"}, "2026-01-02T00:00:00Z"), "none");
  EXPECT_EQ(next({"FREQ=DAILY;UNTIL=20260103T000000Z"}, "2026-01-02T00:00:00Z"),
            "2026-01-03T00:00:00Z");
  EXPECT_EQ(next({"FREQ=DAILY;UNTIL=20260102T235959Z"}, "2026-01-02T00:00:00Z"), "none");
  EXPECT_EQ(next({"FREQ=DAILY;UNTIL=20250101T000000Z"}, "2020-01-02T00:00:00Z"), "none");
  EXPECT_EQ(next({"FREQ=YEARLY"}, "9998-06-01T00:00:00Z"), "9999-01-01T00:00:00Z");
  EXPECT_EQ(next({"FREQ=YEARLY"}, "9999-06-01T00:00:00Z"), "none");
  EXPECT_EQ(next({"FREQ=YEARLY;INTERVAL=1000000000"}, "2026-01-01T00:00:00Z"), "none");
  EXPECT_EQ(next({"FREQ=SECONDLY"}, "9999-12-31T23:59:58Z"), "9999-12-31T23:59:59Z");
  EXPECT_EQ(next({"FREQ=SECONDLY"}, "9999-12-31T23:59:59Z"), "none");
  EXPECT_EQ(
      next({"FREQ=HOURLY", "9999-12-31T00:00:00", "America/New_York"}, "9999-12-31T22:30:00Z"),
      "9999-12-31T23:00:00Z");
  EXPECT_EQ(
      next({"FREQ=HOURLY", "9999-12-31T00:00:00", "America/New_York"}, "9999-12-31T23:00:00Z"),
      "none");
}

// COUNT is found by whole days, not by walking: the last of ten thousand million seconds lies in
// the year 2342.
TEST(Recurrence, LargeCountsAreFoundByCountingDays) {
  EXPECT_EQ(next({"FREQ=SECONDLY;COUNT=10000000000"}, "2342-11-21T17:46:38Z"),
            "2342-11-21T17:46:39Z");
  EXPECT_EQ(next({"FREQ=SECONDLY;COUNT=10000000000"}, "2342-11-21T17:46:39Z"), "none");
  EXPECT_EQ(next({"FREQ=MINUTELY;INTERVAL=7;BYHOUR=9,10;COUNT=1000"}, "2027-01-01T00:00:00Z"),
            "none");
  EXPECT_EQ(next({"FREQ=DAILY;BYHOUR=1,2,3;COUNT=1000000000000"}, "9999-12-31T02:00:00Z"),
            "9999-12-31T03:00:00Z");
}

// A list of numbers from low to high.
std::string numbers(int low, int high) {
  std::string text;
  for (int number = low; number <= high; ++number)
    text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// With BYSETPOS, COUNT is found period by period: hundreds of places a year do not make it slow.
TEST(Recurrence, LargeCountsWithPositionsAreFoundByCountingPeriods) {
  const std::string rule = "FREQ=WEEKLY;BYHOUR=" + numbers(0, 23) + ";BYMINUTE=" + numbers(0, 59) +
                           ";BYSETPOS=" + numbers(1, 366) + "," + numbers(-366, -1) +
                           ";COUNT=1000000000000";
  EXPECT_EQ(next({rule.c_str(), "2026-01-05T00:00:00"}, "2026-01-05T00:00:00Z"),
            "2026-01-05T00:01:00Z");
}

// Under `skip` the count goes from gap to gap; a rule that is silent for years passes them all at
// once.
TEST(Recurrence, CountUnderSkipPassesGapsInSilence) {
  const Asked rare{
      "FREQ=MINUTELY;INTERVAL=18361;COUNT=3;BYMINUTE=30;BYHOUR=1,23;BYDAY=SU,TH,WE,MO;BYYEARDAY=311,101;BYMONTH=11",
      "2010-11-07T01:30:00", "America/New_York"};
  EXPECT_EQ(next(rare, "2010-11-07T05:00:00Z"), "2010-11-07T05:30:00Z");
  EXPECT_EQ(next({"FREQ=HOURLY;COUNT=3", "2026-03-08T01:30:00", "America/New_York"},
                 "2026-03-08T07:30:00Z"),
            "2026-03-08T08:30:00Z");
  EXPECT_EQ(next({"FREQ=HOURLY;COUNT=3", "2026-03-08T01:30:00", "America/New_York"},
                 "2026-03-08T08:30:00Z"),
            "none");
  EXPECT_EQ(next({"FREQ=HOURLY;COUNT=1", "2026-03-08T02:30:00", "America/New_York"},
                 "2026-03-08T00:00:00Z"),
            "2026-03-08T07:30:00Z");
}

TEST(Recurrence, HasALimitedNumberOfRules) {
  RecurrencePlan plan{.rrules = std::vector<Rrule>(kRulesMax, *parse_rrule("FREQ=DAILY"))};
  EXPECT_TRUE(Recurrence::make(plan));
  plan.rrules.push_back(plan.rrules.front());
  EXPECT_NE(Recurrence::make(plan).error().message.find("at most 32 rules"), std::string::npos);
}

TEST(Recurrence, ALocalExdateTakesAwayAnRdateInUtc) {
  RecurrencePlan plan{.zone = *Zones::open()->find("Europe/Berlin")};
  plan.rdates = {*parse_calendar_time("20261220T080000Z"),
                 *parse_calendar_time("20261221T080000Z")};
  plan.exdates = {*parse_calendar_time("20261220T090000")};
  EXPECT_EQ(to_text(Recurrence::make(plan)->next(kInstantMin)->at), "2026-12-21T08:00:00Z");
}

TEST(Recurrence, WalkingAndJumpingAgreeOnCount) {
  for (const char* text :
       {"FREQ=MINUTELY;INTERVAL=7;BYHOUR=9,10;COUNT=500",
        "FREQ=HOURLY;INTERVAL=5;BYDAY=MO,FR;COUNT=300",
        "FREQ=SECONDLY;INTERVAL=3601;BYMINUTE=10,20;COUNT=50",
        "FREQ=WEEKLY;BYDAY=MO,TU;BYHOUR=1,2;BYSETPOS=2,-1;COUNT=77",
        "FREQ=HOURLY;INTERVAL=100;BYMONTHDAY=1,2,3;COUNT=40", "FREQ=YEARLY;BYDAY=20MO;COUNT=33",
        "FREQ=DAILY;BYMONTHDAY=1,2,15;BYHOUR=1,2;COUNT=101",
        "FREQ=MONTHLY;BYDAY=MO,TU,FR;BYHOUR=3,4;BYSETPOS=1,-1,-40;COUNT=60"}) {
    for (const char* zone : {"UTC", "America/New_York"}) {
      const auto counted = make({text, "2026-01-01T00:10:00", zone});
      const std::string endless(text, std::string_view(text).find(";COUNT"));
      const auto walked = make({endless.c_str(), "2026-01-01T00:10:00", zone});
      ASSERT_TRUE(counted && walked) << text;
      const int count =
          std::stoi(std::string(text).substr(std::string_view(text).find("COUNT=") + 6));
      std::optional<Occurrence> at;
      Instant after = kInstantMin;
      for (int i = 0; i < count;) {
        at = walked->next(after);
        ASSERT_TRUE(at);
        if (at->clock != Occurrence::Clock::last_fold) ++i;  // COUNT counts a local time once
        ASSERT_EQ(counted->next(after)->at, at->at) << text << " " << zone << " #" << i;
        after = at->at;
      }
      const auto beyond = counted->next(after);
      EXPECT_TRUE(!beyond || beyond->clock == Occurrence::Clock::last_fold) << text << " " << zone;
    }
  }
}

TEST(Recurrence, LateAnchorAndEarlyAnchorGiveTheSameTimes) {
  for (const char* after :
       {"2026-03-08T06:59:59Z", "2026-07-04T12:34:56Z", "2026-11-01T05:59:00Z"}) {
    EXPECT_EQ(next({"FREQ=MONTHLY;BYDAY=-1FR", "1970-01-01T09:00:00", "America/New_York"}, after),
              next({"FREQ=MONTHLY;BYDAY=-1FR", "2026-01-01T09:00:00", "America/New_York"}, after));
    EXPECT_EQ(next({"FREQ=HOURLY;INTERVAL=2", "1970-01-01T00:00:00", "America/New_York"}, after),
              next({"FREQ=HOURLY;INTERVAL=2", "2026-01-01T00:00:00", "America/New_York"}, after));
  }
}

TEST(Recurrence, RefusesWhatNeverFiresFromThisAnchor) {
  EXPECT_NE(next({"FREQ=DAILY;INTERVAL=7;BYDAY=MO", "2026-01-06T00:00:00"}, "2026-01-01T00:00:00Z")
                .find("can never fire"),
            std::string::npos);
  EXPECT_NE(
      next({"FREQ=HOURLY;INTERVAL=24;BYHOUR=5", "2026-01-06T04:00:00"}, "2026-01-01T00:00:00Z")
          .find("can never fire"),
      std::string::npos);
  EXPECT_NE(next({"FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29", "2025-01-01T00:00:00"},
                 "2026-01-01T00:00:00Z")
                .find("can never fire"),
            std::string::npos);
  EXPECT_NE(
      next({"FREQ=SECONDLY;INTERVAL=60;BYSECOND=1"}, "2026-01-01T00:00:00Z").find("can never fire"),
      std::string::npos);
  EXPECT_NE(
      next({"FREQ=SECONDLY;INTERVAL=86399;BYHOUR=0;BYMINUTE=0;BYSECOND=0", "2026-01-01T00:00:00"},
           "2026-01-01T00:00:00Z")
          .find("can go more than 10000 periods"),
      std::string::npos);
}

TEST(Recurrence, RefusesLocalTimesThatNeverExistUnderSkip) {
  const Zone zone = *Zones::open()->find("America/New_York");
  RecurrencePlan plan{.start = {floor<seconds>(parse_stamp("2026-01-01T00:00:00")->local)},
                      .zone = zone,
                      .gap = Gap::skip};
  plan.rrules = {*parse_rrule("FREQ=YEARLY;BYMONTH=3;BYDAY=2SU;BYHOUR=2;BYMINUTE=30")};
  EXPECT_NE(Recurrence::make(plan).error().message.find("do not exist"), std::string::npos);
  plan.gap = Gap::shift;
  EXPECT_TRUE(Recurrence::make(plan));
}

// A rule that speaks rarely is silent for centuries and still answers: 29 February on a Monday
// comes every 28 years, but not around 2100.
TEST(Recurrence, RareRulesAreFoundWithinTheBound) {
  EXPECT_EQ(next({"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO"}, "2096-03-01T00:00:00Z"),
            "2112-02-29T00:00:00Z");
  EXPECT_EQ(next({"FREQ=YEARLY;INTERVAL=100;BYMONTH=2;BYMONTHDAY=29", "2000-01-01T00:00:00"},
                 "2000-03-01T00:00:00Z"),
            "2400-02-29T00:00:00Z");
  EXPECT_EQ(next({"FREQ=DAILY;INTERVAL=365;BYMONTH=2;BYMONTHDAY=29", "2026-01-01T00:00:00"},
                 "2026-01-01T00:00:00Z"),
            "3288-02-29T00:00:00Z");
}

}  // namespace
}  // namespace pawl
