#include "model/expression/program.h"

#include <gtest/gtest.h>

#include "calendar/zone.h"
#include "model/expression/counted_new.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

Instant instant(std::string_view text) { return parse_instant(text).value(); }

Definition order_machine() {
  using Kind = FieldType::Kind;
  return {
      .machine = "order",
      .data = Fields{{"amount", {Kind::decimal}},
                     {"count", {Kind::integer}},
                     {"name", {Kind::string}},
                     {"paid", {Kind::boolean}},
                     {"at", {Kind::time}},
                     {"wait", {Kind::duration}},
                     {"items", {Kind::list}},
                     {"extra", {Kind::map}},
                     {"free", {Kind::any}},
                     {"zone", {Kind::zone}},
                     {"size", {.kind = Kind::word, .words = {"small", "large"}}}},
      .order = {"fresh", "paying", "paid"},
      .states = {{"fresh"}, {"paying"}, {"paid"}, {"lost"}},
  };
}

constexpr std::string_view kProgramData = R"({
  "amount": 19.99, "count": 3, "name": "Ann", "paid": true, "at": "2026-01-01T00:00:00Z",
  "wait": "90m", "items": [1, 2.5, "x", [true]], "extra": {"a": {"b": null}, "k\u0065y": "v\nw"},
  "free": {"n": 1, "t": "2026-01-02T00:00:00Z", "list": [3, 1, 2], "huge": 1e300, "tiny": 1.5e-30},
  "size": "small"})";

// Everything that an expression can see.
struct World {
  Definition definition = order_machine();
  Record record;
  Actor actor{"ann", {"clerk", "operator"}};
  Failure error{.code = "http_503",
                .message = "busy",
                .detail = R"({"status":503})",
                .retry_after = 30s,
                .at = instant("2026-03-01T00:00:00Z")};
  Fields event_fields{{"reason", {FieldType::Kind::string}}, {"n", {FieldType::Kind::integer}}};
  Scope scope;
  Sight sight;

  World() {
    record.id = {18446744073709551615U};
    record.machine = "order";
    record.key = "A-1";
    record.version = 2;
    record.state = "paying";
    record.revision = 7;
    record.failures = 2;
    record.created_at = instant("2026-01-01T10:00:00Z");
    record.result = R"({"ok":true})";
    record.children = {{.machine = "parcel",
                        .all = 5,
                        .open = 3,
                        .final = 2,
                        .hold = 1,
                        .states = {{"packed", 3}}}};
    scope = {.definition = &definition,
             .sees_event = true,
             .event = &event_fields,
             .sees_result = true,
             .sees_error = true,
             .sees_item = true};
    sight = {.record = &record,
             .data = kProgramData,
             .event = R"({"reason":"late"})",
             .result = R"({"n":4})",
             .item = R"({"sku":"x","qty":2})",
             .actor = &actor,
             .error = &error,
             .now = instant("2026-11-16T09:30:00Z")};
  }
};

Zone an_hour_east() {
  return Zone(
      Zone::Table{.name = "east", .changes = {{ZoneSpan::kBegin, 1h, 0}}, .abbreviations = {"E"}});
}

// The value as JSON; `absent`, or `none: why`; an error as `column: message`.
std::string value(std::string_view text, World& world) {
  const auto program = Program::compile(text, world.scope);
  if (!program)
    return std::to_string(program.error().position->column) + ": " + program.error().message;
  Scratch scratch;
  const Operand operand = (*program)->evaluate(world.sight, scratch);
  EXPECT_EQ(scratch.why.empty(),
            operand.kind != Operand::Kind::none && operand.kind != Operand::Kind::absent)
      << text << ": " << scratch.why;
  if (operand.kind == Operand::Kind::none) return "none: " + scratch.why;
  if (operand.kind == Operand::Kind::absent) return "absent";
  std::string json;
  append_json(json, operand);
  return json;
}

std::string value(std::string_view text) {
  World world;
  return value(text, world);
}

std::string holds(std::string_view text, World& world) {
  const auto program = Program::compile(text, world.scope);
  if (!program) return program.error().message;
  Scratch scratch;
  const bool result = (*program)->holds(world.sight, scratch);
  return (result ? "true" : "false") + (scratch.why.empty() ? "" : ": " + scratch.why);
}

std::string holds(std::string_view text) {
  World world;
  return holds(text, world);
}

Type type(std::string_view text) {
  World world;
  const auto program = Program::compile(text, world.scope);
  EXPECT_TRUE(program) << text << ": " << program.error().message;
  return program ? (*program)->type() : Type::null;
}

TEST(Program, LiteralsAndPrecedence) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("(1 + 2) * 3"), "9");
  EXPECT_EQ(value("10 - 4 - 3"), "3");
  EXPECT_EQ(value("24 / 4 / 2 % 2"), "1");
  EXPECT_EQ(value("-2 * -3"), "6");
  EXPECT_EQ(value("- - 2"), "2");
  EXPECT_EQ(value("0.1 + 0.2"), "0.3");
  EXPECT_EQ(value("2e3"), "2000");
  EXPECT_EQ(value("'it\\'s \\\\ \\n\\t \\\"x'"), R"("it's \\ \n\t \"x")");
  EXPECT_EQ(value("\"it's\""), "\"it's\"");
  EXPECT_EQ(value("[1, 'a', [true, null], data.count + 1, data.free.x, now,]"),
            R"([1,"a",[true,null],4,null,"2026-11-16T09:30:00Z"])");
  EXPECT_EQ(value("[]"), "[]");
  EXPECT_EQ(value("not true or true and false"), "false");
  EXPECT_EQ(value("true or true and false"), "true");
  EXPECT_EQ(value("not 1 == 2"), "true");
  EXPECT_EQ(value("1 + 1 == 2 and 3 in [1, 2 + 1]"), "true");
}

