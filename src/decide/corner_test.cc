// Corners in which decide once went wrong. Found by random machines (tests/decide); each is told
// with as little as shows it.
#include <string>

#include "base/json_text.h"
#include "decide/fingerprint.h"
#include "gtest/gtest.h"
#include "pawl/decide.h"
#include "pawl/machine_file.h"

namespace pawl {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = Answer::Kind;
using Verb = Stimulus::Order::Verb;

const Zones& zones() {
  static const Zones zones = *Zones::open();
  return zones;
}

// A record of a small machine, and what happens to it.
class Story {
 public:
  explicit Story(const std::string& states, std::string data = "{}", const Guards& guards = {})
      : machine_(read_machine("machine: m\ninitial: a\n" + states, zones()).machine) {
    EXPECT_NE(machine_, nullptr) << states;
    if (!guards.empty()) {
      Diagnostics none;
      machine_ = Machine::make(machine_->definition(), zones(), none, guards);
    }
    give(Stimulus::Create{.id = {1}, .data = std::move(data)});
  }

  template <class What>
  Answer give(What what, bool is_operator = false) {
    const Stimulus stimulus{.what = std::move(what),
                            .machine = "m",
                            .key = "k",
                            .actor = {"eve", {is_operator ? "operator" : "app"}},
                            .newest = newest_};
    last = decide(*machine_, record, stimulus, now);
    if (last.changed) record = last.record;
    return last.answer;
  }

  Answer fire(std::string event, std::string payload = "{}") {
    return give(Stimulus::Fire{.event = std::move(event), .payload = std::move(payload)});
  }
  Answer start() { return give(Stimulus::Start{.token_hash = token_}); }
  Answer done(std::string result = "{}") {
    return give(Stimulus::Done{.token_hash = token_, .result = std::move(result)});
  }
  Answer fail(std::string code) {
    return give(Stimulus::Fail{.token_hash = token_, .error = {.code = std::move(code)}});
  }
  Answer beat() { return give(Stimulus::Beat{.token_hash = token_}); }
  Answer wake() { return give(Stimulus::Wake{}); }
  Answer order(Verb verb, std::string state = {}) {
    return give(Stimulus::Order{.verb = verb, .reason = "because", .state = std::move(state)},
                true);
  }
  Answer patch(std::string data) {
    return give(Stimulus::Order{.verb = Verb::patch, .reason = "because", .data = std::move(data)},
                true);
  }
  Answer child(std::string is, bool is_final = false) {
    return give(Stimulus::ChildChanged{
        .child = {9}, .machine = "part", .is = std::move(is), .is_final = is_final});
  }
  void follow_itself() { newest_ = machine_.get(); }
  void follow(const std::string& states) {
    newest_owner_ = read_machine("machine: m\nversion: 2\ninitial: a\n" + states, zones()).machine;
    EXPECT_NE(newest_owner_, nullptr) << states;
    newest_ = newest_owner_.get();
  }

  std::string hold() const { return record.hold ? record.hold->code : ""; }
  Entry::Kind last_kind() const { return last.entries.back().kind; }

  Record record;
  Decision last;
  Instant now = Instant{std::chrono::sys_days{std::chrono::year{2026} / 3 / 2}};

 private:
  static TokenHash some_token() {
    TokenHash token{};
    token[0] = std::byte{1};
    return token;
  }

  std::shared_ptr<const Machine> machine_;
  std::shared_ptr<const Machine> newest_owner_;
  const Machine* newest_ = nullptr;
  TokenHash token_ = some_token();
};

TEST(Corner, ARefusalForWantOfARoleCanBeToldFromOthers) {
  Story story(R"(
data: {n: {type: int, default: 0}}
events: {approve: {by: [boss]}, greet: {by: [app]}}
states: {a: {on: {approve: b, leave: {to: b, if: data.n > 0}}}, b: {on: {greet: b}}}
)");
  using Missing = Answer::Missing;
  EXPECT_EQ(story.fire("approve").kind, Kind::refused);
  EXPECT_EQ(story.fire("approve").missing, Missing::role);
  EXPECT_EQ(story.fire("leave").missing, Missing::nothing);
  EXPECT_EQ(story.fire("greet").kind, Kind::refused);  // not here, whatever the role
  EXPECT_EQ(story.fire("greet").missing, Missing::nothing);
  const Answer order = story.give(Stimulus::Order{.verb = Verb::hold, .reason = "r", .text = "t"});
  EXPECT_EQ(order.kind, Kind::refused);
  EXPECT_EQ(order.missing, Missing::role);
}

TEST(Corner, ADoneRowThatFailsWithAnErrorThatIsDoneIsALoop) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, errors: {c: done}, done: {fail: c}}
)");
  story.start();
  EXPECT_EQ(story.done().kind, Kind::ok);
  EXPECT_EQ(story.hold(), "loop");
  EXPECT_EQ(story.order(Verb::release).kind, Kind::ok);
  EXPECT_TRUE(story.record.ready_at);
}

