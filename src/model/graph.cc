#include "model/graph.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/edges.h"

namespace pawl {
namespace {

// What the reader of a picture tells apart.
enum class Kind { happy, event, clock, failure };

Kind kind_of(Edge::Why why) {
  switch (why) {
    case Edge::Why::done:
    case Edge::Why::started:
      return Kind::happy;
    case Edge::Why::event:
    case Edge::Why::machine:
    case Edge::Why::implicit:
    case Edge::Why::when:
      return Kind::event;
    case Edge::Why::after:
    case Edge::Why::every:
    case Edge::Why::planned:
    case Edge::Why::ended:
      return Kind::clock;
    case Edge::Why::resume:
    case Edge::Why::error:
    case Edge::Why::failure:
    case Edge::Why::rewound:
    case Edge::Why::give_up:
      break;
  }
  return Kind::failure;
}

std::string_view word_of(Edge::Why why) {
  switch (why) {
    case Edge::Why::done:
      return "done";
    case Edge::Why::event:
    case Edge::Why::machine:
    case Edge::Why::implicit:
      return "";
    case Edge::Why::after:
      return "after";
    case Edge::Why::every:
      return "every";
    case Edge::Why::planned:
      return "planned";
    case Edge::Why::ended:
      return "plan ended";
    case Edge::Why::when:
      return "when";
    case Edge::Why::started:
      return "started";
    case Edge::Why::resume:
      return "resume";
    case Edge::Why::error:
      return "error";
    case Edge::Why::failure:
      return "fails";
    case Edge::Why::rewound:
      return "comes back";
    case Edge::Why::give_up:
      return "gives up";
  }
  return "";
}

// The condition of a row, cut to what fits on an arrow.
std::string condition_of(const Row* row) {
  constexpr std::size_t kLongest = 40;
  if (row == nullptr || !row->condition) return "";
  const std::string& text = row->condition->text;
  if (text.size() <= kLongest) return " [" + text + "]";
  std::size_t cut = kLongest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
  return " [" + text.substr(0, cut) + "…]";
}

std::string label_of(const Edge& edge) {
  std::string label(word_of(edge.why));
  if (!label.empty() && !edge.label.empty()) label += ' ';
  label += edge.label + condition_of(edge.row);
  const bool rests = edge.why == Edge::Why::give_up && !edge.row->to;  // on hold, said or not
  if (edge.row != nullptr && (edge.row->hold || rests)) label += " (hold)";
  return label;
}

// All arrows from one state to another of one kind, drawn as one.
struct Arrow {
  std::optional<StateId> from;  // none: from every state a row of the machine holds in
  StateId to = 0;
  Kind kind = Kind::event;
  std::vector<std::string> labels;
};

bool is_loop(const Arrow& arrow) { return arrow.from == arrow.to; }

// Whether a row of the machine holds in every open state.
bool holds_everywhere(const Row& row) { return row.from == Row::From::open && row.except.empty(); }

class Picture {
 public:
  explicit Picture(const Machine& machine) {
    const std::vector<Edge> edges = edges_of(machine);
    for (const Edge& edge : edges)
      if (edge.why == Edge::Why::done) done_.emplace(edge.from, edge.to, edge.label);
    for (const Edge& edge : edges) {
      if (edge.why == Edge::Why::implicit || fired_by_done(edge)) continue;
      const bool everywhere = edge.why == Edge::Why::machine && holds_everywhere(*edge.row);
      add(everywhere ? std::nullopt : std::optional(edge.from), edge);
    }
  }

  const std::vector<Arrow>& arrows() const { return arrows_; }

  bool has_any() const {
    return std::any_of(arrows_.begin(), arrows_.end(),
                       [](const Arrow& arrow) { return !arrow.from; });
  }

 private:
  // An event that the state's own `done` fires is drawn once, as the happy path.
  bool fired_by_done(const Edge& edge) const {
    return edge.why == Edge::Why::event && done_.contains({edge.from, edge.to, edge.label});
  }

  void add(std::optional<StateId> from, const Edge& edge) {
    const Kind kind = kind_of(edge.why);
    const auto [known, added] = index_.emplace(std::tuple(from, edge.to, kind), arrows_.size());
    if (added) arrows_.push_back({from, edge.to, kind, {}});
    std::vector<std::string>& labels = arrows_[known->second].labels;
    const std::string label = label_of(edge);
    if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }

  std::vector<Arrow> arrows_;
  std::map<std::tuple<std::optional<StateId>, StateId, Kind>, std::size_t> index_;
  std::set<std::tuple<StateId, StateId, std::string>> done_;
};

std::string joined(const std::vector<std::string>& labels, std::string_view between) {
  std::string text;
  for (const std::string& label : labels)
    text += (text.empty() ? "" : std::string(between)) + label;
  return text;
}

// The labels of an arrow, each condition on a line of its own.
std::vector<std::string> label_lines(const Arrow& arrow) {
  std::vector<std::string> lines;
  for (const std::string& label : arrow.labels) {
    const std::size_t condition = label.find(" [");
    lines.push_back(label.substr(0, condition));
    if (condition != std::string::npos) lines.push_back(label.substr(condition + 1));
  }
  return lines;
}

// The implicit `discarded` is drawn only when something written leads there.
std::vector<StateId> drawn_states(const Machine& machine, const Picture& picture) {
  std::vector<bool> reached(machine.state_count());
  for (const Arrow& arrow : picture.arrows()) reached[arrow.to] = true;
  std::vector<StateId> states;
  for (StateId id = 0; id < machine.state_count(); ++id)
    if (id < machine.definition().states.size() || reached[id]) states.push_back(id);
  return states;
}

constexpr std::string_view kEverywhere = "every open state";

// --- Mermaid -------------------------------------------------------------------------------------

std::string mermaid_text(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"') {
      quoted += "#quot;";
    } else if (c == '#') {
      quoted += "#35;";
    } else if (c == '<') {
      quoted += "#lt;";
    } else if (c == '>') {
      quoted += "#gt;";
    } else {
      quoted += c == '\n' ? ' ' : c;
    }
  }
  return quoted;
}

// A prefix, because `end` and a few others are words of Mermaid.
std::string mermaid_id(const Machine& machine, std::optional<StateId> id) {
  return id ? "s_" + machine.state(*id).name : "every_state";
}

// Arrows from a state to itself, as text in the state: Mermaid draws them across other arrows.
std::string mermaid_loops(const Picture& picture, StateId id) {
  std::string text;
  for (const Arrow& arrow : picture.arrows())
    if (is_loop(arrow) && arrow.to == id)
      for (const std::string& label : arrow.labels)
        text += "<br/><small>↻ " + mermaid_text(label) + "</small>";
  return text;
}

std::string mermaid_node(const Machine& machine, const Picture& picture, StateId id) {
  const State& state = machine.state(id);
  const std::string task = state.task ? "<br/><i>" + mermaid_text(state.task->name) + "</i>" : "";
  const std::string text =
      "\"" + mermaid_text(state.name) + task + mermaid_loops(picture, id) + "\"";
  if (state.final) return "([" + text + "])";
  return state.task ? "[" + text + "]" : "(" + text + ")";
}

std::string mermaid_label(const Arrow& arrow) {
  std::vector<std::string> lines;
  for (const std::string& line : label_lines(arrow)) lines.push_back(mermaid_text(line));
  return joined(lines, "<br/>");
}

// The stroke from a state to the label, and the one from there to the next state.
std::pair<std::string_view, std::string_view> mermaid_strokes(Kind kind) {
  switch (kind) {
    case Kind::happy:
      return {" === ", " ==> "};
    case Kind::clock:
      return {" -.- ", " -.-> "};
    case Kind::failure:
    case Kind::event:
      break;
  }
  return {" --- ", " --> "};
}

// Each label is a node of its own: Mermaid's layout keeps nodes, unlike labels, clear of arrows and
// of each other.
std::string mermaid_arrows(const Machine& machine, const Picture& picture) {
  std::string text;
  std::string failures;  // the numbers of their strokes; 0 is the one from the start
  std::size_t number = 0;
  for (const Arrow& arrow : picture.arrows()) {
    if (is_loop(arrow)) continue;
    ++number;
    const bool is_failure = arrow.kind == Kind::failure;
    const auto [line, head] = mermaid_strokes(arrow.kind);
    text += "  " + mermaid_id(machine, arrow.from) + std::string(line) + "a" +
            std::to_string(number) + "[\"" + mermaid_label(arrow) +
            "\"]:::" + (is_failure ? "failure" : "label") + std::string(head) +
            mermaid_id(machine, arrow.to) + "\n";
    if (is_failure)
      failures += (failures.empty() ? "" : ",") + std::to_string(2 * number - 1) + "," +
                  std::to_string(2 * number);
  }
  text += "  classDef label fill:none,stroke:none\n";
  if (failures.empty()) return text;
  return text + "  classDef failure fill:none,stroke:none,color:#c0392b\n  linkStyle " + failures +
         " stroke:#c0392b\n";
}

// --- Graphviz ------------------------------------------------------------------------------------

std::string dot_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string dot_text(std::string_view text) { return "\"" + dot_escaped(text) + "\""; }