TEST(Program, PathsLeadToValuesOrNowhere) {
  EXPECT_EQ(value("data.amount"), "19.99");
  EXPECT_EQ(value("data.items[1]"), "2.5");
  EXPECT_EQ(value("data.items[3][0]"), "true");
  EXPECT_EQ(value("data.items[data.count - 1]"), "\"x\"");
  EXPECT_EQ(value("data.items[4]"), "absent");
  EXPECT_EQ(value("data.items[-1]"), "absent");
  EXPECT_EQ(value("data.items[0.5 + 0.25]"), "absent");
  EXPECT_EQ(value("data.extra.key"), R"("v\nw")");
  EXPECT_EQ(value("data.extra['key']"), R"("v\nw")");
  EXPECT_EQ(value("data['amount']"), "19.99");
  EXPECT_EQ(value("data.extra.a"), R"({"b": null})");
  EXPECT_EQ(value("data.extra.a.b"), "null");
  EXPECT_EQ(value("data.extra.a.b.c.d"), "absent");
  EXPECT_EQ(value("data.extra.nope[0].x"), "absent");
  EXPECT_EQ(value("data.extra[data.name]"), "absent");
  EXPECT_EQ(value("data.items.x"), "12: data.items is a list; it has no field x");
  EXPECT_EQ(value("data.free.list[1 / 0]"), "none: 1 / 0 has no result");
  EXPECT_EQ(value("[4, 5, 6][1]"), "5");
  EXPECT_EQ(value("data.zone"), "absent");
  EXPECT_EQ(value("data.free.and"), "absent");
}

TEST(Program, CopiedValuesStayAsTheyWereWritten) {
  World world;
  world.sight.data = R"({"at":"2026-01-01T09:00:00+01:00","wait":"PT60S","free":1.50})";
  EXPECT_EQ(value("data.at", world), "\"2026-01-01T09:00:00+01:00\"");
  EXPECT_EQ(value("data.wait", world), "\"PT60S\"");
  EXPECT_EQ(value("data.free", world), "1.50");
  EXPECT_EQ(value("data.free + 0", world), "1.5");
  EXPECT_EQ(value("data.at + '0s'", world), "\"2026-01-01T08:00:00Z\"");
}

TEST(Program, SeesTheRecord) {
  EXPECT_EQ(value("record.id"), "\"18446744073709551615\"");
  EXPECT_EQ(value("record.key"), "\"A-1\"");
  EXPECT_EQ(value("record.machine"), "\"order\"");
  EXPECT_EQ(value("record.version + record.revision + record.epoch + record.attempt"), "10");
  EXPECT_EQ(value("record.state"), "\"paying\"");
  EXPECT_EQ(value("record.failures"), "2");
  EXPECT_EQ(value("record.failing_since"), "null");
  EXPECT_EQ(value("record.failed_from"), "null");
  EXPECT_EQ(value("record.running"), "false");
  EXPECT_EQ(value("record.held"), "false");
  EXPECT_EQ(value("record.parent"), "null");
  EXPECT_EQ(value("record.parent.key"), "absent");
  EXPECT_EQ(value("record.parent == null and record.parent.key == null"), "true");
  EXPECT_EQ(value("record.result.ok"), "true");
  EXPECT_EQ(value("record.created_at"), "\"2026-01-01T10:00:00Z\"");
  EXPECT_EQ(value("record.entered_at < record.created_at"), "true");
  EXPECT_EQ(value("record.planned_at"), "null");
  World world;
  world.record.parent = Parent{{1}, "shop", "S\"1"};
  world.record.running = Attempt{};
  world.record.hold = Hold{.code = "x"};
  world.record.failing_since = instant("2026-02-01T00:00:00Z");
  world.record.plan.serving = instant("2026-02-02T00:00:00Z");
  world.record.failed_from = "fresh";
  world.record.result.clear();
  EXPECT_EQ(value("record.parent", world), R"({"machine":"shop","key":"S\"1"})");
  EXPECT_EQ(value("record.parent.machine", world), "\"shop\"");
  EXPECT_EQ(value("record.parent['key']", world), R"("S\"1")");
  EXPECT_EQ(value("record.running and record.held", world), "true");
  EXPECT_EQ(value("now - record.failing_since > '200d'", world), "true");
  EXPECT_EQ(value("record.planned_at - record.failing_since", world), "\"1d\"");
  EXPECT_EQ(value("record.failed_from", world), "\"fresh\"");
  EXPECT_EQ(value("record.result", world), "absent");
  EXPECT_EQ(value("record.sate"), "8: record has no field 'sate'; did you mean state?");
  EXPECT_EQ(value("record.parent.id"),
            "15: record.parent has no field 'id'; it has machine and key");
  EXPECT_EQ(value("record"), "1: record is not a value; name one of its fields, like record.key");
}

