// The engine on either store, one behaviour at a time.
#include "engine/stepper.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "store/verify.h"
#include "tests/support/driven_engine.h"
#include "tests/support/forgetful_store.h"
#include "tests/support/forwarding_store.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kStart = *parse_instant("2026-03-02T09:00:00Z");

constexpr const char* kJob = R"(machine: job
initial: working
tasks:
  work: {queue: jobs, timeout: 10m, lease: 1m, retry: [1m, 5m]}
states:
  working: {task: work, done: finished, on: {cancel: cancelled}}
  finished: {final: true}
  cancelled: {final: true}
)";

constexpr const char* kBatch = R"(machine: batch
initial: collecting
data: {parcels: list}
states:
  collecting:
    on:
      begin: {to: waiting, effects: [{create: parcel, each: data.parcels, key: "{item}"}]}
  waiting:
    when: [{if: children.parcel.open == 0, to: complete}]
    on:
      stop: {effects: [{send: cancel, to: children.parcel}]}
      told: {}
    after: {1d: late}
  late: {final: true}
  complete: {final: true}
)";

constexpr const char* kParcel = R"(machine: parcel
initial: packing
tasks:
  pack: {queue: packers}
states:
  packing: {task: pack, done: {to: packed, effects: [{send: told, to: parent}]}, on: {cancel: cancelled}}
  packed: {final: true}
  cancelled: {final: true}
)";

class EngineTest : public testing::TestWithParam<StoreKind> {
 protected:
  void TearDown() override {
    if (!driven_) return;
    const auto verified = verify(driven_->store());
    ASSERT_TRUE(verified) << verified.error().message;
    for (const Violation& violation : verified->violations)
      ADD_FAILURE() << violation.invariant << ": " << violation.what;
  }

  DrivenEngine& open(const std::vector<std::string>& machines, std::size_t batch_max = 960) {
    driven_ = std::make_unique<DrivenEngine>(GetParam(), machines, kStart, batch_max);
    return *driven_;
  }

  std::unique_ptr<DrivenEngine> driven_;
};

INSTANTIATE_TEST_SUITE_P(Stores, EngineTest, testing::Values(StoreKind::memory, StoreKind::sqlite),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "memory" : "sqlite";
                         });

std::string state_of(DrivenEngine& driven, const std::string& machine, const std::string& key) {
  const auto record = driven.find(machine, key);
  return record ? record->state : "none";
}

// --- a record's life ---------------------------------------------------------------------------

TEST_P(EngineTest, ARecordIsCreatedClaimedAndDone) {
  auto& driven = open({kJob});
  EXPECT_EQ(driven.create("job", "j1").kind, Answer::Kind::ok);
  EXPECT_EQ(driven.create("job", "j1").kind, Answer::Kind::duplicate);
  const auto attempts = driven.claim({"jobs"}, 10);
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].given.key, "j1");
  EXPECT_EQ(attempts[0].given.task, "work");
  EXPECT_EQ(attempts[0].token.size(), 32U);
  EXPECT_TRUE(driven.claim({"jobs"}).empty());
  EXPECT_EQ(driven.done(attempts[0]).kind, Answer::Kind::ok);
  EXPECT_EQ(driven.done(attempts[0]).kind, Answer::Kind::duplicate);
  EXPECT_EQ(state_of(driven, "job", "j1"), "finished");
}

TEST_P(EngineTest, AMachineThatIsNotThereIsNamedWithTheNearest) {
  auto& driven = open({kJob});
  const Answer answer = driven.create("jab", "j1");
  EXPECT_EQ(answer.kind, Answer::Kind::error);
  EXPECT_NE(answer.reason.find("`jab`"), std::string::npos);
  EXPECT_NE(answer.reason.find("job"), std::string::npos);
}

// What carries out effects is the engine's own, whatever is asked of it.
TEST_P(EngineTest, BuiltInRecordsThatAreNotThereAreNeverMade) {
  auto& driven = open({kJob});
  for (const char* machine : {"run", "send", "delivery"}) {
    const auto ask = [&](decltype(Stimulus::what) what, std::optional<Instant> at) {
      return driven.apply(
          {.what = std::move(what), .machine = machine, .key = "x", .actor = {"app"}, .at = at});
    };
    for (const auto at : {std::optional<Instant>(), std::optional(kStart + hours{1})}) {
      EXPECT_EQ(ask(Stimulus::Create{}, at).kind, Answer::Kind::error);
      EXPECT_EQ(ask(Stimulus::Fire{.event = "discard"}, at).kind, Answer::Kind::error);
    }
    EXPECT_EQ(ask(Stimulus::Beat{}, {}).kind, Answer::Kind::error);
    EXPECT_EQ(ask(Stimulus::Done{}, {}).kind, Answer::Kind::error);
  }
  EXPECT_TRUE(driven.all().empty());
}

TEST_P(EngineTest, AFailureComesBackByTheClockAlone) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  EXPECT_EQ(driven.fail(driven.claim({"jobs"})[0], "boom").kind, Answer::Kind::ok);
  EXPECT_TRUE(driven.claim({"jobs"}).empty());
  driven.run_until(kStart + minutes{1});
  const auto again = driven.claim({"jobs"});
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].given.attempt, 2);
}

// Every answer to an error that lets it be tried again, be there an entry of it or not.
TEST_P(EngineTest, EachDecisionToTryAgainIsNoticed) {
  auto& driven = open({R"(machine: job
initial: working
tasks:
  work: {queue: jobs, timeout: 10m, retry: [1m, 5m], errors: {busy: {later: [30s, 2m]}, timeout: {later: 1h}}}
states:
  working: {task: work, done: finished}
  finished: {final: true}
)"});
  driven.create("job", "j1");
  driven.fail(driven.claim({"jobs"})[0], "busy");
  driven.run_until(kStart + seconds{30});
  driven.fail(driven.claim({"jobs"})[0], "boom");
  driven.run_until(kStart + seconds{90});
  driven.claim({"jobs"});
  driven.run_until(kStart + hours{1});
  std::string said;
  for (const Notice& notice : driven.notices()) {
    said += notice.kind == Notice::Kind::later ? "later " : "retry ";
    said += notice.machine + "/" + notice.key + " " + notice.state + " " + notice.code + " ";
    said += std::to_string(notice.attempt) + " of " +
            (notice.max ? std::to_string(*notice.max) : "any") + ", " +
            to_text(*notice.next_at - notice.at) + "\n";
    EXPECT_NE(notice.fingerprint, 0U);
  }
  EXPECT_EQ(said,
            "later job/j1 working busy 1 of any, 30s\n"
            "retry job/j1 working boom 1 of 3, 1m\n"
            "later job/j1 working timeout 2 of any, 1h\n");
}

TEST_P(EngineTest, ADeadlineIsKept) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const auto attempt = driven.claim({"jobs"})[0];
  for (int minute = 1; minute < 20; ++minute) {  // beats, but never ends
    driven.run_until(kStart + minute * seconds{50});
    driven.beat(attempt, R"({"n":1})");
  }
  const auto record = driven.find("job", "j1");
  EXPECT_EQ(record->error->code, "timeout");
  EXPECT_EQ(driven.beat(attempt).kind, Answer::Kind::stale);
  EXPECT_TRUE(driven.beat(attempt).cancel);
}

TEST_P(EngineTest, AWorkerThatIsSilentLosesItsLease) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const auto attempt = driven.claim({"jobs"})[0];
  driven.run_until(kStart + seconds{50});
  EXPECT_EQ(driven.beat(attempt, R"({"page":3})").kind, Answer::Kind::ok);
  driven.run_until(kStart + seconds{70});
  EXPECT_TRUE(driven.find("job", "j1")->running);
  driven.run_until(kStart + seconds{110});
  EXPECT_EQ(driven.find("job", "j1")->error->code, "lease_lost");
  EXPECT_EQ(driven.done(attempt).kind, Answer::Kind::stale);
  driven.run_until(kStart + minutes{10});
  EXPECT_EQ(driven.claim({"jobs"})[0].given.progress, R"({"page":3})");
}

TEST_P(EngineTest, ABeatDoesNotMoveTheRevision) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const auto attempt = driven.claim({"jobs"})[0];
  const auto before = driven.find("job", "j1");
  driven.set_clock(kStart + seconds{30});
  driven.beat(attempt);
  const auto after = driven.find("job", "j1");
  EXPECT_EQ(after->revision, before->revision);
  EXPECT_EQ(after->writes, before->writes);
  EXPECT_EQ(after->running->lease_until, kStart + seconds{90});
}

// --- what callers give -------------------------------------------------------------------------

