#include "cli/rule_options.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "calendar/recurrence_text.h"
#include "calendar/zone.h"
#include "pawl/zones.h"

namespace pawl::cli {
namespace {

// An error, the option it is about and the text given there.
struct Wrong {
  Error error;
  std::string option;
  std::string text;
};

// The name an enumerator has on the command line; CLI11 has checked that it is one of them.
std::optional<Gap> gap_named(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return name == "shift" ? Gap::shift : Gap::skip;
}

std::optional<Fold> fold_named(const std::string& name) {
  if (name.empty()) return std::nullopt;
  return name == "first" ? Fold::first : name == "last" ? Fold::last : Fold::both;
}

// `1997-09-02T09:00:00` with or without an offset, `1997-09-02`, or one of the forms of iCalendar.
Result<CalendarTime> read_time(const std::string& text) {
  using Form = CalendarTime::Form;
  if (text.find_first_of("-:") == std::string::npos) return parse_calendar_time(text);
  constexpr std::string_view kMidnight = "T00:00:00";
  const bool is_date = text.find_first_of("Tt :+") == std::string::npos;
  PAWL_TRY(const Stamp stamp, parse_stamp(is_date ? text + std::string(kMidnight) : text));
  const auto local = std::chrono::floor<std::chrono::seconds>(stamp.local);
  CalendarTime time{
      .form = is_date        ? Form::date
              : stamp.offset ? Form::utc
                             : Form::local,
      .seconds =
          (local.time_since_epoch() - stamp.offset.value_or(std::chrono::seconds{0})).count()};
  return time;
}

Start start_of(const CalendarTime& time, const Zone& zone) {
  const std::chrono::seconds since{time.seconds};
  if (time.form != CalendarTime::Form::utc) {
    return {.at = LocalSeconds{since}, .date_only = time.form == CalendarTime::Form::date};
  }
  return {.at = std::chrono::floor<std::chrono::seconds>(zone.to_local(Instant{since})),
          .not_before = std::chrono::sys_seconds{since}};
}

// The text as messages point into it; `--rrule` may be given several times, and then they do not.
std::string rule_text(const RuleOptions& options) {
  return options.rrules.size() == 1 ? unfold(options.rrules.front()) : "";
}

// Collects what the options say; stops at the first that is wrong.
class PlanReader {
 public:
  PlanReader(const RuleOptions& options, Instant now) : options_(options), now_(now) {}

  std::optional<Wrong> read() {
    if (!read_rules() || !read_zone() || !read_start()) return wrong_;
    plan_.gap = gap_named(options_.gap);
    plan_.fold = fold_named(options_.fold);
    return std::nullopt;
  }

  RecurrencePlan take() { return std::move(plan_); }

 private:
  template <class T>
  bool check(const Result<T>& result, const char* option, const std::string& text) {
    if (!result) wrong_ = Wrong{result.error(), option, text};
    return result.has_value();
  }

  bool fail(const char* option, std::string message) {
    wrong_ = Wrong{{ErrorCode::bad_input, std::move(message)}, option, ""};
    return false;
  }

  bool add_text(const std::string& text) {
    auto read = parse_recurrence_text(text);
    if (!check(read, "--rrule", unfold(text))) return false;
    if (read->start && (start_ || !options_.dtstart.empty())) {
      return fail("--rrule", "DTSTART is given twice; a recurrence has only one");
    }
    if (read->start) start_ = read->start;
    const std::string& other = options_.tz.empty() ? tzid_ : options_.tz;
    if (read->tzid && !other.empty() && other != *read->tzid) {
      return fail("--rrule", "TZID is " + *read->tzid + " here and " + other +
                                 " elsewhere; a recurrence has only one zone");
    }
    if (read->tzid) tzid_ = *read->tzid;
    const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(plan_.rrules, read->rrules);
    append(plan_.rdates, read->rdates);
    append(plan_.exdates, read->exdates);
    return true;
  }

  bool add_dates(const std::vector<std::string>& texts, const char* option,
                 std::vector<CalendarTime>& times) {
    for (const std::string& text : texts) {
      auto time = read_time(text);
      if (!check(time, option, text)) return false;
      time->position.reset();
      times.push_back(*time);
    }
    return true;
  }

