// From wall-clock occurrences to instants.
//
// The mapping is not monotone. In the hour a clock goes through twice, wall times come round again;
// a time shifted out of a gap lands between later ones. So `next` does not map wall times one after
// another: it goes span by span of constant offset, where the mapping is plain subtraction, and
// asks the rule for
//   - the wall times the clock shows in that span (less those that the fold rule gives to the
//   neighbouring span), and
//   - at the beginning of a span after a gap, the wall times of the gap, moved by the offset before
//   it;
// the smaller of the two is the next occurrence.
#include "calendar/recurrence.h"

#include <algorithm>

#include "base/piece.h"
#include "base/sort_unique.h"
#include "base/text.h"
#include "calendar/civil.h"

namespace pawl {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

const sys_seconds kLastInstant = std::chrono::floor<seconds>(kInstantMax);

LocalSeconds wall_at(sys_seconds at, seconds offset) {
  return LocalSeconds{at.time_since_epoch() + offset};
}
sys_seconds instant_of(LocalSeconds wall, seconds offset) {
  return sys_seconds{wall.time_since_epoch() - offset};
}

// The last occurrence that COUNT allows. Under `skip`, wall times that do not exist are not
// counted, so the count goes from gap to gap.
std::optional<LocalSeconds> last_of_count(const WallRule& rule, const Zone& zone,
                                          LocalSeconds start, Gap gap, std::int64_t count) {
  constexpr LocalSeconds kEnd = LocalSeconds::max();
  if (gap == Gap::shift) return rule.count(start, kEnd, count).last;
  LocalSeconds from = start;
  ZoneSpan span = zone.span_at(sys_seconds{start.time_since_epoch()} - std::chrono::hours{26});
  while (span.end <= kLastInstant) {
    const ZoneSpan after = zone.span_at(span.end);
    const LocalSeconds gap_begin = wall_at(span.end, span.offset);
    const LocalSeconds gap_end = wall_at(span.end, after.offset);
    span = after;
    if (gap_end <= gap_begin || gap_end <= from) continue;
    if (from < gap_begin) {
      const WallRule::Counted counted = rule.count(from, gap_begin, count);
      if (counted.last) return counted.last;
      count -= counted.found;
    }
    from = gap_end;
  }
  return rule.count(from, kEnd, count).last;
}

// RFC 5545: UNTIL is a DATE when DTSTART is one, and in UTC when DTSTART has a zone, as ours always
// has.
Result<void> check_until(const CalendarTime& until, const RecurrencePlan& plan) {
  using Form = CalendarTime::Form;
  if (plan.start.date_only) {
    if (until.form == Form::date) return {};
    return bad_input_at(until.column,
                        "DTSTART is a date, so UNTIL is one too; write UNTIL=YYYYMMDD");
  }
  if (until.form == Form::utc) return {};
  const LocalSeconds local{seconds{until.seconds}};
  const LocalSeconds end =
      until.form == Form::date ? local + std::chrono::days{1} - seconds{1} : local;
  std::string utc = to_text(plan.zone.to_instant(end));
  std::erase_if(utc, [](char c) { return c == '-' || c == ':'; });
  return bad_input_at(until.column,
                      std::string("DTSTART has a time and a zone, so UNTIL is in UTC, not ") +
                          (until.form == Form::date ? "a date" : "local time") +
                          "; write UNTIL=" + utc);
}

// Adds RDATEs or EXDATEs to the list of their form. A DATE stands for the beginning of the day.
Result<void> add_times(const std::vector<CalendarTime>& times, const char* name, bool date_only,
                       std::vector<LocalSeconds>& local, std::vector<sys_seconds>& utc) {
  for (const CalendarTime& time : times) {
    const bool is_date = time.form == CalendarTime::Form::date;
    if (is_date != date_only) {
      return bad_input_at(std::max(time.column, 1),
                          std::string("DTSTART is a ") + (date_only ? "date" : "date with a time") +
                              ", so " + name + " is one too; write " +
                              (date_only ? "YYYYMMDD" : "YYYYMMDDTHHMMSS"));
    }
    if (time.form == CalendarTime::Form::utc) {
      utc.emplace_back(seconds{time.seconds});
    } else {
      local.emplace_back(seconds{time.seconds});
    }
  }
  sort_unique(local);
  sort_unique(utc);
  return {};
}

}  // namespace

