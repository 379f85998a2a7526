// pawl next: when does a rule fire next.
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "calendar/civil.h"
#include "cli/rule_options.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

using std::chrono::seconds;

// A leading zero would make it octal.
Check decimal() {
  return {[](const std::string& text) {
    return text.size() > 1 && text.front() == '0' ? std::string("a number cannot begin with 0")
                                                  : "";
  }};
}

struct NextOptions {
  RuleOptions rule;
  std::string after;
  int count = 10;
  bool json = false;
};

// `2026-03-29 03:30:00`
std::string date_and_time(std::int64_t since) {
  std::string text = to_text(Instant{seconds{since}});
  text.pop_back();
  text[text.find('T')] = ' ';
  return text;
}

std::string weekday_text(std::int64_t since) {
  constexpr std::array<const char*, 7> kNames = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  return kNames[static_cast<std::size_t>(weekday_of(floor_div(since, kSecondsPerDay)))];
}

// `in 3d 4h`, `12m 30s ago`: the two largest units.
std::string distance(Instant at, Instant now) {
  const bool past = at < now;
  std::int64_t rest = std::chrono::floor<seconds>(past ? now - at : at - now).count();
  constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits = {
      {{86'400, "d"}, {3'600, "h"}, {60, "m"}, {1, "s"}}};
  std::string text;
  int shown = 0;
  for (const auto& [length, name] : kUnits) {
    if ((rest < length && shown == 0 && length > 1) || shown == 2) continue;
    if (rest / length > 0 || shown == 0)
      text += (text.empty() ? "" : " ") + std::to_string(rest / length) + name;
    rest %= length;
    ++shown;
  }
  return past ? text + " ago" : "in " + text;
}

std::string mark(const Occurrence& occurrence) {
  switch (occurrence.clock) {
    case Occurrence::Clock::plain:
      return "";
    case Occurrence::Clock::shifted:
      return "  moved: " + date_and_time(occurrence.wall.time_since_epoch().count()).substr(11) +
             " does not exist that day (gap)";
    case Occurrence::Clock::first_fold:
      return "  the first of two such times (fold)";
    case Occurrence::Clock::last_fold:
      return "  the second of two such times (fold)";
  }
  return "";
}

void print_line(const Occurrence& occurrence, const Zone& zone, Instant now, std::ostream& out) {
  const ZoneSpan span = zone.span_at(occurrence.at);
  const std::int64_t local = (occurrence.at.time_since_epoch() + span.offset).count();
  std::array<char, 128> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%s %s %-5s  %s UTC  %-14s",
                weekday_text(local).c_str(), date_and_time(local).c_str(),
                std::string(span.abbreviation).c_str(),
                date_and_time(occurrence.at.time_since_epoch().count()).c_str(),
                distance(occurrence.at, now).c_str());
  std::string line = buffer.data() + mark(occurrence);
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

std::vector<Occurrence> first_occurrences(const Recurrence& recurrence, Instant after, int count) {
  std::vector<Occurrence> occurrences;
  while (static_cast<int>(occurrences.size()) < count) {
    const auto at = recurrence.next(after);
    if (!at) break;
    occurrences.push_back(*at);
    after = at->at;
  }
  return occurrences;
}

void print_people(const std::vector<Occurrence>& occurrences, const Zone& zone, Instant now,
                  std::ostream& out) {
  for (const Occurrence& occurrence : occurrences) print_line(occurrence, zone, now, out);
}

void print_json(const std::vector<Occurrence>& occurrences, const Zone& zone, std::ostream& out) {
  out << '[';
  const char* comma = "";
  for (const Occurrence& occurrence : occurrences) {
    out << comma << json_string(to_text(occurrence.at, zone));
    comma = ",";
  }
  out << "]\n";
}

ExitCode next(const NextOptions& options, const Surroundings& surroundings) {
  const Instant now = surroundings.now();
  const PlanOrExit read = read_plan(options.rule, "next", now, surroundings.err);
  if (!read.plan) return read.code;
  const Zone& zone = read.plan->zone;
  Instant after = now;
  if (!options.after.empty()) {
    const auto given = parse_instant(options.after, zone);
    if (!given) return report(given.error(), "--after", options.after, surroundings.err);
    after = *given;
  }
  const auto occurrences = first_occurrences(*read.recurrence, after, options.count);
  if (options.json) {
    print_json(occurrences, zone, surroundings.out);
    return ExitCode::ok;
  }
  print_people(occurrences, zone, now, surroundings.out);
  if (occurrences.empty()) {
    surroundings.out << "nothing after " << to_text(after, zone) << ": the rule has ended\n";
  } else if (static_cast<int>(occurrences.size()) < options.count) {
    surroundings.out << "the rule ends here\n";
  }
  return ExitCode::ok;
}

}  // namespace

void add_next(Command& app, Action& action) {
  auto options = std::make_shared<NextOptions>();
  Command* verb = app.add_subcommand("next", "Show when a schedule rule fires next");
  add_rule_options(*verb, options->rule);
  verb->add_option(
          "--after", options->after,
          "show times strictly after this instant, local in --tz if it has no offset (default: now)")
      ->check(not_empty())
      ->type_name("TIME");
  verb->add_option("--count", options->count, "how many times to show (default: 10)")
      ->check(decimal())
      ->check(between(1, 1'000'000))
      ->type_name("N");
  verb->add_flag("--json", options->json, "print one JSON array of RFC 3339 instants");
  verb->footer(
      "Examples:\n"
      "  pawl next --rrule 'FREQ=DAILY;BYHOUR=6,16;BYMINUTE=0;BYSECOND=0' --tz Europe/Berlin\n"
      "  pawl next --rrule 'FREQ=MONTHLY;BYDAY=-1FR' --dtstart 2026-01-30T17:00:00 --tz America/New_York --count 3\n"
      "  pawl next --cron '*/15 9-17 * * MON-FRI' --after 2026-11-16T00:00:00Z --json");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return next(*options, surroundings); };
  });
}

}  // namespace pawl::cli