TEST_P(EngineTest, BadInputIsAnErrorAndNothingIsDecidedOnIt) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const auto reason = [&](Answer answer) {
    EXPECT_EQ(answer.kind, Answer::Kind::error);
    return answer.reason;
  };
  EXPECT_EQ(reason(driven.create("job", "")), "a record needs a key");
  EXPECT_EQ(reason(driven.create("job", std::string(513, 'k'))),
            "the key is 513 bytes; the limit is 512");
  EXPECT_EQ(driven.create("job", std::string(512, 'k')).kind, Answer::Kind::ok);
  EXPECT_EQ(reason(driven.create("job", "a\xff")),
            "the key is not valid UTF-8, or contains a NUL byte");
  EXPECT_TRUE(reason(driven.create("job", "j2", "{")).starts_with("`data`: this is not JSON"));
  EXPECT_TRUE(
      reason(driven.fire("job", "j1", "cancel", "{]")).starts_with("the payload: this is not"));
  EXPECT_TRUE(reason(driven.fire("job", "j1", "cancel", '"' + std::string(256 << 10, 'x') + '"'))
                  .starts_with("the payload is 262146 bytes"));
  const auto attempt = driven.claim({"jobs"})[0];
  EXPECT_TRUE(reason(driven.beat(attempt, "{]")).starts_with("the progress: this is not"));
  EXPECT_EQ(reason(driven.fail(attempt, "")), "a failure needs a code");
  // A result that cannot be kept fails the attempt: nobody else could do anything about it.
  EXPECT_EQ(driven.done(attempt, "nonsense").kind, Answer::Kind::ok);
  EXPECT_EQ(driven.find("job", attempt.given.key)->error->code, "bad_result");
}

// --- several stimuli in one batch --------------------------------------------------------------

TEST_P(EngineTest, StimuliOfOneBatchSeeEachOther) {
  auto& driven = open({kJob});
  std::vector<Answer> answers;
  const auto submit = [&](decltype(Stimulus::what) what) {
    driven.engine().submit(
        {.what = std::move(what), .machine = "job", .key = "j1", .actor = {.name = "app"}},
        [&](Result<Answer> answer) { answers.push_back(*std::move(answer)); });
  };
  submit(Stimulus::Create{});
  submit(Stimulus::Create{});
  submit(Stimulus::Fire{.event = "cancel"});
  submit(Stimulus::Fire{.event = "cancel"});
  EXPECT_TRUE(answers.empty());
  EXPECT_EQ(driven.engine().step()->units, 2U);
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[0].kind, Answer::Kind::ok);
  EXPECT_EQ(answers[1].kind, Answer::Kind::duplicate);
  EXPECT_EQ(answers[2].kind, Answer::Kind::ok);
  EXPECT_EQ(answers[2].state, "cancelled");
  EXPECT_EQ(answers[3].kind, Answer::Kind::refused);
}

TEST_P(EngineTest, AWaitingClaimIsServedByTheCommitThatMakesARecordReady) {
  auto& driven = open({kJob});
  std::vector<GivenAttempt> given;
  driven.engine().claim({.queues = {"jobs"}, .worker = "w1", .wait = hours{1}},
                        [&](auto attempts) { given = *std::move(attempts); });
  driven.settle();
  EXPECT_TRUE(given.empty());
  driven.engine().submit(
      {.what = Stimulus::Create{}, .machine = "job", .key = "j1", .actor = {.name = "app"}},
      [](const Result<Answer>&) {});
  ASSERT_TRUE(driven.engine().step());
  ASSERT_EQ(given.size(), 1U);
  EXPECT_EQ(given[0].given.key, "j1");
}

TEST_P(EngineTest, AClaimThatWaitsIsAnsweredWhenItsTimeIsOver) {
  auto& driven = open({kJob});
  bool is_answered = false;
  driven.engine().claim({.queues = {"jobs"}, .wait = seconds{30}}, [&](auto attempts) {
    EXPECT_TRUE(attempts->empty());
    is_answered = true;
  });
  driven.run_until(kStart + seconds{29});
  EXPECT_FALSE(is_answered);
  driven.run_until(kStart + seconds{30});
  EXPECT_TRUE(is_answered);
}

TEST_P(EngineTest, TheFirstWhoCameIsServedFirstWhateverElseHeWaitsFor) {
  auto& driven = open({kJob});
  std::vector<std::string> given;  // who got which
  const auto wait = [&](const std::string& worker, std::vector<std::string> queues, std::size_t max,
                        Duration at_most) {
    driven.engine().claim(
        {.queues = std::move(queues), .max = max, .worker = worker, .wait = at_most},
        [&given, worker](auto attempts) {
          std::string keys = worker;
          for (const GivenAttempt& attempt : *attempts) keys += " " + attempt.given.key;
          given.push_back(keys);
        });
  };
  wait("w1", {"jobs"}, 1, hours{1});
  wait("w2", {"mails", "jobs"}, 2, hours{1});
  wait("w3", {"jobs"}, 1, seconds{10});
  wait("w4", {"jobs"}, 1, hours{1});
  wait("w5", {"mails"}, 1, hours{1});
  driven.settle();
  EXPECT_EQ(driven.engine().figures().waiting_claims, 5U);
  driven.run_until(kStart + seconds{10});
  EXPECT_EQ(given, std::vector<std::string>{"w3"});
  const auto create = [&](const char* key) {
    driven.engine().submit(
        {.what = Stimulus::Create{}, .machine = "job", .key = key, .actor = {.name = "app"}},
        [](const Result<Answer>&) {});
  };
  for (const char* key : {"a", "b", "c", "d", "e"}) create(key);
  ASSERT_TRUE(driven.engine().step());
  EXPECT_EQ(given, (std::vector<std::string>{"w3", "w1 a", "w2 b c", "w4 d"}));
  EXPECT_EQ(driven.engine().figures().waiting_claims, 1U);
  wait("w6", {"jobs"}, 1, hours{1});  // what was left is not forgotten
  driven.settle();
  EXPECT_EQ(given.back(), "w6 e");
}

TEST_P(EngineTest, ClaimsTakeTheFirstReadyAndTurnsOfTheQueues) {
  auto& driven = open({kJob, R"(machine: mail
initial: writing
tasks: {write: {queue: mails, priority: 2}}
states: {writing: {task: write, done: sent}, sent: {final: true}}
)",
                       R"(machine: urgent
initial: working
tasks: {work: {queue: jobs, priority: 0}}
states: {working: {task: work, done: over}, over: {final: true}}
)"});
  driven.create("job", "a");
  driven.set_clock(kStart + seconds{1});
  driven.create("job", "b");
  driven.create("mail", "c");
  driven.create("mail", "d");
  driven.set_clock(kStart + seconds{2});
  driven.create("urgent", "e");
  std::vector<std::string> keys;
  for (const GivenAttempt& attempt : driven.claim({"jobs", "mails"}, 5))
    keys.push_back(attempt.given.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"e", "c", "a", "d", "b"}));
}

TEST_P(EngineTest, ADryRunIsAnsweredAndChangesNothing) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const Answer answer = driven.apply(
      {.what = Stimulus::Fire{.event = "cancel"}, .machine = "job", .key = "j1", .dry_run = true});
  EXPECT_EQ(answer.kind, Answer::Kind::ok);
  EXPECT_EQ(answer.state, "cancelled");
  EXPECT_EQ(state_of(driven, "job", "j1"), "working");
}

TEST_P(EngineTest, AnIdempotencyKeyIsAnsweredOnce) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const auto fire = [&](std::string payload) {
    return driven.apply({.what = Stimulus::Fire{.event = "cancel", .payload = std::move(payload)},
                         .machine = "job",
                         .key = "j1",
                         .actor = {.name = "app"},
                         .idempotency_key = "k"});
  };
  EXPECT_EQ(fire("{}").kind, Answer::Kind::ok);
  driven.reopen();
  EXPECT_EQ(fire("{}").kind, Answer::Kind::ok);  // the answer given then
  EXPECT_EQ(driven.find("job", "j1")->revision, 2);
  EXPECT_EQ(fire(R"({"n":1})").kind, Answer::Kind::error);
}

// --- other records -----------------------------------------------------------------------------

TEST_P(EngineTest, ChildrenAreMadeCountedAndEndTheirParent) {
  auto& driven = open({kBatch, kParcel});
  driven.create("batch", "b1", R"({"parcels":["p1","p2","p3"]})");
  EXPECT_EQ(driven.fire("batch", "b1", "begin").kind, Answer::Kind::ok);
  EXPECT_EQ(driven.all("parcel").size(), 3U);
  for (const GivenAttempt& attempt : driven.claim({"packers"}, 3)) driven.done(attempt);
  EXPECT_EQ(state_of(driven, "batch", "b1"), "complete");
  const auto record = driven.find("batch", "b1");
  EXPECT_EQ(record->children[0].final, 3);
}

TEST_P(EngineTest, AChildIsThereInTheCommitThatCountsIt) {
  auto& driven = open({kBatch, kParcel});
  driven.create("batch", "b1", R"({"parcels":["p1","p2"]})");
  driven.engine().submit({.what = Stimulus::Fire{.event = "begin"},
                          .machine = "batch",
                          .key = "b1",
                          .actor = {.name = "app"}},
                         [](const Result<Answer>&) {});
  EXPECT_EQ(driven.engine().step()->units, 1U);
  EXPECT_EQ(driven.all("parcel").size(), 2U);
}

