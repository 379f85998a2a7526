#include "simulate/timeline.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/text.h"
#include "simulate/wall_text.h"

namespace pawl {
namespace {

constexpr std::size_t kColumns = 4;
using Cells = std::array<std::string, kColumns + 1>;  // the last one is not padded

// Characters, not bytes: names and keys may be written in any language.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// `new -> paying -> shipping`: every state it was in; one that it stays in, alone.
std::string path_of(const Moment& moment) {
  if (moment.entries.empty()) return moment.after.state;
  std::string path;
  std::string last;
  for (const Entry& entry : moment.entries) {
    if (path.empty()) path = last = entry.from.empty() ? "-" : entry.from;
    if (entry.to != last) path += " -> " + entry.to;
    last = entry.to;
  }
  return path;
}

bool gave_up(const Moment& moment) {
  return std::any_of(moment.entries.begin(), moment.entries.end(),
                     [](const Entry& entry) { return entry.kind == Entry::Kind::gave_up; });
}

std::string hold_text(const Hold& hold) {
  return "on hold: " + hold.code + (hold.text.empty() ? "" : " (" + printable(hold.text) + ")");
}

void add_part(std::string& text, const std::string& part) {
  text += (text.empty() ? "" : ", ") + part;
}

// What there is to know beyond the path.
std::string details_of(const Moment& moment, const Zone& zone) {
  const Standing& after = moment.after;
  std::string text;
  if (moment.answer != Answer::Kind::ok) {
    text = to_text(moment.answer);
    if (!moment.reason.empty()) text += ": " + moment.reason;
    return printable(text);
  }
  if (!moment.reason.empty()) return printable(moment.reason);
  if (moment.cause == Moment::Cause::start && after.running)
    add_part(text, "attempt " + std::to_string(after.attempt));
  if (gave_up(moment)) add_part(text, "gave up");
  if (after.hold && (!moment.before.hold || !(*moment.before.hold == *after.hold)))
    add_part(text, hold_text(*after.hold));
  if (after.next_at) add_part(text, "next " + near_text(*after.next_at, moment.at, zone));
  return text;
}

Cells cells_of(const Moment& moment, const Zone& zone) {
  return {wall_text(moment.at, zone), printable(moment.name), printable(moment.stimulus),
          path_of(moment), details_of(moment, zone)};
}

class Table {
 public:
  void add(Cells cells) {
    for (std::size_t i = 0; i < kColumns; ++i) widths_[i] = std::max(widths_[i], width(cells[i]));
    rows_.push_back({std::move(cells), {}});
  }

  void add_below(std::string line) { rows_.back().below.push_back(std::move(line)); }

  std::string text() const {
    std::string text;
    for (const Row& row : rows_) {
      append_line(text, row.cells);
      for (const std::string& line : row.below) append_line(text, {"", "", "", "  " + line, ""});
    }
    return text;
  }

 private:
  struct Row {
    Cells cells;
    std::vector<std::string> below;
  };

  void append_line(std::string& text, const Cells& cells) const {
    for (std::size_t i = 0; i < kColumns; ++i) {
      text += cells[i];
      text.append(widths_[i] > width(cells[i]) ? widths_[i] - width(cells[i]) + 2 : 2, ' ');
    }
    text += cells[kColumns];
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }

  std::array<std::size_t, kColumns> widths_{};
  std::vector<Row> rows_;
};

// --- Problems ---

std::string shown(const Json& json) {
  return printable(json.kind == Json::Kind::text ? json.text : to_text(json));
}

bool is_lines(const Json& json) {
  return json.kind == Json::Kind::list &&
         std::all_of(json.items.begin(), json.items.end(),
                     [](const Json& item) { return item.kind == Json::Kind::text; });
}

// The lines of both, each once: those that both have, those that only one has. Lists that are very
// long are given one after the other.
class LineDiff {
 public:
  static constexpr std::size_t kCellsMax = 4'000'000;

  LineDiff(const std::vector<Json>& expected, const std::vector<Json>& got)
      : expected_(expected), got_(got) {
    if ((expected.size() + 1) * (got.size() + 1) > kCellsMax) return;
    common_.resize((expected.size() + 1) * (got.size() + 1));
    for (std::size_t i = expected.size(); i-- > 0;)
      for (std::size_t j = got.size(); j-- > 0;)
        common(i, j) = expected[i] == got[j] ? common(i + 1, j + 1) + 1
                                             : std::max(common(i + 1, j), common(i, j + 1));
  }

  std::string text() {
    std::string text;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < expected_.size() || j < got_.size()) {
      const bool both = !common_.empty() && i < expected_.size() && j < got_.size();
      if (both && expected_[i] == got_[j]) {
        text += "      " + shown(expected_[i++]) + "\n";
        ++j;
      } else if (j == got_.size() ||
                 (i < expected_.size() && (!both || common(i + 1, j) >= common(i, j + 1)))) {
        text += "    - " + shown(expected_[i++]) + "\n";
      } else {
        text += "    + " + shown(got_[j++]) + "\n";
      }
    }
    return text;
  }

 private:
  // The length of the longest common part of what follows.
  std::size_t& common(std::size_t i, std::size_t j) { return common_[i * (got_.size() + 1) + j]; }

  const std::vector<Json>& expected_;
  const std::vector<Json>& got_;
  std::vector<std::size_t> common_;
};

}  // namespace

std::string to_timeline(const Played& played) {
  Table table;
  for (const Moment& moment : played.moments) {
    table.add(cells_of(moment, played.zone));
    for (const std::string& effect : moment.effects) table.add_below(printable(effect));
    for (const std::string& note : moment.notes) table.add_below("note: " + printable(note));
  }
  return table.text();
}

std::string to_text(const Problem& problem, std::string_view file, const Zone& zone) {
  std::string line = std::string(file) + ":" + std::to_string(problem.position.line) + ":" +
                     std::to_string(problem.position.column) + ": ";
  if (problem.step > 0)
    line += "step " + std::to_string(problem.step) + ", " + wall_text(problem.at, zone) + ": ";
  if (!problem.message.empty()) return line + "error: " + problem.message + "\n";
  line += problem.key;
  const bool lines = (problem.key == "effects" || problem.key == "log") &&
                     is_lines(problem.expected) && is_lines(problem.got);
  if (lines)
    return line + ": - expected, + got\n" +
           LineDiff(problem.expected.items, problem.got.items).text();
  return line + ": expected " + shown(problem.expected) + ", got " + shown(problem.got) + "\n";
}

}  // namespace pawl
