#include "pawl/why.h"

#include "decide/test_world.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

constexpr std::string_view kMachine = R"(
machine: order
initial: new
schedule: {every: 1h}
retry: [10s]
states:
  new: {on: {submit: paying, wait: waiting, plan: planned, watch: watching, rest: resting, ship: shipping, race: racing, pack: packing}}
  paying: {task: charge, done: over}
  waiting: {after: {1d: over}, on: {go: over}}
  planned: {planned: over, on: {go: over}}
  watching: {effects: [{create: parcel, key: p1}], when: {if: children.parcel.open == 0, to: over}}
  resting: {on: {go: over, wake_up: new}}
  shipping: {task: ship, failure: failed, done: over}
  failed: {}
  racing: {planned: over, after: {59m: over}}
  packing: {effects: [{create: parcel, key: p1}], on: {go: over}}
  over: {final: true}
tasks: {charge: {queue: payments}, ship: {queue: parcels}}
)";

Why after(std::string_view event) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = std::string(event)}, 1min);
  return why(one.machine(), one.record(), one.now());
}

std::string text_of(const Why& why) { return std::string(to_text(why.kind)) + ": " + why.sentence; }

TEST(Why, AReadyTaskWaitsForAWorker) {
  const Why found = after("submit");
  EXPECT_EQ(text_of(found),
            "ready_since: ready since 2026-03-02T08:01:00Z; no worker has claimed `charge` yet");
  EXPECT_EQ(found.names, Names{"charge"});
}

TEST(Why, AnEngineKnowsOfSlotsAndPauses) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "submit"});
  const Why slot = why(one.machine(), one.record(), one.now(), Blocked{.text = "5 of 5 run"});
  EXPECT_EQ(text_of(slot), "slot: waiting for a slot: 5 of 5 run");
  const Why paused = why(one.machine(), one.record(), one.now(),
                         Blocked{Why::Kind::paused, "queue payments, by eve"});
  EXPECT_EQ(text_of(paused), "paused: paused: queue payments, by eve");
}

TEST(Why, AnAttemptRuns) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "submit"});
  one.give(Stimulus::Start{.token_hash = token(1), .worker = "w1"});
  EXPECT_EQ(text_of(why(one.machine(), one.record(), one.now())),
            "running_until: running since 2026-03-02T08:00:00Z on w1; times out at "
            "2026-03-02T08:05:00Z");
}

TEST(Why, AFailureWaitsInPlace) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "submit"});
  one.give(Stimulus::Start{.token_hash = token(1)});
  one.give(Stimulus::Fail{.token_hash = token(1), .error = {.code = "oops"}}, 1s);
  const Why found = why(one.machine(), one.record(), one.now());
  EXPECT_EQ(text_of(found),
            "backing_off_until: waiting to retry after failure 1 (oops): at 2026-03-02T08:00:11Z a "
            "worker can claim `charge`");
  EXPECT_EQ(found.at, one.now() + 10s);
  EXPECT_EQ(why(one.machine(), one.record(), one.now() + 10s).kind, Why::Kind::ready_since);
}

TEST(Why, AFailureWaitsVisibly) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "ship"});
  one.give(Stimulus::Start{.token_hash = token(1)});
  one.give(Stimulus::Fail{.token_hash = token(1), .error = {.code = "oops"}});
  EXPECT_EQ(
      text_of(why(one.machine(), one.record(), one.now())),
      "backing_off_until: waiting to retry after failure 1 (oops): at 2026-03-02T08:00:10Z it "
      "returns to `shipping`");
}

TEST(Why, ATimerAPlanChildrenAndEventsAreToldApart) {
  EXPECT_EQ(text_of(after("wait")),
            "timer_at: waiting for a timer at 2026-03-03T08:01:00Z; also accepts go");
  EXPECT_EQ(text_of(after("plan")),
            "planned_at: scheduled for 2026-03-02T09:00:00Z; also accepts go");
  const Why children = after("watch");
  EXPECT_EQ(text_of(children), "waiting_for_children: waiting for its child records of parcel");
  EXPECT_EQ(children.names, Names{"parcel"});
  const Why events = after("rest");
  EXPECT_EQ(text_of(events), "waiting_for_events: waiting for an event: go or wake_up");
  EXPECT_EQ(events.names, (Names{"go", "wake_up"}));
}

TEST(Why, AtOneInstantThePlanIsNamed) {
  const Why found = after("race");
  EXPECT_EQ(text_of(found), "planned_at: scheduled for 2026-03-02T09:00:00Z");
}

TEST(Why, ChildrenAreWaitedForOnlyWhereARowReadsThem) {
  EXPECT_EQ(text_of(after("pack")), "waiting_for_events: waiting for an event: go");
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "watch"}, 1min);
  Record record = one.record();
  record.children.push_back({.machine = "letter", .all = 1, .final = 1});
  EXPECT_EQ(why(one.machine(), record, one.now()).names, Names{"parcel"});
  record.children.clear();
  EXPECT_EQ(why(one.machine(), record, one.now()).kind, Why::Kind::waiting_for_events);
}

TEST(Why, WhatIsAskedAgainLaterIsNoFailure) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "submit"});
  Record record = one.record();
  record.ready_at = one.now() + 10s;
  record.error = Failure{.code = "busy"};
  EXPECT_EQ(
      text_of(why(one.machine(), record, one.now())),
      "backing_off_until: waiting until 2026-03-02T08:00:10Z, then a worker can claim `charge`");
}

TEST(Why, AHoldSaysByWhom) {
  OneRecord one(kMachine);
  one.give(Stimulus::Order{.verb = Stimulus::Order::Verb::hold, .reason = "r", .text = "look"}, 1s);
  const Why found = why(one.machine(), one.record(), one.now());
  EXPECT_EQ(text_of(found),
            "on_hold: on hold since 2026-03-02T08:00:01Z by an operator (operator): look");
  EXPECT_EQ(found.hold, one.record().hold);
}

TEST(Why, FinalIsFinal) {
  OneRecord one(kMachine);
  one.give(Stimulus::Fire{.event = "discard"}, 1s);
  EXPECT_EQ(text_of(why(one.machine(), one.record(), one.now())),
            "final: final since 2026-03-02T08:00:01Z");
}

}  // namespace
}  // namespace pawl
