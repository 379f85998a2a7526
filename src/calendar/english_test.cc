#include "calendar/english.h"

#include <gtest/gtest.h>

#include "calendar/civil.h"

namespace pawl {
namespace {

// From Friday, 2 January 2026, 09:30:00.
std::string english(const char* rule) {
  const Start start{
      LocalSeconds{std::chrono::seconds{days_from_civil(2026, 1, 2) * kSecondsPerDay + 34'200}}};
  return in_english(*parse_rrule(rule), start);
}
std::string cron_english(const char* text) { return in_english(*parse_cron(text)); }

TEST(English, SaysRules) {
  const std::pair<const char*, const char*> kRules[] = {
      {"FREQ=DAILY", "Every day at 09:30"},
      {"FREQ=DAILY;BYHOUR=6,16;BYMINUTE=0;BYSECOND=0", "Every day at 06:00 and 16:00"},
      {"FREQ=DAILY;INTERVAL=3;COUNT=10",
       "Every 3 days at 09:30, counted from 2 January 2026 09:30, 10 times"},
      {"FREQ=WEEKLY", "Every week on Friday at 09:30"},
      {"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0",
       "Every week on Monday to Friday at 09:00"},
      {"FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
       "Every 2 weeks on Tuesday and Sunday at 09:30, weeks beginning on Sunday, counted from 2 January 2026 09:30"},
      {"FREQ=MONTHLY", "Every month on the 2nd at 09:30"},
      {"FREQ=MONTHLY;BYDAY=-1FR", "Every month on the last Friday at 09:30"},
      {"FREQ=MONTHLY;BYDAY=1SU,-2SU",
       "Every month on the 2nd to last Sunday and the 1st Sunday at 09:30"},
      {"FREQ=MONTHLY;BYMONTHDAY=-1,15",
       "Every month on the last day and the 15th of the month at 09:30"},
      {"FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR",
       "Every month on the 13th of the month if it is Friday at 09:30"},
      {"FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
       "Every month on Monday to Friday at 09:30, but only the last of these in each month"},
      {"FREQ=YEARLY", "Every year on 2 January at 09:30"},
      {"FREQ=YEARLY;BYMONTH=6,7", "Every year on the 2nd in June and July at 09:30"},
      {"FREQ=YEARLY;BYDAY=20MO", "Every year on the 20th Monday of the year at 09:30"},
      {"FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
       "Every year on the 4th Thursday of the month in November at 09:30"},
      {"FREQ=YEARLY;BYWEEKNO=20", "Every year in the 20th week of the year at 09:30"},
      {"FREQ=YEARLY;BYYEARDAY=1,-1", "Every year on the last and 1st day of the year at 09:30"},
      {"FREQ=HOURLY;INTERVAL=2", "Every 2 hours at minute 30, counted from 2 January 2026 09:30"},
      {"FREQ=MINUTELY;INTERVAL=15;BYHOUR=9,10,11",
       "Every 15 minutes in hours 9 to 11, counted from 2 January 2026 09:30"},
      {"FREQ=DAILY;UNTIL=19971224T000000Z", "Every day at 09:30, until 24 December 1997 00:00 UTC"},
      {"FREQ=DAILY;UNTIL=19971224", "Every day at 09:30, until 24 December 1997"},
      {"FREQ=DAILY;BYSECOND=59,60", "Every day at 09:30:59"},
      {"FREQ=DAILY;COUNT=1", "Every day at 09:30, once"},
  };
  for (const auto& [rule, expected] : kRules) EXPECT_EQ(english(rule), expected) << rule;
}

TEST(English, SaysCron) {
  const std::pair<const char*, const char*> kCrons[] = {
      {"0 9 * * MON-FRI", "On Monday to Friday at 09:00"},
      {"@daily", "Every day at 00:00"},
      {"*/15 * * * *", "Every day at minutes 0, 15, 30 and 45"},
      {"* * * * *", "Every day every minute"},
      {"0 0 13 * FRI", "On the 13th, or on Friday, at 00:00"},
      {"0 0 */2 * FRI",
       "On the 1st, the 3rd, the 5th, the 7th, the 9th, the 11th, the 13th, the 15th, the 17th, the 19th, the 21st, the 23rd, the 25th, the 27th, the 29th and the 31st, if it is Friday, at 00:00"},
      {"0 12 L * *", "On the last day of the month at 12:00"},
      {"0 12 15W 1-3 *", "On the weekday nearest to the 15th in January to March at 12:00"},
      {"0 12 * * FRI#2,5L",
       "On the 2nd Friday of the month and the last Friday of the month at 12:00"},
      {"0 * * * *", "Every day at the start of every hour"},
      {"30 0 9-17 * * *", "Every day at second 30 of minute 0 of hours 9 to 17"},
  };
  for (const auto& [cron, expected] : kCrons) EXPECT_EQ(cron_english(cron), expected) << cron;
}

TEST(English, SaysWhatHappensWhenClocksChange) {
  EXPECT_EQ(
      in_english(Gap::skip, Fold::both),
      "When clocks change: a local time that does not exist is left out; one that exists twice happens both times");
}

}  // namespace
}  // namespace pawl
