#include "policy/outlook_text.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Cells = std::vector<std::string>;

std::string text_of(const std::optional<Duration>& known) {
  return known ? short_text(*known) : "?";
}

// `if a: to `b`, hold, alerts `c``
std::string text_of(const Outlook::End& end, bool transient) {
  Cells parts;
  if (!end.to.empty()) parts.push_back("to " + in_ticks(end.to));
  if (end.hold) parts.emplace_back("hold");
  if (!transient && end.server_alert) parts.emplace_back("alerts the server's channel");
  if (!transient && !end.alert.empty()) parts.push_back("alerts " + in_ticks(end.alert));
  if (transient || (end.alert.empty() && !end.server_alert)) parts.emplace_back("no alert");
  for (const std::string& channel : end.notifies) parts.push_back("notifies " + in_ticks(channel));
  const std::string condition = end.condition.empty() ? "" : "if " + end.condition + ": ";
  return condition + join(parts, ", ", ", ");
}

// What happens when no delay is left.
std::string text_of_end(const Outlook& outlook, bool transient) {
  Cells choices;
  for (const Outlook::End& end : outlook.ends)
    if (end.elapsed.empty())
      choices.push_back((choices.empty() || !end.condition.empty() ? "" : "else ") +
                        text_of(end, transient));
  return join(choices, "; ", "; ");
}

std::string assumption_of(const Outlook& outlook, const Outlook::Run& run) {
  Cells codes;
  for (const std::string& code : run.codes)
    codes.push_back(code == "default" ? "any other error" : in_ticks(code));
  const bool any = !run.own_delays && run.codes.back() == "default";  // as it always is the last
  std::string text = outlook.works ? "If every attempt " : "If it ";
  text += run.later ? "is answered" : (outlook.works ? "fails" : "fails every time");
  text += any ? " and is retried" : (run.later ? " " : " with ") + join(codes, ", ", " or ");
  if (!run.condition.empty()) text += " (if " + run.condition + ")";
  return text +
         (outlook.works ? ", counted from the first start:" : ", counted from the first failure:");
}

std::string and_so_on(const Outlook::Run& run) {
  const std::string end = run.last ? "" : ", without end";
  if (run.failed.empty()) return "each retry starts at the next planned time" + end;
  if (!run.then_every) return "and so on, longer each time" + end;
  const std::string& written = run.failed.back().wait_text;
  return "and so on, every " + (written.empty() ? short_text(*run.then_every) : written) + end;
}

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