TEST(Corner, ReleaseAfterALoopIsNoFreshStart) {
  Story story(R"(
retry: 0s
tasks: {t: {queue: q}}
states:
  a: {task: t, errors: {c: done}, done: {fail: c}}
)");
  story.start();
  story.fail("other");
  story.start();
  story.done();
  EXPECT_EQ(story.hold(), "loop");
  story.order(Verb::release);
  EXPECT_TRUE(story.record.ready_at);
  EXPECT_EQ(story.record.epoch, 1);
}

TEST(Corner, WorkThatWentInCirclesIsReadyAgainWithoutItsResumeRows) {
  Story story(R"(
tasks: {t: {queue: q}}
data: {resumed: int}
states:
  a: {task: t, errors: {c: done}, done: {fail: c}, resume: {set: {resumed: 1}}}
)");
  story.start();
  story.done();
  EXPECT_EQ(story.hold(), "loop");
  story.order(Verb::release);
  EXPECT_EQ(story.record.ready_at, story.now);
  EXPECT_EQ(story.record.data, "{}");
}

TEST(Corner, AWhenRowWhoseEventStaysIsALoop) {
  Story story(R"(
events: {e: {}}
states:
  a: {when: {if: record.epoch == 1, event: e}, on: {e: {set: {x: 1}}}}
)");
  EXPECT_EQ(story.hold(), "loop");
}

TEST(Corner, ARowMayFailAndHold) {
  Story story(R"(
states:
  a: {on: {e: {fail: c, hold: look}}}
)");
  EXPECT_EQ(story.fire("e").kind, Kind::ok);
  EXPECT_EQ(story.hold(), "machine");
  EXPECT_EQ(story.record.failures, 1);
  EXPECT_EQ(story.last.entries.size(), 1U);
  EXPECT_EQ(story.last_kind(), Entry::Kind::failed);
}

TEST(Corner, ARowThatFailsWithAnErrorThatIsDoneIsDone) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, errors: {c: done}, done: b, on: {e: {fail: c, hold: look}}}
  b: {final: true}
)");
  EXPECT_EQ(story.fire("e").kind, Kind::ok);
  EXPECT_EQ(story.record.state, "b");
  EXPECT_EQ(story.hold(), "machine");
  EXPECT_EQ(story.last.entries.size(), 1U);
  EXPECT_EQ(story.last_kind(), Entry::Kind::done);
}

TEST(Corner, AnEventWhoseRowFailsIsAFailure) {
  Story story(R"(
events: {e: {}}
tasks: {t: {queue: q}}
states:
  a: {task: t, done: {event: e}, on: {e: {fail: c}}}
)");
  story.start();
  story.done();
  EXPECT_EQ(story.record.failures, 1);
  EXPECT_EQ(story.last_kind(), Entry::Kind::failed);
  EXPECT_EQ(story.last.entries.back().event, "e");
}

TEST(Corner, EveryRecordThatIsCreatedIsAskedForOnce) {
  Story story(R"(
states:
  a: {on: {e: {effects: [{create: p, key: x}, {create: p, key: y}, {create: q, key: x}, {create: p, key: x}]}}}
)");
  const auto need = story.fire("e").need;
  ASSERT_EQ(need.size(), 3U);
  EXPECT_EQ(need[0].machine + need[0].key, "px");
  EXPECT_EQ(need[1].machine + need[1].key, "py");
  EXPECT_EQ(need[2].machine + need[2].key, "qx");
}

TEST(Corner, ADefaultNoticeIsJson) {
  Story story(R"(
states:
  a: {effects: [{notify: ops}], on: {e: a}}
)");
  ASSERT_EQ(story.last.effects.size(), 1U);
  EXPECT_TRUE(check_json(story.last.effects[0].payload));
}

