// recurrence_oracle: compares Pawl's recurrences with the brute-force oracle on random rules and on
// every zone.
//
//   recurrence_oracle [--rules N] [--seconds S [--at-least M]] [--seed K]   random rules; case i
//   has the seed K+i recurrence_oracle --zones                                              every
//   IANA zone, 2015 to 2040 recurrence_oracle --dump N [--seed K] [--of oracle] JSON lines for
//   dateutil_oracle.py

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "calendar/zone.h"
#include "compare.h"
#include "oracle.h"
#include "pawl/zones.h"
#include "random_rule.h"

namespace pawl {
namespace {

using std::chrono::days;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;

constexpr int kDifferencesShown = 20;
constexpr std::size_t kDumpedWalls = 30;

struct Options {
  std::optional<std::int64_t> rules;
  std::optional<std::int64_t> seconds;
  std::int64_t at_least = 0;
  std::uint64_t seed = 1;
  bool zones = false;
  std::optional<std::int64_t> dump;
  bool dump_oracle = false;
};

// What a run came to.
struct Tally {
  std::array<std::int64_t, 7> compared{};
  std::array<std::int64_t, 7> refused{};
  std::int64_t too_silent = 0;  // refused for a long silence, though they fire
  std::int64_t silent = 0;      // compared, with nothing in the window
  std::int64_t with_dates = 0;  // compared, with an RDATE or EXDATE
  std::int64_t instants = 0;
  std::int64_t differences = 0;
  std::set<std::string> zones;
  double slowest = 0;  // seconds to read and bind one rule
  std::string slowest_rule;

  std::int64_t rules() const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < compared.size(); ++i) sum += compared[i] + refused[i];
    return sum;
  }
};

class Deadline {
 public:
  explicit Deadline(std::optional<std::int64_t> seconds) : limit_(seconds) {}

  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }
  bool passed() const { return limit_ && elapsed() >= static_cast<double>(*limit_); }

 private:
  std::optional<std::int64_t> limit_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

void add_to(Tally& tally, const RandomCase& drawn, const Comparison& comparison) {
  const auto freq = static_cast<std::size_t>(drawn.plan.rule.freq);
  if (comparison.binding > tally.slowest) {
    tally.slowest = comparison.binding;
    tally.slowest_rule = drawn.plan.rule.text() + " from " + wall_text(drawn.plan.start);
  }
  tally.zones.insert(drawn.plan.zone->name());
  if (comparison.refused) {
    ++tally.refused[freq];
    if (comparison.too_silent) ++tally.too_silent;
    return;
  }
  ++tally.compared[freq];
  tally.instants += comparison.instants;
  if (drawn.expected.occurrences.empty()) ++tally.silent;
  if (!drawn.plan.rdates.empty() || !drawn.plan.exdates.empty()) ++tally.with_dates;
}

void print_tally(const Tally& tally, double elapsed) {
  std::printf("\n%-10s %10s %10s\n", "FREQ", "compared", "refused");
  std::int64_t refused = 0;
  for (std::size_t i = tally.compared.size(); i-- > 0;) {
    std::printf("%-10s %10lld %10lld\n", freq_name(static_cast<OracleFreq>(i)),
                static_cast<long long>(tally.compared[i]),
                static_cast<long long>(tally.refused[i]));
    refused += tally.refused[i];
  }
  std::printf("%-10s %10lld %10lld\n", "all", static_cast<long long>(tally.rules() - refused),
              static_cast<long long>(refused));
  std::printf("refused, fire but rarely %lld\n", static_cast<long long>(tally.too_silent));
  std::printf("with RDATE or EXDATE     %lld\n", static_cast<long long>(tally.with_dates));
  std::printf("silent in the window     %lld\n", static_cast<long long>(tally.silent));
  std::printf("instants compared        %lld\n", static_cast<long long>(tally.instants));
  std::printf("zones used               %zu\n", tally.zones.size());
  std::printf("differences              %lld\n", static_cast<long long>(tally.differences));
  std::printf("time                     %.1f s, %.2f s per 1000 rules\n", elapsed,
              tally.rules() > 0 ? elapsed * 1000.0 / static_cast<double>(tally.rules()) : 0.0);
  std::printf("slowest to bind          %.3f s, %s\n", tally.slowest, tally.slowest_rule.c_str());
  std::printf("left out by the generator:\n");
  for (const std::string& name : classes_left_out()) std::printf("  - %s\n", name.c_str());
}