Result<Recurrence> Recurrence::make(const RecurrencePlan& plan) {
  Recurrence made(plan.zone);
  for (const Rrule& rrule : plan.rrules) {
    if (rrule.until) PAWL_CHECK(check_until(*rrule.until, plan));
    PAWL_TRY(WallRule rule, WallRule::make(rrule, plan.start));
    const bool daily = rrule.freq >= Freq::daily;
    Source source{.rule = std::move(rule),
                  .times = {},
                  .gap = plan.gap.value_or(daily ? Gap::shift : Gap::skip),
                  .fold = plan.fold.value_or(daily ? Fold::first : Fold::both)};
    if (rrule.until && plan.start.date_only)
      source.rule->end_after(LocalSeconds{seconds{rrule.until->seconds}});
    if (rrule.until && !plan.start.date_only)
      source.until = sys_seconds{seconds{rrule.until->seconds}};
    if (rrule.count) {
      const auto last =
          last_of_count(*source.rule, plan.zone, plan.start.at, source.gap, *rrule.count);
      if (last) source.rule->end_after(*last);
    }
    const bool ends = rrule.count || rrule.until;
    if (source.gap == Gap::skip && !ends && !made.next_of(source, ZoneSpan::kBegin)) {
      return Error{ErrorCode::bad_input, "the rule " + to_text(rrule) + " can never fire: in " +
                                             std::string(plan.zone.name()) +
                                             " its local times do not exist; use gap shift"};
    }
    made.sources_.push_back(std::move(source));
  }
  for (const Cron& cron : plan.crons) {
    made.sources_.push_back({.rule = WallRule::make(cron, plan.start),
                             .times = {},
                             .gap = plan.gap.value_or(cron.hourly ? Gap::skip : Gap::shift),
                             .fold = plan.fold.value_or(cron.hourly ? Fold::both : Fold::first)});
  }
  Source dates{.rule = std::nullopt,
               .times = {},
               .gap = plan.gap.value_or(Gap::shift),
               .fold = plan.fold.value_or(Fold::first)};
  PAWL_CHECK(add_times(plan.rdates, "RDATE", plan.start.date_only, dates.times, made.more_));
  PAWL_CHECK(
      add_times(plan.exdates, "EXDATE", plan.start.date_only, made.without_local_, made.without_));
  if (!dates.times.empty()) made.sources_.push_back(std::move(dates));
  return made;
}

std::optional<Occurrence> Recurrence::next(Instant after) const {
  sys_seconds from =
      std::chrono::floor<seconds>(std::clamp(after, kInstantMin, kInstantMax)) + seconds{1};
  while (true) {
    std::optional<Occurrence> best;
    for (const Source& source : sources_) {
      const auto found = next_of(source, from);
      const bool plainer =
          found && best && found->at == best->at && found->clock == Occurrence::Clock::plain;
      if (found && (!best || found->at < best->at || plainer)) best = found;
    }
    const auto more = std::lower_bound(more_.begin(), more_.end(), from);
    if (more != more_.end() && (!best || *more < best->at)) {
      best = Occurrence{.at = *more, .wall = std::chrono::floor<seconds>(zone_.to_local(*more))};
    }
    if (!best || !std::binary_search(without_.begin(), without_.end(), best->at)) return best;
    from = best->at + seconds{1};
  }
}

// The first wall time of the source at or after `from` that no EXDATE leaves out.
std::optional<LocalSeconds> Recurrence::next_wall(const Source& source, LocalSeconds from) const {
  while (true) {
    std::optional<LocalSeconds> found;
    if (source.rule) {
      found = source.rule->next(from);
    } else if (const auto time = std::lower_bound(source.times.begin(), source.times.end(), from);
               time != source.times.end()) {
      found = *time;
    }
    if (!found || !std::binary_search(without_local_.begin(), without_local_.end(), *found))
      return found;
    from = *found + seconds{1};
  }
}