TEST(Corner, AResultThatIsNullIsKeptAsNone) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, done: {to: b, set: {x: "{result}"}}}
  b: {final: true}
)");
  story.start();
  story.done("null");
  EXPECT_EQ(story.record.result, "");
  EXPECT_EQ(story.record.data, R"({"x":null})");
}

TEST(Corner, ASecondFailureInPlaceReplacesTheWayBack) {
  Story story(R"(
retry: 10s
states:
  a: {on: {e: {fail: c}}, resume: a}
)");
  story.fire("e");
  story.now += seconds{5};
  story.fire("e");
  ASSERT_EQ(story.record.timers.size(), 1U);
  EXPECT_EQ(story.record.wake_at, story.now + seconds{10});
}

TEST(Corner, AStateWhoseEventsNeedAHoldIsNoPlaceToWait) {
  Story story(R"(
states:
  a: {after: {0: {if: false, to: b}}, on: {e: {held: true, to: b}}}
  b: {final: true}
)");
  story.wake();
  EXPECT_EQ(story.hold(), "no_way_back");
}

TEST(Corner, ATimerDoesNotExcuseATaskThatIsNeverReady) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, retry: [], done: a, every: {1h: {}}}
)");
  story.start();
  story.fail("c");
  EXPECT_EQ(story.hold(), "gave_up");
  story.order(Verb::hold);
  EXPECT_EQ(story.hold(), "operator");
  story.order(Verb::release);
  EXPECT_EQ(story.hold(), "");
  EXPECT_TRUE(story.record.ready_at);
  EXPECT_EQ(story.record.epoch, 2);
}

TEST(Corner, WhoFiresAnEventIsToldOfABadValueAndChangesNothing) {
  Story story(R"(
states:
  a: {on: {e: {fail: "{event.code}"}}}
)");
  EXPECT_EQ(story.fire("e").kind, Kind::error);
  EXPECT_FALSE(story.last.changed);
  story.give(Stimulus::Sent{.event = "e"});
  EXPECT_EQ(story.hold(), "bad_value");
}

TEST(Corner, AStartThatMeetsABadValueGetsNothing) {
  Story story(R"(
tasks: {t: {queue: q, timeout: "{data.d}"}}
states:
  a: {task: t, done: a}
)");
  const Answer answer = story.start();
  EXPECT_EQ(answer.kind, Kind::none);
  EXPECT_EQ(answer.task, "");
  EXPECT_EQ(story.hold(), "bad_value");
}

TEST(Corner, AChildIsCountedEvenWhereItsParentMeetsABadValue) {
  Story story(R"(
states:
  a: {when: {if: children.part.all > 0, fail: "{data.x}"}, on: {e: a}}
)");
  story.child("fresh");
  EXPECT_EQ(story.hold(), "bad_value");
  ASSERT_EQ(story.record.children.size(), 1U);
  EXPECT_EQ(story.record.children[0].all, 1);
}

TEST(Corner, ABadValueIsNoGiveUp) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, retry: [], give_up: {hold: x, effects: [{notify: ops, in: "{data.x}"}]}, done: a}
)");
  story.start();
  story.fail("c");
  EXPECT_EQ(story.hold(), "bad_value");
  EXPECT_EQ(story.last_kind(), Entry::Kind::failed);
}

TEST(Corner, DataIsAMap) {
  Story story("states: {a: {on: {e: a}}}", "null");
  EXPECT_EQ(story.last.answer.kind, Kind::error);
  EXPECT_EQ(story.record.id.value, 0U);
}

TEST(Corner, LaterAfterANewEpochCountsNoAttemptBackwards) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, errors: {c: {later: 1m}}, done: a, on: {e: {new_epoch: true}}}
)");
  story.start();
  story.fire("e");
  story.fail("c");
  EXPECT_EQ(story.record.attempt, 0);
}

TEST(Corner, AnEmptyPayloadHasItsDefaults) {
  const char* machine = R"(
events: {e: {with: {n: {type: int, default: 1}}}}
states:
  a: {on: {e: {if: event.n > 0, to: b}, f: {}}, after: {1m: {event: e}}}
  b: {final: true}
)";
  Story story(machine);
  EXPECT_EQ(story.fire("nope").kind, Kind::error);
  story.now += minutes{1};
  story.wake();
  EXPECT_EQ(story.record.state, "b");
}