TEST(Program, SeesWhoAsksWhatWentWrongAndTheItem) {
  EXPECT_EQ(value("actor.name"), "\"ann\"");
  EXPECT_EQ(value("actor.roles"), R"(["clerk","operator"])");
  EXPECT_EQ(value("'clerk' in actor.roles"), "true");
  EXPECT_EQ(value("'boss' in actor.roles"), "false");
  EXPECT_EQ(value("size(actor.roles)"), "2");
  EXPECT_EQ(value("actor"), R"({"name":"ann","roles":["clerk","operator"]})");
  EXPECT_EQ(value("error.code"), "\"http_503\"");
  EXPECT_EQ(value("error.detail.status"), "503");
  EXPECT_EQ(value("error.retry_after"), "\"30s\"");
  EXPECT_EQ(value("error.retry_after < '1m' and not error.transient"), "true");
  EXPECT_EQ(value("error.at"), "\"2026-03-01T00:00:00Z\"");
  EXPECT_EQ(
      value("error"),
      R"({"code":"http_503","message":"busy","detail":{"status":503},"retry_after":"30s","transient":false,"at":"2026-03-01T00:00:00Z"})");
  EXPECT_EQ(value("error['message']"), "\"busy\"");
  EXPECT_EQ(value("event.reason"), "\"late\"");
  EXPECT_EQ(value("event.n"), "absent");
  EXPECT_EQ(value("event.n == null"), "true");
  EXPECT_EQ(value("result.n + 1"), "5");
  EXPECT_EQ(value("item.qty * 2"), "4");
  EXPECT_EQ(value("item"), R"({"sku":"x","qty":2})");
  EXPECT_EQ(value("now"), "\"2026-11-16T09:30:00Z\"");
  World blind;
  blind.sight = {};
  for (const char* text :
       {"record.key", "record.parent", "actor.name", "actor.roles", "actor", "error.at", "error",
        "event", "event.n", "result", "item.x", "children.parcel.all"})
    EXPECT_EQ(value(text, blind), "absent") << text;
  EXPECT_EQ(value("'x' in actor.roles", blind), "none: actor.roles is absent");
}

TEST(Program, CountsChildren) {
  EXPECT_EQ(value("children.parcel.all"), "5");
  EXPECT_EQ(value("children.parcel.open"), "3");
  EXPECT_EQ(value("children.parcel.final"), "2");
  EXPECT_EQ(value("children.parcel.hold"), "1");
  EXPECT_EQ(value("children.parcel.packed"), "3");
  EXPECT_EQ(value("children.parcel.lost"), "0");
  EXPECT_EQ(value("children.invoice.open"), "0");
  EXPECT_EQ(value("children.parcel.open == children.parcel.packed"), "true");
  const std::string incomplete =
      "children are counted by machine and state; write children.<machine>.<state>, or all, open, "
      "final or hold for the state";
  EXPECT_EQ(value("children"), "1: " + incomplete);
  EXPECT_EQ(value("children.parcel > 0"), "10: " + incomplete);
  EXPECT_EQ(value("size(children['parcel'])"), "14: " + incomplete);
  EXPECT_EQ(value("children.parcel.open.x"),
            "22: children.parcel.open is a number; it has no field x");
}

TEST(Program, ComparesByValueAndAbsentIsNull) {
  EXPECT_EQ(value("data.amount == 19.990"), "true");
  EXPECT_EQ(value("data.name != 'Bob'"), "true");
  EXPECT_EQ(value("data.name < 'Bob'"), "true");
  EXPECT_EQ(value("data.count >= 3 and data.count <= 3 and not (data.count > 3)"), "true");
  EXPECT_EQ(value("data.extra.nope == null"), "true");
  EXPECT_EQ(value("data.extra.a.b == null"), "true");
  EXPECT_EQ(value("data.extra.nope == data.extra.a.b"), "true");
  EXPECT_EQ(value("data.amount == null"), "false");
  EXPECT_EQ(value("data.amount != null"), "true");
  EXPECT_EQ(value("data.free.n == '1'"), "false");
  EXPECT_EQ(value("data.free.n != true"), "true");
  EXPECT_EQ(value("data.free.list == [3, 1.0, 2]"), "true");
  EXPECT_EQ(value("data.free.list == [1, 2, 3]"), "false");
  EXPECT_EQ(value("data.extra.a == data.extra['a']"), "true");
  EXPECT_EQ(value("data.items[3] == [true]"), "true");
  EXPECT_EQ(value("true == data.paid"), "true");
  EXPECT_EQ(value("data.free.n < 'x'"),
            "none: data.free.n < 'x' compares values that have no order");
  EXPECT_EQ(value("data.extra.a.b < 1"), "none: data.extra.a.b is null");
  EXPECT_EQ(value("1 < data.extra.nope"), "none: data.extra.nope is absent");
  EXPECT_EQ(value("data.free.list < data.free.list"),
            "none: data.free.list < data.free.list compares values that have no order");
}

