#include "simulate/world.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pawl/machine_file.h"
#include "simulate/wall_text.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kStart = *parse_instant("2026-03-02T08:00:00Z");

Zones world_zones() {
  static const Zones opened = *Zones::open();
  return opened;
}

std::shared_ptr<const Machine> world_machine(const std::string& text) {
  ReadMachine read = read_machine(text, world_zones());
  for (const Diagnostic& finding : read.findings)
    EXPECT_NE(finding.severity, Diagnostic::Severity::error)
        << finding.position.line << ": " << finding.message << "\n"
        << text;
  return read.machine;
}

// A world of the machines in these files, spoken to in a few words.
class Told {
 public:
  static constexpr int kDecisionsMax = 1'000;

  explicit Told(const std::vector<std::string>& files)
      : world(machines_of(files), world_zones(), kStart, kDecisionsMax) {
    world.watch({.decided = [this](const Decided& one) { look_at(one); },
                 .noted = [this](Instant, const std::string& note) { notes.push_back(note); }});
  }

  Answer apply(const std::string& machine, const std::string& key, decltype(Stimulus::what) what,
               Actor actor = {"app", {}}) {
    auto answer = world.apply(
        {.what = std::move(what), .machine = machine, .key = key, .actor = std::move(actor)});
    EXPECT_TRUE(answer) << answer.error().message;
    return answer ? *answer : Answer{};
  }
  Answer create(const std::string& machine, const std::string& key, std::string data = "{}") {
    return apply(machine, key, Stimulus::Create{.data = std::move(data)});
  }
  Answer fire(const std::string& machine, const std::string& key, std::string event) {
    return apply(machine, key, Stimulus::Fire{.event = std::move(event)});
  }
  Answer start(const Record& record) {
    return apply(record.machine, record.key, Stimulus::Start{.token_hash = token()});
  }
  Answer done(const Record& record, std::string result = "{}") {
    return apply(record.machine, record.key,
                 Stimulus::Done{.token_hash = token(), .result = std::move(result)});
  }
  Answer fail(const Record& record, std::string code) {
    return apply(record.machine, record.key,
                 Stimulus::Fail{.token_hash = token(), .error = {.code = std::move(code)}});
  }
  Answer order(const std::string& machine, const std::string& key, Stimulus::Order::Verb verb,
               std::string text = "") {
    return apply(machine, key,
                 Stimulus::Order{.verb = verb, .reason = "a test", .text = std::move(text)},
                 {"eve", {"operator"}});
  }
  void run_until(Instant until) {
    const auto ran = world.run_until(until);
    EXPECT_TRUE(ran) << ran.error().message;
  }
  void run_for(Duration time) { run_until(world.now() + time); }

  const Record& record(const std::string& machine, const std::string& key) const {
    const Record* found = world.find(machine, key);
    EXPECT_NE(found, nullptr) << machine << "/" << key;
    return *found;
  }
  std::string state(const std::string& machine, const std::string& key) const {
    return record(machine, key).state;
  }
  std::vector<std::string> log(const std::string& machine, const std::string& key) const {
    std::vector<std::string> lines;
    for (const Entry& entry : world.log_of(record(machine, key).id))
      lines.push_back(log_line(entry, Zone::utc()));
    return lines;
  }

  World world;
  std::vector<std::string> notes;
  int decided = 0;

 private:
  void look_at(const Decided& one) {
    ++decided;
    EXPECT_GE(one.now, last_now_) << "time does not go back";
    last_now_ = one.now;
  }

  static std::vector<std::shared_ptr<const Machine>> machines_of(
      const std::vector<std::string>& files) {
    std::vector<std::shared_ptr<const Machine>> machines;
    for (const std::string& file : files) machines.push_back(world_machine(file));
    return machines;
  }

  // One worker: the tests never have two attempts at once.
  static TokenHash token() {
    TokenHash token{};
    token[0] = std::byte{1};
    return token;
  }

  Instant last_now_ = {};
};

using Lines = std::vector<std::string>;

constexpr const char* kDoor = R"(machine: door
initial: ajar
states:
  ajar: {on: {close: closed, open: wide}, after: {1h: closed}}
  wide: {on: {close: closed}, after: {2h: closed}}
  closed: {on: {open: wide}}
)";

