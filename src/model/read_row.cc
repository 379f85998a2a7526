// Rows and effects: the one grammar of the machine file.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/reader.h"

namespace pawl {
namespace {

constexpr std::string_view kActionWords[] = {"retry", "later", "done", "give_up"};

bool is_no_delay(const Node& node) {
  return node.kind == Node::Kind::boolean || (node.kind == Node::Kind::list && node.items.empty());
}

void read_action(Reader& reader, const Node& node, Row& row, Row::Action action) {
  row.action = action;
  const bool delays = action == Row::Action::retry || action == Row::Action::later;
  const bool plain_retry = action == Row::Action::retry && node.text == "true";
  if (!delays || (plain_retry && node.kind == Node::Kind::boolean)) {
    reader.is_true(node);
  } else if (action == Row::Action::later && is_no_delay(node)) {
    reader.error("later_delay", node.at, "`later` needs a delay: {later: 10s}");
  } else {
    row.delays = reader.delays(node);
  }
}

void read_held(Reader& reader, const Node& node, Row& row) {
  if (node.kind == Node::Kind::boolean) {
    row.held = node.text == "true" ? Row::Held::yes : Row::Held::no;
  } else if (node.kind == Node::Kind::text && node.text == "any") {
    row.held = Row::Held::any;
  } else {
    reader.error("unknown_word", node.at, "`held` is true, false or any");
  }
}

void read_from(Reader& reader, const Node& node, Row& row) {
  if (node.kind == Node::Kind::list) {
    row.from = Row::From::listed;
    row.from_states = reader.refs(node, "a state");
  } else if (node.kind == Node::Kind::text && (node.text == "open" || node.text == "all")) {
    row.from = node.text == "all" ? Row::From::all : Row::From::open;
  } else {
    reader.error("unknown_word", node.at, "`from` is open, all or a list of states");
  }
}

// A name, or a value that becomes one.
Value read_fail(Reader& reader, const Node& node) {
  Value code = reader.text_value(node, "an error code");
  const bool fixed = code.json.text.find('{') == std::string::npos;
  if (fixed && node.kind == Node::Kind::text)
    reader.check_name(node.text, node.at, "an error code");
  return code;
}

void read_verb(Reader& reader, const Node& node, EffectRow& effect, EffectRow::Verb verb) {
  static constexpr std::array<std::string_view, 4> kTargets{"a channel", "a task", "an event",
                                                            "a machine"};
  effect.verb = verb;
  effect.target = reader.ref(node, kTargets[static_cast<std::size_t>(verb)]);
}

struct RowKey {
  KeyOf<Row> key;
  std::vector<RowPlace> places;
};

const std::vector<RowKey>& all_row_keys() {
  using enum RowPlace;
  static const std::vector<RowKey> keys{
      {{{"if", Shape::expression, "the row is taken only if this is true"},
        [](Reader& r, const Node& n, Row& row) { row.condition = r.expression(n); }},
       {on, machine_on, done, plain, error, give_up}},
      {{{"held", Shape::held, "whether the record must be on hold: false (default), true or any"},
        read_held},
       {on, machine_on}},
      {{{"from", Shape::from, "the states it applies in: open (default), all or a list"},
        read_from},
       {machine_on}},
      {{{"except", Shape::names, "states it does not apply in"},
        [](Reader& r, const Node& n, Row& row) { row.except = r.refs(n, "a state"); }},
       {machine_on}},
      {{{"elapsed", Shape::duration, "matches once the record has been failing for this long"},
        [](Reader& r, const Node& n, Row& row) { row.elapsed = r.duration(n); }},
       {give_up}},
      {{{"to", Shape::name, "leave, and enter this state"},
        [](Reader& r, const Node& n, Row& row) { row.to = r.ref(n, "a state"); }},
       {on, machine_on, done, plain, error, give_up}},
      {{{"event", Shape::name,
         "continue as if this event had been fired; only = the one permitted"},
        [](Reader& r, const Node& n, Row& row) { row.event = r.ref(n, "an event"); }},
       {done, plain}},
      {{{"fail", Shape::fail, "continue as if the work of this state had failed with this code"},
        [](Reader& r, const Node& n, Row& row) { row.fail = read_fail(r, n); }},
       {on, machine_on, done, plain}},
      {{{"retry", Shape::action_delays, "try again later: true, or the row's own delays"},
        [](Reader& r, const Node& n, Row& row) { read_action(r, n, row, Row::Action::retry); }},
       {error}},
      {{{"later", Shape::later_delays, "not a failure: ask again after this"},
        [](Reader& r, const Node& n, Row& row) { read_action(r, n, row, Row::Action::later); }},
       {error}},
      {{{"done", Shape::only_true, "the world is already as wanted: take the done rows"},
        [](Reader& r, const Node& n, Row& row) { read_action(r, n, row, Row::Action::done); }},
       {error}},
      {{{"give_up", Shape::only_true, "permanent: no retry"},
        [](Reader& r, const Node& n, Row& row) { read_action(r, n, row, Row::Action::give_up); }},
       {error}},
      {{{"checkpoint", Shape::name, "the state the record returns to after this failure"},
        [](Reader& r, const Node& n, Row& row) { row.checkpoint = r.ref(n, "a state"); }},
       {error}},
      {{{"transient", Shape::boolean, "never alert anyone about this error"},
        [](Reader& r, const Node& n, Row& row) { r.boolean(n, row.transient); }},
       {error}},
      {{{"hold", Shape::hold, "put the record on hold, with a text for people"},
        [](Reader& r, const Node& n, Row& row) { row.hold = r.hold(n); }},
       {on, machine_on, done, plain, error, give_up}},
      {{{"set", Shape::assignments, "fields of data to change"},
        [](Reader& r, const Node& n, Row& row) { r.set(n, row.set); }},
       {on, machine_on, done, plain, error, give_up}},
      {{{"effects", Shape::effects, "what to ask of the outside world"},
        [](Reader& r, const Node& n, Row& row) { row.effects = r.effects(n); }},
       {on, machine_on, done, plain, error, give_up}},
      {{{"alert", Shape::name, "the channel to notify, unless the error is transient"},
        [](Reader& r, const Node& n, Row& row) { r.name(n, "a channel", row.alert); }},
       {give_up}},
      {{{"new_epoch", Shape::boolean, "a fresh start: counters go to zero, the error is forgotten"},
        [](Reader& r, const Node& n, Row& row) { r.boolean(n, row.new_epoch); }},
       {on, machine_on, done, plain}},
  };
  return keys;
}

Keys<Row> keys_of(RowPlace place, std::string_view name, std::string_view subject) {
  Keys<Row> keys{name, subject, {}, {"to", "event", "fail"}};
  if (place == RowPlace::error) keys.one_of = {"to", "retry", "later", "done", "give_up"};
  for (const RowKey& key : all_row_keys())
    if (std::find(key.places.begin(), key.places.end(), place) != key.places.end())
      keys.keys.push_back(key.key);
  std::erase_if(keys.one_of, [&](std::string_view key) { return keys.find(key) == nullptr; });
  return keys;
}

}  // namespace

const Keys<Row>& row_keys(RowPlace place) {
  static const Keys<Row> kOn = keys_of(RowPlace::on, "event_row", "a row of `on`");
  static const Keys<Row> kMachineOn =
      keys_of(RowPlace::machine_on, "machine_row", "a row of the machine's `on`");
  static const Keys<Row> kDone = keys_of(RowPlace::done, "row", "a row");
  static const Keys<Row> kError = keys_of(RowPlace::error, "error_row", "a row of `errors`");
  static const Keys<Row> kGiveUp = keys_of(RowPlace::give_up, "give_up_row", "a row of `give_up`");
  switch (place) {
    case RowPlace::on:
      return kOn;
    case RowPlace::machine_on:
      return kMachineOn;
    case RowPlace::error:
      return kError;
    case RowPlace::give_up:
      return kGiveUp;
    case RowPlace::done:
    case RowPlace::plain:
      break;
  }
  return kDone;
}

const Keys<EffectRow>& effect_keys() {
  using enum EffectRow::Verb;
  static const Keys<EffectRow> keys{
      "effect",
      "an effect",
      {{{"notify", Shape::name, "deliver to this channel"},
        [](Reader& r, const Node& n, EffectRow& e) { read_verb(r, n, e, notify); }},
       {{"run", Shape::name, "run this task as a record of its own"},
        [](Reader& r, const Node& n, EffectRow& e) { read_verb(r, n, e, run); }},
       {{"send", Shape::name, "fire this event at another record"},
        [](Reader& r, const Node& n, EffectRow& e) { read_verb(r, n, e, send); }},
       {{"create", Shape::name, "create a record of this machine; found is fine"},
        [](Reader& r, const Node& n, EffectRow& e) { read_verb(r, n, e, create); }},
       {{"if", Shape::expression, "only if this is true"},
        [](Reader& r, const Node& n, EffectRow& e) { e.condition = r.expression(n); }},
       {{"each", Shape::expression, "once for each item of this list"},
        [](Reader& r, const Node& n, EffectRow& e) { e.each = r.expression(n); }},
       {{"key", Shape::value, "the id of the delivery, or the key of the record"},
        [](Reader& r, const Node& n, EffectRow& e) { e.key = r.value(n); }},
       {{"to", Shape::recipient, "self, parent, children.machine or {machine, key}"},
        [](Reader& r, const Node& n, EffectRow& e) { e.to = r.recipient(n); }},
       {{"with", Shape::value, "the payload"},
        [](Reader& r, const Node& n, EffectRow& e) { e.with = r.value(n); }},
       {{"in", Shape::duration, "this much later"},
        [](Reader& r, const Node& n, EffectRow& e) { e.in = r.duration(n); }},
       {{"then", Shape::name, "the event sent back with the result"},
        [](Reader& r, const Node& n, EffectRow& e) { e.then = r.ref(n, "an event"); }},
       {{"else", Shape::name, "the event sent back with the error"},
        [](Reader& r, const Node& n, EffectRow& e) { e.otherwise = r.ref(n, "an event"); }},
       {{"must", Shape::boolean, "try again until it is accepted"},
        [](Reader& r, const Node& n, EffectRow& e) { r.boolean(n, e.must); }}},
      {std::begin(kVerbWords), std::end(kVerbWords)},
      true};
  return keys;
}

const Keys<HoldText>& hold_keys() {
  static const Keys<HoldText> keys{
      "hold",
      "`hold`",
      {{{"code", Shape::name, "a short word for machines", {}, true},
        [](Reader& r, const Node& n, HoldText& h) { r.name(n, "a hold", h.code); }},
       {{"text", Shape::text, "a sentence for people", {}, true},
        [](Reader& r, const Node& n, HoldText& h) { h.text = r.text_value(n, "a text"); }}}};
  return keys;
}

const Keys<Recipient>& recipient_keys() {
  static const Keys<Recipient> keys{
      "recipient",
      "`to`",
      {{{"machine", Shape::name, "the machine of the record", {}, true},
        [](Reader& r, const Node& n, Recipient& to) { r.name(n, "a machine", to.machine); }},
       {{"key", Shape::value, "the key of the record", {}, true},
        [](Reader& r, const Node& n, Recipient& to) { to.key = r.value(n); }}}};
  return keys;
}

Rows Reader::rows(const Node& node, RowPlace place) {
  Rows rows;
  if (node.kind != Node::Kind::list) {
    rows.push_back(row(node, place));
    return rows;
  }
  if (node.items.size() > kListedRowsMax) {
    error("too_many_rows", node.items[kListedRowsMax].at,
          "a list has at most " + std::to_string(kListedRowsMax) + " rows");
    return rows;
  }
  if (node.items.empty())
    error("empty_rows", node.at, "expected at least one row; leave the key out for none");
  for (const Node& item : node.items) {
    if (diagnostics_.is_full()) break;
    rows.push_back(row(item, place));
  }
  return rows;
}

Row Reader::row(const Node& node, RowPlace place) {
  Row row;
  row.at = node.where();
  if (node.kind == Node::Kind::text) {
    short_row(node, place, row);
    return row;
  }
  if (node.kind != Node::Kind::map) {
    wrong_kind(node, "a row: a state to go to, or {if: …, to: …}");
    return row;
  }
  const RowPlace outer = std::exchange(row_place_, place);
  keys(node, row_keys(place), row);
  row_place_ = outer;
  return row;
}

// `x` is `{to: x}`; in error rows the actions stand for themselves.
bool Reader::short_row(const Node& node, RowPlace place, Row& row) {
  if (place == RowPlace::error) {
    const auto action = std::find(std::begin(kActionWords), std::end(kActionWords), node.text);
    if (action != std::end(kActionWords)) {
      row.action = static_cast<Row::Action>(1 + (action - std::begin(kActionWords)));
      if (row.action == Row::Action::later)
        error("later_delay", node.at, "`later` needs a delay: {later: 10s}");
      return true;
    }
  }
  row.to = ref(node, "a state");
  return true;
}

std::vector<EffectRow> Reader::effects(const Node& node) {
  std::vector<EffectRow> effects;
  const auto read = [&](const Node& item) {
    EffectRow& effect = effects.emplace_back();
    effect.at = item.where();
    keys(item, effect_keys(), effect);
  };
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items)
      if (!diagnostics_.is_full()) read(item);
  } else {
    read(node);
  }
  return effects;
}

