#include "policy/delays.h"

#include <gtest/gtest.h>

#include <climits>
#include <random>

#include "model/expression/value_program.h"
#include "pawl/machine.h"
#include "policy/jitter.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Kind = Delay::Kind;
using Jitter = Delays::Jitter;

constexpr std::uint64_t kLastDraw = 0xffff'ffff'ffff'ffff;

Delay after(const Delays& delays, int k, std::uint64_t draw = 0, std::string_view data = "{}") {
  Scratch scratch;
  return delay_after(delays, k, draw, {.data = data}, scratch);
}

Delays in_list(std::vector<DurationValue> list) { return {.list = std::move(list)}; }

Delays doubled(Duration first, int factor_milli = 2'000) {
  return {.kind = Delays::Kind::formula, .first = first, .factor_milli = factor_milli};
}

DurationValue made(const char* text) {
  DurationValue value(text);
  Diagnostics diagnostics;
  value.value.program = ValueProgram::compile(value.value.json, {}, diagnostics);
  return value;
}

// The delays after failures 1, 2, … until they are used up, or `count` of them.
std::vector<Duration> waits(const Delays& delays, int count) {
  std::vector<Duration> all;
  for (int k = 1; k <= count; ++k) {
    const Delay delay = after(delays, k);
    EXPECT_NE(delay.kind, Kind::bad_value) << delay.why;
    if (delay.kind != Kind::wait) break;
    all.push_back(delay.wait);
  }
  return all;
}

using Waits = std::vector<Duration>;

TEST(Delays, AListOfFiveIsFiveRetriesAndTheSixthFailureIsFinal) {  // S2-10
  const Delays delays = in_list({0s, 1min, 5min, 10min, 15min});
  EXPECT_EQ(waits(delays, 100), (Waits{0s, 1min, 5min, 10min, 15min}));
  EXPECT_EQ(after(delays, 5).kind, Kind::wait);
  EXPECT_EQ(after(delays, 6).kind, Kind::used_up);
  EXPECT_EQ(after(delays, INT_MAX).kind, Kind::used_up);
}

TEST(Delays, ThreeAttemptsAreTwoRetriesTenMinutesApart) {  // S0-18, S0-19
  const Delays delays = in_list({10min, 10min});
  EXPECT_EQ(waits(delays, 100), (Waits{10min, 10min}));
  EXPECT_EQ(after(delays, 3).kind, Kind::used_up);
}

TEST(Delays, AFirstDelayOfNoughtIsDueAtOnce) {  // S2-8, S2-9
  const Delays delays = in_list({0s, 5min});
  EXPECT_EQ(after(delays, 1), (Delay{Kind::wait, 0s}));
  EXPECT_EQ(after(delays, 2), (Delay{Kind::wait, 5min}));
}

TEST(Delays, AnEmptyListIsOneAttempt) {
  EXPECT_EQ(after(in_list({}), 1).kind, Kind::used_up);
  EXPECT_EQ(delays_left(in_list({}), 1), 0);
}

TEST(Delays, OneDurationIsForEver) {
  const Delays delays{.kind = Delays::Kind::fixed, .first = 30s};
  EXPECT_EQ(after(delays, 1), (Delay{Kind::wait, 30s}));
  EXPECT_EQ(after(delays, INT_MAX), (Delay{Kind::wait, 30s}));
  EXPECT_EQ(delays_left(delays, INT_MAX), std::nullopt);
}

TEST(Delays, AFormulaGrowsUpToItsMaximum) {
  Delays delays = doubled(10s);
  delays.max = 1min;
  EXPECT_EQ(waits(delays, 6), (Waits{10s, 20s, 40s, 1min, 1min, 1min}));
  delays.max = 5s;
  EXPECT_EQ(waits(delays, 2), (Waits{5s, 5s}));
  delays.max = 0s;
  EXPECT_EQ(waits(delays, 2), (Waits{0s, 0s}));
}

TEST(Delays, AttemptsIncludeTheFirst) {
  Delays delays = doubled(10s);
  delays.attempts = 3;
  EXPECT_EQ(waits(delays, 100), (Waits{10s, 20s}));
  EXPECT_EQ(after(delays, 3).kind, Kind::used_up);
  delays.attempts = 1;
  EXPECT_EQ(after(delays, 1).kind, Kind::used_up);
}

TEST(Delays, TheBuiltInRetryIsTenAttempts) {
  const Delays& delays = *Machine::built_in_policy().retry;
  for (int k = 1; k <= 9; ++k) {
    const Duration plain = std::min<Duration>(10s * (1 << (k - 1)), 1h);
    EXPECT_EQ(after(delays, k, 0).wait, plain * 8 / 10);
    EXPECT_EQ(after(delays, k, kLastDraw).wait, plain * 12 / 10);
  }
  EXPECT_EQ(after(delays, 10).kind, Kind::used_up);
}

