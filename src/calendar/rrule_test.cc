#include "calendar/rrule.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

std::string canonical(const char* text) {
  const auto rule = parse_rrule(text);
  return rule ? to_text(*rule) : "error: " + rule.error().message;
}

TEST(Rrule, PrintsOneCanonicalForm) {
  EXPECT_EQ(canonical("interval=2;freq=weekly;byday=su,mo,mo;wkst=su"),
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SU;WKST=SU");
  EXPECT_EQ(canonical("FREQ=DAILY;INTERVAL=1;WKST=MO"), "FREQ=DAILY");
  EXPECT_EQ(canonical("BYDAY=+1MO,-1FR;FREQ=MONTHLY;BYMONTHDAY=-1,13;COUNT=3"),
            "FREQ=MONTHLY;COUNT=3;BYDAY=1MO,-1FR;BYMONTHDAY=-1,13");
  EXPECT_EQ(canonical("FREQ=DAILY;UNTIL=19971224T000000Z"), "FREQ=DAILY;UNTIL=19971224T000000Z");
  EXPECT_EQ(canonical("FREQ=DAILY;UNTIL=19971224"), "FREQ=DAILY;UNTIL=19971224");
  EXPECT_EQ(
      canonical(
          "FREQ=YEARLY;BYSETPOS=1;BYWEEKNO=-1,20;BYYEARDAY=-366,100;BYMONTH=5,12;BYHOUR=9;BYMINUTE=0;BYSECOND=60"),
      "error: the rule FREQ=YEARLY;BYSECOND=60;BYMINUTE=0;BYHOUR=9;BYYEARDAY=-366,100;BYWEEKNO=-1,20;BYMONTH=5,12;BYSETPOS=1 can never fire, whatever its DTSTART; its parts exclude each other");
}

TEST(Rrule, PrintedTextReadsBackEqual) {
  for (const char* text :
       {"FREQ=SECONDLY;INTERVAL=7;BYHOUR=0,23;BYMINUTE=0,59;BYSECOND=0,60",
        "FREQ=YEARLY;BYDAY=-53SU,53MO;BYYEARDAY=1,366,-1,-366",
        "FREQ=YEARLY;COUNT=1000000000000;INTERVAL=1000000000;BYWEEKNO=53,-53;WKST=TH",
        "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;BYSETPOS=1"}) {
    const auto rule = parse_rrule(text);
    ASSERT_TRUE(rule) << rule.error().message;
    const auto back = parse_rrule(to_text(*rule));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*rule, *back);
  }
}

TEST(Rrule, LimitsAreErrorsThatNameThem) {
  EXPECT_TRUE(parse_rrule("FREQ=DAILY;INTERVAL=1000000000"));
  EXPECT_NE(parse_rrule("FREQ=DAILY;INTERVAL=1000000001")
                .error()
                .message.find("the largest is 1000000000"),
            std::string::npos);
  EXPECT_TRUE(parse_rrule("FREQ=DAILY;COUNT=1000000000000"));
  EXPECT_NE(parse_rrule("FREQ=DAILY;COUNT=1000000000001")
                .error()
                .message.find("the largest is 1000000000000"),
            std::string::npos);
  const std::string longest =
      "FREQ=DAILY;BYHOUR=" + std::string(kRuleTextMax - 19, ',').replace(0, 0, "1");
  EXPECT_EQ(parse_rrule(longest).error().message.find("longer than"), std::string::npos);
  EXPECT_NE(parse_rrule(longest + ",1").error().message.find("longer than 16384 bytes"),
            std::string::npos);
}

TEST(Rrule, CalendarTimesHaveThreeForms) {
  EXPECT_EQ(parse_calendar_time("19700102", 1)->seconds, 86'400);
  EXPECT_EQ(parse_calendar_time("19700101T000001", 1)->form, CalendarTime::Form::local);
  EXPECT_EQ(parse_calendar_time("19700101T010203Z", 1)->seconds, 3723);
  for (const char* bad : {"", "1997", "19970229", "19971324", "19971200", "19971224T250000",
                          "19971224T096000", "19971224T0900", "19971224X090000", "1997122aT090000",
                          "19971224T09000a", "19971224T090000X", "00000101"}) {
    const auto time = parse_calendar_time(bad, 7);
    ASSERT_FALSE(time) << bad;
    EXPECT_EQ(time.error().position->column, 7);
  }
}

}  // namespace
}  // namespace pawl
