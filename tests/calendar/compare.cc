#include "compare.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pawl {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr int kProbes = 6;
// Rules that can be silent for more periods than that are refused.
constexpr std::int64_t kSearchedPeriods = 10'000;

CalendarTime calendar_time(const OraclePlan& plan, const OracleDate& date) {
  CalendarTime time;
  time.form = date.utc         ? CalendarTime::Form::utc
              : plan.date_only ? CalendarTime::Form::date
                               : CalendarTime::Form::local;
  time.seconds = date.seconds;
  return time;
}

Gap gap_of(OracleGap gap) { return gap == OracleGap::shift ? Gap::shift : Gap::skip; }

Fold fold_of(OracleFold fold) {
  if (fold == OracleFold::first) return Fold::first;
  return fold == OracleFold::last ? Fold::last : Fold::both;
}

OracleClock clock_of(Occurrence::Clock clock) {
  switch (clock) {
    case Occurrence::Clock::shifted:
      return OracleClock::shifted;
    case Occurrence::Clock::first_fold:
      return OracleClock::first_fold;
    case Occurrence::Clock::last_fold:
      return OracleClock::last_fold;
    case Occurrence::Clock::plain:
      break;
  }
  return OracleClock::plain;
}

const char* clock_name(OracleClock clock) {
  constexpr const char* kNames[] = {"", " shifted", " first of fold", " last of fold"};
  return kNames[static_cast<int>(clock)];
}

std::string occurrence_text(const OracleOccurrence& each) {
  return instant_text(each.at) + " (on the wall " + wall_text(each.wall) + clock_name(each.clock) +
         ")";
}

std::string micros_text(Instant at) {
  const auto whole = std::chrono::floor<seconds>(at);
  return instant_text(whole) + "+" + std::to_string((at - whole).count()) + "us";
}

// Answers about one case, each held against the oracle's.
class Case {
 public:
  Case(const Recurrence& recurrence, const OraclePlan& plan, const OracleWindow& window,
       const OracleResult& expected)
      : recurrence_(recurrence), plan_(plan), window_(window), expected_(expected) {}

  // Asks for the next occurrence and returns its instant, or none at the end of the window or at a
  // difference.
  std::optional<sys_seconds> ask(Instant after) {
    const std::optional<Occurrence> found = recurrence_.next(after);
    ++asked_;
    const auto wanted = first_after(after);
    if (wanted == expected_.occurrences.end()) {
      expect_nothing(after, found);
      return std::nullopt;
    }
    if (!found || found->at != wanted->at || !one_of(wanted, *found)) {
      report(after, found);
      return std::nullopt;
    }
    return found->at;
  }

  const std::string& difference() const { return difference_; }
  std::int64_t asked() const { return asked_; }

 private:
  using Iterator = std::vector<OracleOccurrence>::const_iterator;

  Iterator first_after(Instant after) const {
    return std::partition_point(expected_.occurrences.begin(), expected_.occurrences.end(),
                                [&](const OracleOccurrence& each) { return each.at <= after; });
  }

  // Whether the wall time and what the clock did to it are those of an occurrence at that instant.
  bool one_of(Iterator wanted, const Occurrence& found) const {
    for (; wanted != expected_.occurrences.end() && wanted->at == found.at; ++wanted) {
      if (wanted->wall == found.wall && wanted->clock == clock_of(found.clock)) return true;
    }
    // An RDATE in UTC was not said on the wall.
    return std::any_of(plan_.rdates.begin(), plan_.rdates.end(), [&](const OracleDate& date) {
      return date.utc && seconds{date.seconds} == found.at.time_since_epoch();
    });
  }

  void expect_nothing(Instant after, const std::optional<Occurrence>& found) {
    if (found ? found->at < window_.end || expected_.ended : !may_end()) report(after, found);
  }

  // Whether there may be nothing more after the window.
  bool may_end() const {
    if (expected_.ended || plan_.rule.until || plan_.rule.until_date) return true;
    // The EXDATEs may leave out what COUNT has left.
    if (plan_.rule.count && !plan_.exdates.empty()) return true;
    return !fires_from(plan_, window_.end);
  }

  void report(Instant after, const std::optional<Occurrence>& found) {
    difference_ = describe(plan_, window_);
    difference_ += "next after: " + micros_text(after) + "\noracle:    ";
    const auto wanted = first_after(after);
    const auto last = expected_.occurrences.end();
    for (auto each = wanted; each != last && each - wanted < 3; ++each) {
      difference_ += " " + occurrence_text(*each);
    }
    if (wanted == last) {
      difference_ += expected_.ended ? " none, the rule has ended" : " none in the window";
    }
    difference_ += "\npawl:       ";
    difference_ +=
        found ? occurrence_text({found->at, found->wall, clock_of(found->clock)}) : "none";
    difference_ += "\n";
  }

  const Recurrence& recurrence_;
  const OraclePlan& plan_;
  const OracleWindow& window_;
  const OracleResult& expected_;
  std::string difference_;
  std::int64_t asked_ = 0;
};