// Several lines in one label.
std::string dot_lines(const std::vector<std::string>& lines) {
  std::vector<std::string> escaped;
  for (const std::string& line : lines) escaped.push_back(dot_escaped(line));
  return "\"" + joined(escaped, "\\n") + "\"";
}

std::string_view dot_style(Kind kind) {
  switch (kind) {
    case Kind::happy:
      return "penwidth=2.2";
    case Kind::clock:
      return "style=dashed";
    case Kind::failure:
      return "color=\"#c0392b\", fontcolor=\"#c0392b\", arrowhead=empty";
    case Kind::event:
      break;
  }
  return "color=\"#333333\"";
}

std::string dot_node(const State& state) {
  const std::string_view shape = state.final
                                     ? "shape=box, style=\"rounded,bold\", peripheries=2"
                                     : (state.task ? "shape=box" : "shape=box, style=rounded");
  std::vector<std::string> lines{state.name};
  if (state.task) lines.push_back(state.task->name);
  return "  " + dot_text(state.name) + " [label=" + dot_lines(lines) + ", " + std::string(shape) +
         "];\n";
}

std::string dot_arrow(const Machine& machine, const Arrow& arrow) {
  std::vector<std::string> lines;  // with room around them, so that they touch no arrow
  for (const std::string& line : label_lines(arrow)) lines.push_back("  " + line + "  ");
  const std::string_view from =
      arrow.from ? std::string_view(machine.state(*arrow.from).name) : kEverywhere;
  return "  " + dot_text(from) + " -> " + dot_text(machine.state(arrow.to).name) +
         " [label=" + dot_lines(lines) + ", " + std::string(dot_style(arrow.kind)) + "];\n";
}

}  // namespace

std::string to_mermaid(const Machine& machine) {
  const Picture picture(machine);
  std::string text =
      "%%{init: {\"flowchart\": {\"nodeSpacing\": 30, \"rankSpacing\": 25, \"padding\": 10}}}%%\n"
      "flowchart TD\n";
  text += "  start((\" \")) --> " + mermaid_id(machine, machine.definition().initial.id) + "\n";
  for (const StateId id : drawn_states(machine, picture))
    text += "  " + mermaid_id(machine, id) + mermaid_node(machine, picture, id) + "\n";
  if (picture.has_any()) text += "  every_state{{\"" + std::string(kEverywhere) + "\"}}\n";
  return text + mermaid_arrows(machine, picture);
}

std::string to_dot(const Machine& machine) {
  const Picture picture(machine);
  std::string text =
      "digraph " + dot_text(machine.name()) +
      " {\n  nodesep=0.5;\n  node [fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", "
      "fontsize=10];\n  \"*\" [shape=point];\n  \"*\" -> " +
      dot_text(machine.definition().initial.name) + ";\n";
  for (const StateId id : drawn_states(machine, picture)) text += dot_node(machine.state(id));
  if (picture.has_any()) text += "  " + dot_text(kEverywhere) + " [shape=hexagon];\n";
  for (const Arrow& arrow : picture.arrows()) text += dot_arrow(machine, arrow);
  return text + "}\n";
}

namespace {

std::string_view nature(const State& state) {
  if (state.final) return "final";
  return state.task ? "works" : "waits";
}

// The arrow in ASCII says its kind: happy path, event, clock, failure.
std::string_view text_arrow(Kind kind) {
  constexpr std::array<std::string_view, 4> kArrows{"==>", "-->", "..>", "--x"};
  return kArrows[static_cast<std::size_t>(kind)];
}

void append_ways_out(std::string& text, const Machine& machine, const Picture& picture,
                     std::optional<StateId> from) {
  for (const Arrow& arrow : picture.arrows())
    if (arrow.from == from)
      text += "  " + std::string(text_arrow(arrow.kind)) + " " + machine.state(arrow.to).name +
              "   " + joined(arrow.labels, " | ") + "\n";
}

}  // namespace

std::string to_text_graph(const Machine& machine) {
  const Picture picture(machine);
  std::string text = machine.name() + ", begins in " + machine.definition().initial.name +
                     "\n(==> happy path, --> event or condition, ..> clock, --x failure)\n";
  for (const StateId id : drawn_states(machine, picture)) {
    const State& state = machine.state(id);
    text += "\n" + state.name + "   " + std::string(nature(state)) +
            (state.task ? ": " + state.task->name : "") + "\n";
    append_ways_out(text, machine, picture, id);
  }
  if (picture.has_any()) {
    text += "\n" + std::string(kEverywhere) + "\n";
    append_ways_out(text, machine, picture, std::nullopt);
  }
  return text;
}

}  // namespace pawl