TEST(World, CountsRecordsFromOne) {
  Told told({kDoor});
  EXPECT_EQ(told.create("door", "a").kind, Answer::Kind::ok);
  EXPECT_EQ(told.create("door", "b").kind, Answer::Kind::ok);
  EXPECT_EQ(told.create("door", "a").kind, Answer::Kind::duplicate);
  EXPECT_EQ(told.create("door", "c").kind, Answer::Kind::ok);
  EXPECT_EQ(told.world.record_count(), 3U);
  EXPECT_EQ(told.record("door", "c").id.value, 3U);
  EXPECT_EQ(told.world.find("door", "d"), nullptr);
  EXPECT_EQ(told.world.find(RecordId{4}), nullptr);
  EXPECT_EQ(told.log("door", "c"), Lines{"08:00:00 created: - -> ajar"});
}

TEST(World, DoesNotKnowAMachineThatIsNotThere) {
  Told told({kDoor});
  const auto answer =
      told.world.apply({.what = Stimulus::Create{}, .machine = "window", .key = "w"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "there is no machine `window` in this world");
}

TEST(World, TellsEveryDecisionBeforeItIsCommitted) {
  Told told({kDoor});
  Lines seen;
  told.world.watch({.decided = [&](const Decided& decided) {
    const Record* kept = told.world.find("door", "a");
    EXPECT_EQ(kept == nullptr, decided.before.id.value == 0);
    EXPECT_TRUE(kept == nullptr || *kept == decided.before);
    seen.push_back(time_text(decided.now, Zone::utc()) + " " + decided.before.state + " " +
                   decided.decision.record.state + " " +
                   std::string(to_text(decided.decision.answer.kind)));
  }});
  told.create("door", "a");
  told.fire("door", "a", "open");
  told.fire("door", "a", "open");
  told.run_for(hours{3});
  EXPECT_EQ(seen, (Lines{"08:00:00  ajar ok", "08:00:00 ajar wide ok", "08:00:00 wide wide refused",
                         "10:00:00 wide closed ok"}));
}

TEST(World, DoesWhatIsDueAtItsOwnInstantInTheOrderOfTime) {
  Told told({kDoor});
  for (const char* key : {"a", "b", "c"}) told.create("door", key);
  told.fire("door", "a", "open");  // due an hour later than the others
  Lines seen;
  told.world.watch({.decided = [&](const Decided& decided) {
    seen.push_back(time_text(decided.now, Zone::utc()) + " " + decided.before.key);
  }});
  EXPECT_EQ(told.world.next_due(), kStart + hours{1});
  told.run_for(hours{5});
  EXPECT_EQ(seen, (Lines{"09:00:00 b", "09:00:00 c", "10:00:00 a"}));
  EXPECT_EQ(told.world.now(), kStart + hours{5});
  EXPECT_EQ(told.world.next_due(), std::nullopt);
}

TEST(World, DoesNotGoBackInTime) {
  Told told({kDoor});
  told.run_for(hours{1});
  const auto ran = told.world.run_until(kStart);
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().message,
            "it is already 2026-03-02T09:00:00Z, and time does not go back to "
            "2026-03-02T08:00:00Z");
}

TEST(World, WhatIsDueByTheClockWaitsForTheClock) {
  Told told({R"(machine: quick
initial: a
states: {a: {after: {0s: b}, on: {x: b}}, b: {final: true}}
)"});
  told.create("quick", "q");
  EXPECT_EQ(told.state("quick", "q"), "a");
  told.run_until(kStart);
  EXPECT_EQ(told.state("quick", "q"), "b");
}

// --- Deadlines ---

constexpr const char* kWork = R"(machine: work
initial: working
states:
  working: {task: t, done: over, after: {10m: late}, on: {stop: over}}
  late: {on: {stop: over}}
  over: {final: true}
tasks: {t: {queue: q, timeout: 5m, retry: [1m]}}
)";

TEST(World, ADeadlineIsDecidedOnceItHasPassedAsOfItsOwnInstant) {
  Told told({kWork});
  told.create("work", "w");
  const Record& record = told.record("work", "w");
  told.start(record);
  told.run_for(minutes{5});
  EXPECT_TRUE(record.running) << "the deadline is now, and not decided yet";
  told.run_for(Duration{0});
  EXPECT_TRUE(record.running);
  told.run_for(Duration{1});
  EXPECT_FALSE(record.running);
  EXPECT_EQ(told.log("work", "w"), (Lines{"08:00:00 created: - -> working",
                                          "08:05:00 timed_out timeout: working -> working"}));
  EXPECT_EQ(record.ready_at, kStart + minutes{6});
}

