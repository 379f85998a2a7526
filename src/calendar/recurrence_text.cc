#include "calendar/recurrence_text.h"

#include <algorithm>
#include <utility>

#include "base/piece.h"
#include "base/text.h"

namespace pawl {
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
    std::string_view value = parameter.substr(std::min(equals + 1, parameter.size()));
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"')) {
      value = value.substr(1, value.size() - 2);
    }
    content.parameters.emplace_back(to_upper(parameter.substr(0, equals)), std::string(value));
    head.remove_prefix(std::min(end + 1, head.size()));
  }
  content.value = line.substr(colon + 1);
  content.value_column = static_cast<int>(colon) + 2;
  return content;
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
          "RFC 5545 has dropped EXRULE; remove times with EXDATE, or write the rule without them");
    }
    return line.error(1, "unknown line " + in_quotes(line.name) +
                             "; a recurrence has DTSTART, RRULE, RDATE and EXDATE");
  }

  RecurrenceText take() { return std::move(text_); }

 private:
  Result<void> add_rule(const ContentLine& line) {
    if (!line.parameters.empty())
      return line.error(
          1, "RRULE takes no parameters; remove " + in_quotes(line.parameters.front().first));
    auto rule = parse_rrule(line.value);
    if (!rule) {
      Error error = std::move(rule).error();
      const int column = error.position ? error.position->column : 1;
      return line.error(line.value_column + column - 1, std::move(error.message));
    }
    const auto moved = [&](const std::optional<Position>& position) {
      return Position{line.number, position->column + line.value_column - 1};
    };
    rule->position = moved(rule->position);
    if (rule->until) rule->until->position = moved(rule->until->position);
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
    std::string kind;
    bool zoned = false;
    for (const auto& [name, value] : line.parameters) {
      if (name == "VALUE") kind = to_upper(value);
      if (name == "TZID") zoned = true;
    }
    if (!kind.empty() && kind != "DATE" && kind != "DATE-TIME") {
      return line.error(1, "VALUE=" + kind + " is not supported; it takes DATE or DATE-TIME");
    }
    auto time = parse_calendar_time(text, column);
    if (!time) return line.error(column, time.error().message);
    const bool is_date = time->form == CalendarTime::Form::date;
    if (!kind.empty() && is_date != (kind == "DATE")) {
      return line.error(column, "VALUE=" + kind + " does not fit " + in_quotes(text));
    }
    if (zoned && time->form == CalendarTime::Form::utc) {
      return line.error(column, "a time in UTC has no TZID; remove the Z or the TZID");
    }
    time->position = Position{line.number, column};
    return time;
  }

  RecurrenceText text_;
};

}  // namespace

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

Result<RecurrenceText> parse_recurrence_text(std::string_view text) {
  if (text.size() > kRuleTextMax) {
    return bad_input_at(1, "the recurrence is longer than " + std::to_string(kRuleTextMax) +
                               " bytes; give fewer times");
  }
  // A line begins with its name and a colon or semicolon, a rule with FREQ= or another part.
  const std::size_t sign = text.find_first_of(":;=");
  if (sign == std::string_view::npos || text[sign] == '=') {
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
