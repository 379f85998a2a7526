#include "model/english_words.h"

#include <gtest/gtest.h>

#include <chrono>

namespace pawl {
namespace {

using namespace std::chrono_literals;

TEST(EnglishWords, NumbersAndOrdinalsReadBackAsTheyArePrinted) {
  EXPECT_EQ(number_words(1), "one");
  EXPECT_EQ(number_words(12), "twelve");
  EXPECT_EQ(number_words(20), "twenty");
  EXPECT_EQ(number_words(42), "forty-two");
  EXPECT_EQ(number_words(99), "ninety-nine");
  EXPECT_EQ(number_words(100), "100");
  EXPECT_EQ(ordinal_words(3), "third");
  EXPECT_EQ(ordinal_words(12), "twelfth");
  EXPECT_EQ(ordinal_words(20), "twentieth");
  EXPECT_EQ(ordinal_words(40), "fortieth");
  EXPECT_EQ(ordinal_words(81), "eighty-first");
  EXPECT_EQ(ordinal_words(99), "ninety-ninth");
  EXPECT_EQ(ordinal_words(100), "100th");
  EXPECT_EQ(ordinal_words(101), "101st");
  EXPECT_EQ(ordinal_words(111), "111th");
  EXPECT_EQ(ordinal_words(122), "122nd");
  EXPECT_EQ(ordinal_words(1013), "1013th");
  for (int number = 1; number <= 2'000; ++number) {
    EXPECT_EQ(parse_number_words(number_words(number)), number);
    EXPECT_EQ(parse_number_words(std::to_string(number)), number);
    EXPECT_EQ(parse_ordinal_words(ordinal_words(number)), number);
  }
  EXPECT_EQ(parse_ordinal_words("13th"), 13);
  EXPECT_EQ(parse_ordinal_words("2ND"), 2);
  EXPECT_EQ(parse_ordinal_words("Twenty-First"), 21);
  EXPECT_EQ(parse_ordinal_words(ordinal_words(kCountedMax)), kCountedMax);
}

TEST(EnglishWords, WhatIsNoNumberIsRefused) {
  for (const char* word : {"", "zero", "0", "07", "-1", "+1", "1x", "twenty one", "1000000",
                           "99999999999999999999", "hundred", "first"})
    EXPECT_EQ(parse_number_words(word), std::nullopt) << word;
  for (const char* word : {"", "th", "0th", "1th", "2st", "11st", "013th", "13", "zeroth", "one",
                           "1000000th", "hundredth", "-1st"})
    EXPECT_EQ(parse_ordinal_words(word), std::nullopt) << word;
}

TEST(EnglishWords, DurationsArePrintedInTheLargestUnitThatDividesThem) {
  EXPECT_EQ(duration_words(0s), "0 seconds");
  EXPECT_EQ(duration_words(1s), "1 second");
  EXPECT_EQ(duration_words(90min), "90 minutes");
  EXPECT_EQ(duration_words(1h), "1 hour");
  EXPECT_EQ(duration_words(48h), "2 days");
  EXPECT_EQ(duration_words(168h), "1 week");
  EXPECT_EQ(duration_words(1500ms), "1500 milliseconds");
  EXPECT_EQ(duration_words(1us), "PT0.000001S");
  for (const Duration duration :
       {Duration{0}, Duration{1}, Duration{1s}, Duration{90min}, Duration{336h}, kDurationMax}) {
    const std::string words = duration_words(duration);
    const auto back = parse_duration_words({words});
    EXPECT_TRUE(back && *back == duration) << words;
  }
}

TEST(EnglishWords, DurationsMayHaveNumbersInWords) {
  const auto read = [](std::string_view text) {
    const auto duration = parse_duration_words({text, 7});
    if (duration) return to_text(*duration);
    return std::to_string(duration.error().position->column) + " " + duration.error().message;
  };
  EXPECT_EQ(read("one week"), "7d");
  EXPECT_EQ(read("Twenty-One  Days"), "21d");
  EXPECT_EQ(read("an hour"), "1h");
  EXPECT_EQ(read("hour"), "1h");
  EXPECT_EQ(read("7d"), "7d");
  EXPECT_EQ(read("PT1H30M"), "90m");
  EXPECT_EQ(read("0"), "0s");
  EXPECT_EQ(
      read("one"),
      "7 a number is missing in the duration 'one'; write for example 500ms, 30s, 5m, 2h, 7d, '1 hour' or PT1H30M");
  EXPECT_EQ(
      read("two hors"),
      "7 unknown unit 'hors'; did you mean hours? (milliseconds, seconds, minutes, hours, days, weeks)");
  EXPECT_EQ(
      read("one month"),
      "7 'month' is not a unit: months and years have no fixed length; write days, or plan with a schedule");
  EXPECT_EQ(
      read("1 hour and 30 minutes"),
      "7 unexpected ' and 30 minutes' after the duration '1 hour'; use one unit, or ISO 8601 (PT1H30M)");
}

TEST(EnglishWords, EveryMinuteOfTheDayReadsBackAsItIsPrinted) {
  EXPECT_EQ(clock_words({0, 0}), "12 AM");
  EXPECT_EQ(clock_words({0, 5}), "12:05 AM");
  EXPECT_EQ(clock_words({12, 0}), "12 PM");
  EXPECT_EQ(clock_words({16, 30}), "4:30 PM");
  for (int minute = 0; minute < 24 * 60; ++minute) {
    const ClockTime time = {minute / 60, minute % 60};
    const auto back = parse_clock_words({clock_words(time)});
    EXPECT_TRUE(back && *back == time) << clock_words(time);
  }
}

TEST(EnglishWords, TimesOfTheDayHaveTwelveOrTwentyFourHours) {
  const auto read = [](std::string_view text) {
    const auto time = parse_clock_words({text});
    return time ? std::to_string(time->hour) + ":" + std::to_string(time->minute)
                : time.error().message;
  };
  EXPECT_EQ(read("6am"), "6:0");
  EXPECT_EQ(read("6:30  Pm"), "18:30");
  EXPECT_EQ(read("06:05"), "6:5");
  EXPECT_EQ(read("23:59"), "23:59");
  for (const char* text : {"", "6", "13 PM", "0 AM", "24:00", "6:60", "6:5 AM", "6: AM", "006:00",
                           "1 6:30", "6 AM PM", "6 a.m", "am", ":30", "6 30 AM"})
    EXPECT_EQ(read(text), "'" + std::string(text) +
                              "' is not a time of day; write for example 6 AM, 6:30 PM or 18:30");
}

TEST(EnglishWords, ListsAreSplitAtCommasAndAnds) {
  const auto items = [](std::string_view text) {
    std::string shown;
    for (const Piece& item : split_and_list({text})) shown += "[" + std::string(item.text) + "]";
    return shown;
  };
  EXPECT_EQ(items("6 AM"), "[6 AM]");
  EXPECT_EQ(items("6 AM, 10  AM and 4 PM"), "[6 AM][10  AM][4 PM]");
  EXPECT_EQ(items("6AM,7AM, AND 8AM"), "[6AM][7AM][8AM]");
  EXPECT_EQ(items("6 AM and"), "[6 AM][]");
  EXPECT_EQ(items("6 AM,, 7 AM"), "[6 AM][][7 AM]");
  EXPECT_EQ(items("and 7 AM"), "[][7 AM]");
}

}  // namespace
}  // namespace pawl
