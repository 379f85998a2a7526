// The text of a cron expression.
//
//   expression = "@" name | [second] minute hour day-of-month month day-of-week
//   field      = item *("," item)
//   item       = ("*" | value ["-" value]) ["/" step]
//              | "?"                                         day of month, day of week: any
//              | "L" ["-" number] | number "W" | "LW"        day of month only
//              | value "L" | value "#" number                 day of week only
#include "calendar/cron.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/nearest.h"
#include "base/piece.h"
#include "base/text.h"
#include "calendar/civil.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                      "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 8> kWeekdays = {"SUN", "MON", "TUE", "WED",
                                                       "THU", "FRI", "SAT", "SUN"};

// What a field may hold. Names stand for low, low + 1, …
struct Field {
  std::string_view name;
  int low;
  int high;
  std::span<const std::string_view> names = {};
};

constexpr Field kSecondField{"the second", 0, 59};
constexpr Field kMinuteField{"the minute", 0, 59};
constexpr Field kHourField{"the hour", 0, 23};
constexpr Field kMonthDay{"the day of the month", 1, 31};
constexpr Field kMonth{"the month", 1, 12, kMonths};
constexpr Field kWeekday{"the day of the week", 0, 7, kWeekdays};

std::string takes(const Field& field) {
  std::string text = std::string(field.name) + " takes " + std::to_string(field.low) + " to " +
                     std::to_string(field.high);
  if (!field.names.empty())
    text += " or " + std::string(field.names.front()) + " to " +
            std::string(field.names.back() == "SUN" ? "SAT" : field.names.back());
  return text;
}

std::optional<int> to_number(std::string_view text) {
  if (text.empty() || text.size() > 4 || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  return std::stoi(std::string(text));
}

Result<int> read_value(Piece piece, const Field& field) {
  const auto named = std::find(field.names.begin(), field.names.end(), to_upper(piece.text));
  if (named != field.names.end()) return field.low + static_cast<int>(named - field.names.begin());
  const auto number = to_number(piece.text);
  if (piece.text.empty()) return piece.error("a value is missing: " + takes(field));
  if (!number) {
    const std::vector<std::string> names(field.names.begin(), field.names.end());
    return piece.error(in_quotes(piece.text) + " is not a value here: " + takes(field) +
                       did_you_mean(piece.text, names));
  }
  if (*number < field.low || *number > field.high)
    return piece.error(takes(field) + ", not " + in_quotes(piece.text));
  return *number;
}

// The step after a slash, or 1.
Result<int> read_step(Piece item, std::size_t slash, const Field& field) {
  if (slash == std::string_view::npos) return 1;
  const Piece step = item.from(slash + 1);
  const auto number = to_number(step.text);
  if (!number || *number < 1 || *number > field.high) {
    return step.error("the step " + in_quotes(step.text) + " is not a number from 1 to " +
                      std::to_string(field.high) + ", as " + std::string(field.name) + " needs");
  }
  return *number;
}

// `*`, `5`, `1-5`, `MON-FRI`, each perhaps with a step; bit 0 = 0.
Result<std::uint64_t> read_plain_item(Piece item, const Field& field) {
  const std::size_t slash = item.text.find('/');
  PAWL_TRY(const int step, read_step(item, slash, field));
  const Piece range = item.from(0, slash);
  int low = field.low;
  int high = field.high;
  if (range.text != "*") {
    const std::size_t dash = range.text.find('-');
    PAWL_TRY(low, read_value(range.from(0, dash), field));
    if (dash != std::string_view::npos) {
      PAWL_TRY(high, read_value(range.from(dash + 1), field));
      if (field.name == kWeekday.name && high == 0 && low > 0)
        high = 7;  // a week ends on Sunday too
      if (low > high) {
        return range.error("the range " + in_quotes(range.text) +
                           " runs backwards; write two ranges, for example " + std::to_string(low) +
                           "-" + std::to_string(field.high) + "," + std::to_string(field.low) +
                           "-" + std::to_string(high));
      }
    } else if (slash == std::string_view::npos) {
      high = low;
    }
  }
  std::uint64_t mask = 0;
  for (int value = low; value <= high; value += step) mask |= std::uint64_t{1} << value;
  return mask;
}

Result<std::uint64_t> read_plain_field(Piece piece, const Field& field) {
  std::uint64_t mask = 0;
  for (const Piece& item : split(piece, ',')) {
    PAWL_TRY(const std::uint64_t part, read_plain_item(item, field));
    mask |= part;
  }
  return mask;
}

Result<void> read_month_day_item(Piece item, DaySet& days) {
  const std::string upper = to_upper(item.text);
  if (upper == "L") {
    days.month_days_from_end |= 1;
  } else if (upper == "LW" || upper == "WL") {
    days.near_month_end = true;
  } else if (upper.starts_with("L-")) {
    const auto before = to_number(item.text.substr(2));
    if (!before || *before < 1 || *before > 30)
      return item.error("L-n counts back from the last day: n is 1 to 30, not " +
                        in_quotes(item.text.substr(2)));
    days.month_days_from_end |= 1U << *before;
  } else if (upper.ends_with('W')) {
    PAWL_TRY(const int day, read_value(item.from(0, item.text.size() - 1), kMonthDay));
    days.near_month_days |= 1U << (day - 1);
  } else {
    PAWL_TRY(const std::uint64_t mask, read_plain_item(item, kMonthDay));
    days.month_days |= static_cast<std::uint32_t>(mask >> 1);
  }
  return {};
}

std::size_t from_monday(int sunday_based) {
  return static_cast<std::size_t>((sunday_based + 6) % 7);
}

Result<void> read_weekday_item(Piece item, DaySet& days) {
  const std::string upper = to_upper(item.text);
  if (upper == "L") {
    return item.error(
        "L alone does not name a day of the week; write for example 5L for the last Friday, or 6 for Saturdays");
  }
  if (const std::size_t hash = upper.find('#'); hash != std::string::npos) {
    PAWL_TRY(const int weekday, read_value(item.from(0, hash), kWeekday));
    const auto ordinal = to_number(item.text.substr(hash + 1));
    if (!ordinal || *ordinal < 1 || *ordinal > 5)
      return item.from(hash + 1).error("a month has at most five of each weekday: # takes 1 to 5");
    days.nth[from_monday(weekday)] |= 1ULL << (*ordinal - 1);
  } else if (upper.ends_with('L')) {
    PAWL_TRY(const int weekday, read_value(item.from(0, item.text.size() - 1), kWeekday));
    days.nth_from_end[from_monday(weekday)] |= 1;
  } else {
    PAWL_TRY(const std::uint64_t mask, read_plain_item(item, kWeekday));
    for (int weekday = 0; weekday <= 7; ++weekday) {
      if ((mask >> weekday & 1) != 0) days.weekdays |= 1U << from_monday(weekday);
    }
  }
  return {};
}

bool is_any(Piece field) { return field.text == "*" || field.text == "?"; }

Result<DaySet> read_days(Piece month_day, Piece month, Piece weekday) {
  DaySet days;
  PAWL_TRY(const std::uint64_t months, read_plain_field(month, kMonth));
  days.months = static_cast<std::uint32_t>(months >> 1);
  if (!is_any(month_day)) {
    for (const Piece& item : split(month_day, ',')) PAWL_CHECK(read_month_day_item(item, days));
  }
  if (!is_any(weekday)) {
    for (const Piece& item : split(weekday, ',')) PAWL_CHECK(read_weekday_item(item, days));
  }
  days.either = !month_day.text.starts_with('*') && !weekday.text.starts_with('*');
  return days;
}

// Days repeat after 400 years.
bool has_a_day(const DaySet& days) {
  for (int year = 2000; year < 2400; ++year) {
    for (int month = 1; month <= 12; ++month) {
      if (days.days_of(year, month) != 0) return true;
    }
  }
  return false;
}

Result<std::string_view> expand_alias(Piece piece) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kAliases = {
      {{"@yearly", "0 0 1 1 *"},
       {"@annually", "0 0 1 1 *"},
       {"@monthly", "0 0 1 * *"},
       {"@weekly", "0 0 * * 0"},
       {"@daily", "0 0 * * *"},
       {"@midnight", "0 0 * * *"},
       {"@hourly", "0 * * * *"}}};
  const std::string lower = to_lower(piece.text);
  std::vector<std::string> names;
  for (const auto& [name, expansion] : kAliases) {
    if (lower == name) return expansion;
    names.emplace_back(name);
  }
  if (lower == "@reboot")
    return piece.error("@reboot is not a time; create the record when the program starts");
  if (lower.starts_with("@every"))
    return piece.error("@every is not cron; use `every:` with a duration in the schedule");
  const std::string hint = did_you_mean(piece.text, names);
  return piece.error("unknown name " + in_quotes(piece.text) +
                     (hint.empty() ? "; there are " + join(names, ", ", " and ") : hint));
}

