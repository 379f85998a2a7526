#include "random_rule.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace pawl {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::local_days;
using std::chrono::local_seconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::sys_days;
using std::chrono::sys_seconds;
using std::chrono::year_month_day;

constexpr sys_seconds kFirst = sys_days{std::chrono::year{1990} / 1 / 1};
constexpr sys_seconds kLast = sys_days{std::chrono::year{2046} / 1 / 1};
constexpr local_seconds kFirstStart = local_days{std::chrono::year{1960} / 1 / 1};
constexpr local_seconds kFirstCounted = local_days{std::chrono::year{1990} / 1 / 2};

// A window grows until it has this many occurrences …
constexpr std::size_t kEnough = 12;
// … or until looking costs this much. More walls than that are not looked for (they must cover more
// than the hour that a clock goes forward, so that a rule of every second still meets the end of
// the gap), …
constexpr std::int64_t kCostly = 100'000;
constexpr std::size_t kPlenty = 5'000;
// … and no more occurrences than that are compared.
constexpr std::size_t kCrowded = 400;
// Stands for COUNT while the window is being fitted.
constexpr std::int64_t kCountOpen = 1'000'000'000'000;

enum class Part { second, minute, hour, day, month_day, year_day, week_no, month };

// The values of a wall time that the parts of a rule speak of.
struct Fields {
  explicit Fields(local_seconds wall) {
    const local_days at = floor<days>(wall);
    const year_month_day date{at};
    const std::chrono::hh_mm_ss time{wall - at};
    year = static_cast<int>(date.year());
    month = static_cast<int>(static_cast<unsigned>(date.month()));
    month_day = static_cast<int>(static_cast<unsigned>(date.day()));
    year_day = static_cast<int>((at - local_days{date.year() / 1 / 1}).count()) + 1;
    weekday = static_cast<int>(std::chrono::weekday{at}.iso_encoding()) - 1;
    hour = static_cast<int>(time.hours().count());
    minute = static_cast<int>(time.minutes().count());
    second = static_cast<int>(time.seconds().count());
  }

  int year, month, month_day, year_day, weekday, hour, minute, second;
};

bool lawful(Part part, OracleFreq freq) {
  switch (part) {
    case Part::week_no:
      return freq == OracleFreq::yearly;
    case Part::year_day:
      return freq == OracleFreq::yearly || freq <= OracleFreq::hourly;
    case Part::month_day:
      return freq != OracleFreq::weekly;
    default:
      return true;
  }
}

// About the length of one period.
seconds period_length(OracleFreq freq) {
  constexpr seconds kLengths[] = {seconds{1}, minutes{1}, hours{1}, days{1},
                                  days{7},    days{30},   days{365}};
  return kLengths[static_cast<int>(freq)];
}

seconds first_window(OracleFreq freq) {
  constexpr seconds kLengths[] = {minutes{10}, hours{3},  days{4},      days{40},
                                  days{150},   days{500}, days{5 * 365}};
  return kLengths[static_cast<int>(freq)];
}

std::int64_t large_interval(Draw& draw, OracleFreq freq) {
  constexpr std::int64_t kLargest[] = {200'000, 20'000, 2'000, 1'000, 300, 100, 30};
  return draw.between(std::int64_t{1}, kLargest[static_cast<int>(freq)]);
}

std::int64_t draw_interval(Draw& draw, OracleFreq freq) {
  const std::int64_t kind = draw.below(100);
  if (kind < 50) return 1;
  if (kind < 80) return draw.between(2, 7);
  if (kind < 92) return draw.between(8, 60);
  return large_interval(draw, freq);
}

