// Says policies in English.
//
// A sentence is printed only when it reads back as just what it was said of; a key or row that has
// more to it is named in `unsaid` as a whole. The order is that of the reader's rule for `Then
// hold` and its like: first the row without limit, then `Give up after …` and what belongs to it.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "calendar/rrule.h"
#include "model/english_words.h"
#include "model/policy_english.h"

namespace pawl {
namespace {

using Phrases = std::vector<std::string>;

std::string and_list(const Phrases& words) { return join(words, ", ", " and "); }

bool is_sayable(const DurationValue& duration) {
  return duration == DurationValue(duration.fixed) && duration.fixed >= Duration::zero() &&
         duration.fixed <= kDurationMax;
}

std::string why_unsaid(const DurationValue& duration) {
  return duration.is_fixed() ? "a duration that cannot be written" : "taken from a template";
}

bool is_wait(const Row& row) { return row.to && row.to->name == kPlannedState; }

// The text between the quotes, or none when it has several lines or is no text.
std::optional<std::string> one_line_text(const Value& value) {
  const std::string& text = value.json.text;
  if (value != Value(text) || text.find('\n') != std::string::npos) return std::nullopt;
  return text;
}

// The times of the day at which the rule fires, when that is all it says; else none.
std::vector<ClockTime> daily_times(const Value& value) {
  const auto rule = parse_rrule(value.json.kind == Json::Kind::text ? value.json.text : "");
  if (!rule) return {};
  const Rrule daily = {.freq = Freq::daily,
                       .by_second = {0},
                       .by_minute = rule->by_minute,
                       .by_hour = rule->by_hour,
                       .week_start = rule->week_start};
  if (*rule != daily) return {};
  std::vector<ClockTime> times;
  for (const int hour : rule->by_hour) {
    for (const int minute : rule->by_minute) times.push_back({hour, minute});
  }
  return times;
}

std::string often(std::size_t times) {
  if (times == 1) return "once";
  if (times == 2) return "twice";
  return number_words(static_cast<int>(times)) + " times";
}

// The names of what a schedule has besides its rule.
Phrases further_parts(const Schedule& schedule) {
  Phrases parts;
  if (schedule.tz) parts.emplace_back("`tz`");
  if (schedule.anchor) parts.emplace_back("`anchor`");
  if (schedule.missed != Schedule::Missed::last) parts.emplace_back("`missed`");
  if (schedule.gap) parts.emplace_back("`gap`");
  if (schedule.fold) parts.emplace_back("`fold`");
  if (!schedule.ended.empty()) parts.emplace_back("`ended`");
  return parts;
}

// Why a list of delays cannot be said, or nothing.
std::string why_unsaid(const Delays& retry) {
  if (retry.kind == Delays::Kind::formula) return "a formula ({first, factor, max})";
  if (retry.kind == Delays::Kind::fixed) return "one delay for ever";
  if (retry != Delays{.list = retry.list}) return "a list with keys of a formula";
  if (retry.list.size() >= static_cast<std::size_t>(kCountedMax))
    return "more delays than can be counted";
  const auto unsaid = std::find_if_not(retry.list.begin(), retry.list.end(), is_sayable);
  return unsaid == retry.list.end() ? "" : "a delay is " + why_unsaid(*unsaid);
}

// What of a row on giving up no sentence can say.
Phrases why_unsaid(const Row& row) {
  Phrases why;
  if (row.condition) why.emplace_back("has an `if`");
  if (row.elapsed && !is_sayable(*row.elapsed))
    why.push_back("has an `elapsed` that is " + why_unsaid(*row.elapsed));
  if (row.to && !is_wait(row)) why.push_back("goes to " + in_quotes(row.to->name));
  if (is_wait(row) && row.hold) why.emplace_back("waits for the plan on hold");
  if (is_wait(row) && row.elapsed) why.emplace_back("waits for the plan after a time");
  if (row.hold && row.hold->code != "gave_up")
    why.push_back("holds with the code " + in_quotes(row.hold->code));
  if (row.hold && !one_line_text(row.hold->text))
    why.emplace_back("holds with a text that is not one line");
  if (!row.set.empty()) why.emplace_back("has a `set`");
  if (!row.effects.empty()) why.emplace_back("has `effects`");
  if (!row.alert.empty() && !is_channel_name(row.alert))
    why.push_back("notifies " + in_quotes(row.alert));
  if (row == Row{}) why.emplace_back("has no key");
  const Row keys_of_giving_up = {.condition = row.condition,
                                 .to = row.to,
                                 .hold = row.hold,
                                 .set = row.set,
                                 .effects = row.effects,
                                 .elapsed = row.elapsed,
                                 .alert = row.alert};
  if (row != keys_of_giving_up) why.emplace_back("has keys of other rows");
  return why;
}

// Goes through the keys and keeps the sentences.
class PolicyTeller {
 public:
  explicit PolicyTeller(const EnglishPolicy& given)
      : policy_(given.policy), schedule_(given.schedule) {}