TEST(Program, LooksIntoListsAndMaps) {
  EXPECT_EQ(value("'x' in data.items"), "true");
  EXPECT_EQ(value("2.50 in data.items"), "true");
  EXPECT_EQ(value("[true] in data.items"), "true");
  EXPECT_EQ(value("7 in data.items"), "false");
  EXPECT_EQ(value("'key' in data.extra"), "true");
  EXPECT_EQ(value("'a' in data.extra.a"), "false");
  EXPECT_EQ(value("'b' in data.extra.a"), "true");
  EXPECT_EQ(value("data.extra.nope in [null]"), "true");
  EXPECT_EQ(value("3 in [1 / 0, data.count]"), "true");
  EXPECT_EQ(value("4 in [1 / 0, data.count]"), "none: 1 / 0 has no result");
  EXPECT_EQ(value("'x' in data.extra.nope"), "none: data.extra.nope is absent");
  EXPECT_EQ(value("'x' in data.free.n"), "none: data.free.n is not a list and has no such keys");
  EXPECT_EQ(value("'x' in []"), "false");
  EXPECT_EQ(value("data.at in ['2026-01-01T01:00:00+01:00']"), "true");
}

TEST(Program, ArithmeticIsExactOrHasNoValue) {
  EXPECT_EQ(value("data.amount * data.count"), "59.97");
  EXPECT_EQ(value("7 % 3 + 1 / 3"), "1.333333333333333333");
  EXPECT_EQ(value("-data.amount"), "-19.99");
  EXPECT_EQ(value("-data.free.n"), "-1");
  EXPECT_EQ(value("1 / 0"), "none: 1 / 0 has no result");
  EXPECT_EQ(value("1 % 0"), "none: 1 % 0 has no result");
  EXPECT_EQ(value("1e38 * 10"), "none: 1e38 * 10 has no result");
  EXPECT_EQ(value("data.free.huge + 1"),
            "none: data.free.huge is a number too large to compute with");
  EXPECT_EQ(value("data.free.tiny < 0.5 and data.free.tiny >= 0"), "true");
  EXPECT_EQ(value("data.free.nope + 1"), "none: data.free.nope is absent");
  EXPECT_EQ(value("1 - data.extra.a.b"), "none: data.extra.a.b is null");
  EXPECT_EQ(value("-data.extra.a.b"), "none: data.extra.a.b is null");
  EXPECT_EQ(value("data.free.n + data.free"), "none: data.free.n + data.free has no result");
  EXPECT_EQ(value("(1 / 0) == 1"), "none: (1 / 0) has no result");
}

TEST(Program, TimesAndDurations) {
  EXPECT_EQ(value("now + '7d'"), "\"2026-11-23T09:30:00Z\"");
  EXPECT_EQ(value("'1h' + now"), "\"2026-11-16T10:30:00Z\"");
  EXPECT_EQ(value("now - '30m'"), "\"2026-11-16T09:00:00Z\"");
  EXPECT_EQ(value("now - data.at"), "\"459930m\"");
  EXPECT_EQ(value("data.at - now"), "\"-459930m\"");
  EXPECT_EQ(value("now - data.at > '300d'"), "true");
  EXPECT_EQ(value("data.wait + '30m'"), "\"2h\"");
  EXPECT_EQ(value("data.wait - '2h'"), "\"-30m\"");
  EXPECT_EQ(value("data.wait == 'PT1H30M' and data.wait < '2h'"), "true");
  EXPECT_EQ(value("data.at == '2026-01-01T01:00:00+01:00'"), "true");
  EXPECT_EQ(value("data.at < '2026-01-01T00:00:01Z'"), "true");
  EXPECT_EQ(value("'2026-01-01T00:00:00Z' <= data.at"), "true");
  EXPECT_EQ(value("'2026-01-02T00:00:00Z' - data.at"), "\"1d\"");
  EXPECT_EQ(value("data.at + data.wait"), "\"2026-01-01T01:30:00Z\"");
  EXPECT_EQ(value("now + '3652058d'"), "none: now + '3652058d' has no result");
  EXPECT_EQ(value("data.wait + '3652058d' + '1d'"),
            "none: data.wait + '3652058d' + '1d' has no result");
  World world;
  world.sight.data = R"({"at":"soon","wait":5})";
  EXPECT_EQ(value("data.at < now", world), "none: data.at is not a time");
  EXPECT_EQ(value("data.wait", world), "none: data.wait is not a duration");
  world.sight.data = R"({"at":null})";
  EXPECT_EQ(value("data.at == null and data.wait == null", world), "true");
  EXPECT_EQ(value("data.at + '1h'", world), "none: data.at is null");
}

TEST(Program, ATextOppositeATimeIsReadAsOne) {
  EXPECT_EQ(value("data.free.t < now"), "true");
  EXPECT_EQ(value("now > data.free.t"), "true");
  EXPECT_EQ(value("data.free.t == data.at + '1d'"), "true");
  EXPECT_EQ(value("data.free.t + '1d'"), "\"2026-01-03T00:00:00Z\"");
  EXPECT_EQ(value("now - data.free.t > '1d'"), "true");
  EXPECT_EQ(value("data.free.n < now"),
            "none: data.free.n < now compares values that have no order");
  EXPECT_EQ(value("data.free.n == now"), "false");
  EXPECT_EQ(value("data.extra.key == now"), "false");
  EXPECT_EQ(value("data.free.n + '1d'"), "none: data.free.n + '1d' has no result");
}

