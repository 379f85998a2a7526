#include "calendar/zone.h"

#include <gtest/gtest.h>

#include "pawl/zones.h"

namespace pawl {
namespace {

using namespace std::chrono;

Zone zone_named(const char* name) { return *Zones::open()->find(name); }

LocalSeconds local(const char* text) { return floor<seconds>(parse_stamp(text)->local); }

std::vector<std::string> instants(const char* zone, const char* wall, Gap gap, Fold fold) {
  const LocalInstants found = zone_named(zone).to_instants(local(wall), gap, fold);
  std::vector<std::string> texts;
  for (int i = 0; i < found.count; ++i)
    texts.push_back(to_text(found.at[static_cast<std::size_t>(i)]));
  return texts;
}

using Strings = std::vector<std::string>;

TEST(Zone, GapIsShiftedByTheOffsetBeforeItOrSkipped) {
  EXPECT_EQ(instants("America/New_York", "2026-03-08T02:30:00", Gap::shift, Fold::first),
            Strings{"2026-03-08T07:30:00Z"});
  EXPECT_EQ(instants("America/New_York", "2026-03-08T02:30:00", Gap::skip, Fold::first), Strings{});
  EXPECT_EQ(instants("America/New_York", "2026-03-08T03:00:00", Gap::skip, Fold::first),
            Strings{"2026-03-08T07:00:00Z"});
  EXPECT_EQ(instants("America/New_York", "2026-03-08T01:59:59", Gap::skip, Fold::first),
            Strings{"2026-03-08T06:59:59Z"});
}

TEST(Zone, FoldHasTwoInstants) {
  EXPECT_EQ(instants("America/New_York", "2026-11-01T01:30:00", Gap::skip, Fold::first),
            Strings{"2026-11-01T05:30:00Z"});
  EXPECT_EQ(instants("America/New_York", "2026-11-01T01:30:00", Gap::skip, Fold::last),
            Strings{"2026-11-01T06:30:00Z"});
  EXPECT_EQ(instants("America/New_York", "2026-11-01T01:30:00", Gap::skip, Fold::both),
            (Strings{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}));
  EXPECT_EQ(instants("America/New_York", "2026-11-01T02:00:00", Gap::skip, Fold::both),
            Strings{"2026-11-01T07:00:00Z"});
}

TEST(Zone, HalfHoursAndWholeDaysCanBeMissing) {
  EXPECT_EQ(instants("Australia/Lord_Howe", "2026-10-04T02:15:00", Gap::shift, Fold::first),
            Strings{"2026-10-03T15:45:00Z"});
  EXPECT_EQ(instants("Australia/Lord_Howe", "2026-04-05T01:45:00", Gap::shift, Fold::both),
            (Strings{"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"}));
  EXPECT_EQ(instants("Pacific/Apia", "2011-12-30T12:00:00", Gap::skip, Fold::first), Strings{});
  EXPECT_EQ(instants("Pacific/Apia", "2011-12-30T12:00:00", Gap::shift, Fold::first),
            Strings{"2011-12-30T22:00:00Z"});
}

TEST(Zone, ClocksGoOnChangingAfter2037) {
  const Zone zone = zone_named("America/New_York");
  for (const char* july : {"2038-07-01T00:00:00Z", "2040-07-01T00:00:00Z", "2437-07-01T00:00:00Z",
                           "2840-07-01T00:00:00Z", "9999-07-01T00:00:00Z"}) {
    EXPECT_EQ(zone.span_at(floor<seconds>(*parse_instant(july))).offset, -4h) << july;
  }
  for (const char* january :
       {"2040-01-01T00:00:00Z", "2438-01-01T00:00:00Z", "9999-12-31T23:00:00Z"}) {
    EXPECT_EQ(zone.span_at(floor<seconds>(*parse_instant(january))).offset, -5h) << january;
  }
  EXPECT_EQ(instants("America/New_York", "2040-03-11T02:30:00", Gap::skip, Fold::first), Strings{});
  EXPECT_EQ(instants("America/New_York", "2440-03-11T02:30:00", Gap::skip, Fold::first),
            Strings{});  // 400 years on
}

// Every span ends where the next begins, up to the year 9999, also where the 400-year cycle is
// joined to itself.
TEST(Zone, SpansFollowEachOtherWithoutHoles) {
  const auto zones = Zones::open();
  for (const char* name : {"UTC", "America/New_York", "Europe/Dublin", "Australia/Lord_Howe",
                           "Africa/Casablanca", "Asia/Kathmandu"}) {
    const Zone zone = *zones->find(name);
    ZoneSpan span = zone.span_at(ZoneSpan::kBegin);
    EXPECT_EQ(span.begin, ZoneSpan::kBegin);
    while (span.end < floor<seconds>(kInstantMax)) {
      const ZoneSpan next = zone.span_at(span.end);
      ASSERT_EQ(next.begin, span.end) << name;
      ASSERT_TRUE(next.offset != span.offset || next.abbreviation != span.abbreviation)
          << name << " " << to_text(span.end);
      ASSERT_EQ(zone.span_at(span.end - 1s).end, span.end) << name;
      span = next;
    }
  }
}

TEST(Zone, LocalTimeOfAnInstantKeepsMicroseconds) {
  const LocalTime wall =
      zone_named("Asia/Kathmandu").to_local(*parse_instant("2026-07-01T12:00:00.000001Z"));
  EXPECT_EQ(wall.time_since_epoch(),
            parse_instant("2026-07-01T17:45:00.000001Z")->time_since_epoch());
}

TEST(Zones, UnknownNamesListTheNearest) {
  const auto zones = Zones::open();
  ASSERT_TRUE(zones);
  EXPECT_EQ(zones->find("Berlin").error().message,
            "unknown time zone 'Berlin'; did you mean Europe/Berlin?");
  EXPECT_EQ(zones->find("Europe/Berln").error().message,
            "unknown time zone 'Europe/Berln'; did you mean Europe/Berlin?");
  EXPECT_NE(zones->find("europe/berlin").error().message.find("Europe/Berlin"), std::string::npos);
  EXPECT_NE(zones->find("../../etc/passwd").error().message.find("IANA name"), std::string::npos);
  EXPECT_FALSE(zones->find(""));
}

TEST(Zones, VersionAndNamesAreKnown) {
  const auto zones = Zones::open();
  ASSERT_TRUE(zones);
  EXPECT_EQ(zones->tzdata_version().substr(0, 2), "20");
  EXPECT_GT(zones->names().size(), 400U);
}

// Every zone can be loaded, and none has spans so short that two clock changes meet in one local
// time.
TEST(Zones, EveryZoneLoadsAndHasNoTangledChanges) {
  const auto zones = Zones::open();
  for (const std::string& name : zones->names()) {
    const auto zone = zones->find(name);
    ASSERT_TRUE(zone) << name;
    ZoneSpan span = zone->span_at(ZoneSpan::kBegin);
    while (span.end < sys_days{2500y / 1 / 1}) {
      const ZoneSpan next = zone->span_at(span.end);
      ASSERT_GT(next.end - next.begin, abs(next.offset - span.offset))
          << name << " " << to_text(span.end);
      span = next;
    }
  }
}

}  // namespace
}  // namespace pawl
