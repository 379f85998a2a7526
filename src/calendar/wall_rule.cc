// The problem: given a rule anchored years ago, when does it fire next? Walking from the anchor
// costs more the older it is, and some rules are silent for centuries.
//
// The way: every part of a rule is a condition on a day or on a time of day. Days are named a month
// at a time as a bit mask (DaySet); times of day are a product of three masks (TimeSet); INTERVAL
// is one congruence. So the search begins at the asked instant, jumps to the first aligned period,
// over months and days that are not named, and takes the first bit. What it costs does not depend
// on the anchor.
//
// Bounds. A yearly or monthly rule repeats after 400 years, so it is searched through one such
// cycle of its aligned periods. Any other rule gets a budget of kCandidatesMax aligned days
// (weeks). make() walks a rule's whole cycle once where alignment and filters could miss each other
// for long, and refuses it if the budget would not reach; so a search in use never runs out of it.
// Most rules are accepted without that walk: see cycle_days().
//
// COUNT is found by counting whole months, days, or with BYSETPOS periods, never occurrence by
// occurrence: every day has as many as any other day on which the periods fall alike. So it costs
// at most one step a day (week, month, year) up to the year 9999.
#include "calendar/wall_rule.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/sort_unique.h"
#include "calendar/bits.h"
#include "calendar/civil.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr int kCandidatesMax = 10'000;
constexpr int kYearsPerCycle = 400;
constexpr int kMonthsPerCycle = 4'800;
constexpr std::int64_t kLastDay = days_from_civil(kYearMax, 12, 31);
constexpr std::int64_t kLastSecond = (kLastDay + 1) * kSecondsPerDay - 1;

std::int64_t to_int(LocalSeconds local) { return local.time_since_epoch().count(); }
LocalSeconds to_local(std::int64_t seconds) { return LocalSeconds{std::chrono::seconds{seconds}}; }

// The smallest number >= value that is a multiple of step away from origin.
std::int64_t align_up(std::int64_t value, std::int64_t origin, std::int64_t step) {
  return step == 1 ? value : value + floor_mod(origin - value, step);
}

// Months counted through the years.
std::int64_t month_number(const Civil& civil) {
  return std::int64_t{civil.year} * 12 + civil.month - 1;
}

template <class Mask>
Mask mask_of(const std::vector<int>& values) {
  Mask mask = 0;
  for (const int value : values) mask |= Mask{1} << value;
  return mask;
}

// BYSECOND as a mask. A clock without leap seconds reads second 60 as 59 (RFC 5545, 3.3.12).
std::uint64_t second_mask(const std::vector<int>& by_second) {
  std::uint64_t mask = 0;
  for (const int second : by_second) mask |= std::uint64_t{1} << std::min(second, 59);
  return mask;
}

// The filters of the rule on days, completed from DTSTART.
DaySet days_of_rule(const Rrule& rule, std::int64_t start_day) {
  DaySet days;
  days.week_start = rule.week_start;
  days.nth_of_year = rule.freq == Freq::yearly && rule.by_month.empty();
  if (!rule.by_month.empty()) days.months = mask_of<std::uint32_t>(rule.by_month) >> 1;
  for (const int day : rule.by_month_day) {
    (day > 0 ? days.month_days : days.month_days_from_end) |= 1U << (std::abs(day) - 1);
  }
  for (const auto& [ordinal, weekday] : rule.by_day) {
    if (ordinal == 0) {
      days.weekdays |= 1U << weekday;
    } else {
      auto& nth = (ordinal > 0 ? days.nth : days.nth_from_end)[static_cast<std::size_t>(weekday)];
      nth |= std::uint64_t{1} << (std::abs(ordinal) - 1);
    }
  }
  days.year_days = rule.by_year_day;
  for (const int week : rule.by_week_no) {
    (week > 0 ? days.weeks : days.weeks_from_end) |= std::uint64_t{1} << (std::abs(week) - 1);
  }
  if (!rule.by_day.empty() || !rule.by_month_day.empty() || !rule.by_year_day.empty() ||
      !rule.by_week_no.empty()) {
    return days;
  }
  const Civil start = civil_from_days(start_day);
  if (rule.freq == Freq::weekly) days.weekdays = 1U << weekday_of(start_day);
  if (rule.freq >= Freq::monthly) days.month_days = 1U << (start.day - 1);
  if (rule.freq == Freq::yearly && rule.by_month.empty()) days.months = 1U << (start.month - 1);
  return days;
}