TEST(Program, ATimeWithoutOffsetIsLocalToTheZoneInForce) {
  World world;
  const Zone zone = an_hour_east();
  world.sight.zone = &zone;
  world.sight.data = R"({"at":"2026-01-01T01:00:00"})";
  EXPECT_EQ(value("data.at == '2026-01-01T00:00:00Z'", world), "true");
  EXPECT_EQ(value("'2026-01-01T00:00:00Z' == '2026-01-01T01:00:00'", world), "false");
  EXPECT_EQ(value("data.at == '2026-01-01T01:00:00'", world), "true");
  world.sight.zone = nullptr;
  EXPECT_EQ(value("data.at == '2026-01-01T01:00:00Z'", world), "true");
}

TEST(Program, SizeMinAndMax) {
  EXPECT_EQ(value("size(data.name) + size('äöü') + size('')"), "6");
  EXPECT_EQ(value("size(data.items)"), "4");
  EXPECT_EQ(value("size(data.extra)"), "2");
  EXPECT_EQ(value("size([1, 2])"), "2");
  EXPECT_EQ(value("size(data.extra.nope)"), "none: data.extra.nope is absent");
  EXPECT_EQ(value("size(data.free.n)"), "none: data.free.n has no size");
  EXPECT_EQ(value("min(3, data.count - 1, 2.5)"), "2");
  EXPECT_EQ(value("max(data.amount, 1)"), "19.99");
  EXPECT_EQ(value("max(now, data.at)"), "\"2026-11-16T09:30:00Z\"");
  EXPECT_EQ(value("max(data.at, '2026-06-01T00:00:00Z')"), "\"2026-06-01T00:00:00Z\"");
  EXPECT_EQ(value("min(data.wait, '1h')"), "\"1h\"");
  EXPECT_EQ(value("min(data.free.list)"), "1");
  EXPECT_EQ(value("max(data.free.list)"), "3");
  EXPECT_EQ(value("max([1, 2, 3.5])"), "3.5");
  EXPECT_EQ(value("min([])"), "none: min([]) is of an empty list");
  EXPECT_EQ(value("min(data.items)"), "none: min(data.items) has an item that is not a number");
  EXPECT_EQ(value("min(1, data.extra.a.b)"), "none: data.extra.a.b is null");
  EXPECT_EQ(value("min(data.free.n, now)"),
            "none: min(data.free.n, now) compares values that have no order");
  EXPECT_EQ(value("max(data.extra.key, data.extra.key)"),
            "none: max(data.extra.key, data.extra.key) compares texts");
}

TEST(Program, StatesAreCheckedAndOrdered) {
  EXPECT_EQ(value("record.state == 'paying'"), "true");
  EXPECT_EQ(value("record.state in ['paid', 'discarded']"), "false");
  EXPECT_EQ(value("record.state < 'paid'"), "true");
  EXPECT_EQ(value("'paid' >= record.state"), "true");
  EXPECT_EQ(value("record.state < 'fresh'"), "false");
  EXPECT_EQ(value("record.failed_from < 'paid'"), "none: record.failed_from is null");
  World world;
  world.record.state = "lost";
  EXPECT_EQ(value("record.state > 'fresh'", world), "none: record.state is a state without order");
  EXPECT_EQ(holds("record.state > 'fresh' or record.state == 'lost'", world), "true");
  EXPECT_EQ(value("record.state == 'payed'"), "17: there is no state 'payed'; did you mean paid?");
  EXPECT_EQ(value("record.state in ['paid', 'frehs']"),
            "26: there is no state 'frehs'; did you mean fresh?");
  EXPECT_EQ(
      value("record.state < 'lost'"),
      "16: the state 'lost' is not in order; add it to the machine's order, or compare with == or in");
  EXPECT_EQ(
      value("record.state < data.name"),
      "16: data.name is a text; a state can be ordered only against the name of a state, record.state or record.failed_from");
  EXPECT_EQ(
      value("record.state == 'zzzzz'"),
      "17: there is no state 'zzzzz'; the states are fresh, paying, paid, lost and discarded");
  world.definition.order.clear();
  EXPECT_EQ(
      value("record.state < 'paid'", world),
      "14: states are compared by the machine's order, and it has none; list its states under order");
  world.scope.definition = nullptr;
  EXPECT_EQ(value("record.state < 'paid'", world), "none: record.state is a state without order");
  EXPECT_EQ(value("record.state == 'whatever'", world), "false");
}

TEST(Program, OneSideThatDecidesIsEnough) {
  EXPECT_EQ(value("false and data.free.nope"), "false");
  EXPECT_EQ(value("data.free.nope and false"), "false");
  EXPECT_EQ(value("true or 1 / 0 > 1"), "true");
  EXPECT_EQ(value("1 / 0 > 1 or true"), "true");
  EXPECT_EQ(value("data.free.nope and true"), "none: data.free.nope is absent");
  EXPECT_EQ(value("true and data.free.n"), "none: data.free.n is not true or false");
  EXPECT_EQ(value("data.extra.a.b or false"), "none: data.extra.a.b is null");
  EXPECT_EQ(value("not data.free.nope"), "none: data.free.nope is absent");
  EXPECT_EQ(value("(1 / 0 > 1 or true) and 2 / 0 > 1"), "none: 2 / 0 has no result");
  EXPECT_EQ(holds("data.paid"), "true");
  EXPECT_EQ(holds("not data.paid"), "false");
  EXPECT_EQ(holds("data.free.nope"), "false: data.free.nope is absent");
  EXPECT_EQ(holds("data.extra.a.b"), "false: data.extra.a.b is null");
  EXPECT_EQ(holds("data.free.n"), "false: data.free.n is not true or false");
  EXPECT_EQ(holds("data.amount > data.free.nope"), "false: data.free.nope is absent");
}

