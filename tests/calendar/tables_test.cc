// Runs the tables in tests/calendar/tables: every block is one rule and the times it gives, or why
// it is refused.
//
//   # A comment.
//   title: Daily at half past two, in the night that has none
//   zone: America/New_York               default UTC
//   dtstart: 2026-03-07T02:30:00         or a date
//   rrule: FREQ=DAILY                    several lines allowed; so are `cron:`, `rdate:` and
//   `exdate:` gap: shift                           optional; so are `fold:` and `after:`, an RFC
//   3339 instant expect:
//     2026-03-07T02:30:00-05:00
//     2026-03-08T03:30:00-04:00 (shifted)  what the clock change did: shifted; first or last of two
//     ...                                  there are more; or `end`: there are none
//
// or `refused: INTERVAL @12` instead of `expect:`, a part of the message and the column. `ical:`
// lines make one iCalendar text, in place of all the others.
//
// With PAWL_RECORD=1 in the environment the answers in the files are rewritten instead of compared.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calendar/cron.h"
#include "calendar/recurrence.h"
#include "calendar/recurrence_text.h"
#include "calendar/rrule.h"
#include "calendar/zone.h"
#include "gtest/gtest.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "pawl/zones.h"

namespace pawl {
namespace {

constexpr std::size_t kTimesDefault = 10;     // recorded when a block does not say how many
constexpr std::size_t kTimesRecorded = 1000;  // at most, of a rule that ends

// One block of a table, as it is written.
struct Block {
  std::string file = {};
  std::size_t line = 0;   // its first, from 1
  std::string name = {};  // of its test
  std::map<std::string, std::vector<std::string>> values = {};
  std::vector<std::string> expected = {};  // times, then `end` or `...`; empty for a refused one
  std::size_t answer_begin = 0;  // the lines [begin, end) of the file that the answer takes
  std::size_t answer_end = 0;
  std::string problem = {};  // why it cannot be read

  bool has(const std::string& key) const { return values.contains(key); }
  std::vector<std::string> all(const std::string& key) const {
    const auto found = values.find(key);
    return found == values.end() ? std::vector<std::string>{} : found->second;
  }
  std::string one(const std::string& key, const std::string& otherwise = "") const {
    return has(key) ? values.at(key).front() : otherwise;
  }
};

// What googletest prints of a parameter; ctest cannot take more than a plain word.
void PrintTo(const Block& block, std::ostream* out) { *out << block.file << ':' << block.line; }

// --- Reading ---

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

std::filesystem::path folder() {
  return std::filesystem::path(PAWL_SOURCE_DIR) / "tests" / "calendar" / "tables";
}

std::vector<std::string> table_files() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), none)) {
    if (entry.path().extension() == ".txt") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(folder() / file);
  std::stringstream text;
  text << in.rdbuf();
  return split(text.str(), '\n');
}

// Why the block is not a good one, or nothing.
std::string problem_of(const Block& block) {
  static const std::set<std::string> kGaps = {"", "shift", "skip"};
  static const std::set<std::string> kFolds = {"", "first", "last", "both"};
  if (!block.has("title")) return "it has no title";
  if (!kGaps.contains(block.one("gap"))) return "gap: is shift or skip";
  if (!kFolds.contains(block.one("fold"))) return "fold: is first, last or both";
  if (block.has("refused") == block.has("expect")) return "it wants one of expect: and refused:";
  if (block.has("refused")) return "";
  if (block.expected.empty() ||
      (block.expected.back() != "end" && block.expected.back() != "...")) {
    return "expect: ends neither in `end` nor in `...`";
  }
  if (!block.has("dtstart") && !block.has("ical")) return "it has no dtstart";
  return "";
}