// A wall time inside or near a gap or fold of the zone, or just somewhere.
local_seconds draw_anchor(Draw& draw, const OracleZone& zone) {
  const sys_seconds somewhere =
      kFirst + seconds{draw.between(std::int64_t{0}, (kLast - kFirst - days{400}).count())};
  const std::vector<OracleSpan>& spans = zone.spans();
  if (spans.size() < 2 || draw.chance(25)) return zone.wall_at(somewhere);
  const auto after = static_cast<std::size_t>(
      draw.between(std::int64_t{1}, static_cast<std::int64_t>(spans.size()) - 1));
  const OracleSpan& span = spans[after];
  if (span.begin < kFirst + days{30} || span.begin > kLast - days{30})
    return zone.wall_at(somewhere);
  // The wall times between these two are in the gap, or exist twice.
  const std::int64_t a = (span.begin + spans[after - 1].offset).time_since_epoch().count();
  const std::int64_t b = (span.begin + span.offset).time_since_epoch().count();
  const local_seconds low{seconds{std::min(a, b)}};
  const std::int64_t length = std::max(a, b) - std::min(a, b);
  if (draw.chance(20)) return low;
  if (draw.chance(10)) return low + seconds{length};
  if (draw.chance(15)) return low + seconds{draw.between(std::int64_t{-10'800}, length + 10'800)};
  const seconds grain = draw.chance(70)   ? seconds{minutes{30}}
                        : draw.chance(70) ? minutes{1}
                                          : seconds{1};
  return low + grain * draw.below(std::max<std::int64_t>(length / grain.count(), 1));
}

// Goes back by whole periods. Where the day does not exist in that month, the month's last.
local_seconds periods_before(local_seconds wall, OracleFreq freq, std::int64_t periods) {
  if (freq < OracleFreq::monthly) return wall - period_length(freq) * periods;
  const std::int64_t per_period = freq == OracleFreq::yearly ? 12 : 1;
  const local_days day = floor<days>(wall);
  const year_month_day date{day};
  const auto months = std::chrono::months{static_cast<int>(periods * per_period)};
  const std::chrono::year_month month = date.year() / date.month() - months;
  const std::chrono::day last = (month / std::chrono::last).day();
  return local_days{month / std::min(date.day(), last)} + (wall - day);
}

// DTSTART: some whole intervals before the anchor, so that the rule often meets it.
local_seconds draw_start(Draw& draw, const OracleRule& rule, local_seconds anchor, bool far) {
  const seconds step = period_length(rule.freq) * rule.interval;
  const seconds reach = far ? seconds{days{30 * 365}} : first_window(rule.freq) * 2;
  const std::int64_t steps = draw.below(std::max<std::int64_t>(reach / step, 1) + 1);
  local_seconds start = periods_before(anchor, rule.freq, steps * rule.interval);
  if (draw.chance(25)) start += seconds{draw.between(std::int64_t{-90'000}, std::int64_t{90'000})};
  return std::max(start, kFirstStart);
}

// One to a few values in [low, high], the favourite often among them; now and then many.
std::vector<int> draw_list(Draw& draw, int low, int high, int favourite) {
  int size = draw.between(1, 4);
  if (draw.chance(40)) size = 1;
  if (draw.chance(4)) size = draw.between(5, 30);
  std::vector<int> list;
  if (draw.chance(80)) list.push_back(favourite);
  while (static_cast<int>(list.size()) < size) list.push_back(draw.between(low, high));
  return list;
}

// The same with places from the end: place -1 is the last of `length`.
std::vector<int> draw_places(Draw& draw, int high, int favourite, int length) {
  std::vector<int> list = draw_list(draw, 1, high, favourite);
  const bool any_negative = draw.chance(50);
  for (int& place : list) {
    if (!any_negative || draw.chance(40)) continue;
    place = place <= length ? place - length - 1 : -place;
  }
  return list;
}

std::vector<OracleWeekday> draw_days(Draw& draw, const OracleRule& rule,
                                     const std::vector<Part>& parts, const Fields& favourite) {
  const auto has = [&](Part part) { return std::count(parts.begin(), parts.end(), part) > 0; };
  const bool may_count =
      rule.freq == OracleFreq::monthly || (rule.freq == OracleFreq::yearly && !has(Part::week_no));
  const bool in_year = rule.freq == OracleFreq::yearly && !has(Part::month);
  const bool counted = may_count && draw.chance(60);
  std::vector<OracleWeekday> list;
  for (const int weekday : draw_list(draw, 0, 6, favourite.weekday)) {
    const int highest = in_year && draw.chance(60) ? 53 : 5;
    int ordinal = counted && !draw.chance(15) ? draw.between(1, highest) : 0;
    if (draw.chance(40)) ordinal = -ordinal;
    list.push_back({ordinal, weekday});
  }
  return list;
}

void draw_part(Draw& draw, OracleRule& rule, Part part, const std::vector<Part>& parts,
               const Fields& favourite) {
  switch (part) {
    case Part::second:
      rule.by_second = draw_list(draw, 0, 60, favourite.second);
      break;
    case Part::minute:
      rule.by_minute = draw_list(draw, 0, 59, favourite.minute);
      break;
    case Part::hour:
      rule.by_hour = draw_list(draw, 0, 23, favourite.hour);
      break;
    case Part::day:
      rule.by_day = draw_days(draw, rule, parts, favourite);
      break;
    case Part::month_day:
      rule.by_month_day = draw_places(draw, 31, favourite.month_day, draw.between(28, 31));
      break;
    case Part::year_day:
      rule.by_year_day = draw_places(draw, 366, favourite.year_day, draw.between(365, 366));
      break;
    case Part::week_no: {
      const int week = draw.chance(50) ? (favourite.year_day + 6) / 7 : 1;
      rule.by_week_no = draw_places(draw, 53, week, draw.between(52, 53));
      break;
    }
    case Part::month:
      rule.by_month = draw_list(draw, 1, 12, favourite.month);
      break;
  }
}

std::vector<Part> draw_parts(Draw& draw, OracleFreq freq) {
  std::vector<Part> left;
  for (int part = 0; part <= static_cast<int>(Part::month); ++part) {
    if (lawful(static_cast<Part>(part), freq)) left.push_back(static_cast<Part>(part));
  }
  const std::int64_t kind = draw.below(100);
  const int wanted = kind < 12   ? 0
                     : kind < 44 ? 1
                     : kind < 74 ? 2
                     : kind < 90 ? 3
                                 : draw.between(4, 8);
  std::vector<Part> parts;
  for (int i = 0; i < wanted && !left.empty(); ++i) {
    const auto at = left.begin() + draw.below(static_cast<std::int64_t>(left.size()));
    parts.push_back(*at);
    left.erase(at);
  }
  return parts;
}

// About how many wall times a period has on a day, if it has any.
int times_in_period(const OracleRule& rule) {
  std::size_t times = 1;
  if (rule.freq >= OracleFreq::daily && !rule.by_hour.empty()) times *= rule.by_hour.size();
  if (rule.freq >= OracleFreq::hourly && !rule.by_minute.empty()) times *= rule.by_minute.size();
  if (rule.freq >= OracleFreq::minutely && !rule.by_second.empty()) times *= rule.by_second.size();
  return static_cast<int>(times);
}

// About how many days a period has.
int days_in_period(const OracleRule& rule) {
  if (rule.freq <= OracleFreq::daily) return 1;
  std::size_t found = std::max<std::size_t>(rule.by_day.size(), 1);
  if (rule.freq == OracleFreq::weekly) return static_cast<int>(found);
  if (!rule.by_month_day.empty()) return static_cast<int>(rule.by_month_day.size());
  if (!rule.by_year_day.empty()) return static_cast<int>(rule.by_year_day.size());
  if (!rule.by_day.empty() && rule.by_day.front().ordinal == 0) found *= 4;
  if (!rule.by_week_no.empty()) return static_cast<int>(rule.by_week_no.size() * 7);
  if (rule.freq == OracleFreq::yearly) found *= std::max<std::size_t>(rule.by_month.size(), 1);
  return static_cast<int>(found);
}

void draw_set_pos(Draw& draw, OracleRule& rule) {
  const int highest = std::min(times_in_period(rule) * days_in_period(rule), 366);
  for (int i = draw.between(1, draw.chance(60) ? 1 : 4); i > 0; --i) {
    const int place = draw.between(1, draw.chance(95) ? highest : 366);
    rule.by_set_pos.push_back(draw.chance(50) ? place : -place);
  }
}

// Everything but COUNT and UNTIL.
void draw_by_parts(Draw& draw, OracleRule& rule, local_seconds anchor) {
  const std::vector<Part> parts = draw_parts(draw, rule.freq);
  for (const Part part : parts) draw_part(draw, rule, part, parts, Fields(anchor));
  if (!parts.empty() && draw.chance(22)) draw_set_pos(draw, rule);
  if (draw.chance(30)) rule.week_start = draw.between(0, 6);
}

// Lengthens the window until something is to be seen in it, and shortens it where there is too
// much.
void fit_window(RandomCase& drawn) {
  seconds length = first_window(drawn.plan.rule.freq);
  while (true) {
    drawn.window.end = std::min(drawn.window.begin + length, kLast);
    const OracleReach reach = reach_of(drawn.plan, drawn.window);
    const OracleWalls walls = walls_of(drawn.plan, reach, kPlenty);
    if (walls.complete_to < reach.to) {
      const seconds offset = drawn.plan.zone->offset_max(drawn.window);
      const sys_seconds end{(walls.complete_to - offset).time_since_epoch()};
      drawn.window.end = std::max(end, drawn.window.begin + seconds{1});
    }
    drawn.expected = enumerate(drawn.plan, drawn.window);
    if (drawn.expected.occurrences.size() >= kEnough) return;
    if (walls.looked_at > kCostly || walls.complete_to < reach.to) return;
    if (drawn.window.end == kLast) return;
    length *= 4;
  }
}

void draw_until(Draw& draw, RandomCase& drawn) {
  const std::vector<OracleOccurrence>& seen = drawn.expected.occurrences;
  const OracleWindow& window = drawn.window;
  sys_seconds at = window.begin + seconds{draw.below((window.end - window.begin).count())};
  local_seconds wall = drawn.plan.zone->wall_at(at);
  if (!seen.empty() && draw.chance(70)) {
    // On an occurrence, which is still in, or just before it.
    const OracleOccurrence& chosen = draw.of(seen);
    const seconds before{draw.chance(60) ? 0 : 1};
    at = chosen.at - before;
    wall = chosen.wall - before;
  }
  if (drawn.plan.date_only) {
    drawn.plan.rule.until_date = floor<days>(wall);
  } else {
    drawn.plan.rule.until = at;
  }
}

void draw_count(Draw& draw, RandomCase& drawn) {
  const OracleReach reach = reach_of(drawn.plan, drawn.window);
  const auto walls = static_cast<std::int64_t>(walls_of(drawn.plan, reach).at.size());
  drawn.plan.rule.count = draw.between(std::int64_t{1}, walls + 2);
}

OracleDate date_of(Draw& draw, const RandomCase& drawn, const OracleOccurrence& occurrence) {
  if (!drawn.plan.date_only && draw.chance(50)) {
    return {true, occurrence.at.time_since_epoch().count()};
  }
  return {false, occurrence.wall.time_since_epoch().count()};
}

OracleDate draw_date(Draw& draw, const RandomCase& drawn, local_seconds anchor) {
  const std::vector<OracleOccurrence>& seen = drawn.expected.occurrences;
  const OracleWindow& window = drawn.window;
  if (!seen.empty() && draw.chance(50)) return date_of(draw, drawn, draw.of(seen));
  if (drawn.plan.date_only) {
    return {false, local_seconds{floor<days>(anchor)}.time_since_epoch().count()};
  }
  if (draw.chance(50)) return {false, anchor.time_since_epoch().count()};
  const sys_seconds at = window.begin + seconds{draw.below((window.end - window.begin).count())};
  return date_of(draw, drawn, {at, drawn.plan.zone->wall_at(at)});
}

// Before DTSTART (the day of a clock change included) RFC 5545 leaves open what an RDATE means.
bool after_start(const OraclePlan& plan, const OracleDate& date) {
  return local_seconds{seconds{date.seconds}} > plan.start + days{2};
}

void draw_dates(Draw& draw, RandomCase& drawn, local_seconds anchor) {
  for (int i = draw.between(0, 3); i > 0; --i) {
    const OracleDate date = draw_date(draw, drawn, anchor);
    if (after_start(drawn.plan, date)) drawn.plan.rdates.push_back(date);
  }
  for (int i = draw.between(0, 4); i > 0; --i) {
    const bool further = !drawn.plan.rdates.empty() && draw.chance(20);
    const OracleDate date = further ? draw.of(drawn.plan.rdates) : draw_date(draw, drawn, anchor);
    drawn.plan.exdates.push_back(date);
  }
}

void cut_crowded(RandomCase& drawn) {
  std::vector<OracleOccurrence>& seen = drawn.expected.occurrences;
  if (seen.size() <= kCrowded) return;
  drawn.window.end = seen[kCrowded].at;
  std::erase_if(seen, [&](const OracleOccurrence& each) { return each.at >= drawn.window.end; });
  drawn.expected.ended = false;
}

void draw_limit(Draw& draw, RandomCase& drawn, bool counted) {
  if (counted) {
    draw_count(draw, drawn);
  } else if (draw.chance(25)) {
    draw_until(draw, drawn);
  } else {
    return;
  }
  drawn.expected = enumerate(drawn.plan, drawn.window);
}

void draw_policies(Draw& draw, OraclePlan& plan) {
  if (draw.chance(40)) plan.gap = draw.chance(50) ? OracleGap::shift : OracleGap::skip;
  if (draw.chance(40)) plan.fold = static_cast<OracleFold>(draw.below(3));
}

void draw_plan(Draw& draw, OraclePlan& plan, local_seconds anchor, bool near) {
  OracleRule& rule = plan.rule;
  rule.freq = static_cast<OracleFreq>(draw.below(7));
  rule.interval = draw_interval(draw, rule.freq);
  plan.date_only = rule.freq >= OracleFreq::daily && draw.chance(12);
  if (draw.chance(20)) rule.count = kCountOpen;
  const bool far = !near && !rule.count && draw.chance(20);
  plan.start = draw_start(draw, rule, anchor, far);
  // What comes before the zone data cannot be counted.
  if (near || rule.count) plan.start = std::max(plan.start, kFirstCounted);
  if (plan.date_only) plan.start = floor<days>(plan.start);
  draw_by_parts(draw, rule, anchor);
}

}  // namespace