TEST(Program, ALoneNameIsAGuard) {
  const auto guard = Program::compile(" approves ", {});
  ASSERT_TRUE(guard);
  EXPECT_EQ((*guard)->guard(), "approves");
  EXPECT_EQ((*guard)->type(), Type::boolean);
  const auto program = Program::compile("data", {});
  ASSERT_TRUE(program);
  EXPECT_EQ((*program)->guard(), "");
  EXPECT_EQ(
      value("not approves"),
      "5: the name 'approves' is not known here; write data.approves for a field, 'approves' for a text");
  EXPECT_EQ(value("dta.amount > 1"), "1: the name 'dta' is not known here; did you mean data?");
  EXPECT_EQ(value("data.paid == True"),
            "14: the name 'True' is not known here; did you mean true?");
}

TEST(Program, KnowsWhatItYields) {
  EXPECT_EQ(type("data.count + 1"), Type::integer);
  EXPECT_EQ(type("data.count / 2"), Type::decimal);
  EXPECT_EQ(type("data.amount"), Type::decimal);
  EXPECT_EQ(type("data.free.x"), Type::any);
  EXPECT_EQ(type("data.free + 1"), Type::decimal);
  EXPECT_EQ(type("data.items[0]"), Type::any);
  EXPECT_EQ(type("data.items"), Type::list);
  EXPECT_EQ(type("data"), Type::map);
  EXPECT_EQ(type("data.size"), Type::text);
  EXPECT_EQ(type("data.zone"), Type::text);
  EXPECT_EQ(type("now - data.at"), Type::duration);
  EXPECT_EQ(type("now + data.wait"), Type::time);
  EXPECT_EQ(type("now - data.free"), Type::any);
  EXPECT_EQ(type("data.free - now"), Type::duration);
  EXPECT_EQ(type("data.free + now"), Type::time);
  EXPECT_EQ(type("data.wait + data.wait"), Type::duration);
  EXPECT_EQ(type("record.state"), Type::state);
  EXPECT_EQ(type("null"), Type::null);
  EXPECT_EQ(type("max(data.count, 2)"), Type::integer);
  EXPECT_EQ(type("max(data.count, 2.5)"), Type::decimal);
  EXPECT_EQ(type("max(now, data.at)"), Type::time);
  EXPECT_EQ(type("data.amount > 1"), Type::boolean);
  EXPECT_EQ(type("-data.count"), Type::integer);
}

TEST(Program, NamesAreSeenOnlyWhereTheyMean) {
  World world;
  world.scope = {.definition = &world.definition, .sees_now = false};
  EXPECT_EQ(value("now > data.at", world), "1: now is not allowed in when; use a timer (after)");
  EXPECT_EQ(value("event.x == 1", world),
            "1: event is available only in on rows; to use it later, keep it with set");
  EXPECT_EQ(value("actor.name == 'x'", world),
            "1: actor is available only in on rows; to use it later, keep it with set");
  EXPECT_EQ(value("result.n == 1", world),
            "1: result is available only in done rows; write record.result for the last result");
  EXPECT_EQ(value("error.code == 'x'", world),
            "1: error is available only in errors, give_up and resume rows");
  EXPECT_EQ(value("1 + item", world), "5: item is available only in effects with each");
}

TEST(Program, SeesNoRecordWhereThereIsDataOnly) {
  World world;
  world.scope = {.sees_record = false, .sees_now = false};
  EXPECT_EQ(value("record.key == 'x'", world),
            "1: record is available only in machines; only data is available here");
  EXPECT_EQ(value("1 < children.line.open", world),
            "5: children is available only in machines; only data is available here");
  EXPECT_EQ(value("now > data.at", world),
            "1: now is not available here: the same data must give the same value");
  world.scope.sees_now = true;
  EXPECT_EQ(value("now == now", world), "true");
}

TEST(Program, UndeclaredDataHasAnyField) {
  World world;
  world.definition.data.reset();
  EXPECT_EQ(value("data.whatever == null", world), "true");
  EXPECT_EQ(value("data.amount > 1", world), "true");
  EXPECT_EQ(value("data.at < now", world), "true");
  world.scope.definition = nullptr;
  EXPECT_EQ(value("data.amount > 1", world), "true");
}