TEST(World, AResultAtTheDeadlineCounts) {
  Told told({kWork});
  told.create("work", "w");
  told.start(told.record("work", "w"));
  told.run_for(minutes{5});
  EXPECT_EQ(told.done(told.record("work", "w")).kind, Answer::Kind::ok);
  EXPECT_EQ(told.state("work", "w"), "over");
}

TEST(World, WhatElseIsDueAtTheInstantOfADeadlineHappens) {
  Told told({kWork});
  told.create("work", "w");
  told.run_for(minutes{5});
  told.start(told.record("work", "w"));  // its deadline is the instant of the timer
  told.run_for(minutes{5});
  EXPECT_EQ(told.state("work", "w"), "late");
}

// --- Holds and inboxes ---

constexpr const char* kBox = R"(machine: box
initial: ready
data: {got: {type: list, default: []}, last: string}
states:
  ready:
    on:
      one: {set: {last: one}}
      two: {set: {last: two}}
      free: {held: any, set: {last: free}}
    after: {1h: late}
  late: {on: {one: {}}}
)";
constexpr const char* kSender = R"(machine: sender
initial: idle
states:
  idle:
    on:
      send_both: {effects: [{send: one, to: {machine: box, key: b}}, {send: two, to: {machine: box, key: b}}]}
      send_free: {effects: [{send: free, to: {machine: box, key: b}}]}
      send_in: {effects: [{send: one, to: {machine: box, key: b}, in: 10m}]}
      send_must: {effects: [{send: one, to: {machine: box, key: b}, must: true}]}
      send_two_in: {effects: [{send: two, to: {machine: box, key: b}, in: 1s}]}
      send_two_must: {effects: [{send: two, to: {machine: box, key: b}, must: true}]}
      send_away: {effects: [{send: one, to: {machine: box, key: nobody}}]}
)";

TEST(World, MessagesAreDecidedInTheSameBreath) {
  Told told({kBox, kSender});
  told.create("box", "b");
  told.create("sender", "s");
  told.fire("sender", "s", "send_both");
  EXPECT_EQ(told.log("box", "b"),
            (Lines{"08:00:00 created: - -> ready", "08:00:00 event one: ready -> ready",
                   "08:00:00 event two: ready -> ready"}));
  EXPECT_EQ(told.world.log_of(told.record("box", "b").id)[1].actor, (Actor{"engine", {"engine"}}));
}

TEST(World, MessagesWaitInOrderUntilTheHoldIsOver) {
  Told told({kBox, kSender});
  told.create("box", "b");
  told.create("sender", "s");
  told.order("box", "b", Stimulus::Order::Verb::hold, "look");
  told.fire("sender", "s", "send_both");
  told.fire("sender", "s", "send_free");
  const RecordId box = told.record("box", "b").id;
  EXPECT_EQ(told.world.waiting_messages_of(box), 2U);
  EXPECT_EQ(told.log("box", "b").back(), "08:00:00 event free: ready -> ready")
      << "a row that is for holds takes it at once";
  told.run_for(minutes{1});
  EXPECT_EQ(told.world.waiting_messages_of(box), 2U);
  told.order("box", "b", Stimulus::Order::Verb::release);
  EXPECT_EQ(told.world.waiting_messages_of(box), 0U);
  const Lines log = told.log("box", "b");
  ASSERT_EQ(log.size(), 6U);
  EXPECT_EQ(log[4], "08:01:00 event one: ready -> ready");
  EXPECT_EQ(log[5], "08:01:00 event two: ready -> ready");
}

TEST(World, WhatIsOverdueWhenAHoldEndsIsDueAtOnce) {
  Told told({kBox});
  told.create("box", "b");
  told.order("box", "b", Stimulus::Order::Verb::hold, "look");
  told.run_for(hours{3});
  told.order("box", "b", Stimulus::Order::Verb::release);
  told.run_for(hours{1});
  EXPECT_EQ(told.log("box", "b").back(), "11:00:00 timer: ready -> late");
}

TEST(World, AMessageToNobodyIsNoted) {
  Told told({kBox, kSender});
  told.create("sender", "s");
  told.fire("sender", "s", "send_away");
  EXPECT_EQ(told.notes, Lines{"there is no record box/nobody: the message is dropped"});
}

TEST(World, ADelayedMessageComesAtItsTime) {
  Told told({kBox, kSender});
  told.create("box", "b");
  told.create("sender", "s");
  told.fire("sender", "s", "send_in");
  told.run_for(minutes{9});
  EXPECT_EQ(told.log("box", "b").size(), 1U);
  told.run_for(minutes{9});
  EXPECT_EQ(told.log("box", "b").back(), "08:10:00 event one: ready -> ready");
  EXPECT_EQ(told.world.find(RecordId{3})->machine, "send");
  EXPECT_EQ(told.world.find(RecordId{3})->state, "sent");
}