// delay_n is in [0.5, 1.5] * min(300ms * 2^(n-1), 90s), without end.
TEST(Delays, JitterComesAfterTheMaximum) {  // S1-29
  Delays delays = doubled(300ms);
  delays.max = 90s;
  delays.jitter = Jitter::percent;
  delays.jitter_percent = 50;
  std::mt19937_64 random(29);
  for (int n = 1; n <= 2'000; ++n) {
    const Duration plain = n > 9 ? Duration{90s} : std::min<Duration>(300ms * (1 << (n - 1)), 90s);
    EXPECT_EQ(after(delays, n, 0).wait, plain / 2);
    EXPECT_EQ(after(delays, n, kLastDraw).wait, plain * 3 / 2);
    const Duration wait = after(delays, n, random()).wait;
    EXPECT_GE(wait, plain / 2);
    EXPECT_LE(wait, plain * 3 / 2);
  }
  EXPECT_EQ(after(delays, 9, 0).wait, 38'400ms);
  EXPECT_EQ(after(delays, 10, 0).wait, 45s);
  EXPECT_EQ(after(delays, INT_MAX, kLastDraw).wait, 135s);
}

TEST(Delays, TheSameDrawGivesTheSameDelay) {
  const Delays& delays = *Machine::built_in_policy().retry;
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000; ++i) {
    const int k = static_cast<int>(random() % 9) + 1;
    const std::uint64_t draw = random();
    EXPECT_EQ(after(delays, k, draw), after(delays, k, draw));
  }
}

TEST(Delays, LeftAreThoseThatAreNotUsedYet) {
  const Delays list = in_list({0s, 1min, 5min});
  EXPECT_EQ(delays_left(list, 1), 2);
  EXPECT_EQ(delays_left(list, 3), 0);
  EXPECT_EQ(delays_left(list, 4), 0);
  EXPECT_EQ(delays_left(list, INT_MAX), 0);
  Delays growing = doubled(10s);
  EXPECT_EQ(delays_left(growing, 1), std::nullopt);
  growing.attempts = 10;
  EXPECT_EQ(delays_left(growing, 1), 8);
  EXPECT_EQ(delays_left(growing, 9), 0);
  growing.attempts = INT_MAX;
  EXPECT_EQ(delays_left(growing, 1), INT_MAX - 2);
}

TEST(Delays, TemplatesAreThoseOfTheRecord) {
  Delays delays = in_list({made("{data.first}"), 1min});
  EXPECT_EQ(after(delays, 1, 0, R"({"first":"7s"})"), (Delay{Kind::wait, 7s}));
  EXPECT_EQ(after(delays, 1, 0, R"({"first":0})"), (Delay{Kind::wait, 0s}));
  EXPECT_EQ(after(delays, 2).wait, 1min);
  delays = doubled(0s);
  delays.first = made("{data.first}");
  delays.max = made("{data.max}");
  EXPECT_EQ(after(delays, 3, 0, R"({"first":"7s","max":"PT1M"})").wait, 28s);
  EXPECT_EQ(after(delays, 9, 0, R"({"first":"7s","max":"PT1M"})").wait, 1min);
  delays = {.kind = Delays::Kind::fixed, .first = made("{data.first}")};
  EXPECT_EQ(after(delays, 99, 0, R"({"first":"7s"})").wait, 7s);
}

TEST(Delays, AValueThatIsNoDurationIsSaid) {
  Delays delays = doubled(0s);
  delays.first = made("{data.first}");
  delays.max = made("{data.max}");
  EXPECT_EQ(after(delays, 1, 0, "{}"),
            (Delay{Kind::bad_value, 0s, "`{data.first}` is not a duration: data.first is absent"}));
  EXPECT_EQ(after(delays, 1, 0, R"({"first":"7s","max":null})"),
            (Delay{Kind::bad_value, 0s, "`{data.max}` is not a duration: it is null"}));
  const Delay number = after(in_list({made("{data.n}")}), 1, 0, R"({"n":30})");
  EXPECT_EQ(number.kind, Kind::bad_value);
  EXPECT_NE(number.why.find("has no unit"), std::string::npos) << number.why;
}

TEST(Delays, WhatIsUsedUpIsNotEvaluated) {
  EXPECT_EQ(after(in_list({made("{data.x}")}), 2).kind, Kind::used_up);
}

}  // namespace
}  // namespace pawl