int run_random(const Options& options, const Zones& zones) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  const OracleZones oracle_zones;
  const std::int64_t wanted = options.rules.value_or(
      options.seconds ? std::numeric_limits<std::int64_t>::max() : std::int64_t{5000});
  const Deadline deadline(options.seconds);
  Tally tally;
  for (std::int64_t i = 0; i < wanted && !deadline.passed(); ++i) {
    const std::uint64_t seed = options.seed + static_cast<std::uint64_t>(i);
    Draw draw(seed);
    const RandomCase drawn = draw_case(draw, oracle_zones);
    const Comparison comparison = compare(drawn.plan, drawn.window, drawn.expected, zones, draw);
    add_to(tally, drawn, comparison);
    if (comparison.difference.empty()) continue;
    std::printf("\nDIFFERENCE (again with --rules 1 --seed %llu)\n%s",
                static_cast<unsigned long long>(seed), comparison.difference.c_str());
    if (++tally.differences == kDifferencesShown) break;
  }
  print_tally(tally, deadline.elapsed());
  const bool too_few = tally.rules() < options.at_least;
  if (too_few) {
    std::printf("TOO FEW: %lld rules, at least %lld wanted\n",
                static_cast<long long>(tally.rules()), static_cast<long long>(options.at_least));
  }
  std::printf("seed %llu\n", static_cast<unsigned long long>(options.seed));
  return tally.differences > 0 || too_few ? 1 : 0;
}

// The rules that every zone is tried with.
std::vector<OracleRule> zone_rules() {
  OracleRule night;
  night.by_hour = {2};
  night.by_minute = {30};
  OracleRule midnight;
  OracleRule hourly;
  hourly.freq = OracleFreq::hourly;
  OracleRule every_third_hour = hourly;
  every_third_hour.interval = 3;
  return {night, midnight, hourly, every_third_hour};
}

int run_zones(const Options& options, const Zones& zones) {
  const Deadline clock(std::nullopt);
  const OracleWindow window{sys_days{std::chrono::year{2015} / 1 / 1},
                            sys_days{std::chrono::year{2041} / 1 / 1}};
  const local_seconds start = local_days{std::chrono::year{2015} / 1 / 1};
  const local_seconds end = local_days{std::chrono::year{2041} / 1 / 1};
  const std::vector<std::string> names = zones.names();
  std::int64_t instants = 0;
  std::int64_t differences = 0;
  Draw draw(options.seed);
  for (const OracleRule& rule : zone_rules()) {
    OraclePlan plan{rule, start};
    // What the rule says on the wall is the same in every zone.
    const OracleWalls walls = walls_of(plan, {start, end + days{2}});
    for (const std::string& name : names) {
      const OracleZone zone = OracleZone::read(name, window.begin - days{5}, window.end + days{5});
      plan.zone = &zone;
      const OracleResult expected = occurrences_of(plan, walls.at, window);
      const Comparison comparison = compare(plan, window, expected, zones, draw);
      instants += comparison.instants;
      if (comparison.difference.empty()) continue;
      ++differences;
      std::printf("\nDIFFERENCE\n%s", comparison.difference.c_str());
    }
  }
  std::printf(
      "%zu rules x %zu zones, %lld instants compared, tzdata %s, %.1f s: %lld differences\n",
      zone_rules().size(), names.size(), static_cast<long long>(instants),
      zones.tzdata_version().c_str(), clock.elapsed(), static_cast<long long>(differences));
  return differences > 0 ? 1 : 0;
}