TEST(World, ADelayedMessageToSelfIsDroppedInAnotherEpoch) {
  const char* self = R"(machine: self
initial: a
states:
  a:
    effects: [{send: ring, to: self, in: 1h}]
    on: {ring: b, again: {to: a, new_epoch: true}}
  b: {final: true}
)";
  Told told({self});
  told.create("self", "s");
  told.run_for(minutes{30});
  told.fire("self", "s", "again");
  told.run_for(minutes{45});
  EXPECT_EQ(told.state("self", "s"), "a");
  told.run_for(minutes{30});
  EXPECT_EQ(told.log("self", "s").back(), "09:30:00 event ring: a -> b");
}

TEST(World, AMessageThatMustBeAcceptedIsTriedAgain) {
  Told told({kBox, kSender});
  told.create("sender", "s");
  told.fire("sender", "s", "send_must");
  told.run_for(seconds{5});
  const Record& send = *told.world.find(RecordId{2});
  ASSERT_EQ(send.machine, "send");
  EXPECT_EQ(send.state, "sending");
  EXPECT_EQ(send.failures, 1);
  EXPECT_EQ(send.error->code, "refused");
  told.create("box", "b");
  told.run_for(minutes{1});
  EXPECT_EQ(send.state, "sent");
  EXPECT_EQ(told.log("box", "b").back().substr(8), " event one: ready -> ready");
}

TEST(World, AMessageThatMustBeAcceptedDoesNotWaitInAnInbox) {
  Told told({kBox, kSender});
  told.create("box", "b");
  told.create("sender", "s");
  told.order("box", "b", Stimulus::Order::Verb::hold, "look");
  told.fire("sender", "s", "send_must");
  told.run_for(seconds{5});
  EXPECT_EQ(told.world.waiting_messages_of(told.record("box", "b").id), 0U);
  const Record& send = *told.world.find(RecordId{3});
  EXPECT_EQ(send.failures, 1);
  told.order("box", "b", Stimulus::Order::Verb::release);
  EXPECT_EQ(told.log("box", "b").back(), "08:00:05 operator release: ready -> ready");
  told.run_for(minutes{1});
  EXPECT_EQ(send.state, "sent");
  EXPECT_EQ(told.log("box", "b").back().substr(8), " event one: ready -> ready");
}

TEST(World, AMessageThatIsRefusedIsTriedAgainOnlyIfItMust) {
  Told told({kBox, kSender});
  told.create("box", "b");
  told.create("sender", "s");
  told.run_for(hours{2});
  ASSERT_EQ(told.state("box", "b"), "late");
  told.fire("sender", "s", "send_two_in");
  told.fire("sender", "s", "send_two_must");
  told.run_for(seconds{5});
  EXPECT_EQ(told.world.find(RecordId{3})->state, "sent") << "noted, not an error";
  EXPECT_EQ(told.world.find(RecordId{4})->state, "sending");
  EXPECT_EQ(told.world.find(RecordId{4})->error->message, "`two` is not accepted in `late`");
}

TEST(World, AMessageThatMustBeAcceptedIsOnHoldInTheEnd) {
  Told told({kBox, kSender});
  told.create("sender", "s");
  told.fire("sender", "s", "send_must");
  told.run_for(hours{24});
  const Record& send = *told.world.find(RecordId{2});
  EXPECT_TRUE(send.hold);
  EXPECT_EQ(send.failures, 10);
}

// --- Children ---

constexpr const char* kParent = R"(machine: parent
initial: idle
data: {names: {type: list, default: []}, heard: {type: int, default: 0}, open_then: int}
states:
  idle:
    on:
      grow: {effects: [{create: child, each: data.names, key: "{record.key}/{item}", with: {name: "{item}"}}, {send: hello, to: children.child}]}
      hear: {set: {heard: "{data.heard + 1}", open_then: "{children.child.open}"}}
    when: {if: children.child.final > 1, to: over}
  over: {final: true}
)";
constexpr const char* kChild = R"(machine: child
initial: born
data: {name: string, greeted: {type: int, default: 0}}
states:
  born:
    when: {if: data.name == 'quick', to: grown}
    on:
      hello: {set: {greeted: "{data.greeted + 1}"}}
      go: {to: gone, effects: [{send: hear, to: parent}]}
  grown: {on: {hello: {}, go: gone}}
  gone: {final: true}
)";

