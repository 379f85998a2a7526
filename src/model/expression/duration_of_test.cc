#include "model/expression/duration_of.h"

#include <gtest/gtest.h>

#include "model/expression/value_program.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kData =
    R"({"wait":"90m","iso":"PT1H30M","words":"1 hour","nought":0,"five":5,"none":null,"word":"soon","flag":true,"start":"2026-01-01T00:00:00Z","end":"2026-01-01T00:10:00Z","list":["5m"]})";

DurationValue made(const char* text) {
  DurationValue value(text);
  Diagnostics diagnostics;
  value.value.program = ValueProgram::compile(value.value.json, {}, diagnostics);
  for (const Diagnostic& finding : diagnostics.sorted()) ADD_FAILURE() << finding.message;
  return value;
}

// As to_text has it, or the message.
std::string said(const DurationValue& value) {
  Scratch scratch;
  const auto duration = duration_of(value, {.data = kData}, scratch);
  return duration ? to_text(*duration) : duration.error().message;
}

TEST(DurationOf, AFixedOneIsItself) {
  EXPECT_EQ(said(DurationValue(0s)), "0s");
  EXPECT_EQ(said(DurationValue(7min)), "7m");
  EXPECT_EQ(said(DurationValue(kDurationMax)), to_text(kDurationMax));
}

TEST(DurationOf, ATemplateIsReadAsTheFileWouldBe) {
  EXPECT_EQ(said(made("{data.wait}")), "90m");
  EXPECT_EQ(said(made("{data.iso}")), "90m");
  EXPECT_EQ(said(made("{data.words}")), "1h");
  EXPECT_EQ(said(made("{data.five}m")), "5m");
  EXPECT_EQ(said(made("{data.end - data.start}")), "10m");
  EXPECT_EQ(said(made("{data.list[0]}")), "5m");
}

TEST(DurationOf, TheNumberNoughtNeedsNoUnit) {
  EXPECT_EQ(said(made("{data.nought}")), "0s");
  EXPECT_EQ(said(made("{data.five - 5}")), "0s");
  EXPECT_EQ(
      said(made("{data.five}")),
      "`{data.five}` is not a duration: the duration '5' has no unit; write 5s for seconds, or "
      "ms, m, h, d");
}

TEST(DurationOf, AnErrorNamesTheTemplateAndWhatIsWrong) {
  EXPECT_EQ(said(made("{data.x}")), "`{data.x}` is not a duration: data.x is absent");
  EXPECT_EQ(said(made("{data.none}")), "`{data.none}` is not a duration: it is null");
  EXPECT_EQ(said(made("{data.word}")).substr(0, 38), "`{data.word}` is not a duration: a num");
  EXPECT_EQ(said(made("{data.flag}")).substr(0, 32), "`{data.flag}` is not a duration:");
  EXPECT_EQ(said(made("{data.list}")).substr(0, 32), "`{data.list}` is not a duration:");
  EXPECT_EQ(
      said(made("{data.start - data.end}")),
      "`{data.start - data.end}` is not a duration: a duration has no sign: '-10m'; write the "
      "length alone");
  EXPECT_EQ(said(made("4000000{'d'}")).substr(0, 33), "`4000000{'d'}` is not a duration:");
}

TEST(DurationOf, GivesBackTheScratchItUsed) {
  Scratch scratch;
  const DurationValue value = made("{data.wait}");
  const std::string_view kept = scratch.keep("kept");
  EXPECT_TRUE(duration_of(value, {.data = kData}, scratch));
  EXPECT_TRUE(duration_of(value, {.data = kData}, scratch));
  EXPECT_EQ(kept, "kept");
}

}  // namespace
}  // namespace pawl
