#include "policy/align.h"

#include <gtest/gtest.h>

#include <array>

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Align = Policy::Align;

constexpr std::array kAll = {Align::planned, Align::retry, Align::only_planned,
                             Align::whichever_first};

Instant at(std::string_view time) {
  return parse_instant("2026-06-01T" + std::string(time) + ":00Z").value();
}

TEST(Align, WithoutAPlannedTimeTheRetryComesAfterItsDelay) {  // S2-36
  for (const Align way : kAll) EXPECT_EQ(align(way, at("13:00"), 2h, 2h, {}), at("15:00"));
}

TEST(Align, ARetryThatWouldStartAfterThePlannedTimeStartsAtIt) {  // S2-37
  EXPECT_EQ(align(Align::planned, at("13:00"), 2h, 2h, at("14:00")), at("14:00"));
  EXPECT_EQ(align(Align::planned, at("13:00"), 2h, 0s, at("14:00")), at("14:00"));
}

TEST(Align, ARetryThatMightEndAfterThePlannedTimeStartsAtIt) {  // S2-38, S2-26
  EXPECT_EQ(align(Align::planned, at("13:00"), 30min, 2h, at("14:00")), at("14:00"));
}

TEST(Align, ARetryThatEndsBeforeThePlannedTimeStartsAfterItsDelay) {  // S2-39
  EXPECT_EQ(align(Align::planned, at("10:00"), 30min, 2h, at("14:00")), at("10:30"));
}

TEST(Align, ARetryThatMightEndJustAtThePlannedTimeIsKept) {  // S2-39, R2-10
  EXPECT_EQ(align(Align::planned, at("11:30"), 30min, 2h, at("14:00")), at("12:00"));
  EXPECT_EQ(align(Align::planned, at("11:30"), 30min + 1us, 2h, at("14:00")), at("14:00"));
  EXPECT_EQ(align(Align::planned, at("13:30"), 30min, 0s, at("14:00")), at("14:00"));
}

TEST(Align, TheOtherWaysDoNotLookAtTheTimeout) {
  for (const Duration timeout : {Duration{0}, Duration{2h}, Duration{100h}}) {
    EXPECT_EQ(align(Align::retry, at("13:00"), 2h, timeout, at("14:00")), at("15:00"));
    EXPECT_EQ(align(Align::only_planned, at("13:00"), 1min, timeout, at("14:00")), at("14:00"));
    EXPECT_EQ(align(Align::whichever_first, at("13:00"), 2h, timeout, at("14:00")), at("14:00"));
    EXPECT_EQ(align(Align::whichever_first, at("13:00"), 1min, timeout, at("14:00")), at("13:01"));
  }
}

TEST(Align, NothingStartsAfterTheLastInstant) {
  for (const Align way : kAll)
    EXPECT_EQ(align(way, kInstantMax, kDurationMax, kDurationMax, {}), kInstantMax);
  EXPECT_EQ(align(Align::planned, kInstantMax, kDurationMax, kDurationMax, kInstantMax),
            kInstantMax);
}

}  // namespace
}  // namespace pawl