TEST(World, CreatesChildrenWithTheirParent) {
  Told told({kParent, kChild});
  told.create("parent", "p", R"({"names":["slow","quick"]})");
  told.fire("parent", "p", "grow");
  const Record& slow = told.record("child", "p/slow");
  ASSERT_TRUE(slow.parent);
  EXPECT_EQ(slow.parent->id, told.record("parent", "p").id);
  EXPECT_EQ(slow.data, R"({"name":"slow","greeted":1})")
      << "children of the same commit are reached";
  const ChildCounts& counts = told.record("parent", "p").children.at(0);
  EXPECT_EQ(counts.all, 2);
  EXPECT_EQ(counts.open, 2);
  const std::map<std::string, int> expected{{"born", 1}, {"grown", 1}};
  std::map<std::string, int> got;
  for (const auto& in : counts.states) got[in.state] = static_cast<int>(in.count);
  EXPECT_EQ(got, expected) << "one that moved on at once is counted where it is";
}

TEST(World, ACountIsNotOlderThanAMessage) {
  Told told({kParent, kChild});
  told.create("parent", "p", R"({"names":["slow","other"]})");
  told.fire("parent", "p", "grow");
  told.fire("child", "p/slow", "go");
  EXPECT_EQ(told.record("parent", "p").data,
            R"({"names":["slow","other"],"heard":1,"open_then":1})");
}

TEST(World, TheLastChangeOfAChildMovesItsParent) {
  Told told({kParent, kChild});
  told.create("parent", "p", R"({"names":["slow","other"]})");
  told.fire("parent", "p", "grow");
  told.fire("child", "p/slow", "go");
  EXPECT_EQ(told.state("parent", "p"), "idle");
  told.fire("child", "p/other", "go");
  EXPECT_EQ(told.state("parent", "p"), "over");
}

TEST(World, AChildCreatedFromOutsideIsCounted) {
  Told told({kParent, kChild});
  told.create("parent", "p");
  told.apply("child", "c",
             Stimulus::Create{.data = R"({"name":"quick"})",
                              .parent = Parent{told.record("parent", "p").id, "parent", "p"}});
  const ChildCounts& counts = told.record("parent", "p").children.at(0);
  EXPECT_EQ(counts.all, 1);
  EXPECT_EQ(counts.states.at(0).state, "grown");
}

TEST(World, FoundChildrenAreLeftAsTheyAre) {
  Told told({kParent, kChild});
  told.create("parent", "p", R"({"names":["slow"]})");
  told.fire("parent", "p", "grow");
  told.fire("parent", "p", "grow");
  EXPECT_EQ(told.world.record_count(), 2U);
  EXPECT_EQ(told.record("parent", "p").children.at(0).all, 1);
  EXPECT_EQ(told.record("child", "p/slow").data, R"({"name":"slow","greeted":2})");
}

// --- Side jobs and deliveries ---

constexpr const char* kAsker = R"(machine: asker
initial: a
data: {n: int, code: string}
states:
  a:
    on:
      ask: {effects: [{run: job, then: answered, else: failed}]}
      ask_once: {effects: [{run: job, key: only}]}
      answered: {to: b, set: [n]}
      failed: {to: b, set: [code]}
      tell: {effects: [{notify: mail, key: once}, {notify: mail, in: 1h}, {notify: log}]}
  b: {final: true}
tasks: {job: {queue: q, retry: [1m], with: {n: "{data.n}"}}}
)";

TEST(World, ASideJobAnswersWithItsResult) {
  Told told({kAsker});
  told.create("asker", "x");
  told.fire("asker", "x", "ask");
  const Record* run = told.world.latest_run("job");
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(told.world.latest_run("other"), nullptr);
  EXPECT_EQ(told.record("asker", "x").children.at(0).machine, "run");
  EXPECT_EQ(told.start(*run).task, "job");
  EXPECT_EQ(told.done(*run, R"({"n":7})").kind, Answer::Kind::ok);
  EXPECT_EQ(run->state, "finished");
  EXPECT_EQ(told.log("asker", "x").back(), "08:00:00 event answered: a -> b");
  EXPECT_EQ(told.record("asker", "x").children.at(0).final, 1);
}