HoldText Reader::hold(const Node& node) {
  HoldText hold;
  if (node.kind == Node::Kind::map && !is_bare_template(node)) {
    keys(node, hold_keys(), hold);
    return hold;
  }
  hold.code = row_place_ == RowPlace::give_up ? "gave_up" : "machine";
  hold.text = text_value(node, "a text for people, or {code, text}");
  return hold;
}

Recipient Reader::recipient(const Node& node) {
  constexpr std::string_view kChildren = "children.";
  Recipient to;
  if (node.kind == Node::Kind::map) {
    to.kind = Recipient::Kind::record;
    keys(node, recipient_keys(), to);
  } else if (node.kind == Node::Kind::text && node.text == "parent") {
    to.kind = Recipient::Kind::parent;
  } else if (node.kind == Node::Kind::text && node.text.starts_with(kChildren)) {
    to.kind = Recipient::Kind::children;
    to.machine = node.text.substr(kChildren.size());
    check_name(to.machine, node.at, "a machine");
  } else if (node.kind != Node::Kind::text || node.text != "self") {
    error("unknown_word", node.at,
          "`to` of a `send` is self, parent, children.machine or {machine: …, key: …}");
  }
  return to;
}

std::vector<EventRows> Reader::on(const Node& node, RowPlace place) {
  std::vector<EventRows> on;
  members(node, "`on`", [&](const Member& member) {
    check_name(member.key, member.key_at, "an event");
    on.push_back({Ref(member.key, {member.key_at}), rows(member.value, place)});
  });
  return on;
}

std::vector<TimerRows> Reader::timers(const Node& node) {
  std::vector<TimerRows> timers;
  members(node, "a timer", [&](const Member& member) {
    Node key;
    key.kind = member.key == "0" ? Node::Kind::number : Node::Kind::text;
    key.text = member.key;
    key.at = member.key_at;
    timers.push_back({duration(key), rows(member.value, RowPlace::plain)});
  });
  return timers;
}

}  // namespace pawl
