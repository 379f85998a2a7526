#include "model/english_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>
#include <utility>

#include "base/text.h"

namespace pawl {
namespace {

using Words = std::vector<std::string>;

constexpr std::array<const char*, 19> kNumbers = {
    "one",     "two",     "three",     "four",     "five",    "six",      "seven",
    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen", "fourteen",
    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array<const char*, 19> kOrdinals = {
    "first",     "second",    "third",       "fourth",     "fifth",     "sixth",      "seventh",
    "eighth",    "ninth",     "tenth",       "eleventh",   "twelfth",   "thirteenth", "fourteenth",
    "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"};
constexpr std::array<const char*, 8> kTens = {"twenty", "thirty",  "forty",  "fifty",
                                              "sixty",  "seventy", "eighty", "ninety"};

constexpr int kWordsMax = 99;

// The words of 1 to 99: those up to 19 as given, then tens and ones, round tens by `round`.
template <class Round>
Words words_to_99(const std::array<const char*, 19>& ones, Round round) {
  Words words(ones.begin(), ones.end());
  for (const std::string ten : kTens) {
    words.push_back(round(ten));
    for (std::size_t one = 0; one < 9; ++one) words.push_back(ten + "-" + ones[one]);
  }
  return words;
}

const Words& numbers() {
  static const Words words = words_to_99(kNumbers, [](const std::string& ten) { return ten; });
  return words;
}

const Words& ordinals() {
  static const Words words = words_to_99(kOrdinals, [](const std::string& ten) {
    return ten.substr(0, ten.size() - 1) + "ieth";  // twenty, twentieth
  });
  return words;
}

std::optional<int> place_in(const Words& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), to_lower(word));
  if (found == words.end()) return std::nullopt;
  return static_cast<int>(found - words.begin()) + 1;
}

// The number of digits that make up the whole text, without leading zeros.
std::optional<int> parse_digits(std::string_view digits) {
  int number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (!is_digit(digits.front()) || digits.front() == '0' || number > kCountedMax)
    return std::nullopt;
  return number;
}

// `101st`, `112th`.
std::string ordinal_digits(int number) {
  const int tens = number / 10 % 10;
  const int ones = number % 10;
  const bool plain = tens == 1 || ones == 0 || ones > 3;
  constexpr std::array<const char*, 4> kEndings = {"th", "st", "nd", "rd"};
  return std::to_string(number) + kEndings[plain ? 0 : static_cast<std::size_t>(ones)];
}

struct Unit {
  const char* name;
  Duration length;
};

constexpr std::array<Unit, 6> kUnits = {{{"week", std::chrono::weeks{1}},
                                         {"day", std::chrono::days{1}},
                                         {"hour", std::chrono::hours{1}},
                                         {"minute", std::chrono::minutes{1}},
                                         {"second", std::chrono::seconds{1}},
                                         {"millisecond", std::chrono::milliseconds{1}}}};

// `one` and `a` in digits; what is no number is left for parse_duration to explain.
std::string in_digits(std::string_view word) {
  const std::string lower = to_lower(word);
  if (lower == "a" || lower == "an") return "1";
  const std::optional<int> number = place_in(numbers(), lower);
  return number ? std::to_string(*number) : lower;
}

Result<Duration> parse_words(Piece piece) {
  const std::vector<Piece> words = split_words(piece);
  if (words.size() == 2)
    return parse_duration(in_digits(words[0].text) + " " + to_lower(words[1].text));
  auto one_unit = parse_duration("1 " + to_lower(piece.text));
  return one_unit ? one_unit : parse_duration(piece.text);
}

// The digits at the front of the text, at most two, taken off it.
std::optional<int> take_two_digits(std::string_view& text) {
  int number = 0;
  std::size_t digits = 0;
  for (; digits < 2 && digits < text.size() && is_digit(text[digits]); ++digits)
    number = number * 10 + (text[digits] - '0');
  text.remove_prefix(digits);
  return digits == 0 ? std::nullopt : std::optional(number);
}

// `:30`, taken off the front of the text.
std::optional<int> take_minute(std::string_view& text) {
  const std::size_t before = text.size();
  text.remove_prefix(1);
  const std::optional<int> minute = take_two_digits(text);
  return before - text.size() == 3 && *minute < 60 ? minute : std::nullopt;
}

// The time that the letters `6:30pm` say.
std::optional<ClockTime> parse_clock(std::string_view text) {
  const std::optional<int> hour = take_two_digits(text);
  if (!hour) return std::nullopt;
  std::optional<int> minute;
  if (text.starts_with(':')) {
    minute = take_minute(text);
    if (!minute) return std::nullopt;
  }
  if (text == "am" || text == "pm") {
    if (*hour < 1 || *hour > 12) return std::nullopt;
    return ClockTime{*hour % 12 + (text == "pm" ? 12 : 0), minute.value_or(0)};
  }
  if (!text.empty() || !minute || *hour > 23) return std::nullopt;
  return ClockTime{*hour, *minute};
}

// `6:30 PM` as `6:30pm`; other blanks stay.
std::string without_blank_before_half(Piece piece) {
  const std::vector<Piece> words = split_words(piece);
  std::string text = to_lower(piece.text);
  if (words.size() != 2) return text;
  const std::string half = to_lower(words[1].text);
  return half == "am" || half == "pm" ? to_lower(words[0].text) + half : text;
}

bool is_and(Piece word) { return to_lower(word.text) == "and"; }

// Each run of words between `and`s as one piece.
void append_between_ands(std::vector<Piece>& items, std::span<const Piece> words) {
  auto begin = words.begin();
  while (true) {
    const auto end = std::find_if(begin, words.end(), is_and);
    items.push_back(whole({begin, end}));
    if (end == words.end()) return;
    begin = end + 1;
  }
}

}  // namespace