// The times within one period of the rule: of a day, or for sub-daily rules of an hour, a minute or
// a second.
TimeSet times_of_rule(const Rrule& rule, Start start) {
  const auto of_day = static_cast<int>(floor_mod(to_int(start.at), kSecondsPerDay));
  std::uint32_t hours = 1;
  std::uint64_t minutes = 1;
  std::uint64_t seconds = 1;
  if (rule.freq >= Freq::daily) {
    hours = rule.by_hour.empty() ? 1U << (of_day / 3600) : mask_of<std::uint32_t>(rule.by_hour);
  }
  if (rule.freq >= Freq::hourly) {
    minutes = rule.by_minute.empty() ? 1ULL << (of_day / 60 % 60)
                                     : mask_of<std::uint64_t>(rule.by_minute);
  }
  if (rule.freq >= Freq::minutely) {
    seconds = rule.by_second.empty() ? 1ULL << (of_day % 60) : second_mask(rule.by_second);
  }
  return {hours, minutes, seconds};
}

int unit_of(Freq freq) {
  switch (freq) {
    case Freq::secondly:
      return 1;
    case Freq::minutely:
      return 60;
    case Freq::hourly:
      return 3600;
    default:
      return static_cast<int>(kSecondsPerDay);
  }
}

}  // namespace

// The named days of one period of a weekly, monthly or yearly rule, month by month.
struct WallRule::PeriodDays {
  struct Part {
    std::int64_t first = 0;  // the first of the month
    std::uint32_t days = 0;
  };
  std::array<Part, 12> parts{};
  std::size_t count = 0;
  int size = 0;

  void add(std::int64_t first, std::uint32_t days) {
    parts[count++] = {first, days};
    size += std::popcount(days);
  }

  // The named day at that place, 0 <= rank < size.
  std::int64_t at(int rank) const {
    std::size_t part = 0;
    for (; rank >= std::popcount(parts[part].days); ++part) rank -= std::popcount(parts[part].days);
    return parts[part].first + nth_bit(parts[part].days, rank);
  }
};

WallRule::WallRule(Freq freq, std::int64_t interval, int week_start, DaySet days, TimeSet times,
                   Start start)
    : freq_(freq),
      interval_(interval),
      week_start_(week_start),
      days_(std::move(days)),
      all_days_(days_.all_days()),
      times_(std::move(times)),
      unit_(unit_of(freq)),
      first_(to_int(start.at)),
      first_period_(0),
      last_(kLastSecond) {
  first_period_ =
      freq_ < Freq::daily ? floor_div(first_, unit_) : period_of(floor_div(first_, kSecondsPerDay));
}

Result<WallRule> WallRule::make(const Rrule& given, Start start) {
  Rrule rule = given;
  if (start.date_only) {
    rule.by_hour.clear();
    rule.by_minute.clear();
    rule.by_second.clear();
  }
  WallRule wall(rule.freq, rule.interval, rule.week_start,
                days_of_rule(rule, floor_div(to_int(start.at), kSecondsPerDay)),
                times_of_rule(rule, start), start);
  if (rule.freq < Freq::daily) {
    if (!rule.by_hour.empty()) wall.hours_ = mask_of<std::uint32_t>(rule.by_hour);
    if (!rule.by_minute.empty()) wall.minutes_ = mask_of<std::uint64_t>(rule.by_minute);
    if (!rule.by_second.empty()) wall.seconds_ = second_mask(rule.by_second);
  }
  if (!rule.by_hour.empty() || !rule.by_minute.empty() || !rule.by_second.empty())
    wall.find_silent_phases();
  if (rule.freq > Freq::daily) {
    wall.positions_ = rule.by_set_pos;
  } else if (!rule.by_set_pos.empty()) {
    wall.times_.choose(rule.by_set_pos);
  }
  PAWL_CHECK(wall.check_fires(given));
  return wall;
}

WallRule WallRule::make(const Cron& cron, Start start) {
  return WallRule(Freq::daily, 1, kMonday, cron.days,
                  TimeSet(cron.hours, cron.minutes, cron.seconds), start);
}

