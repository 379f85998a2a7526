#include "oracle.h"

#include <ctime>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
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
using std::chrono::sys_seconds;
using std::chrono::year_month_day;

constexpr const char* kWeekdays[] = {"MO", "TU", "WE", "TH", "FR", "SA", "SU"};

constexpr local_seconds kEnd = local_days{std::chrono::year{9999} / 1 / 1};

bool listed(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

// Monday = 0.
int weekday_of(local_days day) {
  return static_cast<int>(std::chrono::weekday{day}.iso_encoding()) - 1;
}

int year_of(local_days day) { return static_cast<int>(year_month_day{day}.year()); }

local_days year_begin(int year) { return local_days{std::chrono::year{year} / 1 / 1}; }

int days_between(local_days from, local_days to) { return static_cast<int>((to - from).count()); }

// How often a weekday occurs in [from, to).
int count_weekday(local_days from, local_days to, int weekday) {
  while (weekday_of(from) != weekday) ++from;
  int count = 0;
  for (local_days day = from; day < to; day += days{7}) ++count;
  return count;
}

void append_list(std::string& text, const char* part, const std::vector<int>& list) {
  if (list.empty()) return;
  text += part;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(list[i]);
  }
}

void append_days(std::string& text, const std::vector<OracleWeekday>& list) {
  if (list.empty()) return;
  text += ";BYDAY=";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ',';
    if (list[i].ordinal != 0) text += std::to_string(list[i].ordinal);
    text += kWeekdays[list[i].weekday];
  }
}

// Fills in what the rule leaves open from DTSTART, so that every filter below is a plain list.
OracleRule completed(const OraclePlan& plan) {
  OracleRule rule = plan.rule;
  const local_days day = floor<days>(plan.start);
  const year_month_day date{day};
  const std::chrono::hh_mm_ss time{plan.start - day};
  if (plan.date_only) {
    rule.by_hour = rule.by_minute = rule.by_second = {0};
  }
  if (rule.freq >= OracleFreq::daily && rule.by_hour.empty()) {
    rule.by_hour = {static_cast<int>(time.hours().count())};
  }
  if (rule.freq >= OracleFreq::hourly && rule.by_minute.empty()) {
    rule.by_minute = {static_cast<int>(time.minutes().count())};
  }
  if (rule.freq >= OracleFreq::minutely && rule.by_second.empty()) {
    rule.by_second = {static_cast<int>(time.seconds().count())};
  }
  if (!rule.by_week_no.empty() || !rule.by_year_day.empty() || !rule.by_month_day.empty() ||
      !rule.by_day.empty()) {
    return rule;
  }
  if (rule.freq == OracleFreq::yearly && rule.by_month.empty()) {
    rule.by_month = {static_cast<int>(static_cast<unsigned>(date.month()))};
  }
  if (rule.freq == OracleFreq::yearly || rule.freq == OracleFreq::monthly) {
    rule.by_month_day = {static_cast<int>(static_cast<unsigned>(date.day()))};
  }
  if (rule.freq == OracleFreq::weekly) rule.by_day = {{0, weekday_of(day)}};
  return rule;
}

// Enumerates the wall times of one rule by definition.
class Walls {
 public:
  explicit Walls(const OraclePlan& plan)
      : rule_(completed(plan)), start_(plan.start), week_start_(rule_.week_start.value_or(0)) {
    start_period_ = period_of(start_);
  }

  OracleWalls between(const OracleReach& reach, std::size_t at_most) {
    at_most_ = at_most;
    from_ = std::max(reach.from, start_);
    to_ = reach.to;
    if (!rule_.by_set_pos.empty()) {
      // Positions count in the whole period, also before DTSTART and beyond the window.
      from_ = period_begin(from_);
      to_ = period_end(to_);
    }
    found_.complete_to = reach.to;
    for (local_days day = floor<days>(from_); local_seconds{day} < to_; ++day) visit_day(day);
    if (!full()) close_period();
    std::erase_if(found_.at, [&](local_seconds wall) {
      return wall < start_ || wall < reach.from || wall >= found_.complete_to;
    });
    return std::move(found_);
  }