// Somewhere in the window, or just around an occurrence.
Instant draw_instant(Draw& draw, const OracleWindow& window, const OracleResult& expected) {
  const Instant begin = window.begin;
  if (expected.occurrences.empty() || draw.chance(40)) {
    return begin + microseconds{draw.below(microseconds{window.end - window.begin}.count())};
  }
  const Instant at = draw.of(expected.occurrences).at;
  const std::vector<microseconds> around = {microseconds{-1}, microseconds{0}, microseconds{1},
                                            seconds{-1}};
  return std::max(at + draw.of(around), begin);
}

// More than the window: from DTSTART on, as far as the zone is known and it is cheap.
OracleWindow around(const OraclePlan& plan, const OracleWindow& window) {
  constexpr seconds kLengths[] = {hours{6},       days{30},       days{3 * 365}, days{60 * 365},
                                  days{60 * 365}, days{60 * 365}, days{60 * 365}};
  const sys_seconds start{plan.start.time_since_epoch()};
  const std::vector<OracleSpan>& spans = plan.zone->spans();
  const sys_seconds begin =
      std::clamp(start - days{1}, spans.front().begin + days{2}, window.begin);
  const sys_seconds end =
      std::min(begin + kLengths[static_cast<int>(plan.rule.freq)], spans.back().end - days{2});
  return {begin, std::max(end, window.end)};
}

// RDATEs are in the window whatever the rule says.
bool fires(const OraclePlan& plan, const OracleWindow& window) {
  OraclePlan alone = plan;
  alone.rdates.clear();
  alone.exdates.clear();
  return !enumerate(alone, window).occurrences.empty();
}

Comparison compare_refused(const OraclePlan& plan, const OracleWindow& window,
                           const std::string& why) {
  Comparison comparison;
  comparison.refused = true;
  if (!fires(plan, window) && !fires(plan, around(plan, window))) return comparison;
  comparison.too_silent = silent_for(plan, kSearchedPeriods);
  if (!comparison.too_silent) {
    comparison.difference = describe(plan, window) + "refused, but it fires: " + why + "\n";
  }
  return comparison;
}

Comparison compare_answers(const Recurrence& recurrence, const OraclePlan& plan,
                           const OracleWindow& window, const OracleResult& expected, Draw& draw) {
  Case asked(recurrence, plan, window, expected);
  for (auto at = asked.ask(window.begin - microseconds{1}); at;) at = asked.ask(*at);
  for (int i = 0; i < kProbes && asked.difference().empty(); ++i) {
    asked.ask(draw_instant(draw, window, expected));
  }
  Comparison comparison;
  comparison.difference = asked.difference();
  comparison.instants = asked.asked();
  return comparison;
}

std::string dates_text(const std::vector<OracleDate>& dates) {
  std::string text;
  for (const OracleDate& date : dates) {
    const std::chrono::local_seconds at{seconds{date.seconds}};
    text += " " + wall_text(at) + (date.utc ? "Z" : "");
  }
  return text.empty() ? " none" : text;
}

}  // namespace

Result<Recurrence> recurrence_of(const OraclePlan& plan, const Zones& zones) {
  RecurrencePlan made;
  PAWL_TRY(made.zone, zones.find(plan.zone->name()));
  PAWL_TRY(Rrule rule, parse_rrule(plan.rule.text()));
  made.rrules.push_back(std::move(rule));
  made.start.at = plan.start;
  made.start.date_only = plan.date_only;
  if (plan.gap) made.gap = gap_of(*plan.gap);
  if (plan.fold) made.fold = fold_of(*plan.fold);
  for (const OracleDate& date : plan.rdates) made.rdates.push_back(calendar_time(plan, date));
  for (const OracleDate& date : plan.exdates) made.exdates.push_back(calendar_time(plan, date));
  return Recurrence::make(made);
}

Comparison compare(const OraclePlan& plan, const OracleWindow& window, const OracleResult& expected,
                   const Zones& zones, Draw& draw) {
  const auto began = std::chrono::steady_clock::now();
  const Result<Recurrence> recurrence = recurrence_of(plan, zones);
  const std::chrono::duration<double> binding = std::chrono::steady_clock::now() - began;
  Comparison comparison = recurrence ? compare_answers(*recurrence, plan, window, expected, draw)
                                     : compare_refused(plan, window, recurrence.error().message);
  comparison.binding = binding.count();
  return comparison;
}

std::string describe(const OraclePlan& plan, const OracleWindow& window) {
  constexpr const char* kGaps[] = {"shift", "skip"};
  constexpr const char* kFolds[] = {"first", "last", "both"};
  std::string text = "rule:       " + plan.rule.text() + "\n";
  text += "DTSTART:    " + wall_text(plan.start) + (plan.date_only ? " (a DATE)" : "") + "\n";
  text += "zone:       " + plan.zone->name() + "\n";
  text += std::string("gap, fold:  ") +
          (plan.gap ? kGaps[static_cast<int>(*plan.gap)] : "default") + ", " +
          (plan.fold ? kFolds[static_cast<int>(*plan.fold)] : "default") + "\n";
  text += "RDATE:     " + dates_text(plan.rdates) + "\n";
  text += "EXDATE:    " + dates_text(plan.exdates) + "\n";
  text += "window:     " + instant_text(window.begin) + " to " + instant_text(window.end) + "\n";
  return text;
}

}  // namespace pawl