// The wall times from DTSTART on, as Pawl says.
std::vector<local_seconds> first_walls(const Recurrence& recurrence, const OracleWindow& window) {
  std::vector<local_seconds> walls;
  Instant after = window.begin - Duration{1};
  while (walls.size() < kDumpedWalls) {
    const std::optional<Occurrence> found = recurrence.next(after);
    if (!found || found->at >= window.end) break;
    walls.push_back(found->wall);
    after = found->at;
  }
  return walls;
}

std::vector<local_seconds> first_walls(const OracleResult& expected) {
  std::vector<local_seconds> walls;
  for (const OracleOccurrence& each : expected.occurrences) {
    if (walls.size() < kDumpedWalls) walls.push_back(each.wall);
  }
  return walls;
}

void print_json(const RandomCase& drawn, const std::vector<local_seconds>& walls) {
  const local_seconds before{drawn.window.end.time_since_epoch()};
  std::printf(R"({"rrule": "%s", "dtstart": "%s", "date_only": %s, "before": "%s", "walls": [)",
              drawn.plan.rule.text().c_str(), calendar_text(drawn.plan.start).c_str(),
              drawn.plan.date_only ? "true" : "false", calendar_text(before).c_str());
  for (std::size_t i = 0; i < walls.size(); ++i) {
    std::printf("%s\"%s\"", i > 0 ? ", " : "", calendar_text(walls[i]).c_str());
  }
  std::printf("]}\n");
}

// Prints rules until there are as many as wanted; what Pawl refuses does not count.
int run_dump(const Options& options, const Zones& zones) {
  const OracleZones oracle_zones;
  std::int64_t printed = 0;
  std::int64_t refused = 0;
  for (std::uint64_t seed = options.seed; printed < *options.dump; ++seed) {
    Draw draw(seed);
    const RandomCase drawn = draw_case_from_start(draw, oracle_zones);
    const Result<Recurrence> recurrence = recurrence_of(drawn.plan, zones);
    if (!recurrence && !options.dump_oracle) {
      ++refused;
      continue;
    }
    print_json(drawn, options.dump_oracle ? first_walls(drawn.expected)
                                          : first_walls(*recurrence, drawn.window));
    ++printed;
  }
  std::fprintf(stderr, "seed %llu: %lld rules, %lld more were refused\n",
               static_cast<unsigned long long>(options.seed), static_cast<long long>(printed),
               static_cast<long long>(refused));
  return 0;
}

// A switch without a value, or one with a number.
bool read_option(Options& options, const std::string& name, const char* value) {
  if (name == "--zones") {
    options.zones = true;
    return false;
  }
  if (value == nullptr) {
    std::fprintf(stderr, "recurrence_oracle: unknown option or missing value: %s\n", name.c_str());
    std::exit(2);
  }
  if (name == "--rules") {
    options.rules = std::atoll(value);
  } else if (name == "--seconds") {
    options.seconds = std::atoll(value);
  } else if (name == "--at-least") {
    options.at_least = std::atoll(value);
  } else if (name == "--seed") {
    options.seed = std::strtoull(value, nullptr, 10);
  } else if (name == "--dump") {
    options.dump = std::atoll(value);
  } else if (name == "--of") {
    options.dump_oracle = std::strcmp(value, "oracle") == 0;
  } else {
    std::fprintf(stderr, "recurrence_oracle: unknown option: %s\n", name.c_str());
    std::exit(2);
  }
  return true;
}

int run(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (read_option(options, argv[i], i + 1 < argc ? argv[i + 1] : nullptr)) ++i;
  }
  const Result<Zones> zones = Zones::open();
  if (!zones) {
    std::fprintf(stderr, "recurrence_oracle: %s\n", zones.error().message.c_str());
    return 2;
  }
  if (options.dump) return run_dump(options, *zones);
  if (options.zones) return run_zones(options, *zones);
  return run_random(options, *zones);
}

}  // namespace
}  // namespace pawl

int main(int argc, char** argv) { return pawl::run(argc, argv); }