  local_seconds period_begin(local_seconds wall) const {
    const local_days day = floor<days>(wall);
    switch (rule_.freq) {
      case OracleFreq::yearly:
        return year_begin(year_of(day));
      case OracleFreq::monthly:
        return month_begin(day);
      case OracleFreq::weekly:
        return week_begin(day);
      case OracleFreq::daily:
        return day;
      case OracleFreq::hourly:
        return floor<hours>(wall);
      case OracleFreq::minutely:
        return floor<minutes>(wall);
      case OracleFreq::secondly:
        break;
    }
    return wall;
  }

  local_seconds period_end(local_seconds wall) const {
    const local_days day = floor<days>(wall);
    switch (rule_.freq) {
      case OracleFreq::yearly:
        return year_begin(year_of(day) + 1);
      case OracleFreq::monthly:
        return month_end(day);
      case OracleFreq::weekly:
        return week_begin(day) + days{7};
      case OracleFreq::daily:
        return day + days{1};
      case OracleFreq::hourly:
        return floor<hours>(wall) + hours{1};
      case OracleFreq::minutely:
        return floor<minutes>(wall) + minutes{1};
      case OracleFreq::secondly:
        break;
    }
    return wall + seconds{1};
  }

 private:
  bool full() const { return found_.at.size() >= at_most_; }

  void visit_day(local_days day) {
    if (full()) return;
    ++found_.looked_at;
    if (!month_passes(day) || !month_day_passes(day) || !weekday_passes(day)) return;
    if (!year_day_passes(day) || !week_no_passes(day)) return;
    if (rule_.freq >= OracleFreq::daily && !aligned(day)) return;
    for (int hour = 0; hour < 24; ++hour) visit_hour(local_seconds{day} + hours{hour}, hour);
  }

  void visit_hour(local_seconds begin, int hour) {
    if (begin + hours{1} <= from_ || begin >= to_) return;
    ++found_.looked_at;
    if (!rule_.by_hour.empty() && !listed(rule_.by_hour, hour)) return;
    if (rule_.freq == OracleFreq::hourly && !aligned(begin)) return;
    for (int minute = 0; minute < 60; ++minute) visit_minute(begin + minutes{minute}, minute);
  }

  void visit_minute(local_seconds begin, int minute) {
    if (begin + minutes{1} <= from_ || begin >= to_) return;
    ++found_.looked_at;
    if (!rule_.by_minute.empty() && !listed(rule_.by_minute, minute)) return;
    if (rule_.freq == OracleFreq::minutely && !aligned(begin)) return;
    for (int second = 0; second < 60; ++second) visit_second(begin + seconds{second}, second);
  }

  void visit_second(local_seconds wall, int second) {
    if (wall < from_ || wall >= to_ || full()) return;
    ++found_.looked_at;
    if (!second_passes(second)) return;
    if (rule_.freq == OracleFreq::secondly && !aligned(wall)) return;
    add(wall);
  }

  bool second_passes(int second) const {
    if (rule_.by_second.empty() || listed(rule_.by_second, second)) return true;
    return second == 59 && listed(rule_.by_second, 60);
  }

  bool month_passes(local_days day) const {
    if (rule_.by_month.empty()) return true;
    return listed(rule_.by_month,
                  static_cast<int>(static_cast<unsigned>(year_month_day{day}.month())));
  }

  bool month_day_passes(local_days day) const {
    if (rule_.by_month_day.empty()) return true;
    return position_listed(rule_.by_month_day, day, month_begin(day), month_end(day));
  }

  bool year_day_passes(local_days day) const {
    if (rule_.by_year_day.empty()) return true;
    return position_listed(rule_.by_year_day, day, year_begin(year_of(day)),
                           year_begin(year_of(day) + 1));
  }