bool is_channel_name(std::string_view text) {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  return !text.empty() && is_lower(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

Piece whole(std::span<const Piece> words) {
  if (words.empty()) return {};
  const Piece& last = words.back();
  const char* begin = words.front().text.data();
  const auto length = static_cast<std::size_t>(last.text.data() - begin) + last.text.size();
  return {{begin, length}, words.front().column};
}

std::string number_words(int number) {
  if (number > kWordsMax) return std::to_string(number);
  return numbers()[static_cast<std::size_t>(number - 1)];
}

std::optional<int> parse_number_words(std::string_view word) {
  const std::optional<int> digits = parse_digits(word);
  return digits ? digits : place_in(numbers(), word);
}

std::string ordinal_words(int number) {
  if (number > kWordsMax) return ordinal_digits(number);
  return ordinals()[static_cast<std::size_t>(number - 1)];
}

std::optional<int> parse_ordinal_words(std::string_view word) {
  if (word.size() < 3 || !is_digit(word.front())) return place_in(ordinals(), word);
  const std::optional<int> number = parse_digits(word.substr(0, word.size() - 2));
  return number && to_lower(word) == ordinal_digits(*number) ? number : std::nullopt;
}

std::string duration_words(Duration duration) {
  if (duration == Duration::zero()) return "0 seconds";
  for (const Unit& unit : kUnits) {
    if (duration % unit.length != Duration::zero()) continue;
    const std::int64_t number = duration / unit.length;
    return std::to_string(number) + " " + unit.name + (number == 1 ? "" : "s");
  }
  return to_text(duration);
}

Result<Duration> parse_duration_words(Piece piece) {
  auto duration = parse_words(piece);
  if (!duration) return piece.error(std::move(duration).error().message);
  return duration;
}

std::string clock_words(ClockTime time) {
  std::string text = std::to_string(time.hour % 12 == 0 ? 12 : time.hour % 12);
  if (time.minute > 0) text += (time.minute < 10 ? ":0" : ":") + std::to_string(time.minute);
  return text + (time.hour < 12 ? " AM" : " PM");
}

Result<ClockTime> parse_clock_words(Piece piece) {
  const std::optional<ClockTime> time = parse_clock(without_blank_before_half(piece));
  if (time) return *time;
  return piece.error(in_quotes(piece.text) +
                     " is not a time of day; write for example 6 AM, 6:30 PM or 18:30");
}

std::vector<Piece> split_and_list(Piece piece) {
  std::vector<Piece> items;
  for (const Piece& part : split(piece, ',')) {
    std::vector<Piece> words = split_words(part);
    const bool comma_and = !items.empty() && !words.empty() && is_and(words.front());
    if (comma_and) words.erase(words.begin());
    append_between_ands(items, words);
  }
  return items;
}

}  // namespace pawl
