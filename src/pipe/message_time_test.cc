#include "pipe/message_time.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

using TimeConfig = TransformConfig::Time;
using TimeFormat = TransformConfig::Time::Format;

// Of a document {"at": value}.
std::string read(TimeFormat format, const std::string& value, const std::string& pattern = "") {
  const auto time = MessageTime::make({TimeConfig::From::field, "at", format, pattern});
  if (!time) return time.error().message;
  const std::string text = R"({"at":)" + value + "}";
  MapMembers document;
  document.read(text);
  std::string room;
  const auto at = time->read({}, document, {}, room);
  return at ? to_text(*at) : "refused";
}

TEST(MessageTime, ReadsNumbers) {
  EXPECT_EQ(read(TimeFormat::millis, "1478822400123"), "2016-11-11T00:00:00.123Z");
  EXPECT_EQ(read(TimeFormat::millis, "0"), "1970-01-01T00:00:00Z");
  EXPECT_EQ(read(TimeFormat::millis, "-0.5"), "1969-12-31T23:59:59.9995Z");
  EXPECT_EQ(read(TimeFormat::seconds, "1478822400"), "2016-11-11T00:00:00Z");
  EXPECT_EQ(read(TimeFormat::seconds, "1478822400.25"), "2016-11-11T00:00:00.25Z");
  for (const char* bad : {"9223372036854775807", "-9223372036854775808", "18446744073709551615",
                          "1e300", "253402300800000", "\"0\"", "true", "[]"})
    EXPECT_EQ(read(TimeFormat::millis, bad), "refused") << bad;
  EXPECT_EQ(read(TimeFormat::millis, "253402300799999"), "9999-12-31T23:59:59.999Z");
}

TEST(MessageTime, ReadsIso8601) {
  EXPECT_EQ(read(TimeFormat::iso_8601, "\"2016-11-11T01:00:00+02:00\""), "2016-11-10T23:00:00Z");
  EXPECT_EQ(read(TimeFormat::iso_8601, "\"2016-11-11T01:00:00.5\""), "2016-11-11T01:00:00.5Z");
  EXPECT_EQ(read(TimeFormat::iso_8601, "\"2016-11-11\""), "2016-11-11T00:00:00Z");
  for (const char* bad : {"\"\"", "\"2016-13-01\"", "\"2016-11-31\"", "\"2016-11-1x\"", "\"2016\"",
                          "\"2016-11-11T25:00:00Z\"", "1478822400"})
    EXPECT_EQ(read(TimeFormat::iso_8601, bad), "refused") << bad;
}

TEST(MessageTime, ReadsPatterns) {
  const auto of = [](const char* pattern, const char* value) {
    return read(TimeFormat::pattern, "\"" + std::string(value) + "\"", pattern);
  };
  EXPECT_EQ(of("%d/%m/%Y %H:%M:%S", "11/11/2016 01:02:03"), "2016-11-11T01:02:03Z");
  EXPECT_EQ(of("%d/%b/%Y:%H:%M:%S %z", "11/Nov/2016:01:02:03 +0200"), "2016-11-10T23:02:03Z");
  EXPECT_EQ(of("%Y-%j", "2016-060"), "2016-02-29T00:00:00Z");
  EXPECT_EQ(of("%s", "1478822400"), "2016-11-11T00:00:00Z");
  EXPECT_EQ(of("%Y", "2016"), "2016-01-01T00:00:00Z");
  EXPECT_EQ(of("%Y-%m-%d", "2016-02-30"), "refused");
  EXPECT_EQ(of("%Y-%m-%d", "2016-02-03x"), "refused");
  EXPECT_EQ(of("%Y-%m-%d", "2016-02-03\\u0000"), "refused");
  EXPECT_EQ(of("%Y-%m-%d", ""), "refused");
  EXPECT_EQ(of("%Y-%j", "2026-366"), "refused");  // there is no such day
  EXPECT_EQ(of("%Y %d %j", "2026 10 366"), "refused");
  EXPECT_EQ(of("%s", "67768036191676799"), "refused");
  EXPECT_NE(of("%a %Y-%j", "Mon 2026-320").find("leave out the weekday"), std::string::npos);
  EXPECT_EQ(of("%H:%M", "").substr(0, 36), "the time pattern '%H:%M' has no year");
  EXPECT_EQ(of("%Y.%f", "").substr(0, 21), "'%f' is not supported");
  EXPECT_EQ(of("%Y%", "").substr(0, 20), "'%' is not supported");
}

TEST(MessageTime, WantsAField) {
  EXPECT_FALSE(MessageTime::make({.from = TimeConfig::From::field}));
  EXPECT_FALSE(MessageTime::make({.from = TimeConfig::From::field, .field = ".a"}));
}

}  // namespace
}  // namespace pawl
