// The machine and its parts: fields, events, states, tasks, schedule.
#include "model/read_machine.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/nearest.h"
#include "base/text.h"
#include "model/reader.h"

namespace pawl {
namespace {

void read_version(Reader& reader, const Node& node, Definition& definition) {
  definition.version = reader.integer(node, 1, kIntegerMax);
}

std::vector<EventDefinition> read_events(Reader& reader, const Node& node) {
  std::vector<EventDefinition> events;
  reader.members(node, "`events`", [&](const Member& member) {
    EventDefinition& event = events.emplace_back();
    event.name = member.key;
    event.at = {member.key_at};
    reader.check_name(member.key, member.key_at, "an event");
    reader.keys(member.value, event_keys(), event);
  });
  return events;
}

std::vector<State> read_states(Reader& reader, const Node& node) {
  std::vector<State> states;
  reader.members(node, "`states`", [&](const Member& member) {
    if (states.size() > kStatesMax) return;  // one too many is enough to be refused
    State& state = states.emplace_back();
    state.name = member.key;
    state.at = {member.key_at};
    reader.check_name(member.key, member.key_at, "a state");
    reader.keys(member.value, state_keys(), state);
  });
  return states;
}

std::vector<Task> read_tasks(Reader& reader, const Node& node) {
  std::vector<Task> tasks;
  reader.members(node, "`tasks`", [&](const Member& member) {
    Task& task = tasks.emplace_back();
    task.name = member.key;
    task.at = {member.key_at};
    reader.check_name(member.key, member.key_at, "a task");
    reader.keys(member.value, task_keys(), task);
  });
  return tasks;
}

void read_target(Reader& reader, const Node& node, Task& task, Task::Kind kind,
                 std::string_view what) {
  task.kind = kind;
  reader.name(node, what, task.target);
}

void read_http(Reader& reader, const Node& node, Task& task) {
  task.kind = Task::Kind::http;
  reader.keys(node, http_keys(), task.http.emplace());
}

void read_method(Reader& reader, const Node& node, HttpCall& http, HttpCall::Method method) {
  http.method = method;
  http.url = reader.text_value(node, "a URL");
}

void read_headers(Reader& reader, const Node& node, HttpCall& http) {
  reader.members(node, "`headers`", [&](const Member& member) {
    http.headers.push_back({member.key, reader.value(member.value), {member.key_at}});
  });
}

void read_concurrency(Reader& reader, const Node& node, Task& task) {
  Concurrency& concurrency = task.concurrency.emplace();
  if (node.kind == Node::Kind::map) {
    reader.keys(node, concurrency_keys(), concurrency);
  } else if (const auto max = reader.integer(node, 1, kIntegerMax)) {
    concurrency.max = *max;
  }
}

void read_rule(Reader& reader, const Node& node, Schedule& schedule, Schedule::Kind kind) {
  schedule.kind = kind;
  schedule.rule = reader.text_value(node, "a rule");
}

void read_keep(Reader& reader, const Node& node, Definition& definition) {
  Keep& keep = definition.keep.emplace();
  if (node.kind == Node::Kind::map) {
    reader.keys(node, keep_keys(), keep);
  } else {
    keep.final = reader.duration(node);
  }
}

void read_renames(Reader& reader, const Node& node, Migration& migration) {
  reader.members(node, "`states`", [&](const Member& member) {
    reader.check_name(member.key, member.key_at, "a state");
    migration.states.push_back({member.key, reader.ref(member.value, "a state")});
  });
}

void read_migrate(Reader& reader, const Node& node, Definition& definition) {
  std::set<int> versions;
  reader.members(node, "`migrate`", [&](const Member& member) {
    Migration& migration = definition.migrate.emplace_back();
    migration.at = {member.key_at};
    const char* end = member.key.data() + member.key.size();
    const bool number = std::from_chars(member.key.data(), end, migration.version).ptr == end;
    if (!number || migration.version < 1 || member.key.starts_with('0'))
      reader.error("bad_integer", member.key_at,
                   in_quotes(member.key) + " is not a version: a whole number from 1 to " +
                       std::to_string(kIntegerMax));
    if (number && migration.version >= 1 && !versions.insert(migration.version).second)
      reader.error(
          "duplicate_key", member.key_at,
          "version " + std::to_string(migration.version) + " is already there; keep one of them");
    reader.keys(member.value, migration_keys(), migration);
  });
}

// The type words of a text or list: `string!`, `[card, invoice]`.
void read_type(Reader& reader, const Node& node, FieldType& type) {
  if (node.kind == Node::Kind::list) {
    type.kind = FieldType::Kind::word;
    reader.names(node, "a word of the field", type.words);
    if (node.items.empty())
      reader.error("bad_type", node.at, "a list of words has at least one: [a, b]");
    return;
  }
  if (node.kind != Node::Kind::text) {
    reader.wrong_kind(node, "a type (string, int!, [a, b])");
    return;
  }
  std::string_view word = node.text;
  type.required = word.ends_with('!');
  if (type.required) word.remove_suffix(1);
  const auto found = std::find(std::begin(kFieldTypeWords), std::end(kFieldTypeWords), word);
  if (found != std::end(kFieldTypeWords)) {
    type.kind = static_cast<FieldType::Kind>(found - std::begin(kFieldTypeWords));
    return;
  }
  const std::vector<std::string> known(std::begin(kFieldTypeWords), std::end(kFieldTypeWords));
  std::string hint = did_you_mean(word, known);
  if (hint.empty()) hint = "; types are " + join(known, ", ", ", ") + " and [a, b]";
  reader.error("bad_type", node.at, in_quotes(word) + " is not a type" + hint);
}

}  // namespace

const Keys<Field>& field_keys() {
  static const Keys<Field> keys{
      "field",
      "a field",
      {{{"type",
         Shape::type,
         "string int decimal bool time duration list map any rrule cron zone, ! = required, or [words]",
         {},
         true},
        [](Reader& r, const Node& n, Field& f) { read_type(r, n, f.type); }},
       {{"default", Shape::anything, "the value when none is given"},
        [](Reader&, const Node& n, Field& f) { f.fallback = to_json(n); }},
       {{"doc", Shape::text, "for people"},
        [](Reader& r, const Node& n, Field& f) { r.text(n, "a text", f.doc); }}}};
  return keys;
}

Field Reader::field(const Member& member) {
  Field field;
  field.name = member.key;
  field.at = {member.key_at};
  check_name(member.key, member.key_at, "a field");
  if (member.value.kind == Node::Kind::map) {
    keys(member.value, field_keys(), field);
  } else {
    read_type(*this, member.value, field.type);
  }
  return field;
}

Fields Reader::fields(const Node& node) {
  Fields fields;
  members(node, "fields (amount: int)",
          [&](const Member& member) { fields.push_back(field(member)); });
  return fields;
}

const Keys<EventDefinition>& event_keys() {
  static const Keys<EventDefinition> keys{
      "event",
      "an event",
      {{{"by", Shape::names, "the roles that may fire it"},
        [](Reader& r, const Node& n, EventDefinition& e) { r.names(n, "a role", e.by); }},
       {{"with", Shape::fields, "the fields of its payload"},
        [](Reader& r, const Node& n, EventDefinition& e) { e.with = r.fields(n); }},
       {{"doc", Shape::text, "for people"},
        [](Reader& r, const Node& n, EventDefinition& e) { r.text(n, "a text", e.doc); }}}};
  return keys;
}

const Keys<State>& state_keys() {
  static const Keys<State> keys{
      "state",
      "a state",
      {{{"id", Shape::natural, "a stable number: the same id in two versions is the same state"},
        [](Reader& r, const Node& n, State& s) { s.id = r.integer(n, 0, kIntegerMax); }},
       {{"doc", Shape::text, "for people"},
        [](Reader& r, const Node& n, State& s) { r.text(n, "a text", s.doc); }},
       {{"final", Shape::boolean, "the record is over: no task, timer or when"},
        [](Reader& r, const Node& n, State& s) { r.boolean(n, s.final); }},
       {{"task", Shape::name, "the work of this state, ready on entry"},
        [](Reader& r, const Node& n, State& s) { s.task = r.ref(n, "a task"); }},
       {{"started", Shape::name, "the state the record is in while an attempt runs"},
        [](Reader& r, const Node& n, State& s) { s.started = r.ref(n, "a state"); }},
       {{"done", Shape::rows, "when the task is done"},
        [](Reader& r, const Node& n, State& s) { s.done = r.rows(n, RowPlace::done); }},
       {{"on", Shape::on, "events accepted here"},
        [](Reader& r, const Node& n, State& s) { s.on = r.on(n, RowPlace::on); }},
       {{"after", Shape::timers, "once, that long after entry"},
        [](Reader& r, const Node& n, State& s) { s.after = r.timers(n); }},
       {{"every", Shape::timers, "repeatedly while in this state"},
        [](Reader& r, const Node& n, State& s) { s.every = r.timers(n); }},
       {{"planned", Shape::rows, "at each occurrence of the schedule"},
        [](Reader& r, const Node& n, State& s) { s.planned = r.rows(n, RowPlace::plain); }},
       {{"when", Shape::rows, "tried on entry and after every stimulus; must move the record"},
        [](Reader& r, const Node& n, State& s) { s.when = r.rows(n, RowPlace::plain); }},
       {{"effects", Shape::effects, "on every entry"},
        [](Reader& r, const Node& n, State& s) { s.effects = r.effects(n); }},
       {{"checkpoint", Shape::name, "where the record returns to after a failure in this state"},
        [](Reader& r, const Node& n, State& s) { s.checkpoint = r.ref(n, "a state"); }},
       {{"resume", Shape::rows, "tried when a record has come back to this state after a failure"},
        [](Reader& r, const Node& n, State& s) { s.resume = r.rows(n, RowPlace::plain); }}},
      {},
      false,
      [](State& s) -> Policy& { return s.policy; }};
  return keys;
}

const Keys<HttpCall>& http_keys() {
  using enum HttpCall::Method;
  static const Keys<HttpCall> keys{
      "http",
      "`http`",
      {{{"get", Shape::text, "the URL to get"},
        [](Reader& r, const Node& n, HttpCall& h) { read_method(r, n, h, get); }},
       {{"post", Shape::text, "the URL to post to"},
        [](Reader& r, const Node& n, HttpCall& h) { read_method(r, n, h, post); }},
       {{"put", Shape::text, "the URL to put to"},
        [](Reader& r, const Node& n, HttpCall& h) { read_method(r, n, h, put); }},
       {{"delete", Shape::text, "the URL to delete"},
        [](Reader& r, const Node& n, HttpCall& h) { read_method(r, n, h, del); }},
       {{"headers", Shape::headers, "header -> value"}, read_headers},
       {{"body", Shape::value, "sent as JSON"},
        [](Reader& r, const Node& n, HttpCall& h) { h.body = r.value(n); }}},
      {"get", "post", "put", "delete"},
      true};
  return keys;
}

const Keys<Concurrency>& concurrency_keys() {
  static const Keys<Concurrency> keys{
      "concurrency",
      "`concurrency`",
      {{{"max", Shape::positive, "how many attempts may run at once", {}, true},
        [](Reader& r, const Node& n, Concurrency& c) {
          c.max = r.integer(n, 1, kIntegerMax).value_or(1);
        }},
       {{"per", Shape::value, "counted separately for each of these values"},
        [](Reader& r, const Node& n, Concurrency& c) { c.per = r.value(n); }}}};
  return keys;
}

const Keys<Rate>& rate_keys() {
  static const Keys<Rate> keys{
      "rate",
      "`rate`",
      {{{"max", Shape::positive, "how many attempts may start", {}, true},
        [](Reader& r, const Node& n, Rate& rate) {
          rate.max = r.integer(n, 1, kIntegerMax).value_or(1);
        }},
       {{"every", Shape::duration, "in this time", {}, true},
        [](Reader& r, const Node& n, Rate& rate) { r.duration(n, rate.every); }},
       {{"per", Shape::value, "counted separately for each of these values"},
        [](Reader& r, const Node& n, Rate& rate) { rate.per = r.value(n); }}}};
  return keys;
}

const Keys<Task>& task_keys() {
  static const Keys<Task> keys{
      "task",
      "a task",
      {{{"queue", Shape::name, "the queue that workers claim from"},
        [](Reader& r, const Node& n, Task& t) {
          read_target(r, n, t, Task::Kind::queue, "a queue");
        }},
       {{"http", Shape::http, "a call the engine makes"}, read_http},
       {{"channel", Shape::name, "a delivery to a channel"},
        [](Reader& r, const Node& n, Task& t) {
          read_target(r, n, t, Task::Kind::channel, "a channel");
        }},
       {{"function", Shape::name, "a C++ function of the program that embeds Pawl"},
        [](Reader& r, const Node& n, Task& t) {
          read_target(r, n, t, Task::Kind::function, "a function");
        }},
       {{"doc", Shape::text, "for people"},
        [](Reader& r, const Node& n, Task& t) { r.text(n, "a text", t.doc); }},
       {{"with", Shape::value, "what the worker gets (data)"},
        [](Reader& r, const Node& n, Task& t) { t.with = r.value(n); }},
       {{"result", Shape::fields, "the fields of the result"},
        [](Reader& r, const Node& n, Task& t) { t.result = r.fields(n); }},
       {{"key", Shape::value, "the idempotency key for the outside world"},
        [](Reader& r, const Node& n, Task& t) { t.key = r.value(n); }},
       {{"concurrency", Shape::concurrency, "how many attempts may run at once"}, read_concurrency},
       {{"rate", Shape::rate, "how many attempts may start in a given time"},
        [](Reader& r, const Node& n, Task& t) { r.keys(n, rate_keys(), t.rate.emplace()); }},
       {{"priority", Shape::priority, "0 (claimed first) to 9 (5)"},
        [](Reader& r, const Node& n, Task& t) { t.priority = r.integer(n, 0, 9).value_or(5); }}},
      {"queue", "http", "channel", "function"},
      true,
      [](Task& t) -> Policy& { return t.policy; }};
  return keys;
}

const Keys<Schedule>& schedule_keys() {
  static const Keys<Schedule> keys{
      "schedule",
      "`schedule`",
      {{{"rrule", Shape::text, "an RFC 5545 rule: FREQ=DAILY;BYHOUR=6"},
        [](Reader& r, const Node& n, Schedule& s) { read_rule(r, n, s, Schedule::Kind::rrule); }},
       {{"cron", Shape::text, "a cron expression: 0 6 * * MON-FRI"},
        [](Reader& r, const Node& n, Schedule& s) { read_rule(r, n, s, Schedule::Kind::cron); }},
       {{"every", Shape::duration, "elapsed time from the anchor"},
        [](Reader& r, const Node& n, Schedule& s) {
          s.kind = Schedule::Kind::every;
          r.duration(n, s.every);
        }},
       {{"tz", Shape::text, "the time zone (UTC)"},
        [](Reader& r, const Node& n, Schedule& s) { s.tz = r.text_value(n, "a time zone"); }},
       {{"anchor", Shape::text, "DTSTART (the record's created_at)"},
        [](Reader& r, const Node& n, Schedule& s) { s.anchor = r.text_value(n, "an instant"); }},
       {{"missed", Shape::word, "which overdue slots to serve (last)", kMissedWords},
        [](Reader& r, const Node& n, Schedule& s) {
          r.word(n, "a way to treat missed slots", kMissedWords, s.missed);
        }},
       {{"gap", Shape::word, "local times that do not exist", kGapWords},
        [](Reader& r, const Node& n, Schedule& s) {
          r.word(n, "a way to treat a gap", kGapWords, s.gap.emplace());
        }},
       {{"fold", Shape::word, "local times that exist twice", kFoldWords},
        [](Reader& r, const Node& n, Schedule& s) {
          r.word(n, "a way to treat a fold", kFoldWords, s.fold.emplace());
        }},
       {{"ended", Shape::rows, "when no occurrence is left"},
        [](Reader& r, const Node& n, Schedule& s) { s.ended = r.rows(n, RowPlace::plain); }}},
      {"rrule", "cron", "every"},
      true};
  return keys;
}

const Keys<Keep>& keep_keys() {
  static const Keys<Keep> keys{
      "keep",
      "`keep`",
      {{{"final", Shape::duration, "how long final records are kept"},
        [](Reader& r, const Node& n, Keep& k) { k.final = r.duration(n); }},
       {{"entries", Shape::positive, "how many of its last entries a log keeps"},
        [](Reader& r, const Node& n, Keep& k) { k.entries = r.integer(n, 1, kIntegerMax); }}}};
  return keys;
}

const Keys<Migration>& migration_keys() {
  static const Keys<Migration> keys{
      "migration",
      "`migrate`",
      {{{"states", Shape::renames, "old state -> new state"}, read_renames},
       {{"set", Shape::values, "fields of data to change"},
        [](Reader& r, const Node& n, Migration& m) { r.values(n, "`set`", m.set); }}}};
  return keys;
}

const Keys<Definition>& machine_keys() {
  static const Keys<Definition> keys{
      "machine",
      "a machine",
      {{{"machine", Shape::name, "its name", {}, true},
        [](Reader& r, const Node& n, Definition& d) { r.name(n, "a machine", d.machine); }},
       {{"version", Shape::positive, "the version (the next free one)"}, read_version},
       {{"doc", Shape::text, "for people"},
        [](Reader& r, const Node& n, Definition& d) { r.text(n, "a text", d.doc); }},
       {{"initial", Shape::name, "the state `create` puts a record in", {}, true},
        [](Reader& r, const Node& n, Definition& d) { d.initial = r.ref(n, "a state"); }},
       {{"data", Shape::fields, "the fields of a record; if given, no others are allowed"},
        [](Reader& r, const Node& n, Definition& d) { d.data = r.fields(n); }},
       {{"events", Shape::events, "who may fire an event, and its payload"},
        [](Reader& r, const Node& n, Definition& d) { d.events = read_events(r, n); }},
       {{"order", Shape::names, "the order of states, for < and >"},
        [](Reader& r, const Node& n, Definition& d) { d.order = r.refs(n, "a state"); }},
       {{"schedule", Shape::schedule, "when work is planned"},
        [](Reader& r, const Node& n, Definition& d) {
          d.schedule.emplace().at = n.where();
          r.keys(n, schedule_keys(), *d.schedule);
        }},
       {{"policies", Shape::policies, "shared policies, as keys or in English"},
        [](Reader& r, const Node& n, Definition& d) { d.policies = r.policies(n); }},
       {{"labels", Shape::values, "up to 8 indexed values"},
        [](Reader& r, const Node& n, Definition& d) { r.values(n, "`labels`", d.labels); }},
       {{"keep", Shape::keep, "how long final records are kept (for ever)"}, read_keep},
       {{"pin", Shape::boolean, "records stay on their version"},
        [](Reader& r, const Node& n, Definition& d) { r.boolean(n, d.pin); }},
       {{"migrate", Shape::migrate, "how records of older versions move to this one"},
        read_migrate},
       {{"on", Shape::machine_on, "rows that apply in every state"},
        [](Reader& r, const Node& n, Definition& d) { d.on = r.on(n, RowPlace::machine_on); }},
       {{"states", Shape::states, "the states a record can be in", {}, true},
        [](Reader& r, const Node& n, Definition& d) { d.states = read_states(r, n); }},
       {{"tasks", Shape::tasks, "the work of states"},
        [](Reader& r, const Node& n, Definition& d) { d.tasks = read_tasks(r, n); }},
       {{"scenarios", Shape::scenarios, "tests of the machine, played on a virtual clock"},
        [](Reader& r, const Node& n, Definition& d) { d.scenarios = r.scenarios(n); }}},
      {},
      false,
      [](Definition& d) -> Policy& { return d.policy; }};
  return keys;
}

std::optional<Definition> read_definition(std::string_view text, Diagnostics& diagnostics) {
  const auto tree = read_tree(text, diagnostics);
  if (!tree) return std::nullopt;
  Definition definition;
  definition.at = {tree->at};
  Reader reader(diagnostics);
  reader.keys(*tree, machine_keys(), definition);
  reader.settle_english(definition);
  for (const Member& section : tree->members)
    if (diagnostics.has_form_error_at(section.key_at) ||
        diagnostics.has_form_error_at(section.value.at))
      diagnostics.miss_section();
  return definition;
}

}  // namespace pawl