TEST(Program, RefusesTypesThatNeverAgree) {
  const auto refused = [](std::string_view text, std::string_view message) {
    EXPECT_EQ(value(text), message) << text;
  };
  refused(
      "data.amount == 'x'",
      "13: data.amount is a number and 'x' is a text: they are never equal; compare values of one type");
  refused(
      "data.name < 1",
      "11: data.name is a text and 1 is a number: they have no order; compare values of one type");
  refused(
      "data.paid < true",
      "1: data.paid is true or false; only numbers, texts, times, durations and states have an order");
  refused("data.amount < null",
          "15: null is null; only numbers, texts, times, durations and states have an order");
  refused(
      "data.name == now",
      "11: data.name is a text and now is a time: they are never equal; compare values of one type");
  refused("data.amout > 1", "6: data has no field 'amout'; did you mean amount?");
  refused("event.reson == 'x'", "7: event has no field 'reson'; did you mean reason?");
  refused("data.size == 'smal'",
          "14: 'smal' is not one of the words of that field; did you mean small?");
  refused("data.size in ['large', 'wide']",
          "24: 'wide' is not one of the words of that field; they are small and large");
  refused(
      "data.amount in ['x']",
      "17: data.amount is a number and 'x' is a text: they are never equal; compare values of one type");
  refused("1 in data.name", "6: data.name is a text; in looks into a list or the keys of a map");
  refused("1 in data.extra", "1: 1 is a number; the keys of a map are texts");
  refused(
      "data.amount and true",
      "1: data.amount is a number; and takes conditions: write a comparison, like data.amount != null");
  refused(
      "not data.name",
      "5: data.name is a text; not takes conditions: write a comparison, like data.name != null");
  refused("data.name + 'x'",
          "1: data.name is a text; texts are joined by writing them side by side: '{a}{b}'");
  refused("'a' + 'b'", "1: 'a' is a text; texts are joined by writing them side by side: '{a}{b}'");
  refused("data.name - 1", "1: data.name is a text; + and - take numbers, times and durations");
  refused("null + 1", "1: null is null; + and - take numbers, times and durations");
  refused(
      "now + now",
      "5: now is a time and now is a time; add and subtract numbers, durations, or a time and a duration");
  refused(
      "now + 5",
      "5: now is a time and 5 is a number; add and subtract numbers, durations, or a time and a duration");
  refused("data.wait * 2", "1: data.wait is a duration; * takes numbers");
  refused("-data.name", "2: data.name is a text; - takes numbers");
  refused(
      "data.at < 'tomorrow'",
      "11: the year is missing in 'tomorrow'; write it like 2026-11-16T09:30:00Z or 2026-11-16T10:30:00+01:00 (RFC 3339)");
  refused(
      "now + '7 dayz'",
      "7: unknown unit 'dayz'; did you mean days? (milliseconds, seconds, minutes, hours, days, weeks)");
  refused("data.items['x']", "11: data.items is a list; it has no field x");
  refused("data.extra[1]",
          "12: a list takes a number as its index, a map takes a text; 1 is a number");
  refused("data.name[0]", "10: data.name is a text; only lists and maps have an index");
  refused("now.year", "5: now is a time; it has no field year");
  refused("size(1)", "6: 1 is a number; only texts, lists and maps have a size");
  refused("size()", "1: size takes one argument: size(data.items)");
  refused("min(1)", "1: min takes two or more arguments, or one list: min(data.a, data.b)");
  refused("max()", "1: max takes two or more arguments, or one list: max(data.a, data.b)");
  refused("min(1, 'x')", "8: 'x' is a text; min compares numbers, times or durations");
  refused("min(1, now)",
          "8: now is a time and another argument is a number; give arguments of one type");
}

TEST(Program, NamesTheRightWordForWhatOtherLanguagesWrite) {
  const auto refused = [](std::string_view text, std::string_view message) {
    EXPECT_EQ(value(text), message) << text;
  };
  refused("data.paid && true", "11: && is not known here; write and");
  refused("data.paid || true", "11: || is not known here; write or");
  refused("!data.paid", "1: ! is not known here; write not");
  refused("data.count = 1", "12: = is not known here; write == to compare");
  refused("data.count === 1", "12: === is not known here; write == to compare");
  refused("data.count <> 1", "12: <> is not known here; write != for not equal");
  refused("data.count => 1", "12: => is not known here; write >= for greater or equal");
  refused(
      "1 < data.count < 5",
      "16: comparisons are not chained; write a < b and b < c, or put one of them in parentheses");
  refused("data.name is null", "11: is is not an operator; write == null or != null");
  refused("'a' not in data.items", "5: not goes first; write not (a in b)");
  refused("data.paid AND true", "11: 'AND' is written in lower case: and");
  refused("data.paid ? 1 : 2",
          "11: ? is not known here; there is no ?: here; write two rows, each with its own if");
  refused("now + 7d", "7: 7d is not a number; a duration is written in quotes: '7d'");
  refused(
      "007",
      "1: the number '007' cannot be used in an expression; write one without a leading 0, of at most 38 digits and 18 decimals");
  refused("len(data.items)", "1: there is no function 'len'; the functions are size, min and max");
  refused(
      "sise(data.items)",
      "1: there is no function 'sise'; the functions are size, min and max; did you mean size?");
  refused("data.items.size()",
          "16: only size, min and max can be called; write for example size(data.items)");
}