void read_line(Block& block, const std::string& line, std::size_t index) {
  static const std::set<std::string> kKeys = {"title", "zone",   "dtstart", "rrule", "cron",
                                              "rdate", "exdate", "ical",    "gap",   "fold",
                                              "after", "expect", "refused"};
  if (line.front() == ' ') {
    if (!block.has("expect")) block.problem = "an indented line outside expect:";
    block.expected.emplace_back(trimmed(line));
    block.answer_end = index + 1;
    return;
  }
  const auto colon = line.find(':');
  const std::string key = line.substr(0, colon);
  if (colon == std::string::npos || !kKeys.contains(key)) {
    block.problem = "unknown line: " + line;
    return;
  }
  const bool exact = key == "rrule" || key == "cron" || key == "ical";  // blanks matter there
  const std::string value = line.substr(std::min(line.size(), colon + 2));
  block.values[key].push_back(exact ? value : std::string(trimmed(value)));
  if (key == "expect" || key == "refused") {
    block.answer_begin = index;
    block.answer_end = index + 1;
  }
}

std::vector<Block> blocks_of(const std::string& file) {
  std::vector<Block> blocks;
  const auto lines = lines_of(file);
  bool inside = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) inside = false;
    if (lines[i].empty() || lines[i].front() == '#') continue;
    if (!inside) blocks.push_back({.file = file, .line = i + 1});
    inside = true;
    read_line(blocks.back(), lines[i], i);
  }
  for (Block& block : blocks) {
    if (block.problem.empty()) block.problem = problem_of(block);
  }
  return blocks;
}

// A word made of the file's name and the title: all that googletest takes.
std::string test_name(const Block& block) {
  std::string name = block.file.substr(0, block.file.find('.')) + "_" + block.one("title");
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  const auto both_blank = [](char a, char b) { return a == '_' && b == '_'; };
  name.erase(std::unique(name.begin(), name.end(), both_blank), name.end());
  if (name.back() == '_') name.pop_back();
  return name;
}

