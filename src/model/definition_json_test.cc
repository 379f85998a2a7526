#include "model/definition_json.h"
#include "pawl/machine_file.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using namespace std::chrono_literals;

Json map(std::vector<JsonMember> members) { return Json::map(std::move(members)); }
Json list(std::vector<Json> items) { return Json::list(std::move(items)); }

DurationValue lasting(Duration duration) { return duration; }

// The printed machine without the two lines that every machine begins with.
std::string printed(Definition definition) {
  definition.machine = "m";
  definition.initial = "a";
  const std::string text = print_machine(definition);
  const std::string head = "machine: m\ninitial: a\n";
  return text.starts_with(head) ? text.substr(head.size()) : text;
}

// The value of one key at the top of the file, as JSON.
std::string printed_key(const Definition& definition, std::string_view key) {
  const Json json = to_json(definition);
  const Json* value = json.find(key);
  return value == nullptr ? "nothing" : to_text(*value);
}

std::string printed_row(const Row& row) {
  return printed_key({.machine = "m", .on = {{"go", {row}}}}, "on");
}

std::string printed_retry(const Delays& delays) {
  return printed_key({.machine = "m", .policy = {.retry = delays}}, "retry");
}

std::string printed_error(const Row& row) {
  return printed_key({.machine = "m", .policy = {.errors = {{.code = "e", .rows = {row}}}}},
                     "errors");
}

std::string printed_effect(const EffectRow& effect) { return printed_row({.effects = {effect}}); }

std::string printed_task(Task task) {
  task.name = "t";
  return printed_key({.machine = "m", .tasks = {task}}, "tasks");
}

std::string printed_field(const Field& field) {
  return printed_key({.machine = "m", .data = Fields{field}}, "data");
}

TEST(DefinitionJson, TheLeastMachine) {
  EXPECT_EQ(print_machine({.machine = "m", .initial = "a", .states = {{.name = "a"}}}),
            "machine: m\ninitial: a\n\nstates:\n  a: {}\n");
}

TEST(DefinitionJson, KeysOfAMachineStandInOneOrder) {
  const Definition definition = {
      .machine = "m",
      .version = 3,
      .doc = "Pays, then ships.",
      .initial = "a",
      .data = Fields{{.name = "n", .type = {FieldType::Kind::integer, true}}},
      .events = {{.name = "go"}},
      .order = {"a", "b"},
      .schedule = Schedule{.rule = "FREQ=DAILY"},
      .policy = {.timeout = lasting(30s),
                 .lease = lasting(5s),
                 .retry = Delays{},
                 .errors = {{.code = "default", .rows = {{.action = Row::Action::retry}}}},
                 .give_up = {{.to = "b"}},
                 .failure = "b",
                 .count = Policy::Count::epoch,
                 .align = Policy::Align::retry,
                 .policy = "bank"},
      .policies = {{"bank", {.timeout = lasting(1min)}}},
      .on = {{"go", {{.to = "b"}}}},
      .states = {{.name = "a"}, {.name = "b", .final = true}},
      .tasks = {{.name = "t", .target = "q"}},
      .labels = {{"n", "{data.n}"}},
      .keep = Keep{.final = lasting(24h)},
      .pin = true,
      .migrate = {{.version = 2, .states = {{"old", "a"}}, .set = {{"n", 0}}}},
      .scenarios = {{.title = "it goes", .at = "2026-03-02T08:00:00Z"}}};
  EXPECT_EQ(print_machine(definition), R"(machine: m
version: 3
doc: Pays, then ships.
initial: a

data:
  n: int!

events:
  go: {}

order: [a, b]
schedule: {rrule: FREQ=DAILY}
timeout: 30s
lease: 5s
retry: []
errors: {default: retry}
give_up: b
failure: b
count: epoch
align: retry
policy: bank

policies:
  bank: {timeout: 1m}

labels: {n: "{data.n}"}
keep: 1d
pin: true
migrate: {2: {states: {old: a}, set: {n: 0}}}

on:
  go: b

states:
  a: {}
  b: {final: true}

tasks:
  t: {queue: q}

scenarios:
  it goes: {at: 2026-03-02T08:00:00Z, steps: []}
)");
}