std::optional<LocalSeconds> WallRule::next(LocalSeconds from) const {
  // Two candidates more than make() allows: the rest of the day asked about, and the rest of the
  // first day.
  const std::int64_t found = search(to_int(from), kCandidatesMax + 2);
  PAWL_ASSERT(found != kExhausted, "a rule that was accepted answers within the bound");
  if (found > last_) return std::nullopt;
  return to_local(found);
}

void WallRule::end_after(LocalSeconds last) { last_ = std::min(last_, to_int(last)); }

std::int64_t WallRule::search(std::int64_t from, int budget) const {
  from = std::max(from, first_);
  return positions_.empty() ? search_by_day(from, budget) : search_by_position(from, budget);
}

std::int64_t WallRule::search_by_day(std::int64_t from, int& budget) const {
  std::int64_t day = floor_div(from, kSecondsPerDay);
  auto second = static_cast<int>(from - day * kSecondsPerDay);
  while (true) {
    const std::int64_t found = next_day(day, budget);
    if (found >= kExhausted) return found;
    if (!silent_phases_.empty() && silent_phases_[phase_of(found)]) {
      day = found + 1;
      second = 0;
      continue;
    }
    const int time = first_time(found, found == day ? second : 0);
    if (time >= 0) return found * kSecondsPerDay + time;
    day = found + 1;
    second = 0;
  }
}

// The first named day at or after `day` in an aligned period.
std::int64_t WallRule::next_day(std::int64_t day, int& budget) const {
  if (freq_ == Freq::yearly) return next_day_in_years(day);
  if (freq_ == Freq::monthly) return next_day_in_months(day, interval_, kMonthsPerCycle + 1);
  while (budget-- > 0) {
    const std::int64_t named = next_named_day(align_day(day));
    if (named == kNone || align_day(named) == named) return named;
    day = named;
  }
  return kExhausted;
}

std::int64_t WallRule::next_named_day(std::int64_t day) const {
  if (day > kLastDay) return kNone;
  return all_days_ ? day : next_day_in_months(day, 1, kMonthsPerCycle + 1);
}

// The first named day at or after `day` in every `step`-th month from the start's.
std::int64_t WallRule::next_day_in_months(std::int64_t day, std::int64_t step, int tries) const {
  if (day > kLastDay) return kNone;
  const Civil civil = civil_from_days(day);
  const std::int64_t asked = month_number(civil);
  for (std::int64_t month = align_up(asked, first_period_, step); tries > 0;
       month += step, --tries) {
    if (month / 12 > kYearMax) return kNone;
    const auto year = static_cast<int>(month / 12);
    const auto of_year = static_cast<int>(month % 12) + 1;
    std::uint32_t days = days_.days_of(year, of_year);
    if (month == asked) days = days >> (civil.day - 1) << (civil.day - 1);
    if (days != 0) return days_from_civil(year, of_year, 1) + std::countr_zero(days);
  }
  return kNone;
}

std::int64_t WallRule::next_day_in_years(std::int64_t day) const {
  if (day > kLastDay) return kNone;
  const std::int64_t asked = period_of(day);
  int tries = kYearsPerCycle + 1;
  for (std::int64_t year = align_up(asked, first_period_, interval_); tries > 0;
       year += interval_, --tries) {
    if (year > kYearMax) return kNone;
    const std::int64_t begin = year == asked ? day : days_from_civil(static_cast<int>(year), 1, 1);
    const int months = 12 - civil_from_days(begin).month + 1;
    const std::int64_t found = next_day_in_months(begin, 1, months);
    if (found != kNone) return found;
  }
  return kNone;
}

// The first day at or after `day` that lies in an aligned period (sub-daily: on which one begins).
std::int64_t WallRule::align_day(std::int64_t day) const {
  if (freq_ == Freq::weekly) {
    const std::int64_t week = period_of(day);
    const std::int64_t aligned = align_up(week, first_period_, 7 * interval_);
    return aligned == week ? day : aligned;
  }
  if (freq_ == Freq::daily) return align_up(day, first_period_, interval_);
  const std::int64_t units_per_day = kSecondsPerDay / unit_;
  if (interval_ <= units_per_day) return day;
  return floor_div(align_up(day * units_per_day, first_period_, interval_), units_per_day);
}

