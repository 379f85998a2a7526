#include "cli/rule_options.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "calendar/zones.h"

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

Start start_of(const CalendarTime& time, const Zone& zone) {
  const std::chrono::seconds since{time.seconds};
  if (time.form != CalendarTime::Form::utc)
    return {LocalSeconds{since}, time.form == CalendarTime::Form::date};
  return {std::chrono::floor<std::chrono::seconds>(zone.to_local(Instant{since}))};
}

// `1997-09-02T09:00:00` with or without an offset, `1997-09-02`, or the forms of iCalendar.
Result<Start> read_start(const std::string& text, const Zone& zone) {
  constexpr std::size_t kDateLength = 10;  // YYYY-MM-DD
  std::string compact = text;
  if (text.size() == kDateLength) std::erase(compact, '-');
  if (const bool calendar_form = compact.find_first_of("-:+") == std::string::npos; calendar_form) {
    PAWL_TRY(const CalendarTime time, parse_calendar_time(compact, 1));
    return start_of(time, zone);
  }
  PAWL_TRY(const LocalTime local, parse_local(text, zone));
  return Start{std::chrono::floor<std::chrono::seconds>(local)};
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

  bool add_text(const std::string& text, const std::string& given, const char* option) {
    auto read = parse_recurrence_text(text);
    if (!check(read, option, given)) return false;
    if (read->start) start_ = read->start;
    if (read->tzid) tzid_ = read->tzid;
    const auto append = [](auto& to, auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(plan_.rrules, read->rrules);
    append(plan_.rdates, read->rdates);
    append(plan_.exdates, read->exdates);
    return true;
  }

  bool add_dates(const std::vector<std::string>& texts, const char* option,
                 std::vector<CalendarTime>& times) {
    for (const std::string& text : texts) {
      std::string compact = text;
      std::erase_if(compact, [](char c) { return c == '-' || c == ':'; });
      const auto time = parse_calendar_time(compact, 1);
      if (!check(time, option, text)) return false;
      times.push_back(*time);
    }
    return true;
  }

  bool read_rules() {
    for (const std::string& text : options_.rrules) {
      if (!add_text(text, text, "--rrule")) return false;
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
    const std::string name = !options_.tz.empty() ? options_.tz : tzid_.value_or("UTC");
    const auto zones = Zones::open();
    if (!check(zones, "--tz", "")) return false;
    const auto zone = zones->find(name);
    if (!check(zone, "--tz", name)) return false;
    plan_.zone = *zone;
    return true;
  }

  bool read_start() {
    if (!options_.dtstart.empty()) {
      const auto start = cli::read_start(options_.dtstart, plan_.zone);
      if (!check(start, "--dtstart", options_.dtstart)) return false;
      plan_.start = *start;
    } else if (start_) {
      plan_.start = start_of(*start_, plan_.zone);
    } else {
      plan_.start = {std::chrono::floor<std::chrono::seconds>(plan_.zone.to_local(now_))};
    }
    return true;
  }

  const RuleOptions& options_;
  Instant now_;
  RecurrencePlan plan_;
  std::optional<CalendarTime> start_;
  std::optional<std::string> tzid_;
  std::optional<Wrong> wrong_;
};

}  // namespace

void add_rule_options(CLI::App& verb, RuleOptions& options) {
  verb.add_option(
          "--rrule", options.rrules,
          "a rule of RFC 5545, FREQ=…, or lines DTSTART:…, RRULE:…, RDATE:…, EXDATE:…; may be repeated")
      ->allow_extra_args(false)
      ->type_name("RULE");
  verb.add_option("--cron", options.cron,
                  "a cron expression: five fields, six with seconds first, or @daily")
      ->type_name("CRON");
  verb.add_option(
          "--dtstart", options.dtstart,
          "the anchor, e.g. 1997-09-02T09:00:00 (local in --tz), with an offset, or a date alone; default: now")
      ->type_name("TIME");
  verb.add_option("--tz", options.tz, "the zone, an IANA name; default: UTC")->type_name("ZONE");
  verb.add_option("--rdate", options.rdates, "a further time; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TIME");
  verb.add_option("--exdate", options.exdates, "a time left out; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TIME");
  verb.add_option(
          "--gap", options.gap,
          "what becomes of a local time that does not exist: shift or skip; default: shift for daily rules and coarser, else skip")
      ->check(CLI::IsMember({"shift", "skip"}))
      ->type_name("GAP");
  verb.add_option(
          "--fold", options.fold,
          "when a local time that exists twice happens: first, last or both; default: first for daily rules and coarser, else both")
      ->check(CLI::IsMember({"first", "last", "both"}))
      ->type_name("FOLD");
}

PlanOrExit read_plan(const RuleOptions& options, std::string_view verb, Instant now,
                     std::ostream& err) {
  if (options.rrules.empty() == options.cron.empty()) {
    return {std::nullopt, report_usage("give --rrule or --cron, one of them", verb, err)};
  }
  PlanReader reader(options, now);
  if (const auto wrong = reader.read()) {
    return {std::nullopt, report(wrong->error, wrong->option, wrong->text, err)};
  }
  return {reader.take(), ExitCode::ok};
}

}  // namespace pawl::cli
