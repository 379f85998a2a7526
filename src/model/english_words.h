// Numbers, ordinals, durations and times of the day in the words of English sentences, both ways.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/piece.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

// The largest number and ordinal that are read.
inline constexpr int kCountedMax = 999'999;

// `one` … `ninety-nine`, then digits: `100`.
std::string number_words(int number);

// Reads `two`, `Twenty-one` or `21`, from 1 to kCountedMax.
std::optional<int> parse_number_words(std::string_view word);

// `first` … `ninety-ninth`, then digits: `101st`.
std::string ordinal_words(int number);

// Reads `second`, `Twenty-first` or `21st`, from 1 to kCountedMax.
std::optional<int> parse_ordinal_words(std::string_view word);

// The largest unit from weeks to milliseconds that divides it: `1 week`, `90 minutes`, `0 seconds`;
// else ISO 8601. For durations from zero to kDurationMax.
std::string duration_words(Duration duration);

// Reads `one week`, `an hour`, `hour`, `90 Minutes` and all that parse_duration reads. Errors carry
// the column of the piece.
Result<Duration> parse_duration_words(Piece piece);

// A time of the day to the minute.
struct ClockTime {
  int hour = 0;
  int minute = 0;

  friend auto operator<=>(const ClockTime&, const ClockTime&) = default;
};

// `6 AM`, `12 PM`, `4:30 PM`.
std::string clock_words(ClockTime time);

// Reads `6 AM`, `6:30pm`, `06:00`; a bare `6` is refused, it could be morning or evening.
Result<ClockTime> parse_clock_words(Piece piece);

// Whether `Notify` can name it: `oncall`, `billing_team`.
bool is_channel_name(std::string_view text);

// The piece from the first to the last of these words of one text; empty when there are none.
Piece whole(std::span<const Piece> words);

// The pieces of `6 AM, 10 AM and 4 PM`: between commas and `and`. One that is missing is empty.
std::vector<Piece> split_and_list(Piece piece);

}  // namespace pawl