  PolicyInEnglish tell() {
    if (schedule_) tell_schedule(*schedule_);
    if (policy_.timeout) tell_timeout(*policy_.timeout);
    choose_rows();
    if (policy_.retry) tell_retry(*policy_.retry);
    if (unlimited_ != nullptr) tell_ending(*unlimited_);
    if (after_a_time_ != nullptr) tell_after_a_time(*after_a_time_);
    name_other_keys();
    return std::move(told_);
  }

 private:
  void say(std::string line) { told_.lines.push_back(std::move(line)); }
  void leave_out(const std::string& key, const std::string& what) {
    told_.unsaid.push_back(key + ": " + what);
  }

  void tell_schedule(const Schedule& schedule) {
    tell_rule(schedule);
    const Phrases parts = further_parts(schedule);
    if (!parts.empty()) leave_out("schedule", and_list(parts));
  }

  void tell_rule(const Schedule& schedule) {
    if (schedule.kind == Schedule::Kind::every) return tell_every(schedule.every);
    if (schedule.kind == Schedule::Kind::cron) return leave_out("schedule", "a cron rule");
    const std::vector<ClockTime> times = daily_times(schedule.rule);
    if (times.empty()) return leave_out("schedule", "a rule that is more than times of day");
    Phrases words;
    for (const ClockTime& time : times) words.push_back(clock_words(time));
    say("Refresh " + often(times.size()) + " per day at " + and_list(words));
  }

  void tell_every(const DurationValue& every) {
    if (!is_sayable(every)) return leave_out("schedule", "`every` is " + why_unsaid(every));
    say("Refresh every " + duration_words(every.fixed));
  }

  void tell_timeout(const DurationValue& timeout) {
    if (!is_sayable(timeout)) return leave_out("timeout", why_unsaid(timeout));
    say("Allow " + duration_words(timeout.fixed) + " to complete");
  }

  // At most one row after a time of failures, then at most one without limit.
  void choose_rows() {
    for (const Row& row : policy_.give_up) {
      Phrases why = why_unsaid(row);
      if (is_wait(row) && !has_listed_retries())
        why.emplace_back("waits for the plan after retries that are not a list");
      if (unlimited_ != nullptr) why.emplace_back("stands after the row without limit");
      if (row.elapsed && after_a_time_ != nullptr)
        why.emplace_back("is a second one with `elapsed`");
      if (why.empty()) {
        (row.elapsed ? after_a_time_ : unlimited_) = &row;
      } else {
        leave_out("give_up",
                  "row " + std::to_string(&row - policy_.give_up.data() + 1) + " " + and_list(why));
      }
    }
  }

  bool has_listed_retries() const { return policy_.retry && why_unsaid(*policy_.retry).empty(); }
  bool waits() const { return unlimited_ != nullptr && is_wait(*unlimited_); }

  void tell_retry(const Delays& retry) {
    const std::string why = why_unsaid(retry);
    if (!why.empty()) return leave_out("retry", why);
    if (retry.list.empty() && !waits()) return leave_out("retry", "none at all ([])");
    int failure = 0;
    for (const DurationValue& delay : retry.list) {
      say(on_failure(++failure) + (delay.fixed == Duration::zero()
                                       ? "retry immediately"
                                       : "retry after " + duration_words(delay.fixed)));
    }
    if (waits()) say(on_failure(++failure) + "wait for the next planned time");
  }

  static std::string on_failure(int number) {
    return "On the " + ordinal_words(number) + " failure, ";
  }

  void tell_after_a_time(const Row& row) {
    say("Give up after " + duration_words(row.elapsed->fixed) + " of failures");
    tell_ending(row);
  }

  void tell_ending(const Row& row) {
    if (row.hold) {
      const std::string text = *one_line_text(row.hold->text);
      say(text == "{error.message}" ? "Panic" : "Then hold: \"" + text + "\"");
    }
    if (!row.alert.empty()) say("Notify " + row.alert);
  }

  void name_other_keys() {
    if (policy_.lease) leave_out("lease", "how long a worker may be silent");
    if (!policy_.errors.empty()) leave_out("errors", "actions for single error codes");
    if (policy_.failure) leave_out("failure", "where a failed record waits");
    if (policy_.count) leave_out("count", "the span over which failures are counted");
    if (policy_.align) leave_out("align", "how retries fit in with planned times");
    if (policy_.policy) leave_out("policy", "another policy, " + in_quotes(policy_.policy->name));
  }

  const Policy& policy_;
  const std::optional<Schedule>& schedule_;
  const Row* after_a_time_ = nullptr;  // the rows that are said
  const Row* unlimited_ = nullptr;
  PolicyInEnglish told_;
};

}  // namespace

PolicyInEnglish in_english(const EnglishPolicy& given) { return PolicyTeller(given).tell(); }

}  // namespace pawl
