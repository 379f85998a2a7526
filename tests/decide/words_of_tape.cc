#include "words_of_tape.h"

#include <algorithm>

namespace pawl {
namespace {

using FieldKind = FieldType::Kind;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

Field field(const char* name, FieldKind kind) { return {.name = name, .type = {.kind = kind}}; }

// A fallback makes it possible to require the field and leave it out.
void maybe_require(Tape& tape, Field& field, Json fallback) {
  if (tape.chance(70)) field.fallback = std::move(fallback);
  field.type.required = field.fallback ? tape.chance(40) : tape.chance(10);
}

}  // namespace

Fields data_fields(Tape& tape) {
  Fields fields{field("n", FieldKind::integer),    field("k", FieldKind::integer),
                field("flag", FieldKind::boolean), field("w", FieldKind::word),
                field("s", FieldKind::string),     field("list", FieldKind::list),
                field("d", FieldKind::duration),   field("t", FieldKind::time),
                field("z", FieldKind::zone),       field("rule", FieldKind::rrule),
                field("m", FieldKind::map)};
  maybe_require(tape, fields[0], 0);
  maybe_require(tape, fields[2], false);
  fields[3].type.words = {"a", "b", "c"};
  maybe_require(tape, fields[4], "s");
  fields[4].type.required = fields[4].type.required && fields[4].fallback;
  if (tape.chance(60)) fields[5].fallback = Json::list({1, 2});
  maybe_require(tape, fields[6], "30s");
  if (tape.chance(60)) fields[7].fallback = "2026-03-02T06:30:00Z";
  if (tape.chance(60)) fields[8].fallback = "Europe/Berlin";
  if (tape.chance(60)) fields[9].fallback = "FREQ=HOURLY";
  return fields;
}

Fields payload_fields(Tape& tape) {
  Fields fields{field("n", FieldKind::integer), field("s", FieldKind::string),
                field("code", FieldKind::string), field("list", FieldKind::list)};
  maybe_require(tape, fields[0], 1);
  return fields;
}

Fields result_fields(Tape& tape) {
  Fields fields{field("n", FieldKind::integer), field("ok", FieldKind::boolean)};
  maybe_require(tape, fields[0], 1);
  return fields;
}

// --- expressions -------------------------------------------------------------------------------

std::string Words::count_of_children() {
  return "children." + tape_.of({"part", "item", "run"}) + "." +
         tape_.of({"open", "all", "final", "hold", "fresh", "busy"}) +
         tape_.of({" > 0", " == 0", " < 2", " >= 2"});
}

std::string Words::condition(const Sees& sees) {
  std::vector<std::string> choices{"data.n > 1",
                                   "data.flag",
                                   "not data.flag",
                                   "data.n % 2 == 0",
                                   "data.k > data.n",
                                   "data.w == 'a'",
                                   "data.s != null",
                                   "size(data.list) > 1",
                                   "record.failures > 1",
                                   "record.attempt < 3",
                                   "record.epoch == 1",
                                   "record.running",
                                   "record.held or data.flag",
                                   "record.revision % 3 != 0",
                                   "record.failing_since != null",
                                   "record.planned_at != null",
                                   "record.result != null and data.n < 5",
                                   "record.parent != null",
                                   "even",
                                   "unheard_of",
                                   "record.state == '" + tape_.of(states_) + "'",
                                   "record.failed_from == '" + tape_.of(states_) + "'",
                                   count_of_children()};
  if (ordered_) choices.push_back("record.failed_from < '" + tape_.of(states_) + "'");
  if (sees.event)
    choices.insert(choices.end(), {"event.n > 1", "event.s == null", "actor.name == 'bob'",
                                   "'clerk' in actor.roles", "event.n + data.n < 4"});
  if (sees.result) choices.insert(choices.end(), {"result.ok", "result.n > data.n"});
  if (sees.error)
    choices.insert(choices.end(), {"error.code == 'c1'", "error.message == ''", "error.transient",
                                   "error.detail != null"});
  if (sees.item) choices.insert(choices.end(), {"item != 1", "item.n > 0"});
  if (sees.now) choices.insert(choices.end(), {"now > record.entered_at + '5m'", "now > data.t"});
  return tape_.of(choices);
}

std::string Words::list(const Sees& sees) {
  if (sees.event && tape_.chance(30)) return "event.list";
  return tape_.of({"data.list", "[1, 2]", "[]", "record.result"});
}

// --- values ------------------------------------------------------------------------------------

Value Words::value_of(std::string_view field, const Sees& sees) {
  const bool sees_event = sees.event && tape_.chance(50);
  if (field == "n" || field == "k") {
    if (sees_event) return "{event.n}";
    if (sees.result && tape_.chance(50)) return "{result.n}";
    if (field == "k" && tape_.chance(20)) return nullptr;
    if (tape_.chance(60)) return "{data.n + 1}";
    return tape_.chance(50) ? Value(tape_.between(0, 4)) : Value("{record.failures}");
  }
  if (field == "flag")
    return tape_.chance(60) ? Value(Json(tape_.chance(50))) : Value("{data.n > 1}");
  if (field == "w") return tape_.chance(80) ? tape_.of({"a", "b", "c"}) : "{data.s}";
  if (field == "s") {
    if (sees_event) return tape_.chance(50) ? "{event.s}" : "{actor.name}";
    if (sees.error && tape_.chance(50)) return "{error.code}";
    return tape_.of({"a", "x{data.n}", "{record.key}/{record.epoch}"});
  }
  if (field == "list") {
    if (sees_event) return "{event.list}";
    return tape_.chance(50) ? Json::list({1, 2, 3}) : Json::list({});
  }
  if (field == "d") return tape_.of({"10s", "0", "1h", "{data.s}"});
  if (field == "t") return tape_.of({"{record.entered_at}", "2026-03-29T00:30:00Z"});
  if (field == "z") return tape_.of({"UTC", "Europe/Berlin", "America/New_York"});
  if (field == "rule") return tape_.of({"FREQ=MINUTELY", "FREQ=DAILY;COUNT=3;BYHOUR=2,6"});
  if (tape_.chance(30)) return nullptr;
  return Json::map({{"a", "{data.n}", {}}});
}

Assignment Words::assignment(const Sees& sees, const std::optional<Fields>& data) {
  const std::string name =
      tape_.of({"n", "flag", "s", "k", "list", "d", "w", "t", "z", "rule", "m"});
  Value value = value_of(name, sees);
  const bool is_null = value.json.kind == Json::Kind::null;
  if (is_null && data)
    for (const Field& field : *data)
      if (field.name == name && field.type.required) value = 0;
  return {name, std::move(value)};
}

Value Words::text(const Sees& sees) {
  if (sees.error && tape_.chance(50)) return "{error.code}: {error.message}";
  if (sees.event && tape_.chance(30)) return "by {actor.name}";
  return tape_.of({"look at it", "n is {data.n}", "{record.key} in {record.state}"});
}

// Sometimes the same again and again, sometimes empty.
Value Words::key(const Sees& sees) {
  if (sees.item && tape_.chance(70)) return "{record.key}-{item}";
  return tape_.of({"{record.key}", "once", "n{data.n}", "{record.epoch}", "{data.s}", "{data.k}"});
}

Value Words::payload(const Sees& sees) {
  if (sees.item && tape_.chance(50)) return "{item}";
  if (sees.error && tape_.chance(50)) return "{error.detail}";
  if (tape_.chance(50)) return "{data}";
  return Json::map({{"n", "{data.n}", {}}, {"s", "{record.key}", {}}});
}

DurationValue Words::duration(Duration least) {
  if (tape_.chance(20)) return tape_.chance(70) ? "{data.d}" : "{record.revision}s";
  const std::vector<Duration> choices{seconds{30}, minutes{1}, seconds{1},      Duration{0},
                                      minutes{5},  hours{1},   minutes{20},     hours{6},
                                      hours{24},   hours{80},  milliseconds{1}, hours{24} * 400};
  return std::max(least, tape_.of(choices));
}

}  // namespace pawl