  // Whether the day's place in [begin, end) is listed, counted from the front or, negative, from
  // the back.
  static bool position_listed(const std::vector<int>& list, local_days day, local_days begin,
                              local_days end) {
    const int place = days_between(begin, day);
    return listed(list, place + 1) || listed(list, place - days_between(begin, end));
  }

  bool weekday_passes(local_days day) const {
    if (rule_.by_day.empty()) return true;
    return std::any_of(rule_.by_day.begin(), rule_.by_day.end(), [&](const OracleWeekday& entry) {
      return entry.weekday == weekday_of(day) && ordinal_passes(entry, day);
    });
  }

  bool ordinal_passes(const OracleWeekday& entry, local_days day) const {
    if (entry.ordinal == 0) return true;
    const bool in_month = rule_.freq == OracleFreq::monthly || !rule_.by_month.empty();
    const local_days begin = in_month ? month_begin(day) : year_begin(year_of(day));
    const local_days end = in_month ? month_end(day) : year_begin(year_of(day) + 1);
    if (entry.ordinal > 0) return count_weekday(begin, day, entry.weekday) + 1 == entry.ordinal;
    return count_weekday(day, end, entry.weekday) == -entry.ordinal;
  }

  bool week_no_passes(local_days day) const {
    if (rule_.by_week_no.empty()) return true;
    // A week belongs to the year that has at least four of its days, which is the year of its
    // fourth day. So a year has as many weeks as it has fourth days, and the number of a week is
    // the number of fourth days up to its own.
    const local_days fourth = week_begin(day) + days{3};
    const local_days begin = year_begin(year_of(fourth));
    const local_days end = year_begin(year_of(fourth) + 1);
    const int number = count_weekday(begin, fourth + days{1}, weekday_of(fourth));
    const int weeks = count_weekday(begin, end, weekday_of(fourth));
    return listed(rule_.by_week_no, number) || listed(rule_.by_week_no, number - weeks - 1);
  }

  local_days week_begin(local_days day) const {
    while (weekday_of(day) != week_start_) day -= days{1};
    return day;
  }

  static local_days month_begin(local_days day) {
    const year_month_day date{day};
    return local_days{date.year() / date.month() / 1};
  }

  static local_days month_end(local_days day) {
    const year_month_day date{day};
    return local_days{(date.year() / date.month() + std::chrono::months{1}) / 1};
  }

  // Which period a wall time lies in: periods that follow each other have numbers that follow each
  // other.
  std::int64_t period_of(local_seconds wall) const {
    const local_days day = floor<days>(wall);
    const year_month_day date{day};
    switch (rule_.freq) {
      case OracleFreq::yearly:
        return year_of(day);
      case OracleFreq::monthly:
        return year_of(day) * 12 + static_cast<int>(static_cast<unsigned>(date.month()));
      case OracleFreq::weekly:
        return floor<std::chrono::weeks>(week_begin(day).time_since_epoch()).count();
      case OracleFreq::daily:
        return day.time_since_epoch().count();
      case OracleFreq::hourly:
        return floor<hours>(wall).time_since_epoch().count();
      case OracleFreq::minutely:
        return floor<minutes>(wall).time_since_epoch().count();
      case OracleFreq::secondly:
        break;
    }
    return wall.time_since_epoch().count();
  }

  bool aligned(local_seconds wall) const {
    return (period_of(wall) - start_period_) % rule_.interval == 0;
  }

  void add(local_seconds wall) {
    if (rule_.by_set_pos.empty()) {
      found_.at.push_back(wall);
      if (full()) found_.complete_to = wall + seconds{1};
      return;
    }
    const std::int64_t period = period_of(wall);
    if (period != period_) close_period();
    if (full()) found_.complete_to = period_begin(wall);
    period_ = period;
    in_period_.push_back(wall);
  }

  // Keeps of a full period what BYSETPOS picks.
  void close_period() {
    const int size = static_cast<int>(in_period_.size());
    for (int i = 0; i < size; ++i) {
      const bool picked = listed(rule_.by_set_pos, i + 1) || listed(rule_.by_set_pos, i - size);
      if (picked) found_.at.push_back(in_period_[static_cast<std::size_t>(i)]);
    }
    in_period_.clear();
  }