TEST(Corner, AnEventThatNeedsAPayloadIsNotFiredByARow) {
  Story story(R"(
events: {e: {with: {n: int!}}}
states:
  a: {on: {e: b}, after: {1m: {event: e}}}
  b: {final: true}
)");
  story.now += minutes{1};
  story.wake();
  EXPECT_EQ(story.record.state, "a");
}

TEST(Corner, WhatFollowsAnotherVersionStartsAsItIsThere) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, done: a}
)");
  story.follow(R"(
migrate: {1: {states: {a: b}}}
states:
  a: {on: {e: a}}
  b: {on: {e: a}}
)");
  EXPECT_EQ(story.start().kind, Kind::none);
}

TEST(Corner, WhatWorksAndWaitsInTheNextVersionHasNoTaskLeft) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, done: a}
)");
  story.follow(R"(
migrate: {1: {states: {a: b}}}
states:
  a: {on: {e: a}}
  b: {on: {e: {set: {n: 1}}}}
)");
  EXPECT_EQ(story.fire("e").kind, Kind::ok);
  EXPECT_EQ(story.record.state, "b");
  EXPECT_FALSE(story.record.task_at);
}

TEST(Corner, LaterWhereNothingWorksLeavesNothingToClaim) {
  Story story(R"(
errors: {c: {later: 1m}}
states:
  a: {on: {e: {fail: c}}}
)");
  EXPECT_EQ(story.fire("e").kind, Kind::ok);
  EXPECT_EQ(story.hold(), "");
  EXPECT_FALSE(story.record.task_at);
}

TEST(Corner, WhatWaitsAndWorksInTheNextVersionIsNewWork) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, done: b}
  b: {on: {e: a}}
)");
  story.start();
  story.done();
  story.follow(R"(
migrate: {1: {states: {b: a}}}
tasks: {t: {queue: q, priority: 2}}
states:
  a: {task: t, done: a}
)");
  const Answer answer = story.start();
  EXPECT_EQ(answer.kind, Kind::ok);
  EXPECT_EQ(answer.outside_key, "1/3");
  EXPECT_EQ(story.record.priority, 2);
}

TEST(Corner, ARetryAfterGivingUpInTheAttemptIsTheSameWork) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, started: b, retry: [], done: a}
  b: {}
)");
  EXPECT_EQ(story.start().outside_key, "1/1");
  story.fail("c");
  EXPECT_EQ(story.hold(), "gave_up");
  story.order(Verb::retry);
  EXPECT_EQ(story.start().outside_key, "1/1");
}

TEST(Corner, ABeatThatMeetsABadValueHoldsTheRecordAndNotTheAttempt) {
  Story story(R"(
tasks: {t: {queue: q, lease: "{data.lease}"}}
states:
  a: {task: t, done: a, on: {e: {set: {lease: "{event.lease}"}}}}
)",
              R"({"lease":"1m"})");
  story.start();
  story.fire("e", R"({"lease":"soon"})");
  story.beat();
  EXPECT_EQ(story.hold(), "bad_value");
  EXPECT_EQ(story.last_kind(), Entry::Kind::event);
  EXPECT_TRUE(story.record.running);
}

TEST(Corner, OnlyWhatARecordMayComeBackToKeepsItsKey) {
  Story story(R"(
tasks: {t: {queue: q}}
states:
  a: {task: t, failure: f, done: b}
  f: {on: {e: a}}
  b: {on: {e: a}}
)");
  story.start();
  story.fail("c");
  ASSERT_EQ(story.record.state, "f");
  EXPECT_EQ(story.record.left_tasks.size(), 1U);
  story.fire("e");
  EXPECT_TRUE(story.record.left_tasks.empty());  // it began anew
  story.start();
  story.done();
  ASSERT_EQ(story.record.state, "b");
  EXPECT_TRUE(story.record.left_tasks.empty());
}

