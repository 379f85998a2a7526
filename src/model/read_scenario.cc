// Scenarios: stories that the machine must play. Their steps are read here and played by `pawl
// simulate`.
#include <algorithm>

#include "base/text.h"
#include "model/reader.h"

namespace pawl {
namespace {

void read_instant(Reader& reader, const Node& node, std::string& into) {
  reader.text(node, "an instant (2026-03-02T08:00:00Z)", into);
}

// An instant, `HH:MM[:SS]`, or `+duration`.
void read_step_at(Reader& reader, const Node& node, std::string& into) {
  if (node.kind != Node::Kind::text) {
    reader.wrong_kind(node, "a time: an instant, \"08:30\" or +5m");
    return;
  }
  into = node.text;
  if (!node.text.starts_with('+')) return;
  const auto delay = parse_duration(std::string_view(node.text).substr(1));
  if (!delay) reader.error("bad_duration", node.at, delay.error().message);
}

// What steps say is kept as it is written; here it is only looked at.
void check_name(Reader& reader, const Node& node, std::string_view what) {
  std::string ignored;
  reader.name(node, what, ignored);
}

void check_text(Reader& reader, const Node& node, std::string_view what) {
  std::string ignored;
  reader.text(node, what, ignored);
}

bool is_null(const Node& node) { return node.kind == Node::Kind::null && !node.empty; }

void check_code(Reader& reader, const Node& node, std::string_view what) {
  if (!is_null(node)) check_name(reader, node, what);
}

void check_time(Reader& reader, const Node& node) {
  if (!is_null(node)) check_text(reader, node, "a time: an instant, \"08:30\" or null");
}

void check_count(Reader& reader, const Node& node) { reader.integer(node, 0, kIntegerMax); }

void check_running(Reader& reader, const Node& node) {
  bool ignored = false;
  reader.boolean(node, ignored);
}

void check_names(Reader& reader, const Node& node, std::string_view what) {
  std::vector<std::string> ignored;
  reader.names(node, what, ignored);
}

void check_lines(Reader& reader, const Node& node) {
  if (!reader.is_list(node, "a list of texts in brackets")) return;
  for (const Node& item : node.items) check_text(reader, item, "a text");
}

// One value, or `[a, b]`: something between them.
void check_between(Reader& reader, const Node& node, void (*check)(Reader&, const Node&)) {
  if (node.kind != Node::Kind::list) {
    check(reader, node);
  } else if (node.items.size() != 2) {
    reader.error("wrong_kind", node.at, "expected one value, or [from, to]");
  } else {
    for (const Node& item : node.items) check(reader, item);
  }
}

void check_times(Reader& reader, const Node& node, Json&) {
  check_between(reader, node, check_time);
}

void check_counts(Reader& reader, const Node& node, Json&) {
  check_between(reader, node, check_count);
}

// machine -> state -> how many
void check_children(Reader& reader, const Node& node, Json&) {
  reader.members(node, "`children`", [&](const Member& machine) {
    reader.check_name(machine.key, machine.key_at, "a machine");
    reader.members(machine.value, "counts of children", [&](const Member& state) {
      reader.check_name(state.key, state.key_at, "a state");
      check_between(reader, state.value, check_count);
    });
  });
}

void check_order(Reader& reader, const Node& node) {
  if (node.kind == Node::Kind::map) {
    reader.check_json_keys(node, order_keys());
    return;
  }
  const auto known = std::find(std::begin(kOrderWords), std::end(kOrderWords), node.text);
  if (node.kind != Node::Kind::text || known == std::end(kOrderWords))
    reader.error("unknown_word", node.at,
                 "an order is retry, release, migrate, {hold: text}, {move: state} or {patch: …}");
}

void check_failure(Reader& reader, const Node& node) {
  if (node.kind == Node::Kind::map) {
    reader.check_json_keys(node, fail_keys());
  } else {
    check_name(reader, node, "an error code");
  }
}

void read_step_verb(Reader& reader, const Node& node, Step& step, Step::Verb verb) {
  step.verb = verb;
  step.subject = to_json(node);
  if (verb == Step::Verb::fire) check_name(reader, node, "an event");
  if (verb == Step::Verb::start) check_name(reader, node, "a task");
  if (verb == Step::Verb::create) reader.check_json_keys(node, create_keys());
  if (verb == Step::Verb::fail) check_failure(reader, node);
  if (verb == Step::Verb::order) check_order(reader, node);
}

}  // namespace

void Reader::check_json_keys(const Node& node, const Keys<Json>& known) {
  Json ignored;
  keys(node, known, ignored);
}

const Keys<Json>& create_keys() {
  static const Keys<Json> keys{
      "create",
      "`create`",
      {{{"machine", Shape::name, "the machine"},
        [](Reader& r, const Node& n, Json&) { check_name(r, n, "a machine"); }},
       {{"key", Shape::text, "the key of the record", {}, true},
        [](Reader& r, const Node& n, Json&) { check_text(r, n, "the key of the record: a text"); }},
       {{"data", Shape::map, "its data"},
        [](Reader& r, const Node& n, Json&) { r.is_map(n, "`data`"); }},
       {{"parent", Shape::text, "machine/key"},
        [](Reader& r, const Node& n, Json&) { check_text(r, n, "a record: machine/key"); }}}};
  return keys;
}

const Keys<Json>& fail_keys() {
  static const Keys<Json> keys{
      "failure",
      "`fail`",
      {{{"code", Shape::name, "the error code", {}, true},
        [](Reader& r, const Node& n, Json&) { check_name(r, n, "an error code"); }},
       {{"message", Shape::text, "for people"},
        [](Reader& r, const Node& n, Json&) { check_text(r, n, "a text"); }},
       {{"detail", Shape::anything, "partial output"}, nullptr},
       {{"retry_after", Shape::duration, "the delay is at least this long"},
        [](Reader& r, const Node& n, Json&) { r.duration(n); }}}};
  return keys;
}

const Keys<Json>& order_keys() {
  static const Keys<Json> keys{
      "order",
      "`order`",
      {{{"hold", Shape::text, "the text"},
        [](Reader& r, const Node& n, Json&) { check_text(r, n, "a text for people"); }},
       {{"move", Shape::name, "the state"},
        [](Reader& r, const Node& n, Json&) { check_name(r, n, "a state"); }},
       {{"patch", Shape::map, "changes of data"},
        [](Reader& r, const Node& n, Json&) { r.is_map(n, "`patch`"); }}},
      {"hold", "move", "patch"},
      true};
  return keys;
}

const Keys<Json>& actor_keys() {
  static const Keys<Json> keys{
      "actor",
      "`actor`",
      {{{"name", Shape::text, "their name", {}, true},
        [](Reader& r, const Node& n, Json&) { check_text(r, n, "a name"); }},
       {{"roles", Shape::names, "their roles"},
        [](Reader& r, const Node& n, Json&) { check_names(r, n, "a role"); }}}};
  return keys;
}

const Keys<Json>& expect_keys() {
  static const Keys<Json> keys{
      "expect",
      "`expect`",
      {{{"answer", Shape::word, "how the step was answered", kAnswerWords},
        [](Reader& r, const Node& n, Json&) {
          std::size_t ignored = 0;
          r.word(n, "an answer", kAnswerWords, ignored);
        }},
       {{"state", Shape::name, "where the record is"},
        [](Reader& r, const Node& n, Json&) { check_name(r, n, "a state"); }},
       {{"next_at", Shape::expected_time, "the earlier of ready_at and wake_at"}, check_times},
       {{"ready_at", Shape::expected_time, "from when the task may be claimed"}, check_times},
       {{"wake_at", Shape::expected_time, "when the engine acts"}, check_times},
       {{"deadline_at", Shape::expected_time, "of the live attempt"}, check_times},
       {{"attempt", Shape::expected_count, "starts so far"}, check_counts},
       {{"failures", Shape::expected_count, "counted failures"}, check_counts},
       {{"epoch", Shape::expected_count, "fresh starts"}, check_counts},
       {{"running", Shape::boolean, "whether an attempt is running"},
        [](Reader& r, const Node& n, Json&) { check_running(r, n); }},
       {{"hold", Shape::name_or_null, "the code of the hold, or null"},
        [](Reader& r, const Node& n, Json&) { check_code(r, n, "a hold"); }},
       {{"text", Shape::text_or_null, "the text of the hold, or null"},
        [](Reader& r, const Node& n, Json&) {
          if (!is_null(n)) check_text(r, n, "a text or null");
        }},
       {{"error", Shape::name_or_null, "the code of the last error, or null"},
        [](Reader& r, const Node& n, Json&) { check_code(r, n, "an error code"); }},
       {{"data", Shape::map, "these fields of data"},
        [](Reader& r, const Node& n, Json&) { r.is_map(n, "`data`"); }},
       {{"result", Shape::anything, "the last task's result"}, nullptr},
       {{"permitted", Shape::names, "events the actor may fire"},
        [](Reader& r, const Node& n, Json&) { check_names(r, n, "an event"); }},
       {{"children", Shape::expected_children, "counts of children"}, check_children},
       {{"effects", Shape::texts, "the effects since a step last expected them"},
        [](Reader& r, const Node& n, Json&) { check_lines(r, n); }},
       {{"log", Shape::texts, "the entries since a step last expected them"},
        [](Reader& r, const Node& n, Json&) { check_lines(r, n); }}}};
  return keys;
}

const Keys<Step>& step_keys() {
  using enum Step::Verb;
  static const Keys<Step> keys{
      "step",
      "a step",
      {{{"at", Shape::step_time, "an instant, HH:MM[:SS] or +duration"},
        [](Reader& r, const Node& n, Step& s) { read_step_at(r, n, s.at); }},
       {{"record", Shape::text, "machine/key, or run task"},
        [](Reader& r, const Node& n, Step& s) { r.text(n, "a record", s.record); }},
       {{"create", Shape::create, "create a record"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, create); }},
       {{"fire", Shape::name, "fire an event"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, fire); }},
       {{"start", Shape::name, "a worker claims the task"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, start); }},
       {{"beat", Shape::anything, "a worker shows it is alive"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, beat); }},
       {{"done", Shape::anything, "the task is done, with this result"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, done); }},
       {{"fail", Shape::step_fail, "the task failed"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, fail); }},
       {{"order", Shape::order, "an operator's order"},
        [](Reader& r, const Node& n, Step& s) { read_step_verb(r, n, s, order); }},
       {{"with", Shape::map, "the payload of the event"},
        [](Reader& r, const Node& n, Step& s) {
          r.is_map(n, "`with`");
          s.with = to_json(n);
        }},
       {{"actor", Shape::actor, "who fires it: {name, roles}"},
        [](Reader& r, const Node& n, Step& s) {
          r.check_json_keys(n, actor_keys());
          s.actor = to_json(n);
        }},
       {{"as", Shape::text, "a name for the token"},
        [](Reader& r, const Node& n, Step& s) { r.text(n, "a name", s.as); }},
       {{"token", Shape::text, "the token used"},
        [](Reader& r, const Node& n, Step& s) { r.text(n, "a name", s.token); }},
       {{"expect", Shape::expect, "what must be true then"},
        [](Reader& r, const Node& n, Step& s) {
          r.check_json_keys(n, expect_keys());
          s.expect = to_json(n);
        }}},
      {"create", "fire", "start", "beat", "done", "fail", "order"}};
  return keys;
}

