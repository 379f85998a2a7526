#include "calendar/recurrence_text.h"

#include <gtest/gtest.h>

#include <tuple>

namespace pawl {
namespace {

TEST(RecurrenceText, ReadsLinesOfICalendar) {
  const auto text = parse_recurrence_text(
      "DTSTART;TZID=America/New_York:19970902T090000\r\nRRULE:FREQ=DAILY;COUNT=3\nRDATE:19970910T090000,19970911T090000\nEXDATE:19970903T090000\n");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->tzid, "America/New_York");
  EXPECT_EQ(text->rrules.size(), 1U);
  EXPECT_EQ(text->rdates.size(), 2U);
  EXPECT_EQ(text->exdates.size(), 1U);
  EXPECT_TRUE(parse_recurrence_text("FREQ=DAILY"));
  EXPECT_EQ(parse_recurrence_text("DTSTART;VALUE=DATE:19970902")->start->form,
            CalendarTime::Form::date);
}

TEST(RecurrenceText, MistakesHaveLineAndColumn) {
  const std::tuple<const char*, Position, const char*> kBad[] = {
      {"DTSTART:19970902T090000\nRRULE:FREQ=DAILY;BYHOUR=24", {2, 25}, "BYHOUR takes 0 to 23"},
      {"DTSTART:19970902T090000\nDTSTART:19970902T090000", {2, 1}, "given twice"},
      {"DTSTART:1997", {1, 9}, "not a date or time"},
      {"RRULE:FREQ=DAILY\nEXRULE:FREQ=DAILY", {2, 1}, "dropped EXRULE"},
      {"RRULE:FREQ=DAILY\nSUMMARY:x", {2, 1}, "unknown line"},
      {"RRULE:FREQ=DAILY\nfoo", {2, 1}, "not a line"},
      {"RDATE;VALUE=PERIOD:19970902T090000", {1, 1}, "VALUE=PERIOD is not supported"},
      {"DTSTART;TZID=A:19970902T090000\nRDATE;TZID=B:19970902T090000", {2, 1}, "one zone"},
      {"RDATE;X=1:19970902T090000", {1, 1}, "unknown parameter"},
  };
  for (const auto& [text, position, message] : kBad) {
    const auto read = parse_recurrence_text(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find(message), std::string::npos) << read.error().message;
    EXPECT_EQ(read.error().position, position) << text << ": " << read.error().message;
  }
}

}  // namespace
}  // namespace pawl
