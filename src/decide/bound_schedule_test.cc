#include "decide/bound_schedule.h"

#include "decide/test_world.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

// The schedule of a machine for a record with that data, created at 2026-03-02 08:00 UTC.
Result<BoundSchedule> bound(std::string_view schedule, std::string data = "{}") {
  const std::string file =
      "machine: m\ninitial: a\ndata: {rule: string, tz: string, from: string, "
      "gap: string}\nschedule: " +
      std::string(schedule) + "\nstates: {a: {planned: a}}\n";
  const auto machine = machine_of(file);
  static Record record;
  record.created_at = *parse_instant("2026-03-02T08:00:00Z");
  record.data = std::move(data);
  Scratch scratch;
  return BoundSchedule::bind(*machine->definition().schedule,
                             {.record = &record, .data = record.data}, test_zones(), scratch);
}

std::string next(std::string_view schedule, std::string_view after, std::string data = "{}") {
  const auto found = bound(schedule, std::move(data));
  if (!found) return found.error().message;
  const auto at = found->next(*parse_instant(after));
  return at ? to_text(*at) : "none";
}

TEST(BoundSchedule, EveryCountsFromTheAnchor) {
  EXPECT_EQ(next("{every: 2h}", "2026-03-02T08:00:00Z"), "2026-03-02T10:00:00Z");
  EXPECT_EQ(next("{every: 2h}", "2026-03-02T09:59:59Z"), "2026-03-02T10:00:00Z");
  EXPECT_EQ(next("{every: 2h}", "2026-03-02T10:00:00Z"), "2026-03-02T12:00:00Z");
  EXPECT_EQ(next("{every: 2h}", "2026-03-01T00:00:00Z"), "2026-03-02T08:00:00Z");
  EXPECT_EQ(next("{every: 2h, anchor: \"2026-03-02T07:30:00\"}", "2026-03-02T08:00:00Z"),
            "2026-03-02T09:30:00Z");
}

TEST(BoundSchedule, RulesAreOfTheZone) {  // S2-42 across a change of the clock
  const std::string daily =
      "{rrule: \"FREQ=DAILY;BYHOUR=6;BYMINUTE=0;BYSECOND=0\", tz: "
      "Europe/Berlin, anchor: \"2026-01-01T00:00:00\"}";
  EXPECT_EQ(next(daily, "2026-03-28T06:00:00Z"), "2026-03-29T04:00:00Z");
  EXPECT_EQ(next("{cron: \"30 2 * * *\", tz: Europe/Berlin}", "2026-03-28T12:00:00Z"),
            "2026-03-29T01:30:00Z");
  EXPECT_EQ(next("{cron: \"30 2 * * *\", tz: Europe/Berlin, gap: skip}", "2026-03-28T12:00:00Z"),
            "2026-03-30T00:30:00Z");
  EXPECT_EQ(next("{cron: \"30 2 * * *\", tz: Europe/Berlin, fold: last}", "2026-10-24T12:00:00Z"),
            "2026-10-25T01:30:00Z");
  EXPECT_EQ(next("{cron: \"30 2 * * *\", tz: Europe/Berlin, fold: first}", "2026-10-24T12:00:00Z"),
            "2026-10-25T00:30:00Z");
}

TEST(BoundSchedule, PartsComeFromData) {
  EXPECT_EQ(next("{rrule: \"{data.rule}\", tz: \"{data.tz}\", anchor: \"{data.from}\"}",
                 "2026-03-02T08:00:00Z",
                 R"({"rule":"FREQ=DAILY","tz":"Asia/Tokyo","from":"2026-03-02T12:00:00"})"),
            "2026-03-03T03:00:00Z");
  EXPECT_EQ(next("{rrule: \"{data.rule}\"}", "2026-03-02T08:00:00Z"),
            "`rule` of the schedule: data.rule is absent");
  EXPECT_NE(next("{rrule: \"{data.rule}\"}", "2026-03-02T08:00:00Z", R"({"rule":"FREQ=OFTEN"})"),
            "none");
}

TEST(BoundSchedule, KeepsWhatItWasBoundTo) {
  const auto found = bound("{every: 1h, tz: Asia/Tokyo, anchor: \"2026-03-02T12:00:00\"}");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->zone(), "Asia/Tokyo");
  EXPECT_EQ(found->anchor(), "2026-03-02T12:00:00");
  EXPECT_EQ(bound("{every: 1h}")->anchor(), "2026-03-02T08:00:00Z");
}

TEST(BoundSchedule, FindsTheLatestSlot) {
  const auto every = bound("{every: 1m}");
  const Instant first = *parse_instant("2026-03-02T08:01:00Z");
  EXPECT_EQ(every->latest(first, first), first);
  EXPECT_EQ(every->latest(first, first + 30s), first);
  EXPECT_EQ(every->latest(first, first + 90s), first + 1min);
  EXPECT_EQ(every->latest(first, first + 1h), first + 1h);
  EXPECT_EQ(every->latest(first, first + 24h * 365 + 5s), first + 24h * 365);
  const auto often = bound("{every: 20s}");
  EXPECT_EQ(often->latest(first, first + 40s), first + 40s);
  EXPECT_EQ(often->latest(first, first + 1h), first + 1h);
  EXPECT_EQ(often->latest(first, first + 1h - 1s), first + 1h - 20s);
  const auto daily = bound("{rrule: FREQ=DAILY}");
  const Instant day = *parse_instant("2026-03-03T08:00:00Z");
  EXPECT_EQ(daily->latest(day, day + 24h * 3 + 1h), day + 24h * 3);
  EXPECT_EQ(daily->latest(day, day + 23h), day);
}

TEST(BoundSchedule, ALongAbsenceCostsLittle) {
  const Instant first = *parse_instant("2026-03-02T08:00:00Z");
  const Instant until = *parse_instant("9026-03-02T08:00:00Z");
  EXPECT_EQ(bound("{every: 1ms}")->latest(first, until), until);
}

TEST(BoundSchedule, TheLastInstantMayBeASlot) {
  EXPECT_EQ(
      next("{every: 1h, anchor: \"" + to_text(kInstantMax - 1h) + "\"}", to_text(kInstantMax - 1h)),
      to_text(kInstantMax));
}

TEST(BoundSchedule, WhatIsWrongWithAPartIsBadInput) {
  for (const char* schedule :
       {"{rrule: \"{data.rule}\"}", "{every: 1h, tz: \"{data.tz}\"}", "{every: \"{data.rule}\"}"}) {
    const auto found = bound(schedule, R"({"rule":"0s"})");
    ASSERT_FALSE(found) << schedule;
    EXPECT_EQ(found.error().code, ErrorCode::bad_input) << schedule;
  }
}

TEST(BoundSchedule, NothingIsLeftAfterTheEnd) {
  EXPECT_EQ(next("{rrule: \"FREQ=DAILY;COUNT=2\"}", "2026-03-02T08:00:00Z"),
            "2026-03-03T08:00:00Z");
  EXPECT_EQ(next("{rrule: \"FREQ=DAILY;COUNT=2\"}", "2026-03-03T08:00:00Z"), "none");
  EXPECT_EQ(next("{every: 100000d}", "9999-01-01T00:00:00Z"), "none");
}

}  // namespace
}  // namespace pawl