// The first time of that day at or after `from`, or -1.
int WallRule::first_time(std::int64_t day, int from) const {
  if (unit_ == kSecondsPerDay) return times_.first(from);
  int unit = first_unit(day, from / unit_);
  if (unit < 0) return -1;
  if (unit * unit_ < from) {
    const int rest = times_.first(from - unit * unit_);
    if (rest >= 0) return unit * unit_ + rest;
    unit = first_unit(day, unit + 1);
    if (unit < 0) return -1;
  }
  return unit * unit_ + times_.at(0);
}

// The first aligned period of that day, counted from its beginning, at or after `from` that passes
// BYHOUR, BYMINUTE and BYSECOND; or -1. Jumps over hours and minutes that are not named.
int WallRule::first_unit(std::int64_t day, std::int64_t from) const {
  const std::int64_t units_per_day = kSecondsPerDay / unit_;
  while (true) {
    from = align_up(day * units_per_day + from, first_period_, interval_) - day * units_per_day;
    if (from >= units_per_day) return -1;
    const auto second = static_cast<int>(from * unit_);
    const int hour = second / 3600;
    const int minute = second / 60 % 60;
    if ((hours_ >> hour & 1) == 0) {
      const int later = bit_from(hours_, hour + 1);
      if (later < 0) return -1;
      from = later * 3600 / unit_;
    } else if (unit_ <= 60 && (minutes_ >> minute & 1) == 0) {
      const int later = bit_from(minutes_, minute + 1);
      from = (hour * 3600 + (later < 0 ? 60 : later) * 60) / unit_;
    } else if (unit_ == 1 && (seconds_ >> (second % 60) & 1) == 0) {
      const int later = bit_from(seconds_, second % 60 + 1);
      from = second - second % 60 + (later < 0 ? 60 : later);
    } else {
      return static_cast<int>(from);
    }
  }
}

WallRule::Counted WallRule::count(LocalSeconds from, LocalSeconds before, std::int64_t most) const {
  const std::int64_t begin = std::max(to_int(from), first_);
  const std::int64_t end = std::min(to_int(before), last_ + 1);
  return positions_.empty() ? count_by_day(begin, end, most) : count_by_period(begin, end, most);
}

WallRule::Counted WallRule::count_by_day(std::int64_t from, std::int64_t end,
                                         std::int64_t most) const {
  std::int64_t found = 0;
  std::vector<std::int64_t> known;
  const bool days_alike = every_named_day_is_alike();
  for (auto at = next(to_local(from)); at && to_int(*at) < end;) {
    const std::int64_t day = floor_div(to_int(*at), kSecondsPerDay);
    const bool whole_day = first_time(day, 0) == to_int(*at) - day * kSecondsPerDay;
    const std::int64_t times = whole_day ? times_on(day, known) : 0;
    const Civil civil = civil_from_days(day);
    const std::int64_t month_end = day - civil.day + 1 + days_in_month(civil.year, civil.month);
    const std::uint32_t rest = days_.days_of(civil.year, civil.month) >> (civil.day - 1);
    if (whole_day && days_alike && month_end * kSecondsPerDay <= end &&
        found + times * std::popcount(rest) < most) {
      found += times * std::popcount(rest);
      at = next(to_local(month_end * kSecondsPerDay));
    } else if (whole_day && (day + 1) * kSecondsPerDay <= end && found + times < most) {
      found += times;
      at = next(to_local((day + 1) * kSecondsPerDay));
    } else {
      if (++found == most) return {found, at};
      at = next(*at + std::chrono::seconds{1});
    }
  }
  return {found, std::nullopt};
}

// Whether all days that the rule names have equally many occurrences: INTERVAL leaves none of them
// out.
bool WallRule::every_named_day_is_alike() const {
  if (freq_ >= Freq::daily) return interval_ == 1;
  return kSecondsPerDay / unit_ % interval_ == 0;
}