TEST(DefinitionJson, KeysOfAStateStandInOneOrder) {
  const State state = {.name = "a",
                       .doc = "works",
                       .id = 7,
                       .task = "t",
                       .started = "s",
                       .done = {{.to = "b"}},
                       .on = {{"go", {{.to = "b"}}}, {"stay", {{}}}},
                       .after = {{lasting(1h), {{.to = "b"}}}, {"{data.wait}", {{.fail = "late"}}}},
                       .every = {{lasting(90s), {{.effects = {{.target = "log"}}}}}},
                       .planned = {{.to = "a"}},
                       .when = {{.condition = "data.n > 0", .to = "b"}},
                       .effects = {{.target = "mail"}},
                       .checkpoint = "c",
                       .resume = {{.event = "go"}, {}},
                       .final = true,
                       .policy = {.timeout = lasting(1s), .policy = "bank"}};
  EXPECT_EQ(printed({.states = {state}}), R"(
states:
  a:
    id: 7
    doc: works
    final: true
    task: t
    started: s
    checkpoint: c
    timeout: 1s
    policy: bank
    effects: [{notify: mail}]
    done: b
    on: {go: b, stay: {}}
    after: {1h: b, "{data.wait}": {fail: late}}
    every: {90s: {effects: [{notify: log}]}}
    planned: a
    when: {if: data.n > 0, to: b}
    resume:
      - {event: go}
      - {}
)");
}

TEST(DefinitionJson, KeysOfARowStandInOneOrder) {
  const Row row = {.condition = "data.ok",
                   .to = "b",
                   .event = "go",
                   .fail = "{event.code}",
                   .hold = HoldText{"machine", "look"},
                   .set = {{"x", 1}, {"y", "{event.y}"}},
                   .effects = {{.target = "mail"}},
                   .new_epoch = true,
                   .held = Row::Held::any,
                   .from = Row::From::listed,
                   .from_states = {"a", "c"},
                   .except = {"d"},
                   .action = Row::Action::give_up,
                   .checkpoint = "c",
                   .transient = true,
                   .elapsed = lasting(2h),
                   .alert = "oncall"};
  EXPECT_EQ(printed_row(row),
            R"({"go":{"if":"data.ok","held":"any","from":["a","c"],"except":["d"],)"
            R"("elapsed":"2h","to":"b","event":"go","fail":"{event.code}","give_up":true,)"
            R"("checkpoint":"c","transient":true,"hold":"look","set":{"x":1,"y":"{event.y}"},)"
            R"("effects":[{"notify":"mail"}],"alert":"oncall","new_epoch":true}})");
}

TEST(DefinitionJson, RowsTakeTheShortestForm) {
  EXPECT_EQ(printed_row({.to = "b"}), R"({"go":"b"})");
  EXPECT_EQ(printed_row({}), R"({"go":{}})");
  EXPECT_EQ(printed_row({.event = "b"}), R"({"go":{"event":"b"}})");
  EXPECT_EQ(printed_row({.held = Row::Held::yes}), R"({"go":{"held":true}})");
  EXPECT_EQ(printed_row({.to = "b", .from = Row::From::all}), R"({"go":{"from":"all","to":"b"}})");
  EXPECT_EQ(
      printed_key({.machine = "m", .on = {{"go", {{.condition = "x.y", .to = "b"}, {.to = "c"}}}}},
                  "on"),
      R"({"go":[{"if":"x.y","to":"b"},"c"]})");
}

TEST(DefinitionJson, AHoldIsItsTextWhenItHasTheUsualCodeOfItsPlace) {
  const auto given_up = [](const HoldText& hold) {
    return printed_key({.machine = "m", .policy = {.give_up = {{.hold = hold}}}}, "give_up");
  };
  EXPECT_EQ(printed_row({.hold = HoldText{"machine", "t"}}), R"({"go":{"hold":"t"}})");
  EXPECT_EQ(printed_row({.hold = HoldText{"gave_up", "t"}}),
            R"({"go":{"hold":{"code":"gave_up","text":"t"}}})");
  EXPECT_EQ(printed_error({.hold = HoldText{"machine", "t"}}), R"({"e":{"hold":"t"}})");
  EXPECT_EQ(given_up({"gave_up", "t"}), R"({"hold":"t"})");
  EXPECT_EQ(given_up({"machine", "t"}), R"({"hold":{"code":"machine","text":"t"}})");
  EXPECT_EQ(given_up({"gave_up", nullptr}), R"({"hold":{"code":"gave_up","text":null}})");
}