// The first occurrence of one source at or after `from`.
std::optional<Occurrence> Recurrence::next_of(const Source& source, sys_seconds from) const {
  using Clock = Occurrence::Clock;
  const sys_seconds end = std::min(source.until, kLastInstant);
  from = std::max(from, std::chrono::floor<seconds>(kInstantMin));
  ZoneSpan span = zone_.span_at(from);
  seconds before =
      span.begin == ZoneSpan::kBegin ? span.offset : zone_.span_at(span.begin - seconds{1}).offset;
  while (from <= end) {
    const bool last_span = span.end > kLastInstant;
    const ZoneSpan after = last_span ? span : zone_.span_at(span.end);
    std::optional<Occurrence> best;

    // The wall times the clock shows in this span, [shown, shown_end); the part up to fold_end it
    // has shown before, the part from fold_begin on it will show again.
    const LocalSeconds fold_end = wall_at(span.begin, before);
    const LocalSeconds shown_end = last_span ? LocalSeconds::max() : wall_at(span.end, span.offset);
    const LocalSeconds fold_begin =
        last_span ? LocalSeconds::max() : wall_at(span.end, after.offset);
    LocalSeconds shown = wall_at(from, span.offset);
    if (before > span.offset && source.fold == Fold::first) shown = std::max(shown, fold_end);
    const auto wall = next_wall(source, shown);
    if (wall && *wall < (source.fold == Fold::last ? std::min(shown_end, fold_begin) : shown_end)) {
      const Clock clock = before > span.offset && *wall < fold_end ? Clock::last_fold
                          : *wall >= fold_begin                    ? Clock::first_fold
                                                                   : Clock::plain;
      best = Occurrence{instant_of(*wall, span.offset), *wall, clock};
    }

    // The wall times of the gap before this span.
    if (before < span.offset && source.gap == Gap::shift) {
      const auto missing =
          next_wall(source, std::max(wall_at(from, before), wall_at(span.begin, before)));
      if (missing && *missing < wall_at(span.begin, span.offset)) {
        const sys_seconds at = instant_of(*missing, before);
        if (!best || at < best->at) best = Occurrence{at, *missing, Clock::shifted};
      }
    }

    if (best) return best->at <= end ? best : std::nullopt;
    if (last_span) return std::nullopt;

    // On to the next span; where the rule is silent for long, straight to the span in which it
    // speaks again, unless the clock is about to show times once more that we have begun behind of.
    const bool shows_again = shown > fold_begin;
    if (!shows_again && !wall) return std::nullopt;
    const sys_seconds speaks =
        wall ? instant_of(*wall, seconds{0}) - std::chrono::hours{48} : span.end;
    from = shows_again ? span.end : std::max(span.end, speaks);
    before = from == span.end ? span.offset
                              : zone_.span_at(zone_.span_at(from).begin - seconds{1}).offset;
    span = zone_.span_at(from);
  }
  return std::nullopt;
}

namespace {

// `DTSTART;TZID=America/New_York:19970902T090000`: a line of iCalendar.
struct ContentLine {
  int number = 1;
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::string_view value;
  int value_column = 1;

  Error error(int column, std::string message) const {
    return {ErrorCode::bad_input, std::move(message), Position{number, column}};
  }
};

Result<ContentLine> read_line(std::string_view line, int number) {
  ContentLine content{.number = number, .name = {}, .parameters = {}, .value = {}};
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return content.error(
        1, in_quotes(line) + " is not a line of a recurrence; write for example RRULE:FREQ=DAILY");
  }
  std::string_view head = line.substr(0, colon);
  const std::size_t name_end = std::min(head.find(';'), head.size());
  content.name = to_upper(head.substr(0, name_end));
  head.remove_prefix(std::min(name_end + 1, head.size()));
  while (!head.empty()) {
    const std::size_t end = std::min(head.find(';'), head.size());
    const std::string_view parameter = head.substr(0, end);
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    content.parameters.emplace_back(
        to_upper(parameter.substr(0, equals)),
        std::string(parameter.substr(std::min(equals + 1, parameter.size()))));
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  content.value = line.substr(colon + 1);
  content.value_column = static_cast<int>(colon) + 2;
  return content;
}

// A line that begins with a blank continues the one before it (RFC 5545, 3.1).
std::string unfold(std::string_view text) {
  std::string unfolded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text.substr(i, 2) == "\r\n" ? i + 2 : text[i] == '\n' ? i + 1 : i;
    if (end > i && end < text.size() && (text[end] == ' ' || text[end] == '\t')) {
      i = end;
    } else {
      unfolded += text[i];
    }
  }
  return unfolded;
}