// BYSETPOS: how many of its places a period has depends on nothing but the size of its set.
WallRule::Counted WallRule::count_by_period(std::int64_t from, std::int64_t end,
                                            std::int64_t most) const {
  std::int64_t found = 0;
  std::unordered_map<int, std::int64_t> known;
  const std::int64_t last = period_of(kLastDay);
  for (std::int64_t period =
           align_up(period_of(floor_div(from, kSecondsPerDay)), first_period_, period_step());
       period <= last; period += period_step()) {
    const PeriodDays named = days_of_period(period);
    const std::int64_t next_period = freq_ == Freq::weekly ? period + 7 : period + 1;
    const bool whole = first_day_of(period) * kSecondsPerDay >= from &&
                       first_day_of(next_period) * kSecondsPerDay <= end;
    if (whole) {
      const auto [places, first_seen] = known.try_emplace(named.size, 0);
      if (first_seen) places->second = static_cast<std::int64_t>(chosen_in(named).size());
      if (found + places->second < most) {
        found += places->second;
        continue;
      }
    }
    for (const std::int64_t at : chosen_in(named)) {
      if (at < from) continue;
      if (at >= end) return {found, std::nullopt};
      if (++found == most) return {found, to_local(at)};
    }
  }
  return {found, std::nullopt};
}

// The times of a period that BYSETPOS chooses, in order.
std::vector<std::int64_t> WallRule::chosen_in(const PeriodDays& named) const {
  std::vector<std::int64_t> chosen;
  const std::int64_t per_day = times_.size();
  const std::int64_t size = named.size * per_day;
  for (const int position : positions_) {
    const std::int64_t rank = position > 0 ? position - 1 : size + position;
    if (rank < 0 || rank >= size) continue;
    chosen.push_back(named.at(static_cast<int>(rank / per_day)) * kSecondsPerDay +
                     times_.at(static_cast<int>(rank % per_day)));
  }
  sort_unique(chosen);
  return chosen;
}

std::int64_t WallRule::period_step() const {
  return freq_ == Freq::weekly ? 7 * interval_ : interval_;
}

// The first day of a week, month or year by its number.
std::int64_t WallRule::first_day_of(std::int64_t period) const {
  if (freq_ == Freq::weekly) return period;
  if (freq_ == Freq::yearly) return days_from_civil(static_cast<int>(period), 1, 1);
  return days_from_civil(static_cast<int>(period / 12), static_cast<int>(period % 12) + 1, 1);
}

// How many occurrences that day has. `known` remembers it for days on which the periods fall alike.
std::int64_t WallRule::times_on(std::int64_t day, std::vector<std::int64_t>& known) const {
  if (unit_ == kSecondsPerDay) return times_.size();
  const std::int64_t units_per_day = kSecondsPerDay / unit_;
  if (interval_ > units_per_day)
    return times_.size();  // one period at most, and it has an occurrence
  known.resize(static_cast<std::size_t>(interval_), -1);
  std::int64_t& times = known[phase_of(day)];
  if (times < 0) {
    times = 0;
    for (int unit = first_unit(day, 0); unit >= 0; unit = first_unit(day, unit + 1))
      times += times_.size();
  }
  return times;
}

// The place of the first aligned period of that day.
std::size_t WallRule::phase_of(std::int64_t day) const {
  return static_cast<std::size_t>(
      floor_mod(first_period_ - day * (kSecondsPerDay / unit_), interval_));
}

// Looks at one day of each phase: all together not more than twice the periods of one day.
void WallRule::find_silent_phases() {
  const std::int64_t units_per_day = kSecondsPerDay / unit_;
  if (freq_ >= Freq::daily || interval_ > units_per_day) return;
  std::vector<bool> silent(static_cast<std::size_t>(interval_));
  std::int64_t speaking = interval_ / std::gcd(interval_, units_per_day);
  for (std::int64_t day = speaking - 1; day >= 0; --day) {
    if (first_unit(day, 0) >= 0) continue;
    silent[phase_of(day)] = true;
    --speaking;
  }
  never_speaks_ = speaking == 0;
  if (speaking * std::gcd(interval_, units_per_day) < interval_) silent_phases_ = std::move(silent);
}

// The number of the period a day lies in: a year, a month, the first day of a week, or the day
// itself.
std::int64_t WallRule::period_of(std::int64_t day) const {
  switch (freq_) {
    case Freq::yearly:
      return civil_from_days(day).year;
    case Freq::monthly:
      return month_number(civil_from_days(day));
    case Freq::weekly:
      return day - floor_mod(weekday_of(day) - week_start_, 7);
    default:
      return day;
  }
}