TEST(Corner, ARecordIsErasedWhenItIsFinal) {
  Story story(R"(
labels: {x: "{data.x}"}
tasks: {t: {queue: q}}
states:
  a: {task: t, errors: {c: {to: b}}, done: b, on: {e: a}}
  b: {final: true, on: {again: {to: a, new_epoch: true}}}
)",
              R"({"x":1})");
  EXPECT_EQ(story.order(Verb::erase).kind, Kind::refused);
  EXPECT_EQ(story.record.data, R"({"x":1})");
  story.start();
  story.done(R"({"n":1})");
  story.fire("again");
  story.start();
  story.fail("c");
  ASSERT_EQ(story.record.state, "b");
  EXPECT_EQ(story.record.result, R"({"n":1})");
  EXPECT_TRUE(story.record.error);
  EXPECT_EQ(story.record.labels.size(), 1U);
  EXPECT_EQ(story.order(Verb::erase).kind, Kind::ok);
  EXPECT_EQ(story.last_kind(), Entry::Kind::erased);
  EXPECT_EQ(story.record.data, "{}");
  EXPECT_EQ(story.record.result, "");
  EXPECT_FALSE(story.record.error);
  EXPECT_TRUE(story.record.labels.empty());
}

// 256 bytes of a text, whatever its quotes and escapes take.
TEST(Corner, ALabelHasABound) {
  const std::string states = R"(
labels: {x: "{data.x}"}
tasks: {t: {queue: q}}
states:
  a: {on: {e: {set: [x]}}, after: {1m: {set: {x: "{data.y}"}}}}
)";
  const auto with = [](std::string_view name, std::size_t size) {
    return "{\"" + std::string(name) + "\":\"" + std::string(size - 2, 'x') + "\\n\\n\"}";
  };
  const std::string too_long = "the label `x` is 257 bytes; the limit is 256";
  const Story longest(states, with("x", 256));
  ASSERT_EQ(longest.record.labels.size(), 1U);
  EXPECT_EQ(longest.record.labels[0].value.size(), 256U + 2U + 2U);
  const Story none(states, with("x", 257));
  EXPECT_EQ(none.record.id.value, 0U);
  Story story(states, with("y", 257));
  const Answer refused = story.fire("e", with("x", 257));
  EXPECT_EQ(refused.kind, Kind::error);
  EXPECT_EQ(refused.reason, too_long);
  EXPECT_EQ(story.fire("e", with("x", 256)).kind, Kind::ok);
  const Answer list = story.fire("e", R"({"x":[)" + std::string(255, '1') + "]}");
  EXPECT_EQ(list.reason, too_long) << "what is no text counts as JSON";
  story.now += minutes{1};
  story.wake();
  ASSERT_TRUE(story.record.hold) << "nobody is there to be told";
  EXPECT_EQ(story.record.hold->code, "bad_value");
  EXPECT_EQ(story.record.hold->text, too_long);
}

TEST(Corner, AWorkerIsToldWhatItWorksOnAndUntilWhen) {
  Story story(R"(
timeout: 5m
lease: 1m
tasks: {t: {queue: q}}
states:
  a: {task: t, done: a}
)");
  const Answer started = story.start();
  EXPECT_EQ(started.machine, "m");
  EXPECT_EQ(started.key, "k");
  EXPECT_EQ(started.deadline_at, story.now + minutes{5});
  EXPECT_EQ(started.lease_until, story.now + minutes{1});
  story.now += seconds{30};
  const Answer beat = story.beat();
  EXPECT_EQ(beat.deadline_at, story.now + minutes{5} - seconds{30});
  EXPECT_EQ(beat.lease_until, story.now + minutes{1});
  story.fail("c");
  EXPECT_EQ(story.last.entries.back().fence, started.fence);
  EXPECT_EQ(story.last.entries.back().error->fingerprint, fingerprint_of("c", ""));
}

TEST(Corner, TheEarliestIsDueFirstWhateverItIs) {
  Story story(R"(
timeout: 5m
tasks: {t: {queue: q}}
states:
  a: {task: t, done: a, after: {1m: b}}
  b: {final: true}
)");
  story.start();
  story.now += minutes{10};
  story.wake();
  EXPECT_EQ(story.last_kind(), Entry::Kind::timer);
  EXPECT_EQ(story.record.state, "b");
}

TEST(Corner, AtTheLastInstantNoTimerIsLeft) {
  Story story(R"(
states:
  a: {every: {1h: {}}, on: {e: a}}
)");
  story.now = kInstantMax;
  story.wake();
  EXPECT_TRUE(story.record.timers.empty());
}

TEST(Corner, ChildrenThatAreFinalMoveNobody) {
  const char* machine = R"(
states:
  a: {after: {1m: {}}, when: {if: children.part.all > 2, to: b}}
  b: {final: true}
)";
  for (const bool is_final : {false, true}) {
    Story story(machine);
    story.child("some_state", is_final);
    story.now += minutes{1};
    story.wake();
    EXPECT_EQ(story.hold(), is_final ? "no_way_back" : "");
  }
}