std::vector<Block> all_blocks() {
  std::vector<Block> blocks;
  std::map<std::string, int> used;  // two titles can differ in signs only
  for (const auto& file : table_files()) {
    for (auto& block : blocks_of(file)) {
      block.name = test_name(block);
      if (const int times = ++used[block.name]; times > 1)
        block.name += "_" + std::to_string(times);
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

// --- Asking ---

const Zones& zones() {
  static const Zones* const opened = new Zones(Zones::open().value());
  return *opened;
}

// Reads `1997-09-02T09:00:00` or `1997-09-02`.
Result<Start> parse_start(std::string text) {
  std::erase_if(text, [](char c) { return c == '-' || c == ':'; });
  PAWL_TRY(const CalendarTime time, parse_calendar_time(text, 1));
  return Start{LocalSeconds{std::chrono::seconds{time.seconds}},
               time.form == CalendarTime::Form::date};
}

Result<std::vector<CalendarTime>> parse_times(const std::vector<std::string>& lists) {
  std::vector<CalendarTime> times;
  for (const auto& list : lists) {
    for (const auto& text : split(list, ',')) {
      PAWL_TRY(const CalendarTime time, parse_calendar_time(text, 1));
      times.push_back(time);
    }
  }
  return times;
}

Result<RecurrencePlan> plan_of_text(const std::vector<std::string>& lines, const Zone& zone) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : "\r\n") + line;
  PAWL_TRY(const RecurrenceText read, parse_recurrence_text(text));
  RecurrencePlan plan{.start = {}, .zone = zone};
  if (read.start.has_value()) {
    plan.start = {LocalSeconds{std::chrono::seconds{read.start->seconds}},
                  read.start->form == CalendarTime::Form::date};
  }
  if (read.tzid.has_value()) {
    PAWL_TRY(plan.zone, zones().find(*read.tzid));
  }
  plan.rrules = read.rrules;
  plan.rdates = read.rdates;
  plan.exdates = read.exdates;
  return plan;
}

Result<RecurrencePlan> plan_of_lines(const Block& block, const Zone& zone) {
  PAWL_TRY(const Start start, parse_start(block.one("dtstart", "2026-01-01T00:00:00")));
  RecurrencePlan plan{.start = start, .zone = zone};
  for (const auto& text : block.all("rrule")) {
    PAWL_TRY(const Rrule rule, parse_rrule(text));
    plan.rrules.push_back(rule);
  }
  for (const auto& text : block.all("cron")) {
    PAWL_TRY(const Cron cron, parse_cron(text));
    plan.crons.push_back(cron);
  }
  PAWL_TRY(plan.rdates, parse_times(block.all("rdate")));
  PAWL_TRY(plan.exdates, parse_times(block.all("exdate")));
  return plan;
}

Result<RecurrencePlan> plan_of(const Block& block) {
  PAWL_TRY(const Zone zone, zones().find(block.one("zone", "UTC")));
  PAWL_TRY(RecurrencePlan plan,
           block.has("ical") ? plan_of_text(block.all("ical"), zone) : plan_of_lines(block, zone));
  if (block.has("gap")) plan.gap = block.one("gap") == "skip" ? Gap::skip : Gap::shift;
  if (block.has("fold")) {
    const std::string fold = block.one("fold");
    plan.fold = fold == "both" ? Fold::both : fold == "last" ? Fold::last : Fold::first;
  }
  return plan;
}

std::string to_line(const Occurrence& occurrence, const Zone& zone) {
  std::string at = to_text(Instant{occurrence.at}, zone);
  switch (occurrence.clock) {
    case Occurrence::Clock::plain:
      return at;
    case Occurrence::Clock::shifted:
      return at + " (shifted)";
    case Occurrence::Clock::first_fold:
      return at + " (first)";
    case Occurrence::Clock::last_fold:
      return at + " (last)";
  }
  return at;
}

// Up to `most` times as the tables write them, then `end` or `...`. Each time is asked for twice:
// after the one before it, and after the microsecond before it, which must not make a difference.
std::vector<std::string> ask(const Recurrence& recurrence, const Zone& zone, Instant after,
                             std::size_t most) {
  std::vector<std::string> lines;
  for (;;) {
    const auto next = recurrence.next(after);
    if (!next.has_value()) break;
    if (lines.size() == most) return lines.emplace_back("..."), lines;
    lines.push_back(to_line(*next, zone));
    if (next->at <= after) return lines.emplace_back("(does not rise)"), lines;
    after = next->at;
    const auto again = recurrence.next(after - Duration{1});
    if (!again.has_value() || again->at != next->at)
      lines.back() += " (not when asked just before it)";
  }
  lines.emplace_back("end");
  return lines;
}

// The times that the block's rule gives, in lines.
Result<std::vector<std::string>> answer_to(const Block& block, std::size_t most) {
  PAWL_TRY(const RecurrencePlan plan, plan_of(block));
  PAWL_TRY(const Recurrence recurrence, Recurrence::make(plan));
  // Two days are more than any offset: as UTC this lies before DTSTART in every zone.
  Instant after = Instant{plan.start.at.time_since_epoch()} - std::chrono::days{2};
  if (block.has("after")) {
    PAWL_TRY(after, parse_instant(block.one("after")));
  }
  return ask(recurrence, plan.zone, after, most);
}

// --- Comparing ---

std::string side_by_side(const std::vector<std::string>& expected,
                         const std::vector<std::string>& got) {
  constexpr std::size_t kWidth = 40;
  std::ostringstream out;
  out << "    expected" << std::string(kWidth - 8, ' ') << "got\n";
  for (std::size_t i = 0; i < std::max(expected.size(), got.size()); ++i) {
    std::string left = i < expected.size() ? expected[i] : "";
    const std::string right = i < got.size() ? got[i] : "";
    const char* const mark = left == right ? "    " : " -> ";
    left.resize(std::max(kWidth, left.size()), ' ');
    out << mark << left << right << '\n';
  }
  return out.str();
}

// ` @12`, or ` @2:12` beyond the first line, or nothing.
std::string position_text(const Error& error) {
  if (!error.position.has_value()) return "";
  const std::string line =
      error.position->line == 1 ? "" : std::to_string(error.position->line) + ":";
  return " @" + line + std::to_string(error.position->column);
}

// Where the position begins in `message @12`; the end when there is none.
std::size_t position_begin(const std::string& refused) {
  const auto at = refused.rfind('@');
  const bool is_one = at != std::string::npos && at + 1 < refused.size() &&
                      (at == 0 || refused[at - 1] == ' ') &&
                      refused.find_first_not_of("0123456789:", at + 1) == std::string::npos;
  return is_one ? at : refused.size();
}

std::string message_part(const std::string& refused) {
  return std::string(trimmed(refused.substr(0, position_begin(refused))));
}

std::string position_part(const std::string& refused) {
  const auto at = position_begin(refused);
  return at == refused.size() ? "" : " " + refused.substr(at);
}

bool refused_as_expected(const Error& error, const std::string& refused) {
  return error.message.find(message_part(refused)) != std::string::npos &&
         (position_part(refused).empty() || position_part(refused) == position_text(error));
}

std::string rules_text(const Block& block) {
  std::string text;
  for (const char* const key :
       {"dtstart", "zone", "rrule", "cron", "rdate", "exdate", "ical", "gap", "fold", "after"}) {
    for (const auto& value : block.all(key))
      text += "    " + std::string(key) + ": " + value + "\n";
  }
  return text;
}

bool recording() { return std::getenv("PAWL_RECORD") != nullptr; }

class Table : public testing::TestWithParam<Block> {};

TEST_P(Table, Holds) {
  const Block& block = GetParam();
  if (recording()) return;
  SCOPED_TRACE(block.file + ":" + std::to_string(block.line) + ": " + block.one("title"));
  ASSERT_EQ(block.problem, "");
  const auto got = answer_to(block, block.expected.empty() ? 3 : block.expected.size() - 1);
  if (block.has("refused")) {
    ASSERT_FALSE(got.has_value()) << "not refused\n" << rules_text(block) << side_by_side({}, *got);
    EXPECT_TRUE(refused_as_expected(got.error(), block.one("refused")))
        << rules_text(block) << "    expected: " << block.one("refused")
        << "\n    got: " << got.error().message << position_text(got.error());
    return;
  }
  ASSERT_TRUE(got.has_value()) << "refused: " << got.error().message << position_text(got.error())
                               << '\n'
                               << rules_text(block);
  EXPECT_TRUE(*got == block.expected) << rules_text(block) << side_by_side(block.expected, *got);
}

INSTANTIATE_TEST_SUITE_P(Calendar, Table, testing::ValuesIn(all_blocks()),
                         [](const testing::TestParamInfo<Block>& tested) {
                           return tested.param.name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Table);

TEST(Tables, AreThereAndHaveDifferentTitles) {
  ASSERT_FALSE(table_files().empty()) << "no table in " << folder();
  for (const auto& file : table_files()) {
    const auto blocks = blocks_of(file);
    EXPECT_FALSE(blocks.empty()) << file << " has no block";
    std::set<std::string> titles;
    for (const auto& block : blocks) {
      EXPECT_TRUE(titles.insert(block.one("title")).second)
          << file << ':' << block.line << ": a second one with this title: " << block.one("title");
    }
  }
}

// --- Recording ---

// How a block's answer is to be written from now on. A part of the message that still holds is
// kept.
std::vector<std::string> recorded(const Block& block) {
  const bool endless = !block.expected.empty() && block.expected.back() == "...";
  const std::size_t most = endless               ? block.expected.size() - 1
                           : block.has("expect") ? kTimesRecorded
                                                 : kTimesDefault;
  const auto got = answer_to(block, most);
  if (!got.has_value()) {
    const std::string kept = message_part(block.one("refused"));
    const bool holds = !kept.empty() && got.error().message.find(kept) != std::string::npos;
    return {"refused: " + (holds ? kept : got.error().message) + position_text(got.error())};
  }
  std::vector<std::string> lines = {"expect:"};
  for (const auto& line : *got) lines.push_back("  " + line);
  return lines;
}

TEST(Tables, AreRecordedWhenAsked) {
  if (!recording()) return;
  for (const auto& file : table_files()) {
    const auto lines = lines_of(file);
    std::ostringstream out;
    std::size_t copied = 0;
    for (const auto& block : blocks_of(file)) {
      ASSERT_EQ(block.problem, "") << file << ':' << block.line;
      for (; copied < block.answer_begin; ++copied) out << lines[copied] << '\n';
      for (; copied < block.answer_end; ++copied) {
        if (lines[copied].front() == '#') out << lines[copied] << '\n';
      }
      for (const auto& line : recorded(block)) out << line << '\n';
    }
    for (; copied < lines.size(); ++copied) out << lines[copied] << '\n';
    std::ofstream(folder() / file) << out.str();
  }
}

}  // namespace
}  // namespace pawl