TEST(World, ASideJobThatGivesUpSendsTheError) {
  Told told({kAsker});
  told.create("asker", "x");
  told.fire("asker", "x", "ask");
  const Record& run = *told.world.latest_run("job");
  told.start(run);
  told.fail(run, "oops");
  EXPECT_EQ(run.state, "running");
  told.run_for(minutes{1});
  told.start(run);
  told.fail(run, "oops");
  EXPECT_EQ(run.state, "failed");
  EXPECT_EQ(told.record("asker", "x").data, R"({"code":"oops"})");
}

TEST(World, WhatHasAKeyIsMadeOnce) {
  Told told({kAsker});
  told.create("asker", "x");
  told.fire("asker", "x", "ask_once");
  told.fire("asker", "x", "ask_once");
  EXPECT_EQ(told.world.record_count(), 2U);
  EXPECT_EQ(told.record("asker", "x").children.at(0).all, 1);
  told.fire("asker", "x", "tell");
  told.fire("asker", "x", "tell");
  ASSERT_EQ(told.world.deliveries().size(), 5U) << "`once` once, the others twice";
  EXPECT_EQ(told.world.deliveries()[0].channel, "mail");
  EXPECT_EQ(told.world.deliveries()[0].at, kStart);
  EXPECT_EQ(told.world.deliveries()[1].at, kStart + hours{1});
  EXPECT_EQ(told.world.deliveries()[2].channel, "log");
}

// --- Limits and the rest ---

TEST(World, EndlessTalkIsAnError) {
  const char* ping = R"(machine: ping
initial: a
states: {a: {on: {hit: {effects: [{send: hit, to: self}]}}}}
)";
  Told told({ping});
  told.create("ping", "p");
  const auto answer =
      told.world.apply({.what = Stimulus::Fire{.event = "hit"}, .machine = "ping", .key = "p"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "more than 1000 decisions in one step, the last at 2026-03-02T08:00:00Z: records "
            "keep each other moving, or a timer is far too short");
  EXPECT_EQ(told.decided, 1 + Told::kDecisionsMax);
}

TEST(World, ATimerThatIsFarTooShortIsAnError) {
  Told told({R"(machine: tick
initial: a
states: {a: {every: {1ms: {effects: [{notify: log}]}}, on: {x: a}}}
)"});
  told.create("tick", "t");
  EXPECT_TRUE(told.world.run_until(kStart + seconds{1}));
  EXPECT_EQ(told.world.deliveries().size(), 1'000U);
  EXPECT_FALSE(told.world.run_until(kStart + seconds{3}));
}

TEST(World, RemembersWhatWasAnsweredToAKey) {
  Told told({kDoor});
  told.create("door", "a");
  Stimulus open{.what = Stimulus::Fire{.event = "open"},
                .machine = "door",
                .key = "a",
                .idempotency_key = "k1"};
  EXPECT_EQ(told.world.apply(open)->kind, Answer::Kind::ok);
  EXPECT_EQ(told.world.apply(open)->kind, Answer::Kind::ok) << "as it was answered then";
  EXPECT_EQ(told.log("door", "a").size(), 2U);
  open.what = Stimulus::Fire{.event = "close"};
  EXPECT_EQ(told.world.apply(open)->kind, Answer::Kind::error);
  open.idempotency_key = "k2";
  EXPECT_EQ(told.world.apply(open)->kind, Answer::Kind::ok);
}

TEST(World, ADryRunChangesNothing) {
  Told told({kDoor});
  told.create("door", "a");
  const Record before = told.record("door", "a");
  const auto answer = told.world.apply(
      {.what = Stimulus::Fire{.event = "open"}, .machine = "door", .key = "a", .dry_run = true});
  EXPECT_EQ(answer->kind, Answer::Kind::ok);
  EXPECT_EQ(answer->state, "wide");
  EXPECT_EQ(told.record("door", "a"), before);
}

TEST(World, RecordsFollowALaterVersion) {
  Told told({kDoor});
  told.create("door", "a");
  told.world.add(world_machine(R"(machine: door
version: 2
initial: ajar
states:
  ajar: {on: {slam: closed}, after: {1h: closed}}
  wide: {on: {close: closed}, after: {2h: closed}}
  closed: {on: {open: wide}}
)"));
  told.create("door", "b");
  EXPECT_EQ(told.record("door", "b").version, 2);
  EXPECT_EQ(told.record("door", "a").version, 1);
  EXPECT_EQ(told.fire("door", "a", "slam").kind, Answer::Kind::ok);
  EXPECT_EQ(told.record("door", "a").version, 2);
  EXPECT_EQ(told.world.machine_of(told.record("door", "a").id).version(), 2);
}

}  // namespace
}  // namespace pawl
