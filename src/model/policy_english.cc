// Reads policies in English.
//
//   text     = line { newline line }
//   line     = [ "- " | "* " ] [ sentence [ "." ] ]
//   sentence = subject "every" duration
//            | subject often "per day at" times | subject [ often ] "every day at" times
//            | "Allow" duration ( "to complete" | "for a response" )
//            | "On the" ordinal "failure," ( "retry immediately" | "retry after" duration
//                                          | "wait for the next planned time" )
//            | "Give up after" duration "of failures"
//            | "Then hold:" quote text quote | "Panic" | "Notify" channel
//   often    = "once" | "twice" | number "times"
//
// Words are compared without case. The subject may be anything ("Refresh the model") except words
// that make it likely that something else was meant ("Retry every 5 minutes").
//
// Giving up is at most two rows: the one after a time of failures, and the one without limit, for
// when the delays are used up. `Then hold`, `Panic` and `Notify` belong to the sentence on giving
// up before them, and without such a sentence to the row without limit.
#include "model/policy_english.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/nearest.h"
#include "base/piece.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "model/english_words.h"

namespace pawl {
namespace {

using Pieces = std::vector<Piece>;

constexpr std::string_view kUnknownSentence = "english_unknown_sentence";
constexpr std::string_view kOrdinalGap = "english_ordinal_gap";
constexpr std::string_view kSaidTwice = "english_said_twice";
constexpr std::string_view kTimes = "english_times";
constexpr std::string_view kEmpty = "english_empty";

Piece trimmed(Piece piece) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = std::min(piece.text.find_first_not_of(kBlanks), piece.text.size());
  const std::size_t end = piece.text.find_last_not_of(kBlanks) + 1;
  return piece.from(begin, std::max(begin, end) - begin);
}

// The line without blanks around it, its bullet and its full stop.
Piece sentence_of(Piece line) {
  Piece sentence = trimmed(line);
  if (sentence.text.starts_with("- ") || sentence.text.starts_with("* "))
    sentence = trimmed(sentence.from(2));
  if (sentence.text.ends_with('.'))
    sentence = trimmed({sentence.text.substr(0, sentence.text.size() - 1), sentence.column});
  return sentence;
}

// A comma of the pattern may be left out.
bool is_word(std::string_view word, std::string_view expected) {
  const std::string lower = to_lower(word);
  return lower == expected || lower + "," == expected;
}

// Whether the words are those of the pattern, in which `#` stands for one word or more; these are
// added to `parts`.
bool matches(std::span<const Piece> words, std::span<const Piece> pattern, Pieces& parts) {
  if (pattern.empty()) return words.empty();
  if (pattern.front().text != "#") {
    return !words.empty() && is_word(words.front().text, pattern.front().text) &&
           matches(words.subspan(1), pattern.subspan(1), parts);
  }
  if (pattern.size() == 1 && !words.empty()) {
    parts.push_back(whole(words));
    return true;
  }
  for (std::size_t taken = 1; taken < words.size(); ++taken) {
    parts.push_back(whole(words.first(taken)));
    if (matches(words.subspan(taken), pattern.subspan(1), parts)) return true;
    parts.pop_back();
  }
  return false;
}

// Whether these words can be what a plan is for. `Retry every 5 minutes` or `Refresh twice every 2
// hours` would be misread without a word.
bool is_subject(std::span<const Piece> words) {
  constexpr std::array<std::string_view, 7> kOthers = {"retry", "retries", "failure", "failures",
                                                       "once",  "twice",   "times"};
  constexpr std::array<std::string_view, 6> kOtherSentences = {"allow", "on",    "give",
                                                               "then",  "panic", "notify"};
  const auto is_one_of = [](const auto& list, Piece word) {
    return std::find(list.begin(), list.end(), to_lower(word.text)) != list.end();
  };
  const auto is_other = [&](Piece word) {
    return word.text.find_first_of(",:;\"") != std::string_view::npos || is_one_of(kOthers, word);
  };
  return !words.empty() && !is_one_of(kOtherSentences, words.front()) &&
         std::none_of(words.begin(), words.end(), is_other);
}

// How often, when the words end with it: `Refresh the model three times`. Taken off the words.
std::optional<int> take_often(std::span<const Piece>& words) {
  const std::string last = to_lower(words.back().text);
  if (last == "once" || last == "twice") {
    words = words.first(words.size() - 1);
    return last == "once" ? 1 : 2;
  }
  if (last != "times" || words.size() < 2) return std::nullopt;
  const std::optional<int> number = parse_number_words(words[words.size() - 2].text);
  if (number) words = words.first(words.size() - 2);
  return number;
}

std::string numbers_text(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

// The rule that fires every day at just these times, or none: a rule has hours and minutes, and
// fires at every pair of them.
std::optional<std::string> daily_rule(const std::vector<ClockTime>& times) {
  std::vector<int> hours;
  std::vector<int> minutes;
  for (const ClockTime& time : times) {
    hours.push_back(time.hour);
    minutes.push_back(time.minute);
  }
  sort_unique(hours);
  sort_unique(minutes);
  if (hours.size() * minutes.size() != times.size()) return std::nullopt;
  return "FREQ=DAILY;BYHOUR=" + numbers_text(hours) + ";BYMINUTE=" + numbers_text(minutes) +
         ";BYSECOND=0";
}

const std::vector<std::string>& known_sentences() {
  static const std::vector<std::string> sentences = {
      "Refresh every 2 hours",
      "Refresh twice per day at 6 AM and 4 PM",
      "Allow 1 hour to complete",
      "On the first failure, retry immediately",
      "On the second failure, retry after 1 minute",
      "On the seventh failure, wait for the next planned time",
      "Give up after one week of failures",
      "Then hold: \"text\"",
      "Panic",
      "Notify oncall"};
  return sentences;
}

// How many of the words stand in both; those that begin both count thrice.
std::ptrdiff_t likeness(const Pieces& words, const Pieces& others) {
  const auto alike = [](Piece word, Piece other) { return word.text == other.text; };
  const auto end = std::mismatch(words.begin(), words.end(), others.begin(), others.end(), alike);
  return 2 * (end.first - words.begin()) +
         std::count_if(words.begin(), words.end(), [&](Piece word) {
           return std::any_of(others.begin(), others.end(),
                              [&](Piece other) { return alike(word, other); });
         });
}

// The known sentence with most words in common, or null when there is none.
const std::string* likest_sentence(std::string_view sentence) {
  const std::string lower = to_lower(sentence);
  const Pieces words = split_words({lower});
  const std::string* likest = nullptr;
  std::ptrdiff_t most = 0;
  for (const std::string& known : known_sentences()) {
    const std::string known_lower = to_lower(known);
    const std::ptrdiff_t alike = likeness(split_words({known_lower}), words);
    if (alike > most) likest = &known;
    most = std::max(most, alike);
  }
  return likest;
}

// The known sentence with the fewest typing mistakes, else the one with most words in common. Only
// the beginning is compared: no sentence is longer, and the rest would cost time.
std::string nearest_sentence(std::string_view sentence) {
  constexpr std::size_t kCompared = 100;
  const std::vector<std::string> near = nearest(sentence, known_sentences(), 1);
  if (!near.empty()) return "the nearest is '" + near.front() + "'";
  const std::string* likest = likest_sentence(sentence.substr(0, kCompared));
  if (likest != nullptr) return "the nearest is '" + *likest + "'";
  return "they begin with Refresh, Allow, On the … failure, Give up after, Then hold, Panic or Notify";
}

// Walks over the lines and keeps what they say.
class PolicyReader {
 public:
  PolicyReader(std::string_view text, Where where, Diagnostics& diagnostics)
      : text_(text),
        where_(where),
        diagnostics_(diagnostics),
        one_line_(text.find('\n') >= text.find_last_not_of('\n') + 1) {}

  std::optional<EnglishPolicy> read() {
    bool empty = true;
    for (const Piece& line : split({text_}, '\n')) {
      if (diagnostics_.is_full()) break;
      ++line_;
      sentence_ = sentence_of(line);
      if (sentence_.text.empty()) continue;
      empty = false;
      read_sentence();
    }
    if (empty) say_empty();
    if (wrong_) return std::nullopt;
    return said();
  }

 private:
  // A row of giving up, and the lines that said how it ends and who is notified (0: none yet).
  struct GivingUp {
    std::optional<Row> row;
    int ended_by = 0;
    int notified_by = 0;
  };

  void read_sentence() {
    struct Form {
      std::string_view pattern;
      void (PolicyReader::*read)(const Pieces& parts);
    };
    static constexpr std::array<Form, 12> kForms = {
        {{"allow # to complete", &PolicyReader::read_timeout},
         {"allow # for a response", &PolicyReader::read_timeout},
         {"on the # failure, retry immediately", &PolicyReader::read_retry},
         {"on the # failure, retry after #", &PolicyReader::read_retry},
         {"on the # failure, wait for the next planned time", &PolicyReader::read_wait},
         {"give up after # of failures", &PolicyReader::read_elapsed},
         {"then hold: #", &PolicyReader::read_hold},
         {"panic", &PolicyReader::read_panic},
         {"notify #", &PolicyReader::read_alert},
         {"# per day at #", &PolicyReader::read_times_per_day},
         {"# every day at #", &PolicyReader::read_times_every_day},
         {"# every #", &PolicyReader::read_every}}};
    static const std::vector<Pieces> patterns = [] {
      std::vector<Pieces> split;
      for (const Form& form : kForms) split.push_back(split_words({form.pattern}));
      return split;
    }();
    const Pieces words = split_words(sentence_);
    for (std::size_t i = 0; i < kForms.size(); ++i) {
      Pieces parts;
      if (matches(words, patterns[i], parts)) return (this->*kForms[i].read)(parts);
    }
    unknown_sentence();
  }

  void read_timeout(const Pieces& parts) {
    const auto timeout = duration(parts[0]);
    if (timeout && once(timeout_by_, "how long an attempt may take")) policy_.timeout = *timeout;
  }

  // Without a delay: immediately.
  void read_retry(const Pieces& parts) {
    const auto delay =
        parts.size() == 1 ? DurationValue(Duration::zero(), place(parts[0])) : duration(parts[1]);
    if (!is_next_failure(parts[0])) return;
    if (delay) delays_.push_back(*delay);
  }

  void read_wait(const Pieces& parts) {
    latest_ = &unlimited_;
    if (!is_next_failure(parts[0])) return;
    if (Row* row = row_to_end()) row->to = Ref(std::string(kPlannedState), place(sentence_));
  }

  void read_elapsed(const Pieces& parts) {
    const auto elapsed = duration(parts[0]);
    latest_ = &after_a_time_;
    if (!elapsed || !once(elapsed_by_, "how long failures may go on")) return;
    row_of(after_a_time_).elapsed = *elapsed;
  }

  void read_hold(const Pieces& parts) {
    const std::string_view quoted = parts[0].text;
    if (quoted.size() < 2 || !quoted.starts_with('"') || !quoted.ends_with('"'))
      return wrong(kUnknownSentence, parts[0], ": put the text in quotes: Then hold: \"text\"");
    if (Row* row = row_to_end()) row->hold = hold(std::string(quoted.substr(1, quoted.size() - 2)));
  }

  void read_panic(const Pieces&) {
    if (Row* row = row_to_end()) row->hold = hold("{error.message}");
  }

  void read_alert(const Pieces& parts) {
    const std::string channel = to_lower(parts[0].text);
    if (!is_channel_name(channel)) {
      return wrong(kUnknownSentence, parts[0],
                   ": " + in_quotes(parts[0].text) +
                       " is not a channel; a name has only a to z, 0 to 9 and _");
    }
    if (once(latest_->notified_by, "who is notified")) row_of(*latest_).alert = channel;
  }

  void read_times_per_day(const Pieces& parts) {
    const Pieces words = split_words(parts[0]);
    std::span<const Piece> subject = words;
    const std::optional<int> often = take_often(subject);
    if (!often)
      return wrong(kTimes, parts[0],
                   " does not say how often; write once, twice or three times per day");
    read_times(subject, often, parts[1]);
  }

  void read_times_every_day(const Pieces& parts) {
    const Pieces words = split_words(parts[0]);
    std::span<const Piece> subject = words;
    const std::optional<int> often = take_often(subject);
    read_times(subject, often, parts[1]);
  }

  void read_times(std::span<const Piece> subject, std::optional<int> often, Piece list) {
    if (!is_subject(subject)) return unknown_sentence();
    const auto times = times_of_day(list);
    if (!times) return;
    const int named = static_cast<int>(times->size());
    if (often && *often != named) {
      return wrong(kTimes, list,
                   " says " + number_words(*often) + ", but has " + number_words(named) +
                       (named == 1 ? " time" : " times") + " of the day; make them agree");
    }
    const std::optional<std::string> rule = daily_rule(*times);
    if (!rule) {
      return wrong(kTimes, list,
                   " has times that one rule cannot express; use `schedule: {rrule: …}` instead");
    }
    plan({.kind = Schedule::Kind::rrule, .rule = *rule, .at = place(sentence_)});
  }

  // The times in their order, each once.
  std::optional<std::vector<ClockTime>> times_of_day(Piece list) {
    std::vector<ClockTime> times;
    for (const Piece& item : split_and_list(list)) {
      const auto time = parse_clock_words(item);
      if (!time) {
        wrong(kTimes, list, ": " + time.error().message);
        return std::nullopt;
      }
      if (std::find(times.begin(), times.end(), *time) != times.end()) {
        wrong(kTimes, list, " has " + clock_words(*time) + " twice; leave one out");
        return std::nullopt;
      }
      times.push_back(*time);
    }
    return times;
  }

  void read_every(const Pieces& parts) {
    if (!is_subject(split_words(parts[0]))) return unknown_sentence();
    const auto every = duration(parts[1]);
    if (every) plan({.kind = Schedule::Kind::every, .every = *every, .at = place(sentence_)});
  }

  void plan(Schedule schedule) {
    if (once(schedule_by_, "when it is planned")) schedule_ = std::move(schedule);
  }

  // Failures are answered one after another, and none after the wait for the plan.
  bool is_next_failure(Piece ordinal) {
    const std::optional<int> number = parse_ordinal_words(ordinal.text);
    if (!number) {
      wrong(kUnknownSentence, ordinal,
            ": " + in_quotes(ordinal.text) +
                " is not an ordinal; write first, second, third … or 13th");
      return false;
    }
    const int expected = std::exchange(next_failure_, std::max(next_failure_, *number + 1));
    if (*number != expected) {
      wrong(kOrdinalGap, ordinal,
            *number > expected
                ? " leaves a gap: nothing is said about the " + ordinal_words(expected) + " failure"
                : " is out of order: the " + ordinal_words(expected) + " failure is next");
      return false;
    }
    if (unlimited_.row && unlimited_.row->to) {
      wrong(
          kOrdinalGap, ordinal,
          " comes after the wait for the next planned time, which covers all further failures; put it before, or leave it out");
      return false;
    }
    return true;
  }

  // The row that the sentence says how to end, or null when that had been said.
  Row* row_to_end() {
    if (!once(latest_->ended_by, "what happens on giving up")) return nullptr;
    return &row_of(*latest_);
  }

  Row& row_of(GivingUp& giving_up) {
    if (!giving_up.row) giving_up.row = Row{.at = place(sentence_)};
    return *giving_up.row;
  }

  static HoldText hold(std::string text) { return {"gave_up", std::move(text)}; }

  // Whether this line is the first to say it.
  bool once(int& said_by, std::string_view what) {
    if (said_by > 0) {
      wrong(kSaidTwice, sentence_,
            " says again " + std::string(what) + ", as line " + std::to_string(said_by) +
                " does; keep one of them");
      return false;
    }
    said_by = where_.block ? where_.position.line + line_ : line_;
    return true;
  }

  std::optional<DurationValue> duration(Piece piece) {
    const auto read = parse_duration_words(piece);
    if (read) return DurationValue(*read, place(piece));
    wrong(kUnknownSentence, piece, ": " + read.error().message);
    return std::nullopt;
  }

  void unknown_sentence() {
    wrong(kUnknownSentence, sentence_,
          " is not a sentence of a policy; " + nearest_sentence(sentence_.text));
  }

  void say_empty() {
    wrong_ = true;
    diagnostics_.error(
        kEmpty, where_.position,
        "the policy is empty; write sentences such as 'Allow 1 hour to complete', one per line");
  }

  // The message goes on after the sentence in quotes.
  void wrong(std::string_view id, Piece piece, const std::string& message) {
    wrong_ = true;
    const std::string line =
        one_line_ || where_.block ? "" : "line " + std::to_string(line_) + ": ";
    diagnostics_.error(id, place(piece).position, line + in_quotes(sentence_.text) + message);
  }

  // Of a text of several lines that is no block only the place of its beginning is sure.
  Where place(Piece piece) const {
    return one_line_ || where_.block ? Where{where_.inside(text_, piece.column)} : where_;
  }

  EnglishPolicy said() {
    if (next_failure_ > 1) policy_.retry = Delays{.list = delays_};
    if (after_a_time_.row) policy_.give_up.push_back(*after_a_time_.row);
    if (unlimited_.row) policy_.give_up.push_back(*unlimited_.row);
    return {policy_, schedule_};
  }

  std::string_view text_;
  Where where_;
  Diagnostics& diagnostics_;
  bool one_line_;
  bool wrong_ = false;

  int line_ = 0;
  Piece sentence_;  // of that line

  Policy policy_;
  std::optional<Schedule> schedule_;
  std::vector<DurationValue> delays_;
  int next_failure_ = 1;
  GivingUp after_a_time_;
  GivingUp unlimited_;
  GivingUp* latest_ = &unlimited_;  // what `Then hold`, `Panic` and `Notify` are about

  // The lines that said it (0: none yet).
  int schedule_by_ = 0;
  int timeout_by_ = 0;
  int elapsed_by_ = 0;
};

}  // namespace

std::optional<EnglishPolicy> parse_policy_english(std::string_view text, Where where,
                                                  Diagnostics& diagnostics) {
  return PolicyReader(text, where, diagnostics).read();
}

}  // namespace pawl