OracleZones::OracleZones()
    : nasty_{"America/New_York",  "Europe/Berlin",     "Australia/Lord_Howe", "Pacific/Apia",
             "Africa/Casablanca", "America/Sao_Paulo", "Asia/Beirut",         "Asia/Kathmandu",
             "America/Havana",    "Europe/Dublin",     "Africa/Cairo",        "Asia/Tehran",
             "Atlantic/Azores",   "America/St_Johns",  "Pacific/Chatham",     "Antarctica/Troll",
             "Asia/Gaza"} {
  // A margin, as walls up to two days outside a window are mapped.
  for (const std::string& name : nasty_) {
    zones_.emplace(name, OracleZone::read(name, kFirst - days{30}, kLast + days{30}));
  }
  zones_.emplace("UTC", OracleZone::read("UTC", kFirst - days{30}, kLast + days{30}));
}

const OracleZone& OracleZones::draw(Draw& draw) const {
  return draw.chance(12) ? utc() : zones_.at(draw.of(nasty_));
}

RandomCase draw_case(Draw& draw, const OracleZones& zones) {
  RandomCase drawn;
  drawn.plan.zone = &zones.draw(draw);
  const local_seconds anchor = draw_anchor(draw, *drawn.plan.zone);
  draw_plan(draw, drawn.plan, anchor, false);
  draw_policies(draw, drawn.plan);
  const bool counted = drawn.plan.rule.count.has_value();

  const sys_seconds start{drawn.plan.start.time_since_epoch()};
  const seconds before{draw.below(first_window(drawn.plan.rule.freq).count())};
  const sys_seconds near{(anchor - before).time_since_epoch()};
  drawn.window.begin = draw.chance(20) ? start - days{1} : near;
  drawn.window.begin = std::clamp(drawn.window.begin, kFirst, kLast - days{1});
  fit_window(drawn);
  draw_limit(draw, drawn, counted);
  if (draw.chance(20)) {
    draw_dates(draw, drawn, anchor);
    drawn.expected = enumerate(drawn.plan, drawn.window);
  }
  cut_crowded(drawn);
  return drawn;
}

RandomCase draw_case_from_start(Draw& draw, const OracleZones& zones) {
  RandomCase drawn;
  drawn.plan.zone = &zones.utc();
  draw_plan(draw, drawn.plan, draw_anchor(draw, zones.utc()), true);
  const bool counted = drawn.plan.rule.count.has_value();
  drawn.window.begin =
      std::clamp(sys_seconds{drawn.plan.start.time_since_epoch()}, kFirst, kLast - days{1});
  fit_window(drawn);
  draw_limit(draw, drawn, counted);
  cut_crowded(drawn);
  return drawn;
}

const std::vector<std::string>& classes_left_out() {
  static const std::vector<std::string> kClasses = {
      "occurrences before 1990 or after 2045",
      "DTSTART before 1960, or more than 30 years before the window",
      "COUNT with DTSTART far before the window",
      "DATE DTSTART with FREQ=HOURLY, MINUTELY or SECONDLY",
      "RDATE up to two days after DTSTART or before it; RDATE or EXDATE in UTC with a DATE DTSTART",
      "several RRULEs in one recurrence; cron",
      "rules that RFC 5545 forbids (the parser's own tests)",
  };
  return kClasses;
}

}  // namespace pawl