  OracleRule rule_;
  local_seconds start_;
  int week_start_;
  std::int64_t start_period_ = 0;
  std::size_t at_most_ = 0;
  local_seconds from_{};
  local_seconds to_{};
  std::int64_t period_ = 0;
  std::vector<local_seconds> in_period_;
  OracleWalls found_;
};

bool coarse(OracleFreq freq) { return freq >= OracleFreq::daily; }

OracleGap gap_of(const OraclePlan& plan) {
  return plan.gap.value_or(coarse(plan.rule.freq) ? OracleGap::shift : OracleGap::skip);
}

// Whether an EXDATE names it: on the wall where it is local, else by its instant.
bool excluded(const OraclePlan& plan, const OracleOccurrence& occurrence) {
  return std::any_of(plan.exdates.begin(), plan.exdates.end(), [&](const OracleDate& date) {
    if (date.utc) return occurrence.at.time_since_epoch() == seconds{date.seconds};
    return occurrence.wall.time_since_epoch() == seconds{date.seconds};
  });
}

bool within_until(const OracleRule& rule, const OracleOccurrence& occurrence) {
  if (rule.until && occurrence.at > *rule.until) return false;
  return !rule.until_date || floor<days>(occurrence.wall) <= *rule.until_date;
}

// The occurrences of the RDATEs. A single local time is taken like one of a daily rule.
std::vector<OracleOccurrence> further_of(const OraclePlan& plan) {
  std::vector<OracleOccurrence> found;
  for (const OracleDate& date : plan.rdates) {
    if (date.utc) {
      const sys_seconds at{seconds{date.seconds}};
      found.push_back({at, plan.zone->wall_at(at), OracleClock::plain});
      continue;
    }
    for (const OracleOccurrence& occurrence : plan.zone->instants_of(
             local_seconds{seconds{date.seconds}}, plan.gap.value_or(OracleGap::shift),
             plan.fold.value_or(OracleFold::first))) {
      found.push_back(occurrence);
    }
  }
  return found;
}

std::chrono::seconds offset_at(sys_seconds at) {
  const std::time_t time = at.time_since_epoch().count();
  std::tm fields{};
  localtime_r(&time, &fields);
  return seconds{fields.tm_gmtoff};
}

// The first instant in (low, high] whose offset is that of `high`, where `low` has another.
sys_seconds change_between(sys_seconds low, sys_seconds high) {
  const seconds before = offset_at(low);
  while (high - low > seconds{1}) {
    const sys_seconds middle = low + (high - low) / 2;
    (offset_at(middle) == before ? low : high) = middle;
  }
  return high;
}

// Whether the span, or the one after it, or a shift out of it, can meet the window: no clock change
// is above a day.
bool near(const OracleSpan& span, const OracleWindow& window) {
  return span.end >= window.begin - days{2} && span.begin <= window.end + days{2};
}

}  // namespace

const char* freq_name(OracleFreq freq) {
  constexpr const char* kNames[] = {"SECONDLY", "MINUTELY", "HOURLY", "DAILY",
                                    "WEEKLY",   "MONTHLY",  "YEARLY"};
  return kNames[static_cast<int>(freq)];
}

std::string OracleRule::text() const {
  std::string text = std::string("FREQ=") + freq_name(freq);
  if (interval != 1) text += ";INTERVAL=" + std::to_string(interval);
  if (count) text += ";COUNT=" + std::to_string(*count);
  if (until) text += ";UNTIL=" + calendar_text(local_seconds{until->time_since_epoch()}) + "Z";
  if (until_date) text += ";UNTIL=" + calendar_text(*until_date).substr(0, 8);
  append_list(text, ";BYSECOND=", by_second);
  append_list(text, ";BYMINUTE=", by_minute);
  append_list(text, ";BYHOUR=", by_hour);
  append_days(text, by_day);
  append_list(text, ";BYMONTHDAY=", by_month_day);
  append_list(text, ";BYYEARDAY=", by_year_day);
  append_list(text, ";BYWEEKNO=", by_week_no);
  append_list(text, ";BYMONTH=", by_month);
  append_list(text, ";BYSETPOS=", by_set_pos);
  if (week_start) text += std::string(";WKST=") + kWeekdays[*week_start];
  return text;
}

