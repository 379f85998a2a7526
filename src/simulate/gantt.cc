// A record is always in one phase: an attempt runs, it waits for the next one, for a worker, for an
// event, for a person, or it is over. A bar is a phase from its beginning to its end; decisions
// that leave a record in the phase it is in (a beat, an event that only sets data) do not cut it.
#include "simulate/gantt.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "simulate/wall_text.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr std::string_view kIndent = "    ";

// What Mermaid would take for its own signs is left out.
std::string plain(std::string_view text, std::string_view signs = ":;#%") {
  std::string out;
  for (const char c : text)
    out +=
        signs.find(c) == std::string_view::npos && static_cast<unsigned char>(c) >= ' ' ? c : ' ';
  return out;
}

struct Bar {
  std::string label;
  std::string tag = {};  // `done`, `crit`, `active`
  Instant begin = {};
  Instant end = {};
  bool milestone = false;
};

struct Phase {
  enum class Kind { none, attempt, back_off, wait, hold };

  Kind kind = Kind::none;
  std::string label = {};
  Instant begin = {};
  std::optional<Instant> until = {};  // of a back-off: from then on a worker may take the task
  std::string ready_label = {};

  bool goes_on_as(const Phase& next) const {
    return kind == next.kind && label == next.label && until == next.until;
  }
};

Phase phase_of(const Standing& standing, Instant at) {
  using Kind = Phase::Kind;
  if (standing.state.empty() || standing.final) return {};
  if (standing.running)
    return {Kind::attempt, standing.task + " " + std::to_string(standing.attempt), at};
  if (standing.hold) return {Kind::hold, "on hold (" + standing.hold->code + ")", at};
  const std::string ready = standing.task + " ready";
  if (standing.come_back_at) return {Kind::back_off, "back-off", at, standing.come_back_at};
  if (standing.ready_at && *standing.ready_at > at)
    return {Kind::back_off, "back-off", at, standing.ready_at, ready};
  return {Kind::wait, standing.ready_at ? ready : standing.state, at};
}

bool attempt_ended(const Moment& moment) {
  const auto& before = moment.before.running;
  const auto& after = moment.after.running;
  return before && (!after || after->token_hash != before->token_hash);
}

// How an attempt ended: its tag, and what is said after its name.
std::pair<std::string, std::string> outcome_of(const Moment& moment) {
  using Cause = Moment::Cause;
  const Entry* entry = moment.entries.empty() ? nullptr : &moment.entries.front();
  const std::string code = moment.cause == Cause::fail        ? moment.stimulus.substr(5)
                           : entry != nullptr && entry->error ? entry->error->code
                                                              : "";
  const std::string said = code.empty() ? "" : " (" + code + ")";
  if (moment.cause == Cause::done || (entry != nullptr && entry->kind == Entry::Kind::done))
    return {"done", said};
  if (moment.cause == Cause::fail && entry == nullptr) return {"", said};  // asks again later
  if (moment.cause == Cause::fail || moment.cause == Cause::wake) return {"crit", said};
  return {"", " (revoked)"};
}

// The bars of one record.
class Section {
 public:
  explicit Section(std::string title) : title_(std::move(title)) {}

  void add(const Moment& moment) {
    const Phase next = phase_of(moment.after, moment.at);
    if (attempt_ended(moment)) {
      const auto [tag, said] = outcome_of(moment);
      close(moment.at, tag, said);
    } else if (!phase_.goes_on_as(next)) {
      close(moment.at, "", "");
    }
    if (phase_.kind == Phase::Kind::none) phase_ = next;
    last_ = moment.after;
    add_milestones(moment);
  }

  void end(Instant at) {
    const bool running = phase_.kind == Phase::Kind::attempt;
    close(at, phase_.kind == Phase::Kind::none ? "" : "active", "");
    if (running && last_.running) add_milestone("deadline", last_.running->deadline_at);
    if (last_.planned_at && !last_.hold) add_milestone("planned", *last_.planned_at);
  }

  const std::string& title() const { return title_; }
  const std::vector<Bar>& bars() const { return bars_; }