Result<Cron> read_fields(Piece piece) {
  std::vector<Piece> fields = split_words(piece);
  if (fields.size() != 5 && fields.size() != 6) {
    return piece.error(
        "a cron expression has five fields (minute, hour, day of month, month, day of week) or six (second first), not " +
        std::to_string(fields.size()));
  }
  Cron cron;
  cron.seconds = 1;
  if (fields.size() == 6) {
    PAWL_TRY(cron.seconds, read_plain_field(fields.front(), kSecondField));
    fields.erase(fields.begin());
  }
  PAWL_TRY(cron.minutes, read_plain_field(fields[0], kMinuteField));
  PAWL_TRY(const std::uint64_t hours, read_plain_field(fields[1], kHourField));
  cron.hours = static_cast<std::uint32_t>(hours);
  cron.hourly = fields[1].text == "*" || (fields[1].text.starts_with("*/") &&
                                          fields[1].text.find(',') == std::string_view::npos);
  PAWL_TRY(cron.days, read_days(fields[2], fields[3], fields[4]));
  if (!has_a_day(cron.days)) {
    return fields[2].error("the expression " + in_quotes(piece.text) +
                           " can never fire: no month it names has that day");
  }
  return cron;
}

}  // namespace

Result<Cron> parse_cron(std::string_view text) {
  if (text.size() > kRuleTextMax)
    return bad_input_at(
        1, "the cron expression is longer than " + std::to_string(kRuleTextMax) + " bytes");
  const std::vector<Piece> words = split_words({text});
  if (words.empty())
    return bad_input_at(1, "the cron expression is empty; write for example 0 9 * * MON-FRI");
  Piece piece{text};
  if (words.front().text.starts_with('@')) {
    PAWL_TRY(piece.text, expand_alias(words.front()));
    if (words.size() > 1) {
      return words[1].error(in_quotes(words.front().text) +
                            " must stand alone; remove what follows it");
    }
  }
  PAWL_TRY(Cron cron, read_fields(piece));
  std::vector<std::string> written;
  for (const Piece& word : words) written.emplace_back(word.text);
  cron.text = join(written, " ", " ");
  return cron;
}

}  // namespace pawl