OracleZone OracleZone::read(const std::string& name, sys_seconds from, sys_seconds to) {
  setenv("TZ", name.c_str(), 1);
  tzset();
  // No zone has changed its clock twice within six hours.
  constexpr hours kProbe{6};
  std::vector<OracleSpan> spans = {{from, to, offset_at(from)}};
  for (sys_seconds at = from; at < to; at += kProbe) {
    const seconds offset = offset_at(at);
    if (offset == spans.back().offset) continue;
    const sys_seconds change = change_between(at - kProbe, at);
    spans.back().end = change;
    spans.push_back({change, to, offset});
  }
  return {name, std::move(spans)};
}

local_seconds OracleZone::wall_at(sys_seconds at) const {
  const auto span = std::find_if(spans_.begin(), spans_.end(),
                                 [&](const OracleSpan& each) { return at < each.end; });
  return local_seconds{(at + span->offset).time_since_epoch()};
}

std::vector<OracleOccurrence> OracleZone::instants_of(local_seconds wall, OracleGap gap,
                                                      OracleFold fold) const {
  const sys_seconds as_utc{wall.time_since_epoch()};
  // Offsets are below a day, so only spans near the wall time read as UTC can hold it.
  const auto near = std::partition_point(spans_.begin(), spans_.end(), [&](const OracleSpan& span) {
    return span.end < as_utc - hours{36};
  });
  std::vector<OracleOccurrence> found;
  std::optional<sys_seconds> shifted;
  for (auto span = near; span != spans_.end() && span->begin <= as_utc + hours{36}; ++span) {
    const sys_seconds at = as_utc - span->offset;
    if (at >= span->begin && at < span->end) found.push_back({at, wall, OracleClock::plain});
    // Past the end of this span on the wall: it is the span before a gap, unless a later one holds
    // the wall time.
    if (at >= span->end) shifted = at;
  }
  if (found.empty() && gap == OracleGap::shift && shifted) {
    return {{*shifted, wall, OracleClock::shifted}};
  }
  if (found.size() < 2) return found;
  found.front().clock = OracleClock::first_fold;
  found.back().clock = OracleClock::last_fold;
  if (fold == OracleFold::first) return {found.front()};
  if (fold == OracleFold::last) return {found.back()};
  return found;
}

std::chrono::seconds OracleZone::offset_max(const OracleWindow& window) const {
  seconds most = seconds::min();
  for (const OracleSpan& span : spans_) {
    if (near(span, window)) most = std::max(most, span.offset);
  }
  return most;
}

std::chrono::seconds OracleZone::offset_min(const OracleWindow& window) const {
  seconds least = seconds::max();
  for (const OracleSpan& span : spans_) {
    if (near(span, window)) least = std::min(least, span.offset);
  }
  return least;
}

OracleReach reach_of(const OraclePlan& plan, const OracleWindow& window) {
  const sys_seconds from = window.begin + plan.zone->offset_min(window);
  const sys_seconds to = window.end + plan.zone->offset_max(window);
  return {plan.rule.count ? plan.start : local_seconds{from.time_since_epoch()},
          local_seconds{to.time_since_epoch()}};
}

OracleWalls walls_of(const OraclePlan& plan, const OracleReach& reach, std::size_t at_most) {
  return Walls(plan).between(reach, at_most);
}