TEST(Corner, ABadValueInTheNextVersionLeavesTheRecordAsItWas) {
  Story story(R"(
states:
  a: {on: {e: a}}
)");
  story.follow(R"(
migrate: {1: {states: {a: a}}}
tasks: {t: {queue: q, timeout: "{data.x}"}}
states:
  a: {task: t, done: a}
)");
  story.start();
  EXPECT_EQ(story.hold(), "bad_value");
  EXPECT_EQ(story.record.version, 1);
  EXPECT_FALSE(story.record.task_at);
}

TEST(Corner, TheVersionARecordHasIsNoneToFollow) {
  Story story("states: {a: {on: {e: {set: {x: 1}}}}}");
  story.follow_itself();
  story.fire("e");
  ASSERT_EQ(story.last.entries.size(), 1U);
  EXPECT_EQ(story.last_kind(), Entry::Kind::event);
}

TEST(Corner, ThePlanSaysWhereItComesFrom) {
  Story story(R"(
schedule: {every: 1h, tz: Asia/Tokyo, anchor: "2026-03-01T00:00:00"}
states:
  a: {planned: {}, on: {e: a}}
)");
  EXPECT_EQ(story.record.plan.zone, "Asia/Tokyo");
  EXPECT_EQ(story.record.plan.anchor, "2026-03-01T00:00:00");
}

TEST(Corner, AMisspeltStateIsNotMovedTo) {
  Story story("states: {a: {on: {e: over}}, over: {final: true}}");
  const Answer answer = story.order(Verb::move, "ovr");
  EXPECT_EQ(answer.kind, Kind::error);
  EXPECT_EQ(answer.reason, "the machine has no state `ovr`; did you mean over?");
}

TEST(Corner, DataHasALimit) {
  const std::string frame = R"({"x":""})";
  const auto data = [&](std::size_t size) {
    return R"({"x":")" + std::string(size - frame.size(), 'a') + R"("})";
  };
  const std::string machine = R"(states: {a: {on: {e: {set: {x: "{event.x}"}}}}})";
  constexpr std::size_t kMax = 1U << 20U;
  EXPECT_EQ(Story(machine, data(kMax)).last.answer.kind, Kind::ok);
  EXPECT_EQ(Story(machine, data(kMax + 1)).last.answer.kind, Kind::error);
  Story story(machine);
  EXPECT_EQ(story.fire("e", data(kMax + 1)).kind, Kind::error);
  EXPECT_EQ(story.fire("e", data(kMax)).kind, Kind::ok);
  EXPECT_EQ(story.patch(data(kMax + 1)).kind, Kind::error);
  EXPECT_EQ(story.patch("[]").kind, Kind::error);
  EXPECT_EQ(story.patch(data(kMax)).kind, Kind::ok);
}

TEST(Corner, OnlyEventRowsHaveAnActor) {
  int with_actor = 0;
  int without = 0;
  Story story("states: {a: {on: {e: b}}, b: {when: {if: looks, to: a}, on: {e: a}}}", "{}",
              {{"looks", [&](const GuardSight& sight) {
                  ++(sight.actor != nullptr ? with_actor : without);
                  return false;
                }}});
  story.fire("e");
  EXPECT_EQ(story.record.state, "b");
  EXPECT_EQ(with_actor, 0);
  EXPECT_GT(without, 0);
}

TEST(Corner, WhoCreatesAndWhenIsNoPartOfTheContent) {
  const auto content = [](std::uint64_t id, std::string event) {
    return content_of({.what = Stimulus::Fire{.event = std::move(event),
                                              .create = Stimulus::Create{.id = {id}}}});
  };
  EXPECT_EQ(content(1, "e"), content(2, "e"));
  EXPECT_NE(content(1, "e"), content(1, "f"));
}

TEST(Corner, AnOrderAndTheFailureAfterItAreTwoEntries) {
  Story story(R"(
states:
  a: {on: {e: {fail: c}}, resume: {fail: c}}
)");
  story.fire("e");
  story.order(Verb::retry);
  ASSERT_EQ(story.last.entries.size(), 2U);
  EXPECT_EQ(story.last.entries[0].kind, Entry::Kind::operator_);
  EXPECT_EQ(story.last.entries[1].kind, Entry::Kind::failed);
}

}  // namespace
}  // namespace pawl