TEST(DefinitionJson, ErrorRowsAreWordsOrNameTheirDelays) {
  const Delays at_once = {.list = {lasting(0s)}};
  const Delays second = {.kind = Delays::Kind::fixed, .first = lasting(1s)};
  EXPECT_EQ(printed_error({.action = Row::Action::retry}), R"({"e":"retry"})");
  EXPECT_EQ(printed_error({.action = Row::Action::done}), R"({"e":"done"})");
  EXPECT_EQ(printed_error({.action = Row::Action::give_up}), R"({"e":"give_up"})");
  EXPECT_EQ(printed_error({.to = "b"}), R"({"e":"b"})");
  EXPECT_EQ(printed_error({.action = Row::Action::retry, .delays = at_once}),
            R"({"e":{"retry":["0s"]}})");
  EXPECT_EQ(printed_error({.action = Row::Action::later, .delays = second}),
            R"({"e":{"later":"1s"}})");
  EXPECT_EQ(printed_error({.action = Row::Action::retry, .checkpoint = "c"}),
            R"({"e":{"retry":true,"checkpoint":"c"}})");
  EXPECT_EQ(printed_error({.action = Row::Action::done, .transient = true}),
            R"({"e":{"done":true,"transient":true}})");
}

TEST(DefinitionJson, DelaysAreAListAFormulaOrOneDuration) {
  EXPECT_EQ(printed_retry({}), "[]");
  EXPECT_EQ(printed_retry({.list = {lasting(0s), lasting(90s), "{data.wait}"}}),
            R"(["0s","90s","{data.wait}"])");
  EXPECT_EQ(printed_retry({.kind = Delays::Kind::fixed, .first = lasting(5min)}), R"("5m")");
  EXPECT_EQ(printed_retry({.kind = Delays::Kind::formula, .first = lasting(10s)}),
            R"({"first":"10s"})");
  EXPECT_EQ(printed_retry({.kind = Delays::Kind::formula,
                           .first = lasting(300ms),
                           .factor_milli = 1'500,
                           .max = lasting(90s),
                           .jitter = Delays::Jitter::percent,
                           .jitter_percent = 50,
                           .attempts = 10}),
            R"({"first":"300ms","factor":1.5,"max":"90s","jitter":"±50%","attempts":10})");
}