OracleResult occurrences_of(const OraclePlan& plan, const std::vector<local_seconds>& walls,
                            const OracleWindow& window) {
  const OracleRule& rule = plan.rule;
  const OracleGap gap = gap_of(plan);
  const OracleFold fold =
      plan.fold.value_or(coarse(rule.freq) ? OracleFold::first : OracleFold::both);
  std::vector<OracleOccurrence> all;
  std::int64_t counted = 0;
  for (const local_seconds wall : walls) {
    if (rule.count && counted == *rule.count) break;
    const std::vector<OracleOccurrence> at = plan.zone->instants_of(wall, gap, fold);
    if (!at.empty()) ++counted;
    for (const OracleOccurrence& occurrence : at) {
      if (within_until(rule, occurrence)) all.push_back(occurrence);
    }
  }
  for (const OracleOccurrence& occurrence : further_of(plan)) all.push_back(occurrence);

  OracleResult result;
  result.ended = (rule.count && counted == *rule.count) || (rule.until && *rule.until < window.end);
  for (const OracleOccurrence& occurrence : all) {
    if (occurrence.at >= window.end) result.ended = false;
    if (occurrence.at < window.begin || occurrence.at >= window.end) continue;
    if (!excluded(plan, occurrence)) result.occurrences.push_back(occurrence);
  }
  std::stable_sort(
      result.occurrences.begin(), result.occurrences.end(),
      [](const OracleOccurrence& a, const OracleOccurrence& b) { return a.at < b.at; });
  return result;
}

bool silent_for(const OraclePlan& plan, std::int64_t periods) {
  constexpr seconds kLengths[] = {seconds{1}, minutes{1}, hours{1}, days{1}, days{7}};
  if (plan.rule.freq > OracleFreq::weekly) return false;
  const seconds step = kLengths[static_cast<int>(plan.rule.freq)] * plan.rule.interval;
  std::int64_t silent = 0;
  for (local_seconds at = Walls(plan).period_begin(plan.start); at < kEnd; at += step) {
    Walls walls(plan);
    const bool fires = !walls.between({at, walls.period_end(at)}, 1).at.empty();
    silent = fires ? 0 : silent + 1;
    if (silent == periods) return true;
  }
  return false;
}

bool fires_from(const OraclePlan& plan, sys_seconds from) {
  constexpr std::int64_t kCostly = 100'000'000;
  std::int64_t looked_at = 0;
  std::size_t in_gaps = 0;
  local_seconds begin{(from + days{2}).time_since_epoch()};
  for (; begin < kEnd && looked_at < kCostly && in_gaps < 1000; begin += days{365}) {
    const OracleWalls walls = walls_of(plan, {begin, begin + days{365}}, 1000);
    for (const local_seconds wall : walls.at) {
      // The plan's zone need not reach so far.
      const sys_seconds near{wall.time_since_epoch()};
      const OracleZone zone = OracleZone::read(plan.zone->name(), near - days{3}, near + days{3});
      if (!zone.instants_of(wall, gap_of(plan), OracleFold::first).empty()) return true;
    }
    in_gaps += walls.at.size();
    looked_at += walls.looked_at;
  }
  return false;
}

OracleResult enumerate(const OraclePlan& plan, const OracleWindow& window) {
  return occurrences_of(plan, walls_of(plan, reach_of(plan, window)).at, window);
}

std::string calendar_text(local_seconds wall) {
  const local_days day = floor<days>(wall);
  const year_month_day date{day};
  const std::chrono::hh_mm_ss time{wall - day};
  char text[32];
  std::snprintf(text, sizeof text, "%04d%02u%02uT%02d%02d%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                static_cast<int>(time.seconds().count()));
  return text;
}

std::string wall_text(local_seconds wall) {
  const std::string text = calendar_text(wall);
  const auto part = [&](std::size_t at, std::size_t size) { return text.substr(at, size); };
  return part(0, 4) + "-" + part(4, 2) + "-" + part(6, 5) + ":" + part(11, 2) + ":" + part(13, 2);
}

std::string instant_text(sys_seconds at) {
  return wall_text(local_seconds{at.time_since_epoch()}) + "Z";
}

}  // namespace pawl