WallRule::PeriodDays WallRule::days_of_period(std::int64_t period) const {
  PeriodDays named;
  if (freq_ == Freq::weekly) {
    std::int64_t day = period;
    while (day < period + 7) {
      const Civil civil = civil_from_days(day);
      const std::int64_t first = day - civil.day + 1;
      const std::int64_t end =
          std::min<std::int64_t>(period + 7, first + days_in_month(civil.year, civil.month));
      const auto in_week =
          static_cast<std::uint32_t>(((1ULL << (end - day)) - 1) << (civil.day - 1));
      named.add(first, days_.days_of(civil.year, civil.month) & in_week);
      day = end;
    }
    return named;
  }
  const std::int64_t first_month = freq_ == Freq::yearly ? period * 12 : period;
  const std::int64_t months = freq_ == Freq::yearly ? 12 : 1;
  for (std::int64_t month = first_month; month < first_month + months; ++month) {
    const auto year = static_cast<int>(month / 12);
    const auto of_year = static_cast<int>(month % 12) + 1;
    named.add(days_from_civil(year, of_year, 1), days_.days_of(year, of_year));
  }
  return named;
}

// BYSETPOS: the chosen places in the sorted set of each period, the whole period counting from its
// beginning.
std::int64_t WallRule::search_by_position(std::int64_t from, int& budget) const {
  const std::int64_t last = period_of(kLastDay);
  std::int64_t period =
      align_up(period_of(floor_div(from, kSecondsPerDay)), first_period_, period_step());
  int tries = freq_ == Freq::yearly    ? kYearsPerCycle + 1
              : freq_ == Freq::monthly ? kMonthsPerCycle + 1
                                       : budget;
  for (; period <= last; period += period_step()) {
    if (tries-- == 0) return freq_ == Freq::weekly ? kExhausted : kNone;
    for (const std::int64_t at : chosen_in(days_of_period(period))) {
      if (at >= from) return at <= kLastSecond ? at : kNone;
    }
  }
  return kNone;
}

// After how many days alignment and filters together repeat; 0 when they cannot miss each other for
// long, so that no walk is needed.
std::int64_t WallRule::cycle_days() const {
  if (freq_ >= Freq::monthly) return 0;
  const std::int64_t period = freq_ == Freq::weekly ? 7 * kSecondsPerDay : unit_;
  const std::int64_t step = interval_ * period;  // seconds
  const std::int64_t aligned = step / std::gcd(step, kSecondsPerDay);
  const bool by_position = !positions_.empty();
  if (!by_position && aligned == 1) return 0;  // every day is alike
  if (unit_ < kSecondsPerDay && interval_ <= kSecondsPerDay / unit_ && silent_phases_.empty())
    return 0;  // every day has one
  if (step / kSecondsPerDay * kCandidatesMax > kLastDay - days_from_civil(1, 1, 1))
    return 0;  // few periods in all
  if (days_.by_weekday_only()) return std::lcm(aligned, std::int64_t{7});
  constexpr std::int64_t kShortestMonth = 28;
  const std::int64_t in_month =
      days_.has_weekdays() || freq_ == Freq::weekly ? std::lcm(aligned, std::int64_t{7}) : aligned;
  if (!by_position && days_.by_month_and_weekday() && in_month <= kShortestMonth)
    return 0;  // every named month has one
  return std::lcm(aligned, kDaysPerCycle);
}

Result<void> WallRule::check_fires(const Rrule& rule) const {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::bad_input,
                 "the rule " + to_text(rule) + " " + why +
                     "; check INTERVAL and the BY parts against each other and against DTSTART"};
  };
  if (times_.size() == 0) return refuse("can never fire: BYSETPOS names places that no period has");
  if (never_speaks_) return refuse("can never fire");
  std::int64_t at = search(first_, kCandidatesMax);
  const std::int64_t cycle = cycle_days();
  const std::int64_t end =
      cycle == 0
          ? 0
          : std::min(floor_div(first_, kSecondsPerDay) + cycle + 1, kLastDay) * kSecondsPerDay;
  while (at < end)
    at = search((floor_div(at, kSecondsPerDay) + 1) * kSecondsPerDay, kCandidatesMax);
  if (at == kExhausted && search(first_, std::numeric_limits<int>::max()) == kNone) at = kNone;
  if (at == kExhausted) {
    return refuse("can go more than " + std::to_string(kCandidatesMax) +
                  " periods without firing, which is further than Pawl searches");
  }
  if (at == kNone && search(first_, kCandidatesMax) >= kExhausted) return refuse("can never fire");
  return {};
}

}  // namespace pawl