 private:
  void add_milestones(const Moment& moment) {
    if (moment.cause == Moment::Cause::wake && !moment.entries.empty()) {
      const Entry& entry = moment.entries.front();
      if (entry.kind == Entry::Kind::schedule) add_milestone("planned", moment.at);
      if (entry.error && entry.error->code == "timeout") add_milestone("deadline", moment.at);
    }
    if (moment.after.final && !moment.before.final) add_milestone(moment.after.state, moment.at);
  }

  void add_milestone(const std::string& label, Instant at) {
    bars_.push_back({label, "", at, at, true});
  }

  void close(Instant at, const std::string& tag, const std::string& said) {
    const Phase phase = std::exchange(phase_, {});
    if (phase.kind == Phase::Kind::none) return;
    const bool attempt = phase.kind == Phase::Kind::attempt;
    const bool split = phase.until && *phase.until < at && !phase.ready_label.empty();
    const Instant end = split ? *phase.until : at;
    const std::string own_tag = phase.kind == Phase::Kind::hold ? "active" : tag;
    if (attempt || end > phase.begin)
      bars_.push_back(
          {phase.label + said, own_tag, phase.begin, end, attempt && end == phase.begin});
    if (split) bars_.push_back({phase.ready_label, tag, end, at});
  }

  std::string title_;
  Phase phase_;
  Standing last_;
  std::vector<Bar> bars_;
};

std::vector<Section> sections_of(const Played& played) {
  std::vector<Section> sections;
  std::map<RecordId, std::size_t> places;
  for (const Moment& moment : played.moments) {
    if (moment.id.value == 0) continue;
    const auto [place, added] = places.try_emplace(moment.id, sections.size());
    if (added) sections.emplace_back(moment.name);
    sections[place->second].add(moment);
  }
  for (Section& section : sections) section.end(played.ended_at);
  return sections;
}

// How instants are written: as exactly as they need to be, on an axis that fits.
struct Axis {
  bool decimals = false;
  Duration length{0};

  explicit Axis(const std::vector<Section>& sections) {
    std::optional<Instant> first;
    std::optional<Instant> last;
    for (const Section& section : sections)
      for (const Bar& bar : section.bars())
        for (const Instant at : {bar.begin, bar.end}) {
          first = std::min(first.value_or(at), at);
          last = std::max(last.value_or(at), at);
          decimals = decimals || at != std::chrono::floor<seconds>(at);
        }
    if (first) length = *last - *first;
  }

  std::string text(Instant at, const Zone& zone) const {
    const Instant whole = std::chrono::floor<seconds>(at);
    std::string text = wall_text(whole, zone);
    if (!decimals) return text;
    std::array<char, 8> buffer{};
    std::snprintf(buffer.data(), buffer.size(), ".%03d",
                  static_cast<int>((at - whole).count() / 1'000));
    return text + buffer.data();
  }

  std::string_view format() const {
    if (length < hours{1}) return "%H:%M:%S";
    return length < hours{24} ? "%H:%M" : "%Y-%m-%d %H:%M";
  }
};

std::string line_of(const Bar& bar, const Axis& axis, const Zone& zone) {
  std::string line = std::string(kIndent) + plain(bar.label) + " : ";
  if (!bar.tag.empty()) line += bar.tag + ", ";
  if (bar.milestone) line += "milestone, ";
  line += axis.text(bar.begin, zone) + ", ";
  return line + (bar.milestone ? "0s" : axis.text(bar.end, zone)) + "\n";
}

}  // namespace

std::string to_gantt(const Played& played) {
  const std::vector<Section> sections = sections_of(played);
  const Axis axis(sections);
  std::string text = "gantt\n";
  text +=
      std::string(kIndent) + "title " + plain(played.machine + ": " + played.title, ";#%") + "\n";
  text += std::string(kIndent) + "dateFormat YYYY-MM-DD HH:mm:ss" + (axis.decimals ? ".SSS" : "") +
          "\n";
  text += std::string(kIndent) + "axisFormat " + std::string(axis.format()) + "\n";
  for (const Section& section : sections) {
    text += "\n" + std::string(kIndent) + "section " + plain(section.title()) + "\n";
    for (const Bar& bar : section.bars()) text += line_of(bar, axis, played.zone);
  }
  return text;
}

}  // namespace pawl