  bool read_rules() {
    for (const std::string& text : options_.rrules) {
      if (!add_text(text)) return false;
    }
    if (!options_.cron.empty()) {
      auto cron = parse_cron(options_.cron);
      if (!check(cron, "--cron", options_.cron)) return false;
      plan_.crons.push_back(*std::move(cron));
    }
    return add_dates(options_.rdates, "--rdate", plan_.rdates) &&
           add_dates(options_.exdates, "--exdate", plan_.exdates);
  }

  bool read_zone() {
    const bool by_option = !options_.tz.empty();
    const std::string name = by_option ? options_.tz : tzid_.empty() ? "UTC" : tzid_;
    const auto zones = Zones::open();
    if (!check(zones, "--tz", "")) return false;
    const auto zone = zones->find(name);
    if (!check(zone, by_option ? "--tz" : "--rrule", name)) return false;
    plan_.zone = *zone;
    return true;
  }

  bool read_start() {
    if (!options_.dtstart.empty()) {
      const auto start = read_time(options_.dtstart);
      if (!check(start, "--dtstart", options_.dtstart)) return false;
      start_ = *start;
    }
    const CalendarTime now{
        .form = CalendarTime::Form::utc,
        .seconds = std::chrono::floor<std::chrono::seconds>(now_).time_since_epoch().count()};
    plan_.start = start_of(start_.value_or(now), plan_.zone);
    return true;
  }

  const RuleOptions& options_;
  Instant now_;
  RecurrencePlan plan_;
  std::optional<CalendarTime> start_;
  std::string tzid_;
  std::optional<Wrong> wrong_;
};

}  // namespace

void add_rule_options(Command& verb, RuleOptions& options) {
  verb.add_option(
          "--rrule", options.rrules,
          "RFC 5545 rule (FREQ=…), or iCalendar lines (DTSTART:…, RRULE:…, RDATE:…, EXDATE:…); may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("RULE");
  verb.add_option("--cron", options.cron,
                  "cron expression: five fields, six with seconds first, or a name such as @daily")
      ->check(not_empty())
      ->type_name("CRON");
  verb.add_option(
          "--dtstart", options.dtstart,
          "start of the rule, e.g. 1997-09-02T09:00:00 (local in --tz), a time with an offset, or a date (default: now)")
      ->check(not_empty())
      ->type_name("TIME");
  verb.add_option("--tz", options.tz, "IANA name of the time zone (default: UTC)")
      ->check(not_empty())
      ->type_name("ZONE");
  verb.add_option("--rdate", options.rdates, "extra time; may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("TIME");
  verb.add_option("--exdate", options.exdates, "time to leave out; may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("TIME");
  verb.add_option(
          "--gap", options.gap,
          "what to do with a local time that does not exist: shift or skip (default: shift for rules of days or longer, else skip)")
      ->check(one_of({"shift", "skip"}))
      ->type_name("GAP");
  verb.add_option(
          "--fold", options.fold,
          "when to fire at a local time that occurs twice: first, last or both (default: first for rules of days or longer, else both)")
      ->check(one_of({"first", "last", "both"}))
      ->type_name("FOLD");
}

PlanOrExit read_plan(const RuleOptions& options, std::string_view verb, Instant now,
                     std::ostream& err) {
  if (options.rrules.empty() == options.cron.empty()) {
    return {.code = report_usage("give either --rrule or --cron", verb, err)};
  }
  PlanReader reader(options, now);
  if (const auto wrong = reader.read()) {
    return {.code = report(wrong->error, wrong->option, wrong->text, err)};
  }
  RecurrencePlan plan = reader.take();
  auto recurrence = Recurrence::make(plan);
  if (!recurrence) {
    Error error = std::move(recurrence).error();
    const std::string text = rule_text(options);
    if (text.empty()) error.position.reset();
    return {.code = report(error, options.cron.empty() ? "--rrule" : "--cron", text, err)};
  }
  return {std::move(plan), *std::move(recurrence), ExitCode::ok};
}

}  // namespace pawl::cli