TEST(Program, SaysWhereItCannotBeRead) {
  const auto refused = [](std::string_view text, std::string_view message) {
    EXPECT_EQ(value(text), message) << text;
  };
  refused("", "1: an expression is missing; write for example data.amount > 0");
  refused("  ", "3: an expression is missing; write for example data.amount > 0");
  refused("data.amount >",
          "14: the expression ends too early; write a name or a value after 'data.amount >'");
  refused("> 1", "1: a name or a value is missing before '>'; write for example data.amount");
  refused("data. > 1",
          "7: the name of a field is missing after the dot; write for example data.amount");
  refused("data.items.0", "12: an item of a list is written in brackets: [0]");
  refused("data.items[]", "11: brackets take one index, like data.items[0] or data.map['key']");
  refused("(1 + 2", "1: '(' is not closed; write ) where it ends");
  refused("[1, 2", "1: '[' is not closed; write ] where it ends");
  refused("(1 + 2]", "7: expected ) instead of ']'");
  refused("1 + 2)", "6: unexpected ')'; it closes nothing");
  refused("data.paid true",
          "11: unexpected 'true' after 'data.paid'; join conditions with and or or");
  refused("'abc", "1: the text does not end; close it with '");
  refused("'a\\qb'", "3: unknown escape '\\q'; the escapes are \\' \\\\ \\n and \\t");
  refused(
      "1 # 2",
      "3: unexpected '#'; write a name like data.amount, a number, or a text in 'single quotes'");
  refused(
      "1e99",
      "1: the number '1e99' cannot be used in an expression; write one without a leading 0, of at most 38 digits and 18 decimals");
}

std::string repeated(std::string_view text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Program, IsBounded) {
  EXPECT_EQ(value("1" + repeated(" + 1", 127)), "128");  // 255 nodes
  EXPECT_EQ(
      value("1" + repeated(" + 1", 128)),
      "511: the expression has more than 256 names, values and operators; split it into several rows");
  EXPECT_EQ(value(repeated("(", 64) + "1" + repeated(")", 64)), "1");
  const std::string deep =
      "65: parentheses, brackets or signs are nested more than 64 deep; split the expression into several rows";
  EXPECT_EQ(value(repeated("(", 65) + "1" + repeated(")", 65)), deep);
  EXPECT_EQ(value(repeated("[", 100'000)), deep);
  EXPECT_EQ(value(repeated("-", 100'000)), deep);
  EXPECT_TRUE(value(repeated("not ", 100'000)).ends_with("into several rows"));
  EXPECT_TRUE(value("data" + repeated(".a", 100'000)).ends_with("into several rows"));
  EXPECT_TRUE(value(repeated("size(", 100'000)).ends_with("into several rows"));
  World world;
  world.scope.definition = nullptr;
  EXPECT_EQ(value("data" + repeated(".a", 255), world), "absent");
}

TEST(Program, DataThatIsNoJsonDoesNoHarm) {
  World world;
  for (const char* data :
       {"", "{", "[", "{\"amount\":", "\"", "{\"items\":[1,", "x", "{\"name\":\"\\u"}) {
    world.sight.data = data;
    for (const char* text :
         {"data", "data.amount > 1", "data.items[3]", "size(data.items)", "1 in data.items",
          "data.name == 'x'", "size(data.name)", "max(data.items)", "data == data.extra"}) {
      const auto program = Program::compile(text, world.scope);
      ASSERT_TRUE(program);
      Scratch scratch;
      (*program)->holds(world.sight, scratch);
    }
  }
}

TEST(Program, HoldsAllocatesNothing) {
  World world;
  const Zone zone = an_hour_east();
  world.sight.zone = &zone;
  Scratch scratch;
  for (const char* text :
       {"data.amount > 0 and not record.running", "data.amount * data.count + 1 > 50.5",
        "data.name == 'Ann' and data.extra.a.b == null", "record.state < 'paid'",
        "record.state in ['fresh', 'paying']", "now + '7d' > data.at + data.wait",
        "'operator' in actor.roles", "'x' in data.items", "children.parcel.open == 3",
        "data.items[2] == 'x' and size(data.items) == 4", "data.free.list == data.free.list",
        "max(data.free.list) == 3 and min(1, data.amount) == 1",
        "data.extra.key == 'v\\nw and a text that is longer than fifteen characters'",
        "record.id == '18446744073709551615'", "data.free.nope > 1", "error.retry_after < '1m'",
        "data.free.t < now", "[1, data.count, 'a text of more than fifteen characters'] == null"}) {
    const auto program = Program::compile(text, world.scope);
    ASSERT_TRUE(program) << text << ": " << program.error().message;
    (*program)->holds(world.sight, scratch);  // warms the scratch
    const std::size_t before = news_so_far();
    (*program)->holds(world.sight, scratch);
    EXPECT_EQ(news_so_far() - before, 0U) << text;
  }
}

// A document of 4 MB is scanned a few times, not once per member.
TEST(Program, LargeDocumentsAreReadInTime) {
  World world;
  world.scope.definition = nullptr;
  std::string data = R"({"list":[0)";
  for (int i = 1; i < 500'000; ++i) data += "," + std::to_string(i);
  data += R"(],"last":[0]})";
  world.sight.data = data;
  EXPECT_EQ(value("max(data.list) + size(data.list) + data.list[499999] + data.last[0]", world),
            "1499998");
  EXPECT_EQ(value("'x' in data.list or data.list == data.last", world), "false");
}

}  // namespace
}  // namespace pawl