// Cells padded to columns; a line may have fewer of them than the first.
Cells columns(const std::vector<Cells>& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const Cells& cells : table)
    for (std::size_t i = 0; i + 1 < cells.size(); ++i)
      widths[i] = std::max(widths[i], width_of(cells[i]));
  Cells lines;
  for (const Cells& cells : table) {
    std::string line = " ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += " " + cells[i];
      if (i + 1 < cells.size()) line += std::string(widths[i] - width_of(cells[i]) + 1, ' ');
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<Cells> table_of(const Outlook& outlook, const Outlook::Run& run) {
  const bool latest = outlook.works;
  std::vector<Cells> table;
  table.push_back(
      {run.later ? "answer" : "failure", "waits", latest ? "soonest start" : "comes back"});
  if (latest) table.front().emplace_back("latest start");
  for (const Outlook::Failed& failed : run.failed) {
    const std::string wait = failed.wait_text.empty() ? short_text(failed.wait) : failed.wait_text;
    table.push_back({std::to_string(failed.failure), wait, text_of(failed.next_start.least)});
    if (latest) table.back().push_back(text_of(failed.next_start.most));
  }
  return table;
}
std::string text_of_giving_up(const Outlook& outlook, const Outlook::Run& run) {
  const bool known = run.gives_up_after.least.has_value();
  return "gives up" + (known ? " after " + short_text(run.gives_up_after) : "") + ": " +
         text_of_end(outlook, run.transient);
}

void add_run(const Outlook& outlook, const Outlook::Run& run, Cells& lines) {
  std::vector<Cells> table;
  if (!run.failed.empty()) table = table_of(outlook, run);
  if (run.goes_on) table.push_back({"…", and_so_on(run)});
  if (run.last) table.push_back({std::to_string(*run.last), text_of_giving_up(outlook, run)});
  lines.push_back(assumption_of(outlook, run));
  for (std::string& line : columns(table)) lines.push_back(std::move(line));
}

// One delay for ever, for a single error: the sentence on that error says it all.
bool is_plain(const Outlook::Run& run) {
  return run.own_delays && run.then_every && run.failed.size() == 1 && !run.last;
}

std::string text_of_elapsed(const Outlook::End& end) {
  std::string text = "After " + end.elapsed + " of failures";
  if (end.over_rounds) {
    text += ", across all rounds";
  } else if (end.failures) {
    text += " (" + std::to_string(*end.failures) + " or more)";
  }
  text += ", it gives up: " + text_of(end, false);
  return text + (end.comes_late && !end.over_rounds ? "; the delays are used up before that" : "");
}

std::string text_of(Policy::Align align) {
  switch (align) {
    case Policy::Align::planned:
      return "A retry that might end after the next planned time starts at that time instead; "
             "the table does not show this.";
    case Policy::Align::whichever_first:
      return "A retry starts at the next planned time when that is earlier; the table does not "
             "show this.";
    case Policy::Align::retry:
    case Policy::Align::only_planned:
      break;
  }
  return "";
}

Cells all_in_ticks(const Cells& names) {
  Cells ticked;
  for (const std::string& name : names) ticked.push_back(in_ticks(name));
  return ticked;
}

// Whether some run may last longer than that.
bool may_outlast(const Outlook& outlook, Duration stay) {
  return std::any_of(outlook.runs.begin(), outlook.runs.end(), [&](const Outlook::Run& run) {
    return !run.last || !run.gives_up_after.most || *run.gives_up_after.most > stay;
  });
}

// What the tables do not show.
void add_notes(const Outlook& outlook, Cells& lines) {
  if (outlook.align && !text_of(*outlook.align).empty()) lines.push_back(text_of(*outlook.align));
  if (!outlook.through.empty())
    lines.push_back("It comes back to " + join(all_in_ticks(outlook.through), ", ", " or ") +
                    " first; the table does not include the time there.");
  if (!outlook.unknown.empty())
    lines.push_back("Depends on the record: " + join(all_in_ticks(outlook.unknown), ", ", " and ") +
                    ".");
}

// `38.4`, from thousandths.
std::string with_decimals(std::int64_t thousandths) {
  std::string text = std::to_string(thousandths / 1'000);
  if (thousandths % 1'000 == 0) return text;
  text += "." + std::to_string(1'000 + thousandths % 1'000).substr(1);
  return text.erase(text.find_last_not_of('0') + 1);
}

struct Unit {
  Duration length;
  std::string_view name;
};

}  // namespace

std::vector<std::string> to_lines(const Outlook& outlook) {
  Cells lines;
  for (const Outlook::Run& run : outlook.runs)
    if (!is_plain(run)) add_run(outlook, run, lines);
  const bool has_table = !lines.empty();
  for (const Outlook::End& end : outlook.ends)
    if (!end.elapsed.empty()) lines.push_back(text_of_elapsed(end) + ".");
  if (outlook.stay && may_outlast(outlook, *outlook.stay))
    lines.push_back("After " + short_text(*outlook.stay) +
                    " the record leaves the state, retries or not.");
  if (has_table) add_notes(outlook, lines);
  return lines;
}

std::string short_text(Duration duration) {
  constexpr std::array<Unit, 3> kUnits = {{{24h, "d"}, {1h, "h"}, {1min, "m"}}};
  if (duration == kDurationMax) return "9,999 years";
  if (duration == 0s) return "0s";
  if (duration < 1s) return with_decimals(duration.count()) + "ms";
  std::string text;
  for (const Unit& unit : kUnits) {
    if (const auto count = duration / unit.length; count > 0)
      text += std::to_string(count) + std::string(unit.name);
    duration %= unit.length;
  }
  const auto milliseconds = duration / 1ms;
  return milliseconds == 0 ? text : text + with_decimals(milliseconds) + "s";
}

std::string short_text(const Between& between) {
  if (!between.least) return "?";
  if (!between.most) return short_text(*between.least) + " or more";
  if (between.least == between.most) return short_text(*between.least);
  return short_text(*between.least) + " to " + short_text(*between.most);
}

}  // namespace pawl