// Collects the lines of a recurrence.
class RecurrenceReader {
 public:
  Result<void> add(const ContentLine& line) {
    if (line.name == "RRULE") return add_rule(line);
    if (line.name == "DTSTART") return add_start(line);
    if (line.name == "RDATE") return add_dates(line, text_.rdates);
    if (line.name == "EXDATE") return add_dates(line, text_.exdates);
    if (line.name == "EXRULE") {
      return line.error(
          1,
          "EXRULE is gone since RFC 5545; leave times out with EXDATE, or write the rule without them");
    }
    return line.error(1, "unknown line " + in_quotes(line.name) +
                             "; a recurrence has DTSTART, RRULE, RDATE and EXDATE");
  }

  RecurrenceText take() { return std::move(text_); }

 private:
  Result<void> add_rule(const ContentLine& line) {
    auto rule = parse_rrule(line.value);
    if (!rule) {
      Error error = std::move(rule).error();
      const int column = error.position ? error.position->column : 1;
      return line.error(line.value_column + column - 1, std::move(error.message));
    }
    if (rule->until) rule->until->column += line.value_column - 1;
    text_.rrules.push_back(*std::move(rule));
    return {};
  }

  Result<void> add_start(const ContentLine& line) {
    if (text_.start) return line.error(1, "DTSTART is given twice; a recurrence has one");
    PAWL_CHECK(take_parameters(line));
    PAWL_TRY(text_.start, read_time(line, line.value, line.value_column));
    return {};
  }

  Result<void> add_dates(const ContentLine& line, std::vector<CalendarTime>& times) {
    PAWL_CHECK(take_parameters(line));
    std::size_t begin = 0;
    while (true) {
      const std::size_t end = std::min(line.value.find(',', begin), line.value.size());
      PAWL_TRY(const CalendarTime time, read_time(line, line.value.substr(begin, end - begin),
                                                  line.value_column + static_cast<int>(begin)));
      times.push_back(time);
      if (end == line.value.size()) return {};
      begin = end + 1;
    }
  }

  // VALUE must agree with what stands there; TZID must be the same on all lines, as a recurrence
  // has one zone.
  Result<void> take_parameters(const ContentLine& line) {
    for (const auto& [name, value] : line.parameters) {
      if (name == "TZID") {
        if (text_.tzid && *text_.tzid != value) {
          return line.error(1, "TZID is " + in_quotes(value) + " here and " +
                                   in_quotes(*text_.tzid) + " before; a recurrence has one zone");
        }
        text_.tzid = value;
      } else if (name != "VALUE") {
        return line.error(1, "unknown parameter " + in_quotes(name) + " of " + line.name +
                                 "; it takes TZID and VALUE");
      }
    }
    return {};
  }

  static Result<CalendarTime> read_time(const ContentLine& line, std::string_view text,
                                        int column) {
    auto time = parse_calendar_time(text, column);
    if (!time) return line.error(column, time.error().message);
    for (const auto& [name, value] : line.parameters) {
      const bool is_date = time->form == CalendarTime::Form::date;
      const std::string kind = to_upper(value);
      if (name == "VALUE" && kind != (is_date ? "DATE" : "DATE-TIME")) {
        return line.error(column, "VALUE=" + value + " does not fit " + in_quotes(text) +
                                      "; it takes DATE or DATE-TIME");
      }
    }
    return time;
  }

  RecurrenceText text_;
};

}  // namespace

Result<RecurrenceText> parse_recurrence_text(std::string_view text) {
  if (text.size() > kRuleTextMax) {
    return bad_input_at(1, "the recurrence is longer than " + std::to_string(kRuleTextMax) +
                               " bytes; give fewer times");
  }
  if (text.find(':') == std::string_view::npos) {
    PAWL_TRY(Rrule rule, parse_rrule(text));
    return RecurrenceText{
        .start = {}, .tzid = {}, .rrules = {std::move(rule)}, .rdates = {}, .exdates = {}};
  }
  RecurrenceReader reader;
  const std::string unfolded = unfold(text);
  int number = 0;
  for (Piece line : split({unfolded}, '\n')) {
    ++number;
    if (line.text.ends_with('\r')) line.text.remove_suffix(1);
    if (line.text.empty()) continue;
    PAWL_TRY(const ContentLine content, read_line(line.text, number));
    PAWL_CHECK(reader.add(content));
  }
  return reader.take();
}

}  // namespace pawl