TEST(DefinitionJson, FactorsAreExactAndJitterIsAWord) {
  const auto formula = [](int factor_milli, Delays::Jitter jitter) {
    return printed_retry({.kind = Delays::Kind::formula,
                          .first = lasting(1s),
                          .factor_milli = factor_milli,
                          .jitter = jitter});
  };
  EXPECT_EQ(formula(1'000, Delays::Jitter::full), R"({"first":"1s","factor":1,"jitter":"full"})");
  EXPECT_EQ(formula(10'000, Delays::Jitter::equal),
            R"({"first":"1s","factor":10,"jitter":"equal"})");
  EXPECT_EQ(formula(1'005, Delays::Jitter::none), R"({"first":"1s","factor":1.005})");
}

TEST(DefinitionJson, NoFailureStateIsNull) {
  EXPECT_EQ(printed_key({.machine = "m", .policy = {.failure = Ref()}}, "failure"), "null");
  EXPECT_EQ(printed_key({.machine = "m"}, "failure"), "nothing");
}

TEST(DefinitionJson, WordsOfPolicies) {
  using Count = Policy::Count;
  using Align = Policy::Align;
  std::string words;
  for (const Count count : {Count::state, Count::epoch, Count::lifetime})
    words += printed_key({.machine = "m", .policy = {.count = count}}, "count");
  for (const Align align :
       {Align::planned, Align::retry, Align::only_planned, Align::whichever_first})
    words += printed_key({.machine = "m", .policy = {.align = align}}, "align");
  EXPECT_EQ(words, R"("state""epoch""lifetime""planned""retry""only_planned""whichever_first")");
}

TEST(DefinitionJson, AFieldWithOnlyATypeIsItsType) {
  using Kind = FieldType::Kind;
  std::string words;
  for (const Kind kind :
       {Kind::string, Kind::integer, Kind::decimal, Kind::boolean, Kind::time, Kind::duration,
        Kind::list, Kind::map, Kind::any, Kind::rrule, Kind::cron, Kind::zone})
    words += printed_field({.name = "f", .type = {kind, kind == Kind::integer}});
  EXPECT_EQ(words,
            R"({"f":"string"}{"f":"int!"}{"f":"decimal"}{"f":"bool"}{"f":"time"}{"f":"duration"})"
            R"({"f":"list"}{"f":"map"}{"f":"any"}{"f":"rrule"}{"f":"cron"}{"f":"zone"})");
  EXPECT_EQ(printed_field({.name = "f", .type = {Kind::word, false, {"a", "b"}}}),
            R"({"f":["a","b"]})");
  EXPECT_EQ(
      printed_field(
          {.name = "f", .type = {Kind::word, false, {"a"}}, .fallback = Json("a"), .doc = "first"}),
      R"({"f":{"type":["a"],"default":"a","doc":"first"}})");
  EXPECT_EQ(printed_field({.name = "f", .fallback = Json()}),
            R"({"f":{"type":"any","default":null}})");
  EXPECT_EQ(printed_key({.machine = "m", .data = Fields{}}, "data"), "{}");
}

TEST(DefinitionJson, EventsNameRolesAndPayload) {
  const EventDefinition event = {
      .name = "go", .by = {"operator", "app"}, .with = Fields{{.name = "n"}}, .doc = "goes"};
  EXPECT_EQ(
      printed_key({.machine = "m", .events = {event, {.name = "stop", .with = Fields{}}}},
                  "events"),
      R"({"go":{"by":["operator","app"],"with":{"n":"any"},"doc":"goes"},"stop":{"with":{}}})");
}

TEST(DefinitionJson, EffectsBeginWithTheirVerb) {
  EXPECT_EQ(printed_effect({.target = "mail",
                            .condition = "data.x",
                            .each = "data.list",
                            .with = map({{"n", 1, {}}}),
                            .key = "{record.key}/1",
                            .in = lasting(1min)}),
            R"({"go":{"effects":[{"notify":"mail","if":"data.x","each":"data.list",)"
            R"("key":"{record.key}/1","with":{"n":1},"in":"1m"}]}})");
  EXPECT_EQ(printed_effect(
                {.verb = EffectRow::Verb::run, .target = "t", .then = "ok", .otherwise = "bad"}),
            R"({"go":{"effects":[{"run":"t","then":"ok","else":"bad"}]}})");
  EXPECT_EQ(printed_effect({.verb = EffectRow::Verb::create, .target = "parcel", .key = "k"}),
            R"({"go":{"effects":[{"create":"parcel","key":"k"}]}})");
}

TEST(DefinitionJson, RecipientsAreWordsOrRecords) {
  const auto sent_to = [](const Recipient& recipient) {
    return printed_effect({.verb = EffectRow::Verb::send, .target = "e", .to = recipient});
  };
  using Kind = Recipient::Kind;
  EXPECT_EQ(sent_to({Kind::self}), R"({"go":{"effects":[{"send":"e","to":"self"}]}})");
  EXPECT_EQ(sent_to({Kind::parent}), R"({"go":{"effects":[{"send":"e","to":"parent"}]}})");
  EXPECT_EQ(sent_to({Kind::children, "solve"}),
            R"({"go":{"effects":[{"send":"e","to":"children.solve"}]}})");
  EXPECT_EQ(sent_to({Kind::record, "order", "{data.order}"}),
            R"({"go":{"effects":[{"send":"e","to":{"machine":"order","key":"{data.order}"}}]}})");
  EXPECT_EQ(printed_effect(
                {.verb = EffectRow::Verb::send, .target = "e", .to = Recipient{}, .must = true}),
            R"({"go":{"effects":[{"send":"e","to":"self","must":true}]}})");
}

TEST(DefinitionJson, KeysOfATaskStandInOneOrder) {
  EXPECT_EQ(printed_task({.target = "q",
                          .with = "{data}",
                          .result = Fields{{.name = "n"}},
                          .key = "{record.key}",
                          .concurrency = Concurrency{.max = 4},
                          .rate = Rate{.max = 10, .every = lasting(1s), .per = "{data.host}"},
                          .priority = 0,
                          .doc = "pays",
                          .policy = {.timeout = lasting(1min)}}),
            R"({"t":{"doc":"pays","queue":"q","with":"{data}","result":{"n":"any"},)"
            R"("key":"{record.key}","concurrency":4,)"
            R"("rate":{"max":10,"every":"1s","per":"{data.host}"},"priority":0,"timeout":"1m"}})");
  EXPECT_EQ(printed_task({.target = "q", .concurrency = Concurrency{.max = 2, .per = "{data.x}"}}),
            R"({"t":{"queue":"q","concurrency":{"max":2,"per":"{data.x}"}}})");
}

TEST(DefinitionJson, TasksNameWhoWorks) {
  using Method = HttpCall::Method;
  const auto calling = [](const HttpCall& call) {
    return printed_task({.kind = Task::Kind::http, .http = call});
  };
  EXPECT_EQ(printed_task({.kind = Task::Kind::channel, .target = "c"}), R"({"t":{"channel":"c"}})");
  EXPECT_EQ(printed_task({.kind = Task::Kind::function, .target = "f"}),
            R"({"t":{"function":"f"}})");
  EXPECT_EQ(calling({Method::post, "http://h/{data.x}", {{"accept", "a/b"}}, list({1})}),
            R"({"t":{"http":{"post":"http://h/{data.x}","headers":{"accept":"a/b"},"body":[1]}}})");
  EXPECT_EQ(calling({.method = Method::get, .url = "u"}), R"({"t":{"http":{"get":"u"}}})");
  EXPECT_EQ(calling({.method = Method::put, .url = "u"}), R"({"t":{"http":{"put":"u"}}})");
  EXPECT_EQ(calling({.method = Method::del, .url = "u"}), R"({"t":{"http":{"delete":"u"}}})");
}

TEST(DefinitionJson, SchedulesLeaveOutWhatIsUsual) {
  const auto planned = [](const Schedule& schedule) {
    return printed_key({.machine = "m", .schedule = schedule}, "schedule");
  };
  EXPECT_EQ(planned({.rule = "{data.rule}",
                     .tz = "Europe/Berlin",
                     .anchor = "{data.at}",
                     .missed = Schedule::Missed::all,
                     .gap = Schedule::Gap::skip,
                     .fold = Schedule::Fold::both,
                     .ended = {{.to = "over"}}}),
            R"({"rrule":"{data.rule}","tz":"Europe/Berlin","anchor":"{data.at}","missed":"all",)"
            R"("gap":"skip","fold":"both","ended":"over"})");
  EXPECT_EQ(planned({.kind = Schedule::Kind::cron,
                     .rule = "0 6 * * *",
                     .missed = Schedule::Missed::none,
                     .gap = Schedule::Gap::shift,
                     .fold = Schedule::Fold::first}),
            R"({"cron":"0 6 * * *","missed":"none","gap":"shift","fold":"first"})");
  EXPECT_EQ(
      planned({.kind = Schedule::Kind::every, .every = lasting(2h), .fold = Schedule::Fold::last}),
      R"({"every":"2h","fold":"last"})");
}

TEST(DefinitionJson, KeepIsADurationUnlessEntriesAreKeptToo) {
  const auto kept = [](const Keep& keep) {
    return printed_key({.machine = "m", .keep = keep}, "keep");
  };
  EXPECT_EQ(kept({.final = lasting(24h * 400)}), R"("400d")");
  EXPECT_EQ(kept({.entries = 100}), R"({"entries":100})");
  EXPECT_EQ(kept({.final = "{data.keep}", .entries = 100}),
            R"({"final":"{data.keep}","entries":100})");
}

TEST(DefinitionJson, ScenariosAreListsOfSteps) {
  const Scenario scenario = {
      .title = "it goes",
      .at = "2026-03-02T08:00:00Z",
      .tz = "Europe/Berlin",
      .create = map({{"key", "o1", {}}}),
      .steps = {{.at = "+1s",
                 .record = "parcel/o1/a",
                 .verb = Step::Verb::fire,
                 .subject = "go",
                 .with = map({{"n", 1, {}}}),
                 .actor = map({{"name", "eve", {}}}),
                 .as = "t",
                 .token = "u",
                 .expect = map({{"next_at", "08:00:21", {}}})},
                {.verb = Step::Verb::create, .subject = map({{"key", "o1", {}}})},
                {.verb = Step::Verb::start, .subject = "charge"},
                {.verb = Step::Verb::beat},
                {.verb = Step::Verb::done, .subject = map({})},
                {.verb = Step::Verb::fail, .subject = "oops"},
                {.verb = Step::Verb::order, .subject = "retry"},
                {.expect = map({{"next_at", nullptr, {}}})}}};
  EXPECT_EQ(printed({.scenarios = {scenario}}), R"(
scenarios:
  it goes:
    at: 2026-03-02T08:00:00Z
    tz: Europe/Berlin
    create: {key: o1}
    steps:
      - at: +1s
        record: parcel/o1/a
        fire: go
        with: {n: 1}
        actor: {name: eve}
        as: t
        token: u
        expect: {next_at: "08:00:21"}
      - {create: {key: o1}}
      - {start: charge}
      - {beat: null}
      - {done: {}}
      - {fail: oops}
      - {order: retry}
      - {expect: {next_at: null}}
)");
}

TEST(DefinitionJson, AMachinePrintsAsAPersonWouldWriteIt) {
  const Row cancel = {.to = "cancelled",
                      .effects = {{.verb = EffectRow::Verb::send,
                                   .target = "cancel",
                                   .to = Recipient{Recipient::Kind::children, "parcel"}}}};
  const Definition order = {
      .machine = "order",
      .initial = "new",
      .data =
          Fields{{.name = "amount", .type = {FieldType::Kind::decimal, true}},
                 {.name = "method", .type = {FieldType::Kind::word, false, {"card", "invoice"}}},
                 {.name = "items", .type = {FieldType::Kind::list}, .fallback = list({})}},
      .policies = {{"bank",
                    {.timeout = lasting(30s),
                     .retry = Delays{.list = {lasting(0s), lasting(1min)}},
                     .errors = {{.code = "already_*", .rows = {{.action = Row::Action::done}}},
                                {.code = "http_429",
                                 .rows = {{.action = Row::Action::later,
                                           .delays = Delays{.kind = Delays::Kind::formula,
                                                            .first = lasting(10s),
                                                            .max = lasting(10min),
                                                            .jitter = Delays::Jitter::full}}}}},
                     .give_up = {{.hold = HoldText{"gave_up", "bank unreachable for two days"},
                                  .elapsed = lasting(48h),
                                  .alert = "oncall"},
                                 {.hold = HoldText{"gave_up", "{error.message}"},
                                  .alert = "oncall"}}}}},
      .states = {{.name = "new",
                  .on = {{"submit",
                          {{.condition = "data.amount > 0", .to = "paying"}, {.to = "cancelled"}}},
                         {"cancel", {{.to = "cancelled"}}}},
                  .after = {{lasting(24h * 7), {{.to = "cancelled"}}}}},
                 {.name = "paying", .task = "charge", .done = {{.to = "shipping"}}},
                 {.name = "shipping",
                  .on = {{"cancel", {cancel}}},
                  .effects = {{.verb = EffectRow::Verb::create,
                               .target = "parcel",
                               .each = "data.items",
                               .with = map({{"id", "{item.id}", {}}}),
                               .key = "{record.key}/{item.id}"},
                              {.target = "warehouse", .key = "{record.key}/shipping"}}},
                 {.name = "cancelled", .final = true}},
      .tasks = {{.name = "charge", .target = "payments", .policy = {.policy = "bank"}}}};
  EXPECT_EQ(print_machine(order), R"(machine: order
initial: new

data:
  amount: decimal!
  method: [card, invoice]
  items: {type: list, default: []}

policies:
  bank:
    timeout: 30s
    retry: [0s, 1m]
    errors: {already_*: done, http_429: {later: {first: 10s, max: 10m, jitter: full}}}
    give_up:
      - {elapsed: 2d, hold: bank unreachable for two days, alert: oncall}
      - {hold: "{error.message}", alert: oncall}

states:
  new:
    on:
      submit:
        - {if: data.amount > 0, to: paying}
        - cancelled
      cancel: cancelled
    after: {7d: cancelled}

  paying: {task: charge, done: shipping}

  shipping:
    effects:
      - {create: parcel, each: data.items, key: "{record.key}/{item.id}", with: {id: "{item.id}"}}
      - {notify: warehouse, key: "{record.key}/shipping"}
    on: {cancel: {to: cancelled, effects: [{send: cancel, to: children.parcel}]}}

  cancelled: {final: true}

tasks:
  charge: {queue: payments, policy: bank}
)");
}

}  // namespace
}  // namespace pawl