const Keys<Scenario>& scenario_keys() {
  static const Keys<Scenario> keys{
      "scenario",
      "a scenario",
      {{{"at", Shape::text, "the first instant", {}, true},
        [](Reader& r, const Node& n, Scenario& s) { read_instant(r, n, s.at); }},
       {{"tz", Shape::text, "the zone of times without offset (UTC)"},
        [](Reader& r, const Node& n, Scenario& s) { r.text(n, "a time zone", s.tz); }},
       {{"create", Shape::create, "the record: {key, data}"},
        [](Reader& r, const Node& n, Scenario& s) {
          r.check_json_keys(n, create_keys());
          s.create = to_json(n);
        }},
       {{"steps", Shape::steps, "what happens", {}, true},
        [](Reader& r, const Node& n, Scenario& s) {
          if (!r.is_list(n, "a list of steps")) return;
          for (const Node& item : n.items) {
            if (r.diagnostics().is_full()) return;
            Step& step = s.steps.emplace_back();
            step.where = item.where();
            r.keys(item, step_keys(), step);
          }
        }}}};
  return keys;
}

std::vector<Scenario> Reader::scenarios(const Node& node) {
  std::vector<Scenario> scenarios;
  members(node, "`scenarios`", [&](const Member& member) {
    Scenario& scenario = scenarios.emplace_back();
    scenario.title = member.key;
    scenario.where = {member.key_at};
    keys(member.value, scenario_keys(), scenario);
  });
  return scenarios;
}

}  // namespace pawl