TEST_P(EngineTest, AnEventReachesAllChildrenInSteps) {
  auto& driven = open({kBatch, kParcel});
  std::string parcels = "[";
  for (int i = 0; i < 900; ++i) parcels += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  driven.create("batch", "b1", R"({"parcels":)" + parcels + "]}");
  driven.fire("batch", "b1", "begin");
  const auto batch = driven.find("batch", "b1");
  for (int i = 0; i < 1'600; ++i)
    driven.engine().submit({.what = Stimulus::Create{.parent = Parent{batch->id, "batch", "b1"}},
                            .machine = "parcel",
                            .key = "more" + std::to_string(i),
                            .actor = {.name = "app"}},
                           [](const Result<Answer>&) {});
  driven.settle();
  driven.fire("batch", "b1", "stop");
  std::size_t cancelled = 0;
  for (const Record& parcel : driven.all("parcel")) cancelled += parcel.state == "cancelled";
  EXPECT_EQ(cancelled, 2'500U);
  EXPECT_EQ(state_of(driven, "batch", "b1"), "complete");
}

// Whatever stands first in the row.
TEST_P(EngineTest, AnEventReachesTheChildrenOfItsOwnDecisionOnce) {
  auto& driven = open({R"(machine: shelf
initial: filling
data: {books: list}
states:
  filling:
    on:
      add: {effects: [{create: book, each: data.books, key: "{item}"}]}
      check: {effects: [{send: seen, to: children.book}, {create: book, key: last}, {send: seen, to: children.book}]}
    after: {9d: over}
  over: {final: true}
)",
                       R"(machine: book
initial: standing
data: {seen: {type: int, default: 0}}
states:
  standing: {on: {seen: {set: {seen: "{data.seen + 1}"}}}, after: {9d: over}}
  over: {final: true}
)"});
  std::string books;
  for (int i = 0; i < 1'000; ++i) books += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  driven.create("shelf", "s1", R"({"books":[)" + books + "]}");
  driven.fire("shelf", "s1", "add");
  const Parent shelf{driven.find("shelf", "s1")->id, "shelf", "s1"};
  driven.apply({.what = Stimulus::Create{.parent = shelf},
                .machine = "book",
                .key = "one_more",
                .actor = {.name = "app"}});
  driven.fire("shelf", "s1", "check");
  EXPECT_EQ(driven.all("book").size(), 1'002U);
  for (const Record& book : driven.all("book")) EXPECT_EQ(book.data, R"({"seen":2})") << book.key;
}

TEST_P(EngineTest, AnEventForChildrenWaitsAndIsTriedAgainAsAnyOther) {
  auto& driven = open({R"(machine: house
initial: built
states:
  built:
    on:
      later: {effects: [{send: shut, to: children.door, in: 1h}]}
      must: {effects: [{send: push, to: children.door, must: true}]}
    after: {9d: over}
  over: {final: true}
)",
                       R"(machine: door
initial: stuck
states:
  stuck: {on: {shut: closed, oil: oiled}, after: {9d: closed}}
  oiled: {on: {push: closed}, after: {9d: closed}}
  closed: {final: true}
)"});
  driven.create("house", "h1");
  const Parent house{driven.find("house", "h1")->id, "house", "h1"};
  for (int i = 0; i < 1'200; ++i)
    driven.engine().submit({.what = Stimulus::Create{.parent = house},
                            .machine = "door",
                            .key = "d" + std::to_string(i),
                            .actor = {.name = "app"}},
                           [](const Result<Answer>&) {});
  driven.settle();
  driven.fire("house", "h1", "must");
  driven.fire("house", "h1", "later");
  const auto closed = [&] {
    std::size_t count = 0;
    for (const Record& door : driven.all("door")) count += door.state == "closed";
    return count;
  };
  EXPECT_EQ(driven.all("send").size(), 2'400U);
  driven.fire("door", "d7", "oil");
  driven.fire("door", "d1100", "oil");
  driven.run_until(kStart + minutes{10});
  EXPECT_EQ(closed(), 2U);
  driven.run_until(kStart + hours{1} - seconds{1});
  EXPECT_EQ(closed(), 2U);
  driven.run_until(kStart + hours{1});
  EXPECT_EQ(closed(), 1'200U);
}

TEST_P(EngineTest, WithRoomForOneStimulusABatchTheSameComesOut) {
  auto& driven = open({kBatch, kParcel}, 1);
  driven.create("batch", "b1", R"({"parcels":["p1","p2","p3"]})");
  driven.fire("batch", "b1", "begin");
  for (int i = 0; i < 3; ++i) driven.done(driven.claim({"packers"})[0]);
  EXPECT_EQ(state_of(driven, "batch", "b1"), "complete");
}

TEST_P(EngineTest, AMessageWaitsForTheEndOfAHoldAndKeepsItsPlace) {
  auto& driven = open({R"(machine: list
initial: growing
data: {items: string}
states:
  growing: {on: {add: {set: {items: "{data.items}{event.n}"}}}, after: {9d: over}}
  over: {final: true}
)",
                       R"(machine: teller
initial: telling
states:
  telling:
    on:
      tell: {effects: [{send: add, to: {machine: list, key: l1}, with: {n: "{event.n}"}}]}
      tell_twice: {effects: [{send: add, to: {machine: list, key: l1}, with: {n: 8}}, {send: add, to: {machine: list, key: l1}, with: {n: 9}}]}
    after: {9d: over}
  over: {final: true}
)"});
  driven.create("list", "l1", R"({"items":""})");
  driven.create("teller", "t1");
  driven.order("list", "l1", {.verb = Stimulus::Order::Verb::hold, .text = "wait"});
  driven.fire("teller", "t1", "tell", R"({"n":1})");
  driven.fire("teller", "t1", "tell", R"({"n":2})");
  driven.reopen();
  EXPECT_EQ(driven.find("list", "l1")->data, R"({"items":""})");
  // The release, and what is sent right behind it, in one batch.
  driven.engine().submit(
      {.what = Stimulus::Order{.verb = Stimulus::Order::Verb::release, .reason = "go"},
       .machine = "list",
       .key = "l1",
       .actor = {"eve", {"operator"}}},
      [](const Result<Answer>&) {});
  driven.fire("teller", "t1", "tell_twice");
  EXPECT_EQ(driven.find("list", "l1")->data, R"({"items":"1289"})");
}

TEST_P(EngineTest, AMessageToNobodyIsNoted) {
  auto& driven = open({R"(machine: teller
initial: telling
states:
  telling: {on: {tell: {effects: [{send: add, to: {machine: list, key: l1}}]}}, after: {1d: over}}
  over: {final: true}
)"});
  driven.create("teller", "t1");
  EXPECT_EQ(driven.fire("teller", "t1", "tell").kind, Answer::Kind::ok);
  ASSERT_EQ(driven.notes().size(), 1U);
  EXPECT_NE(driven.notes()[0].find("list/l1"), std::string::npos);
}

// They go into a log, which more people read than may see the data.
TEST_P(EngineTest, ANoteHasNoValuesInIt) {
  auto& driven = open({R"(machine: order
initial: new
data: {card: any}
states:
  new:
    on:
      book: [{if: data.card > 3, to: over}, {effects: [{create: parcel, key: p1, with: {card: "{data.card}"}}, {send: told, to: parent, with: {card: "{data.card}"}}, {send: told, to: {machine: parcel, key: p9}, with: {card: "{data.card}"}}]}]
    after: {1d: over}
  over: {final: true}
)",
                       R"(machine: parcel
initial: packing
data: {card: string}
states:
  packing: {effects: [{create: slip, key: s1, with: {number: "{data.card}"}}], after: {1d: over}, on: {told: {}}}
  over: {final: true}
)",
                       R"(machine: slip
initial: written
data: {number: int}
states:
  written: {after: {1d: over}}
  over: {final: true}
)"});
  driven.create("order", "o1", R"({"card":"4929-1234"})");
  EXPECT_EQ(driven.fire("order", "o1", "book").kind, Answer::Kind::ok);
  EXPECT_EQ(state_of(driven, "parcel", "p1"), "none");
  std::string notes;
  for (const std::string& note : driven.notes()) notes += note + "\n";
  EXPECT_EQ(notes.find("4929"), std::string::npos) << notes;
  EXPECT_NE(notes.find("parcel/p1 was not created"), std::string::npos) << notes;
  EXPECT_NE(notes.find("parcel/p9"), std::string::npos) << notes;
}

TEST_P(EngineTest, AMessageWithADelayComesBackAcrossARestart) {
  auto& driven = open({R"(machine: reminder
initial: waiting
states:
  waiting: {on: {begin: {effects: [{send: ring, to: self, in: 2h}]}, ring: rung}, after: {9d: rung}}
  rung: {final: true}
)"});
  driven.create("reminder", "r1");
  driven.fire("reminder", "r1", "begin");
  EXPECT_EQ(driven.all("send").size(), 1U);
  driven.reopen(hours{1});
  driven.run_until(kStart + hours{2} - seconds{1});
  EXPECT_EQ(state_of(driven, "reminder", "r1"), "waiting");
  driven.run_until(kStart + hours{2});
  EXPECT_EQ(state_of(driven, "reminder", "r1"), "rung");
  EXPECT_EQ(driven.all("send")[0].state, "sent");
}

// --- calls for later ---------------------------------------------------------------------------

constexpr const char* kLoan = R"(machine: loan
initial: asked_for
data: {amount: int!}
states:
  asked_for: {on: {grant: granted, refuse: refused}, after: {90d: refused}}
  granted: {final: true}
  refused: {final: true}
events:
  grant: {by: [banker], with: {rate: decimal!}}
)";

class LaterTest : public EngineTest {
 protected:
  Answer later(decltype(Stimulus::what) what, const std::string& key,
               std::vector<std::string> roles = {"operator", "banker"}) {
    return driven_->apply({.what = std::move(what),
                           .machine = "loan",
                           .key = key,
                           .actor = {"ann", std::move(roles)},
                           .at = kStart + hours{1}});
  }
  Record call(const Answer& answer) {
    EXPECT_EQ(answer.kind, Answer::Kind::ok) << answer.reason;
    const auto record = driven_->find(answer.machine, answer.key);
    EXPECT_TRUE(record) << answer.machine << "/" << answer.key;
    return record.value_or(Record{});
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, LaterTest, testing::Values(StoreKind::memory, StoreKind::sqlite),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "memory" : "sqlite";
                         });

TEST_P(LaterTest, TheRecordThatMakesTheCallHasItsAnswer) {
  auto& driven = open({kLoan});
  const Answer created = later(Stimulus::Create{.data = R"({"amount":5})"}, "a");
  const Answer again = later(Stimulus::Create{.data = R"({"amount":6})"}, "a");
  driven.run_until(kStart + hours{1});
  EXPECT_EQ(call(created).state, "sent");
  EXPECT_EQ(call(created).result, R"({"answer":"ok","state":"asked_for","revision":1})");
  EXPECT_EQ(call(again).result, R"({"answer":"duplicate","reason":"a record with this key already )"
                                R"(exists","state":"asked_for","revision":1})");
}

TEST_P(LaterTest, ACallThatIsRefusedIsADeadLetter) {
  auto& driven = open({kLoan});
  driven.create("loan", "a", R"({"amount":5})");
  const Answer refused = later(Stimulus::Fire{.event = "refuse"}, "a");
  const Answer nobody = later(Stimulus::Fire{.event = "refuse"}, "b");
  driven.fire("loan", "a", "refuse");
  driven.run_until(kStart + hours{3});
  const Record send = call(refused);
  ASSERT_TRUE(send.error && send.hold);
  EXPECT_EQ(send.state, "sending");
  EXPECT_EQ(send.error->code, "refused");
  EXPECT_EQ(send.error->message, "`refuse` is not accepted in `refused`");
  EXPECT_EQ(send.hold->code, "gave_up");
  EXPECT_EQ(send.attempt, 1) << "nobody asked for another try";
  EXPECT_EQ(driven.log_of(send).back().kind, Entry::Kind::gave_up);
  ASSERT_TRUE(call(nobody).error);
  EXPECT_EQ(call(nobody).error->code, "no_such_record");
  EXPECT_EQ(driven.store().counts()->errors.size(), 2U);
  EXPECT_TRUE(driven.notes().empty());
  // What was in the way is gone, and somebody lets it be tried again.
  driven.create("loan", "b", R"({"amount":5})");
  driven.order("send", nobody.key, {.verb = Stimulus::Order::Verb::retry, .reason = "there now"});
  EXPECT_EQ(state_of(driven, "loan", "b"), "refused");
  EXPECT_EQ(call(nobody).state, "sent");
}

TEST_P(LaterTest, WhatCanNeverBeAcceptedIsSaidAtOnce) {
  auto& driven = open({kLoan});
  driven.create("loan", "a", R"({"amount":5})");
  const auto said = [&](decltype(Stimulus::what) what, const std::string& key,
                        std::vector<std::string> roles = {"banker"}) {
    const Answer answer = later(std::move(what), key, std::move(roles));
    return std::string(to_text(answer.kind)) + ": " + answer.reason;
  };
  using Fire = Stimulus::Fire;
  using Create = Stimulus::Create;
  for (const char* key : {"a", "b"}) {  // there is only one of them
    EXPECT_EQ(said(Fire{.event = "grunt"}, key),
              "error: the machine has no event `grunt`; did you mean grant?");
    EXPECT_EQ(said(Fire{.event = "grant"}, key),
              "error: `grant`: `rate`: null is not allowed in decimal!");
    EXPECT_EQ(said(Fire{.event = "grant", .payload = R"({"rate":1})"}, key, {"app"}),
              "refused: `grant` needs the role banker");
  }
  EXPECT_EQ(said(Create{}, "b"), "error: `data`: `amount`: null is not allowed in int!");
  EXPECT_EQ(said(Create{.data = R"({"amount":1})", .event = "grunt"}, "b"),
            "error: the machine has no event `grunt`; did you mean grant?");
  EXPECT_EQ(said(Fire{.event = "refuse", .create = Create{}}, "b"),
            "error: `data`: `amount`: null is not allowed in int!");
  EXPECT_EQ(said(Fire{.event = "refuse", .create = Create{}}, "a"), "ok: ") << "it is there";
  EXPECT_EQ(driven.all("send").size(), 1U);
}

TEST_P(LaterTest, ACallWaitsForTheEndOfAHoldAndThenHasItsAnswer) {
  auto& driven = open({kLoan});
  driven.create("loan", "a", R"({"amount":5})");
  const Answer asked = later(Stimulus::Fire{.event = "refuse"}, "a");
  driven.order("loan", "a", {.verb = Stimulus::Order::Verb::hold, .text = "wait"});
  driven.run_until(kStart + hours{2});
  EXPECT_EQ(call(asked).state, "sending");
  EXPECT_FALSE(call(asked).hold);
  driven.order("loan", "a", {.verb = Stimulus::Order::Verb::release, .reason = "go"});
  driven.run_until(kStart + hours{2} + minutes{5});
  EXPECT_EQ(call(asked).result, R"({"answer":"ok","state":"refused","revision":4})");
}

TEST_P(EngineTest, AMessageThatMustBeAcceptedIsTriedAgain) {
  auto& driven = open({R"(machine: door
initial: shut
states:
  shut: {on: {unlock: unlocked}, after: {9d: opened}}
  unlocked: {on: {push: opened}, after: {9d: opened}}
  opened: {final: true}
)",
                       R"(machine: pusher
initial: pushing
states:
  pushing: {effects: [{send: push, to: {machine: door, key: d1}, must: true}], after: {9d: over}}
  over: {final: true}
)"});
  driven.create("door", "d1");
  driven.create("pusher", "p1");
  driven.run_until(kStart + seconds{1});
  EXPECT_EQ(driven.all("send")[0].error->code, "refused");
  driven.fire("door", "d1", "unlock");
  driven.run_until(kStart + minutes{1});
  EXPECT_EQ(state_of(driven, "door", "d1"), "opened");
  EXPECT_EQ(driven.all("send")[0].state, "sent");
}

TEST_P(EngineTest, ADeliveryIsARecordOfTheSameCommit) {
  auto& driven = open({R"(machine: note
initial: written
states:
  written: {on: {tell: {to: told, effects: [{notify: oncall, with: {n: 1}}]}}, after: {1d: told}}
  told: {final: true}
)"});
  driven.create("note", "n1");
  driven.engine().submit({.what = Stimulus::Fire{.event = "tell"},
                          .machine = "note",
                          .key = "n1",
                          .actor = {.name = "app"}},
                         [](const Result<Answer>&) {});
  EXPECT_EQ(driven.engine().step()->units, 1U);
  const auto deliveries = driven.all("delivery");
  ASSERT_EQ(deliveries.size(), 1U);
  EXPECT_EQ(to_deliver_of(deliveries[0]).channel, "oncall");
  EXPECT_EQ(to_deliver_of(deliveries[0]).payload, R"({"n":1})");
  EXPECT_EQ(driven.claim({"channel:oncall"}).size(), 1U);
}

TEST_P(EngineTest, ASideJobReportsBack) {
  auto& driven = open({R"(machine: page
initial: shown
tasks: {render: {queue: renderers}}
states:
  shown: {effects: [{run: render, then: rendered}], on: {rendered: {to: over, set: {}}}, after: {1d: over}}
  over: {final: true}
)"});
  driven.create("page", "p1");
  const auto attempts = driven.claim({"renderers"});
  ASSERT_EQ(attempts.size(), 1U);
  EXPECT_EQ(attempts[0].given.machine, "run");
  driven.reopen();
  driven.done(attempts[0]);
  EXPECT_EQ(state_of(driven, "page", "p1"), "over");
}

TEST_P(EngineTest, ARecordOfABuiltInMachineThatIsNotThereIsNoError) {
  auto& driven = open({kJob});
  for (const char* machine : {"run", "send", "delivery"}) {
    const Answer settled = driven.apply({.what = Stimulus::Done{hash_of_token("guessed")},
                                         .machine = machine,
                                         .key = "nobody",
                                         .actor = {.name = "worker"}});
    EXPECT_EQ(settled.kind, Answer::Kind::error);
    EXPECT_EQ(driven.create(machine, "mine").kind, Answer::Kind::error);
  }
  EXPECT_TRUE(driven.all().empty());
}

TEST_P(EngineTest, RecordsThatMakeEachOtherWithoutEndAreRefused) {
  auto& driven = open({R"(machine: rabbit
initial: born
states:
  born: {effects: [{create: rabbit, key: "{record.key}x"}], after: {1d: gone}}
  gone: {final: true}
)"});
  const Answer answer = driven.create("rabbit", "r");
  EXPECT_EQ(answer.kind, Answer::Kind::error);
  EXPECT_NE(answer.reason.find("without end"), std::string::npos);
  EXPECT_TRUE(driven.all().empty());
}

// --- after a crash -----------------------------------------------------------------------------

TEST_P(EngineTest, LeasesAreLongerByTheTimeTheStoreWasClosed) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  const auto attempt = driven.claim({"jobs"})[0];
  driven.set_clock(kStart + seconds{20});
  driven.reopen(minutes{5});  // the lease ran out at 1:00
  driven.run_until(driven.now() + seconds{39});
  EXPECT_TRUE(driven.find("job", "j1")->running);
  EXPECT_EQ(driven.beat(attempt).kind, Answer::Kind::ok);
  driven.run_until(driven.now() + seconds{59});
  EXPECT_TRUE(driven.find("job", "j1")->running);
  driven.run_until(driven.now() + seconds{1});
  EXPECT_EQ(driven.find("job", "j1")->error->code, "lease_lost");
}

TEST_P(EngineTest, AWorkerThatIsGoneLosesItsLeaseOnceTheGraceIsOver) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  driven.claim({"jobs"});
  driven.set_clock(kStart + seconds{59});
  driven.reopen(seconds{2});
  driven.run_until(kStart + seconds{61 + 29});
  EXPECT_TRUE(driven.find("job", "j1")->running);
  driven.run_until(kStart + seconds{61 + 30});
  EXPECT_FALSE(driven.find("job", "j1")->running);
}

TEST_P(EngineTest, WhoWaitsAtASlotIsNotForgottenByAClockThatGoesBack) {
  auto& driven = open({R"(machine: parcel
initial: packing
tasks: {pack: {queue: packers, timeout: 9h, concurrency: 1}}
states: {packing: {task: pack, done: packed}, packed: {final: true}}
)"});
  driven.create("parcel", "p1");
  driven.create("parcel", "p2");
  const auto first = driven.claim({"packers"}, 2);
  ASSERT_EQ(first.size(), 1U);
  driven.reopen(-hours{1});
  EXPECT_EQ(driven.done(first[0]).kind, Answer::Kind::ok);
  driven.run_until(driven.now() + hours{2});
  EXPECT_EQ(driven.claim({"packers"}, 2).size(), 1U);
}

TEST_P(EngineTest, ThereIsAnEndWhenWhoWasLetGoFromASlotDoesNotStart) {
  auto& driven = open({R"(machine: parcel
initial: packing
tasks: {pack: {queue: packers, concurrency: 2}}
states:
  packing: {task: pack, done: packed, on: {cancel: cancelled}}
  packed: {final: true}
  cancelled: {final: true}
)"});
  for (const char* key : {"p1", "p2", "p3"}) driven.create("parcel", key);
  const auto first = driven.claim({"packers"}, 3);
  ASSERT_EQ(first.size(), 2U);
  driven.done(first[0]);  // lets the third one go
  driven.done(first[1]);  // and nobody waits any more
  driven.engine().submit({.what = Stimulus::Fire{.event = "cancel"},
                          .machine = "parcel",
                          .key = "p3",
                          .actor = {.name = "app"}},
                         [](const Result<Answer>&) {});
  bool has_more = true;
  for (int step = 0; step < 9 && has_more; ++step) has_more = driven.engine().step()->has_more;
  EXPECT_FALSE(has_more);
}

TEST_P(EngineTest, ARecordThatWasInWorkAtTwoCrashesIsPutOnHold) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  driven.create("job", "j2");
  const RecordId poison = driven.find("job", "j1")->id;
  for (int crash = 0; crash < 2; ++crash) {
    Ward::open(driven.directory() / "ward")->enter(poison);
    driven.reopen();
  }
  driven.settle();
  const auto held = driven.find("job", "j1");
  ASSERT_TRUE(held->hold);
  EXPECT_EQ(held->hold->code, "poison");
  EXPECT_EQ(held->hold->by, Hold::By::engine);
  EXPECT_FALSE(driven.find("job", "j2")->hold);
  driven.reopen();
  EXPECT_EQ(driven.order("job", "j1", {.verb = Stimulus::Order::Verb::release}).kind,
            Answer::Kind::ok);
  driven.reopen();
  driven.settle();
  EXPECT_FALSE(driven.find("job", "j1")->hold);
}

// --- limits ------------------------------------------------------------------------------------

constexpr const char* kLimited = R"(machine: upload
initial: sending
data: {to: string}
tasks:
  send: {queue: uploads, concurrency: {max: 2, per: "{data.to}"}}
states:
  sending: {task: send, done: sent, on: {cancel: cancelled}}
  sent: {final: true}
  cancelled: {final: true}
)";

std::vector<std::string> keys_of(const std::vector<GivenAttempt>& attempts) {
  std::vector<std::string> keys;
  for (const GivenAttempt& attempt : attempts) keys.push_back(attempt.given.key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST_P(EngineTest, AConcurrencyLimitIsKeptForEachKey) {
  auto& driven = open({kLimited});
  for (int i = 0; i < 5; ++i) driven.create("upload", "a" + std::to_string(i), R"({"to":"a"})");
  driven.create("upload", "b0", R"({"to":"b"})");
  auto running = driven.claim({"uploads"}, 10);
  EXPECT_EQ(keys_of(running), (Keys{"a0", "a1", "b0"}));
  // The others wait at the slot, not at the head of the queue.
  EXPECT_EQ(*driven.store().queues(), (Keys{"slot:concurrency:upload/send/a"}));
  EXPECT_TRUE(driven.claim({"uploads"}, 10).empty());
  driven.reopen();
  EXPECT_TRUE(driven.claim({"uploads"}, 10).empty());
  EXPECT_EQ(driven.engine().why(*driven.find("upload", "a3"))->kind, Why::Kind::slot);
  driven.done(running[2]);
  EXPECT_TRUE(driven.claim({"uploads"}, 10).empty());
  driven.fail(running[1], "boom");
  EXPECT_EQ(keys_of(driven.claim({"uploads"}, 10)), Keys{"a2"});
  driven.done(running[0]);
  EXPECT_EQ(keys_of(driven.claim({"uploads"}, 10)), Keys{"a3"});
}

// Limits are kept, and neither records nor what waits where is changed.
TEST_P(EngineTest, AClaimMayBeLookedAt) {
  auto& driven = open({kLimited});
  for (int i = 0; i < 5; ++i) driven.create("upload", "a" + std::to_string(i), R"({"to":"a"})");
  const auto look = [&] {
    auto given = *driven.engine().look_at_claim({.queues = {"uploads"}, .max = 10});
    for (const GivenAttempt& one : given) EXPECT_EQ(one.token, "");
    return keys_of(given);
  };
  const auto before = driven.all();
  EXPECT_EQ(look(), (Keys{"a0", "a1"}));
  EXPECT_EQ(look(), (Keys{"a0", "a1"}));
  EXPECT_EQ(driven.all(), before);
  EXPECT_EQ(*driven.store().queues(), Keys{"uploads"});
  const auto running = driven.claim({"uploads"}, 10);
  EXPECT_EQ(keys_of(running), (Keys{"a0", "a1"}));
  EXPECT_TRUE(look().empty());
  driven.done(running[0]);
  EXPECT_EQ(look(), Keys{"a2"});
  EXPECT_EQ(keys_of(driven.claim({"uploads"}, 10)), Keys{"a2"});
}

TEST_P(EngineTest, AFreedPlaceIsGivenOnInTheSameCommit) {
  auto& driven = open({kLimited});
  for (int i = 0; i < 3; ++i) driven.create("upload", "a" + std::to_string(i), R"({"to":"a"})");
  const auto running = driven.claim({"uploads"}, 3);
  std::vector<GivenAttempt> given;
  driven.engine().claim({.queues = {"uploads"}, .worker = "w2", .wait = hours{1}},
                        [&](auto attempts) { given = *std::move(attempts); });
  driven.settle();
  driven.engine().submit({.what = Stimulus::Done{hash_of_token(running[0].token)},
                          .machine = "upload",
                          .key = "a0",
                          .actor = {.name = "worker"}},
                         [](const Result<Answer>&) {});
  ASSERT_TRUE(driven.engine().step());
  EXPECT_EQ(keys_of(given), Keys{"a2"});
}

TEST_P(EngineTest, WhoLeavesWithoutStartingMakesWayForTheNext) {
  auto& driven = open({kLimited});
  for (int i = 0; i < 5; ++i) driven.create("upload", "a" + std::to_string(i), R"({"to":"a"})");
  const auto running = driven.claim({"uploads"}, 5);
  driven.done(running[0]);  // a2 is let go
  driven.fire("upload", "a2", "cancel");
  EXPECT_EQ(keys_of(driven.claim({"uploads"}, 5)), Keys{"a3"});
}

TEST_P(EngineTest, ALimitThatIsGoneHoldsNobodyBack) {
  auto& driven = open({kLimited});
  for (int i = 0; i < 5; ++i) driven.create("upload", "a" + std::to_string(i), R"({"to":"a"})");
  const auto running = driven.claim({"uploads"}, 5);
  std::string text = kLimited;
  const std::string limit = R"(, concurrency: {max: 2, per: "{data.to}"})";
  text.replace(text.find(limit), limit.size(), "");
  driven.apply_machine(text, 2);
  driven.done(running[0]);
  EXPECT_EQ(driven.claim({"uploads"}, 5).size(), 3U);
}

TEST_P(EngineTest, ARateIsKeptAcrossARestart) {
  auto& driven = open({R"(machine: call
initial: calling
tasks:
  dial: {queue: calls, rate: {max: 2, every: 1m}}
states:
  calling: {task: dial, done: over}
  over: {final: true}
)"});
  for (int i = 0; i < 5; ++i) driven.create("call", "c" + std::to_string(i));
  for (const auto& attempt : driven.claim({"calls"}, 5)) driven.done(attempt);
  EXPECT_TRUE(driven.claim({"calls"}, 5).empty());
  const Why why = *driven.engine().why(*driven.find("call", "c3"));
  EXPECT_EQ(why.kind, Why::Kind::slot);
  EXPECT_NE(why.sentence.find("2026-03-02T09:01:00Z"), std::string::npos) << why.sentence;
  driven.reopen(seconds{30});
  EXPECT_TRUE(driven.claim({"calls"}, 5).empty());
  // Whoever waits is served when the window is over, without being asked again.
  std::vector<GivenAttempt> given;
  driven.engine().claim({.queues = {"calls"}, .max = 5, .wait = hours{1}},
                        [&](auto attempts) { given = *std::move(attempts); });
  driven.run_until(kStart + seconds{59});
  EXPECT_TRUE(given.empty());
  driven.run_until(kStart + seconds{60});
  EXPECT_EQ(keys_of(given), (Keys{"c2", "c3"}));
  driven.run_until(kStart + seconds{120});
  EXPECT_EQ(keys_of(driven.claim({"calls"}, 5)), Keys{"c4"});
}

TEST_P(EngineTest, LimitsHoldForSideJobsAsWell) {
  auto& driven = open({R"(machine: page
initial: shown
tasks: {render: {queue: renderers, concurrency: 1}}
states:
  shown: {effects: [{run: render, then: rendered}], on: {rendered: over}, after: {1d: over}}
  over: {final: true}
)"});
  driven.create("page", "p1");
  driven.create("page", "p2");
  const auto running = driven.claim({"renderers"}, 2);
  ASSERT_EQ(running.size(), 1U);
  driven.done(running[0]);
  EXPECT_EQ(driven.claim({"renderers"}, 2).size(), 1U);
}

// --- pauses ------------------------------------------------------------------------------------

constexpr const char* kLabelled = R"(machine: order
initial: packing
data: {customer: string}
labels: {customer: "{data.customer}"}
tasks: {pack: {queue: packers}}
states: {packing: {task: pack, done: packed}, packed: {final: true}}
)";

TEST_P(EngineTest, WhatIsPausedIsNotStarted) {
  auto& driven = open({kJob, kLabelled});
  using Kind = PauseTarget::Kind;
  for (const PauseTarget& target :
       {PauseTarget{}, PauseTarget{Kind::machine, "order"}, PauseTarget{Kind::queue, "packers"},
        PauseTarget{Kind::label, "customer", R"("acme")"}}) {
    const std::string key = pause_queue(target);
    driven.create("order", key, R"({"customer":"acme"})");
    ASSERT_TRUE(driven.engine().pause({target, "stock-taking", "eve", driven.now()}));
    EXPECT_TRUE(driven.claim({"packers"}, 10).empty());
    const Why why = *driven.engine().why(*driven.find("order", key));
    EXPECT_EQ(why.kind, Why::Kind::paused);
    EXPECT_NE(why.sentence.find("eve: stock-taking"), std::string::npos) << why.sentence;
    driven.reopen();
    EXPECT_EQ(driven.engine().pauses().size(), 1U);
    EXPECT_TRUE(driven.claim({"packers"}, 10).empty());
    EXPECT_TRUE(*driven.engine().unpause(target, {}));
    EXPECT_FALSE(*driven.engine().unpause(target, {}));
    EXPECT_EQ(keys_of(driven.claim({"packers"}, 10)), Keys{key});
  }
}

TEST_P(EngineTest, APauseLeavesOthersAlone) {
  auto& driven = open({kJob, kLabelled});
  driven.create("job", "j1");
  driven.create("order", "o1", R"({"customer":"acme"})");
  driven.create("order", "o2", R"({"customer":"other"})");
  using Kind = PauseTarget::Kind;
  ASSERT_TRUE(driven.engine().pause(
      {{Kind::label, "customer", R"("acme")"}, "unpaid", "eve", driven.now()}));
  EXPECT_EQ(keys_of(driven.claim({"packers", "jobs"}, 10)), (Keys{"o2", "j1"}));
  // A pause that ended while the engine was closed lets go what waited for it.
  driven.settle();
  Store& store = driven.store();
  const auto setting = store.settings("pause:")->at(0);
  ASSERT_TRUE(store.put_setting({setting.name, "", setting.revision}));
  driven.reopen();
  EXPECT_EQ(keys_of(driven.claim({"packers"}, 10)), Keys{"o1"});
  ASSERT_TRUE(driven.engine().pause({{}, "again", "eve", driven.now()}));
  EXPECT_TRUE(*driven.engine().unpause({}, {}));
}

TEST_P(EngineTest, ClaimsOfOneAttemptTakeTurnsAsWell) {
  auto& driven = open({kJob, kLabelled});
  for (int i = 0; i < 2; ++i) {
    driven.create("job", "j" + std::to_string(i));
    driven.create("order", "o" + std::to_string(i));
  }
  Keys keys;
  for (int i = 0; i < 4; ++i) keys.push_back(driven.claim({"jobs", "packers"})[0].given.key);
  EXPECT_EQ(keys, (Keys{"j0", "o0", "j1", "o1"}));
}

// --- what is kept ------------------------------------------------------------------------------

TEST_P(EngineTest, ARecordThatIsOverIsRemovedByItsKeep) {
  auto& driven = open({R"(machine: parcel
initial: sent
keep: 2d
states:
  sent: {on: {arrive: arrived}, after: {9d: arrived}}
  arrived: {final: true}
)"});
  driven.create("parcel", "p1");
  driven.fire("parcel", "p1", "arrive");
  EXPECT_EQ(driven.find("parcel", "p1")->next_at(), std::nullopt);
  driven.reopen();
  driven.run_until(kStart + hours{48} - seconds{1});
  EXPECT_TRUE(driven.find("parcel", "p1"));
  driven.run_until(kStart + hours{48});
  EXPECT_FALSE(driven.find("parcel", "p1"));
  EXPECT_EQ(driven.create("parcel", "p1").kind, Answer::Kind::ok);  // another life of the key
}

TEST_P(EngineTest, DeliveriesGoAfterADayAndOnesWithAKeyWithTheirAsker) {
  auto& driven = open({R"(machine: note
initial: written
keep: 9d
states:
  written: {on: {tell: {effects: [{notify: oncall}, {notify: oncall, key: once}]}, end: told}}
  told: {final: true}
)"});
  driven.create("note", "n1");
  driven.fire("note", "n1", "tell");
  for (const auto& attempt : driven.claim({"channel:oncall"}, 2)) driven.done(attempt);
  driven.fire("note", "n1", "end");
  EXPECT_EQ(driven.all("delivery").size(), 2U);
  driven.run_until(kStart + hours{25});
  EXPECT_EQ(driven.all("delivery").size(), 1U);
  driven.run_until(kStart + hours{24 * 9});
  EXPECT_FALSE(driven.find("note", "n1"));
  driven.run_until(kStart + hours{24 * 11});
  EXPECT_TRUE(driven.all().empty());
}

TEST_P(EngineTest, ALongLogKeepsItsLastEntriesAndOneBeforeThem) {
  auto& driven = open({R"(machine: counter
initial: counting
data: {n: int}
keep: {entries: 10}
states:
  counting: {on: {add: {set: {n: "{data.n + 1}"}}}, after: {9d: over}}
  over: {final: true}
)"});
  driven.create("counter", "c1", R"({"n":0})");
  for (int i = 0; i < 100; ++i) driven.fire("counter", "c1", "add");
  const auto record = driven.find("counter", "c1");
  EXPECT_EQ(record->revision, 101);
  const auto log = driven.log_of(*record);
  EXPECT_GE(log.size(), 11U);
  EXPECT_LE(log.size(), 11U + 16U);
  EXPECT_EQ(log[0].kind, Entry::Kind::compacted);
}

TEST_P(EngineTest, OldAnswersAreForgotten) {
  auto& driven = open({kJob});
  const auto fire = [&] {
    return driven.apply({.what = Stimulus::Fire{.event = "cancel"},
                         .machine = "job",
                         .key = "j1",
                         .actor = {.name = "app"},
                         .idempotency_key = "k"});
  };
  driven.create("job", "j1");
  EXPECT_EQ(fire().kind, Answer::Kind::ok);
  driven.run_until(kStart + hours{24 * 6});
  EXPECT_EQ(fire().kind, Answer::Kind::ok);
  driven.run_until(kStart + hours{24 * 9});
  EXPECT_EQ(fire().kind, Answer::Kind::refused);
}

// --- deliveries --------------------------------------------------------------------------------

TEST_P(EngineTest, AnAlertGoesToTheChannelOfTheSetting) {
  auto& driven = open({R"(machine: job
initial: working
tasks: {work: {queue: jobs, retry: []}}
states: {working: {task: work, done: finished}, finished: {final: true}}
)"});
  driven.create("job", "quiet");
  driven.fail(driven.claim({"jobs"})[0], "boom");
  EXPECT_TRUE(driven.all("delivery").empty());
  ASSERT_TRUE(driven.engine().set_alerts("oncall"));
  driven.reopen();
  driven.create("job", "loud");
  driven.fail(driven.claim({"jobs"})[0], "boom");
  const auto deliveries = driven.all("delivery");
  ASSERT_EQ(deliveries.size(), 1U);
  EXPECT_EQ(to_deliver_of(deliveries[0]).channel, "oncall");
  ASSERT_TRUE(driven.engine().set_alerts(""));
  ASSERT_TRUE(driven.engine().set_alerts("oncall"));
  EXPECT_EQ(driven.engine().alerts(), "oncall");
}

TEST_P(EngineTest, AChannelThatIsDownGetsSingleCanariesAndLosesNothing) {
  auto& driven = open({R"(machine: note
initial: written
states:
  written: {effects: [{notify: down}, {notify: up}], after: {9d: over}}
  over: {final: true}
)"});
  for (int i = 0; i < 40; ++i) driven.create("note", std::to_string(i));
  std::size_t tried = 0;
  std::size_t delivered = 0;
  for (int minute = 0; minute < 60; ++minute) {
    for (const auto& attempt : driven.claim({"channel:down"}, 100)) {
      driven.fail(attempt, "network");
      ++tried;
    }
    for (const auto& attempt : driven.claim({"channel:up"}, 100)) {
      driven.done(attempt);
      ++delivered;
    }
    driven.run_until(driven.now() + minutes{1});
  }
  EXPECT_EQ(delivered, 40U);  // the other channel is not affected
  EXPECT_LE(tried, 8U + 60U);
  for (int minute = 0; minute < 300; ++minute) {
    for (const auto& attempt : driven.claim({"channel:down"}, 100)) driven.done(attempt);
    driven.run_until(driven.now() + minutes{1});
  }
  std::size_t sent = 0;
  for (const Record& delivery : driven.all("delivery")) sent += delivery.state == "sent";
  EXPECT_EQ(sent, 80U);
}

// --- figures -----------------------------------------------------------------------------------

constexpr const char* kTeller = R"(machine: teller
initial: awake
events: {tell: {with: {n: int}}}
states:
  awake: {on: {tell: {effects: [{notify: office, with: {n: "{event.n}"}}]}}, after: {900d: over}}
  over: {final: true}
)";

void tell(DrivenEngine& driven, const std::string& key, int n) {
  driven.fire("teller", key, "tell", R"({"n":)" + std::to_string(n) + "}");
}

TEST_P(EngineTest, WhatHappensIsCounted) {
  auto& driven = open({kTeller, R"(machine: job
initial: waiting
tasks: {work: {queue: jobs, retry: [1m, 1m]}}
states:
  waiting: {task: work, done: over, on: {cancel: over}}
  over: {final: true}
)"});
  driven.create("job", "j1");
  driven.run_until(kStart + minutes{1});
  auto attempt = driven.claim({"jobs"}).at(0);
  driven.fail(attempt, "network");
  EXPECT_EQ(driven.fail(attempt, "network").kind, Answer::Kind::duplicate);
  EXPECT_EQ(driven.done(attempt).kind, Answer::Kind::stale);
  driven.run_until(kStart + minutes{5});
  driven.done(driven.claim({"jobs"}).at(0));
  driven.create("job", "j2");
  for (int i = 0; i < 3; ++i) {
    driven.run_until(driven.now() + minutes{2});
    for (const auto& one : driven.claim({"jobs"})) driven.fail(one, "network");
  }
  driven.create("teller", "a");
  tell(driven, "a", 1);
  driven.done(driven.claim({"channel:office"}).at(0));

  const Figures figures = driven.engine().figures();
  const MachineFigures& job = figures.machines.at("job");
  EXPECT_EQ(job.created, 2U);
  EXPECT_EQ(job.transitions, 1U);
  EXPECT_EQ(job.attempts, 5U);
  EXPECT_EQ(job.retries, 3U);
  EXPECT_EQ(job.gave_up, 1U);
  EXPECT_EQ(job.holds, 1U);
  EXPECT_EQ(job.failures.at("network"), 4U);
  EXPECT_EQ(job.in_state.at("waiting").count(), 1U);
  EXPECT_EQ(job.in_state.at("waiting").sum(), 300.0);
  // One that moves on as it is made was in its first state for no time.
  driven.apply({.what = Stimulus::Create{.event = "cancel"},
                .machine = "job",
                .key = "j3",
                .actor = {.name = "app"}});
  EXPECT_EQ(driven.engine().figures().machines.at("job").in_state.at("waiting").count(), 2U);
  EXPECT_EQ(driven.engine().figures().machines.at("job").in_state.at("waiting").sum(), 300.0);
  EXPECT_EQ(figures.channels.at("office").delivered, 1U);
  EXPECT_EQ(figures.stale_settles, 1U);
  EXPECT_EQ(figures.repeats_answered, 1U);
  EXPECT_EQ(figures.double_applied, 0U);
  EXPECT_GT(figures.commit_seconds.count(), 0U);
  EXPECT_EQ(figures.commit_seconds.count(), figures.batch_units.count());
}

// What is due while nobody looks is met late. A retry is due for a worker, not for the engine.
TEST_P(EngineTest, HowLateWhatIsDueWasMetIsMeasured) {
  auto& driven = open({R"(machine: job
initial: waiting
tasks: {work: {queue: jobs, timeout: 10m, lease: 1m, retry: [1m, 1m]}}
states:
  waiting: {after: {1h: working}}
  working: {task: work, done: over}
  over: {final: true}
)"});
  const auto lag = [&] { return driven.engine().figures().due_lag; };
  const auto wait = [&] { return driven.engine().figures().ready_wait; };
  driven.create("job", "j1");
  EXPECT_EQ(lag().count(), 0U);
  driven.set_clock(kStart + minutes{60} + seconds{7});
  driven.settle();  // the timer
  EXPECT_EQ(lag().count(), 1U);
  EXPECT_EQ(lag().sum(), 7.0);
  driven.set_clock(driven.now() + seconds{5});
  driven.fail(driven.claim({"jobs"}).at(0), "network");
  EXPECT_EQ(wait().sum(), 5.0);
  driven.set_clock(driven.now() + minutes{1} + seconds{20});
  driven.settle();
  EXPECT_EQ(lag().count(), 1U);
  EXPECT_EQ(driven.claim({"jobs"}).size(), 1U);
  EXPECT_EQ(wait().count(), 2U);
  EXPECT_EQ(wait().sum(), 25.0);
  driven.set_clock(driven.now() + minutes{1} + seconds{3});
  driven.settle(true);  // the lease
  EXPECT_EQ(lag().count(), 2U);
  EXPECT_EQ(lag().sum(), 10.0);
}

TEST_P(EngineTest, NamesBeyondTheBoundAreCountedTogether) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  for (std::size_t i = 0; i < kFiguresMax + 20; ++i) {
    for (const auto& attempt : driven.claim({"jobs"}))
      driven.fail(attempt, "c" + std::to_string(i));
    driven.order("job", "j1", {.verb = Stimulus::Order::Verb::retry, .reason = "again"});
  }
  const auto failures = driven.engine().figures().machines.at("job").failures;
  EXPECT_LE(failures.size(), kFiguresMax + 1);
  EXPECT_GE(failures.at("other"), 20U);
}

TEST(EngineFigures, WhatIsCarriedOutTwiceIsSeen) {
  for (const bool forgets : {false, true}) {
    DrivenEngine driven(StoreKind::memory, {kTeller}, kStart, 960,
                        [&](std::unique_ptr<Store> store) -> std::unique_ptr<Store> {
                          if (!forgets) return store;
                          return std::make_unique<ForgetfulStore>(std::move(store));
                        });
    driven.create("teller", "a");
    for (int i = 0; i < 2; ++i)
      driven.apply({.what = Stimulus::Fire{.event = "tell", .payload = R"({"n":1})"},
                    .machine = "teller",
                    .key = "a",
                    .actor = {.name = "app"},
                    .idempotency_key = "k"});
    const Figures figures = driven.engine().figures();
    EXPECT_EQ(figures.double_applied, forgets ? 1U : 0U);
    EXPECT_EQ(figures.repeats_answered, forgets ? 0U : 1U);
  }
}

TEST(EngineFigures, ATokenThatSettlesTwiceIsSeen) {
  for (const bool reuses : {false, true}) {
    DrivenEngine driven(StoreKind::memory, {kJob}, kStart);
    if (reuses) driven.reuse_tokens();
    driven.create("job", "j1");
    driven.fail(driven.claim({"jobs"}).at(0), "network");
    driven.order("job", "j1", {.verb = Stimulus::Order::Verb::retry, .reason = "again"});
    driven.done(driven.claim({"jobs"}).at(0));
    EXPECT_EQ(driven.engine().figures().double_applied, reuses ? 1U : 0U);
  }
}

// --- ordered channels --------------------------------------------------------------------------

// What a delivery says, and of whom: `a1`.
std::string text_of(DrivenEngine& driven, const GivenAttempt& attempt) {
  const Record record = *driven.find("delivery", attempt.given.key);
  const ToDeliver delivery = to_deliver_of(record);
  for (const Record& teller : driven.all("teller"))
    if (teller.id == delivery.from) return teller.key + delivery.payload;
  return {};
}

std::vector<std::string> texts_of(DrivenEngine& driven, const std::vector<GivenAttempt>& attempts) {
  std::vector<std::string> texts;
  for (const GivenAttempt& attempt : attempts) texts.push_back(text_of(driven, attempt));
  std::sort(texts.begin(), texts.end());
  return texts;
}

using Texts = std::vector<std::string>;

TEST_P(EngineTest, DeliveriesToAnOrderedChannelKeepTheOrderOfTheirSource) {
  auto& driven = open({kTeller});
  driven.set_ordered_channels({"office"});
  driven.reopen();
  for (const char* key : {"a", "b"}) {
    driven.create("teller", key);
    for (int n = 1; n <= 3; ++n) tell(driven, key, n);
  }
  const auto first = driven.claim({"channel:office"}, 100);
  EXPECT_EQ(texts_of(driven, first), (Texts{R"(a{"n":1})", R"(b{"n":1})"}));
  EXPECT_TRUE(driven.claim({"channel:office"}, 100).empty());  // the others wait for these

  // What fails holds back its own source only, also while it waits to be tried again.
  for (const GivenAttempt& attempt : first)
    if (text_of(driven, attempt).starts_with("a")) {
      driven.fail(attempt, "network");
    } else {
      driven.done(attempt);
    }
  const auto second = driven.claim({"channel:office"}, 100);
  ASSERT_EQ(texts_of(driven, second), (Texts{R"(b{"n":2})"}));
  for (const Record& one : driven.all("delivery")) {
    if (to_deliver_of(one).payload != R"({"n":2})" || one.running) continue;
    const Why why = *driven.engine().why(one);
    EXPECT_NE(why.sentence.find("comes first"), std::string::npos) << why.sentence;
  }

  // The process ends while one runs, one waits for its retry and the rest for those.
  driven.reopen();
  driven.settle();
  driven.done(second[0]);
  EXPECT_EQ(texts_of(driven, driven.claim({"channel:office"}, 100)), (Texts{R"(b{"n":3})"}));
  driven.run_until(driven.now() + std::chrono::hours{1});
  for (int n = 1; n <= 3; ++n) {
    std::vector<GivenAttempt> of_a;
    for (const GivenAttempt& attempt : driven.claim({"channel:office"}, 100))
      if (text_of(driven, attempt).starts_with("a")) of_a.push_back(attempt);
    ASSERT_EQ(texts_of(driven, of_a), (Texts{R"(a{"n":)" + std::to_string(n) + "}"}));
    driven.done(of_a[0]);
  }
}

TEST_P(EngineTest, AnOrderedDeliveryThatIsGivenUpMakesWayAndComesBackInItsPlace) {
  auto& driven = open({kTeller});
  driven.set_ordered_channels({"office"});
  driven.reopen();
  driven.create("teller", "a");
  for (int n = 1; n <= 3; ++n) tell(driven, "a", n);
  std::vector<GivenAttempt> given = driven.claim({"channel:office"}, 100);
  ASSERT_EQ(given.size(), 1U);
  const std::string first = given[0].given.key;
  while (!driven.find("delivery", first)->hold) {
    ASSERT_EQ(texts_of(driven, given), (Texts{R"(a{"n":1})"}));
    driven.fail(given[0], "network");
    for (given.clear(); given.empty() && !driven.find("delivery", first)->hold;) {
      driven.run_until(driven.now() + std::chrono::hours{1});
      given = driven.claim({"channel:office"}, 100);
    }
  }
  driven.run_until(driven.now() + std::chrono::hours{1});  // the channel's breaker lets one go
  given = driven.claim({"channel:office"}, 100);
  ASSERT_EQ(texts_of(driven, given), (Texts{R"(a{"n":2})"}));

  // Let go by a person while the next is under way, it waits for that one alone.
  driven.order("delivery", first, {.verb = Stimulus::Order::Verb::retry, .reason = "up again"});
  ASSERT_FALSE(driven.find("delivery", first)->hold);
  EXPECT_TRUE(driven.claim({"channel:office"}, 100).empty());
  driven.done(given[0]);
  given = driven.claim({"channel:office"}, 100);
  ASSERT_EQ(texts_of(driven, given), (Texts{R"(a{"n":1})"}));
  driven.done(given[0]);
  EXPECT_EQ(texts_of(driven, driven.claim({"channel:office"}, 100)), (Texts{R"(a{"n":3})"}));
}

TEST_P(EngineTest, AChannelThatIsNoLongerOrderedHoldsNobodyBack) {
  auto& driven = open({kTeller});
  driven.set_ordered_channels({"office"});
  driven.reopen();
  driven.create("teller", "a");
  for (int n = 1; n <= 3; ++n) tell(driven, "a", n);
  EXPECT_EQ(driven.claim({"channel:office"}, 100).size(), 1U);
  EXPECT_TRUE(driven.claim({"channel:office"}, 100).empty());
  driven.set_ordered_channels({});
  driven.reopen();
  EXPECT_EQ(driven.claim({"channel:office"}, 100).size(), 2U);
}

// --- crashes -----------------------------------------------------------------------------------

TEST_P(EngineTest, WhatThisProcessRanWhenItEndedIsNotWaitedFor) {
  auto& driven = open({kJob});
  driven.create("job", "ours");
  driven.create("job", "theirs");
  const auto claim = [&](const std::string& worker) {
    std::vector<GivenAttempt> given;
    driven.engine().claim({.queues = {"jobs"}, .worker = worker},
                          [&](auto attempts) { given = *std::move(attempts); });
    driven.settle();
    return given.at(0);
  };
  const GivenAttempt ours = claim("function");
  const GivenAttempt theirs = claim("w1");
  driven.engine().ward().enter_task(0, ours.record);
  driven.engine().ward().enter_task(1, theirs.record);  // no function: its worker is alive
  driven.reopen();
  driven.settle();
  EXPECT_EQ(driven.find("job", "ours")->error->code, "crashed");
  EXPECT_EQ(driven.done(ours).kind, Answer::Kind::stale);
  EXPECT_EQ(driven.done(theirs).kind, Answer::Kind::ok);
}

// --- versions ----------------------------------------------------------------------------------

TEST_P(EngineTest, ARecordFollowsANewerVersionAtItsNextStimulus) {
  auto& driven = open({kJob});
  driven.create("job", "j1");
  std::string text = kJob;
  text.replace(text.find("retry: [1m, 5m]"), 15, "retry: [2m, 5m]");
  driven.apply_machine(text, 2);
  driven.reopen();
  driven.fail(driven.claim({"jobs"})[0], "boom");
  const auto record = driven.find("job", "j1");
  EXPECT_EQ(record->version, 2);
  EXPECT_EQ(record->ready_at, kStart + minutes{2});
}

}  // namespace
}  // namespace pawl
