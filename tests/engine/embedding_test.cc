// The engine as a program that embeds it sees it: include/pawl/engine.h, in memory and on SQLite.
#include "pawl/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include "tests/support/driven_engine.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kStart = *parse_instant("2026-03-02T09:00:00Z");

constexpr const char* kOrder = R"(machine: order
initial: new
data: {amount: int, parcels: list}
states:
  new: {on: {pay: [{if: data.amount > 0, to: paying}]}, after: {7d: expired}}
  paying: {task: charge, done: packing}
  packing: {on: {ship: shipped}, effects: [{create: parcel, each: data.parcels, key: "{item}"}, {notify: office}]}
  shipped: {final: true}
  expired: {final: true}
tasks:
  charge: {function: charge, retry: [1m, 1h]}
)";

constexpr const char* kParcel = R"(machine: parcel
initial: packing
states:
  packing: {task: pack, done: packed}
  packed: {final: true}
tasks:
  pack: {queue: packers, timeout: 10m}
)";

class EmbeddingTest : public testing::TestWithParam<StoreKind> {
 protected:
  Engine& open(EngineOptions options = {}) {
    engine_.reset();
    if (GetParam() == StoreKind::sqlite) options.directory = directory_.path() / "store";
    if (!options.virtual_clock) options.virtual_clock = kStart;
    if (options.channels.empty())
      options.channels["office"] = [this](const Delivered& delivered) {
        const std::lock_guard lock(mutex_);
        delivered_.push_back(delivered.payload);
        return std::optional<Failure>();
      };
    if (options.functions.empty())
      options.functions["charge"] = [this](TaskRun& run) {
        ++charged_;
        if (run.given().attempt <= failing_) return TaskResult{.failure = Failure{"declined"}};
        return TaskResult{.result = R"({"receipt":"r1"})"};
      };
    auto opened = Engine::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().message;
    engine_ = *std::move(opened);
    return *engine_;
  }

  Applied apply(const std::vector<MachineText>& files, const ApplyOptions& options = {}) {
    auto applied = engine_->apply(files, options);
    EXPECT_TRUE(applied) << applied.error().message;
    return *std::move(applied);
  }

  std::string state_of(const RecordName& name) {
    const auto record = engine_->show(name);
    return record && *record ? (*record)->state : "none";
  }

  TemporaryDirectory directory_{place_in_memory()};
  std::unique_ptr<Engine> engine_;
  std::mutex mutex_;
  std::vector<std::string> delivered_;
  std::atomic<int> charged_ = 0;
  int failing_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, EmbeddingTest,
                         testing::Values(StoreKind::memory, StoreKind::sqlite),
                         [](const auto& kind) {
                           return kind.param == StoreKind::memory ? "memory" : "sqlite";
                         });

void ok(const Result<Answer>& answer) {
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->kind, Answer::Kind::ok) << answer->reason;
}

std::vector<std::string> ids_of(const AppliedMachine& file) {
  std::vector<std::string> ids;
  for (const Diagnostic& finding : file.findings)
    if (finding.severity == Diagnostic::Severity::error) ids.emplace_back(finding.id);
  return ids;
}

// --- moving ------------------------------------------------------------------------------------

TEST_P(EmbeddingTest, AFunctionIsTriedAgainByTheVirtualClockAlone) {
  failing_ = 2;
  Engine& engine = open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  EXPECT_EQ(engine.create({"order", "17"}, R"({"amount":12,"parcels":["a","b"]})")->kind,
            Answer::Kind::ok);
  EXPECT_EQ(engine.fire({"order", "17"}, "pay")->kind, Answer::Kind::ok);
  ASSERT_TRUE(engine.run_until(kStart + seconds{59}));
  EXPECT_EQ(charged_, 1);
  EXPECT_EQ(engine.now(), kStart + seconds{59});
  ASSERT_TRUE(engine.run_until(kStart + hours{2}));
  EXPECT_EQ(charged_, 3);
  EXPECT_EQ(state_of({"order", "17"}), "packing");
  EXPECT_EQ((*engine.show({"order", "17"}))->entered_at, kStart + minutes{61});
  EXPECT_EQ(delivered_.size(), 1U);
  EXPECT_EQ(engine.list({.machine = "parcel"})->items.size(), 2U);
  EXPECT_EQ(engine.list({.hides_built_in = true})->items.size(), 3U);
}

TEST_P(EmbeddingTest, TheClockStopsWhenNothingIsDueAnyMore) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  ok(engine.create({"order", "17"}, R"({"amount":0})"));
  // The order expires after a week, and the daily sweep is none of the records' business.
  const auto stopped = engine.run_until_idle(kStart + hours{24 * 80});
  ASSERT_TRUE(stopped);
  EXPECT_EQ(state_of({"order", "17"}), "expired");
  EXPECT_EQ(*stopped, kStart + hours{24 * 7});
  EXPECT_EQ(engine.now(), *stopped);
  EXPECT_EQ(*engine.run_until_idle(kStart + hours{24 * 80}), *stopped);
  EXPECT_FALSE(engine.run_until(kStart));
}

TEST_P(EmbeddingTest, ARefusalSaysWhatFailed) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  ok(engine.create({"order", "17"}, R"({"amount":0})"));
  const auto refused = engine.fire({"order", "17"}, "pay");
  EXPECT_EQ(refused->kind, Answer::Kind::refused);
  ASSERT_EQ(refused->guards.size(), 1U);
  EXPECT_EQ(refused->guards[0].values[0], "data.amount = 0");
  const auto dry = engine.fire({"order", "17"}, "discard", "{}",
                               {.actor = {"eve", {"operator"}}, .dry_run = true});
  EXPECT_EQ(dry->kind, Answer::Kind::ok);
  EXPECT_EQ(state_of({"order", "17"}), "new");
}

TEST_P(EmbeddingTest, WorkersClaimBeatAndSettle) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"parcel.yaml", kParcel}}).is_good());
  ok(engine.create({"parcel", "a"}));
  ok(engine.create({"parcel", "b"}));
  const auto attempts = engine.claim({.queues = {"packers"}, .max = 2, .worker = "w"});
  ASSERT_EQ(attempts->size(), 2U);
  EXPECT_EQ(engine.beat((*attempts)[0], R"({"n":1})")->kind, Answer::Kind::ok);
  EXPECT_EQ(engine.done((*attempts)[0])->kind, Answer::Kind::ok);
  EXPECT_EQ(engine.done((*attempts)[0])->kind, Answer::Kind::duplicate);
  EXPECT_EQ(engine.fail((*attempts)[1], {.code = "torn"})->kind, Answer::Kind::ok);
  EXPECT_EQ(engine.beat((*attempts)[1])->kind, Answer::Kind::stale);
  EXPECT_EQ(state_of({"parcel", "a"}), "packed");
  const auto why = engine.why({"parcel", "b"});
  EXPECT_EQ((*why)->kind, Why::Kind::backing_off_until);
  EXPECT_EQ((*engine.why({"parcel", "c"})).has_value(), false);
  const auto log = engine.log((*engine.show({"parcel", "a"}))->id);
  EXPECT_EQ(log->items.back().kind, Entry::Kind::done);
  EXPECT_GE(engine.feed({})->items.size(), 4U);
}

TEST_P(EmbeddingTest, SubmitAnswersEachAndKeepsTheOrder) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"parcel.yaml", kParcel}}).is_good());
  std::vector<Stimulus> stimuli(3);
  stimuli[0] = {.what = Stimulus::Create{}, .machine = "parcel", .key = "a", .actor = {"app"}};
  stimuli[1] = stimuli[0];
  stimuli[2] = {.what = Stimulus::Wake{}, .machine = "parcel", .key = "a"};
  std::vector<std::promise<Answer::Kind>> kinds(3);
  engine.submit(stimuli, [&](std::size_t i, const Result<Answer>& answer) {
    kinds[i].set_value(answer->kind);
  });
  EXPECT_EQ(kinds[0].get_future().get(), Answer::Kind::ok);
  EXPECT_EQ(kinds[1].get_future().get(), Answer::Kind::duplicate);
  EXPECT_EQ(kinds[2].get_future().get(), Answer::Kind::error);
}

TEST_P(EmbeddingTest, WhatIsForLaterHappensThen) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  const CallOptions at_ten{.idempotency_key = "k", .at = kStart + hours{1}};
  EXPECT_EQ(engine.create({"order", "18"}, R"({"amount":3})", at_ten)->kind, Answer::Kind::ok);
  EXPECT_EQ(engine.create({"order", "18"}, R"({"amount":3})", at_ten)->kind,
            Answer::Kind::duplicate);
  EXPECT_EQ(engine.create({"order", "18"}, R"({"amount":4})", at_ten)->kind, Answer::Kind::error);
  EXPECT_EQ(engine.create({"ordr", "18"}, "{}", at_ten)->kind, Answer::Kind::error);
  EXPECT_EQ(engine.fire({"order", "18"}, "pay", "{}", {.at = kStart + hours{2}})->kind,
            Answer::Kind::ok);
  EXPECT_EQ(state_of({"order", "18"}), "none");
  ASSERT_TRUE(engine.run_until(kStart + hours{1}));
  EXPECT_EQ(state_of({"order", "18"}), "new");
  ASSERT_TRUE(engine.run_until(kStart + hours{2}));
  EXPECT_EQ(state_of({"order", "18"}), "packing");
}

TEST_P(EmbeddingTest, AnEventForLaterWaitsForTheEndOfAHold) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  const CallOptions eve{.actor = {"eve", {"operator"}}};
  ok(engine.create({"order", "18"}, R"({"amount":3})"));
  ok(engine.fire({"order", "18"}, "pay", "{}", {.at = kStart + hours{1}}));
  using Verb = Stimulus::Order::Verb;
  ok(engine.order({"order", "18"}, {.verb = Verb::hold, .reason = "r", .text = "look"}, eve));
  ASSERT_TRUE(engine.run_until(kStart + hours{2}));
  EXPECT_EQ(state_of({"order", "18"}), "new");
  ok(engine.order({"order", "18"}, {.verb = Verb::release, .reason = "r"}, eve));
  ASSERT_TRUE(engine.run_until(kStart + hours{2} + minutes{5}));  // it looks every so often
  EXPECT_EQ(state_of({"order", "18"}), "packing");
}

TEST_P(EmbeddingTest, AParentIsFoundByItsName) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  ok(engine.create({"order", "17"}, R"({"amount":1})"));
  const auto with_parent = [&](const std::string& key, const std::string& parent) {
    return engine
        .call({.what = Stimulus::Create{.parent = Parent{.machine = "order", .key = parent}},
               .machine = "parcel",
               .key = key,
               .actor = {"app"}})
        ->kind;
  };
  EXPECT_EQ(with_parent("a", "99"), Answer::Kind::error);
  EXPECT_EQ(with_parent("a", "17"), Answer::Kind::ok);
  const auto parent = engine.show({"order", "17"});
  ASSERT_EQ((*parent)->children.size(), 1U);
  EXPECT_EQ((*parent)->children[0].open, 1);
}

TEST_P(EmbeddingTest, PausesAreSeenAndEnded) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"parcel.yaml", kParcel}}).is_good());
  ok(engine.create({"parcel", "a"}));
  const PauseTarget queue{PauseTarget::Kind::queue, "packers"};
  ASSERT_TRUE(engine.pause({queue, "the printer is broken", "eve", kStart}));
  EXPECT_TRUE(engine.claim({.queues = {"packers"}})->empty());
  EXPECT_EQ((*engine.why({"parcel", "a"}))->kind, Why::Kind::paused);
  ASSERT_EQ(engine.pauses().size(), 1U);
  EXPECT_TRUE(*engine.unpause(queue));
  EXPECT_FALSE(*engine.unpause(queue));
  EXPECT_EQ(engine.claim({.queues = {"packers"}})->size(), 1U);
}

TEST_P(EmbeddingTest, WhoeverWaitsIsToldWhenTheRecordIsFinal) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"parcel.yaml", kParcel}}).is_good());
  ok(engine.create({"parcel", "a"}));
  std::promise<std::string> state;
  engine.wait({"parcel", "a"}, std::nullopt, hours{1},
              [&](const auto& record) { state.set_value((*record)->state); });
  ok(engine.done((*engine.claim({.queues = {"packers"}}))[0]));
  EXPECT_EQ(state.get_future().get(), "packed");
}

TEST_P(EmbeddingTest, OpenedAgainItGoesOn) {
  if (GetParam() == StoreKind::memory) GTEST_SKIP() << "gone with the engine";
  open();
  ASSERT_TRUE(apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}).is_good());
  ok(engine_->create({"order", "17"}, R"({"amount":1})"));
  Engine& engine = open({.virtual_clock = kStart + hours{24 * 8}});
  ASSERT_TRUE(engine.run_until(kStart + hours{24 * 8}));
  EXPECT_EQ(state_of({"order", "17"}), "expired");
  const auto second = Engine::open({.directory = directory_.path() / "store"});
  EXPECT_FALSE(second);
}

// --- applying ----------------------------------------------------------------------------------

TEST_P(EmbeddingTest, FilesThatNameEachOtherAreAppliedTogetherOrNotAtAll) {
  Engine& engine = open();
  const Applied alone = apply({{"order.yaml", kOrder}});
  EXPECT_FALSE(alone.is_good());
  EXPECT_EQ(ids_of(alone.machines[0]), std::vector<std::string>{"unknown_machine"});
  EXPECT_TRUE(engine.machines()->empty());
  const Applied both = apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}});
  EXPECT_TRUE(both.is_good());
  EXPECT_EQ(both.machines[0].version, 1);
  EXPECT_TRUE(both.machines[0].is_new);
  EXPECT_EQ(engine.machines()->size(), 2U);
  const Applied again = apply({{"order.yaml", kOrder}});
  EXPECT_FALSE(again.machines[0].is_new);
  EXPECT_EQ(again.machines[0].version, 1);
  EXPECT_EQ(*engine.machine_text("order", 1), kOrder);
  EXPECT_EQ(engine.machine("order")->version(), 1);
  EXPECT_EQ(engine.machine("none"), nullptr);
}

TEST_P(EmbeddingTest, AChannelHasToBeConfigured) {
  open({.channels = {{"offices", log_channel([](const std::string&) {})}}});
  const Applied applied = apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}});
  EXPECT_EQ(ids_of(applied.machines[0]), std::vector<std::string>{"unknown_channel"});
  EXPECT_TRUE(
      apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}}, {.channels_elsewhere = true})
          .is_good());
}

// A mistyped name would leave the task waiting in silence.
TEST_P(EmbeddingTest, AFunctionThatIsNotHereIsAWarning) {
  const auto said = [&] {
    const Applied applied = apply({{"order.yaml", kOrder}, {"parcel.yaml", kParcel}});
    EXPECT_TRUE(applied.is_good());
    std::string all;
    for (const Diagnostic& finding : applied.machines[0].findings)
      if (finding.id == "unknown_function")
        all += std::to_string(finding.position.line) + ": " + finding.message;
    return all;
  };
  open({.functions = {{"chrge", [](TaskRun&) { return TaskResult{}; }}}});
  EXPECT_EQ(
      said(),
      "11: this process has no function `charge`; did you mean chrge?; the task waits for a process "
      "that has it");
  open();
  EXPECT_EQ(said(), "");
}

std::string with_version(std::string text, const std::string& lines) {
  return text.insert(text.find("initial:"), lines + "\n");
}

TEST_P(EmbeddingTest, AVersionNeverChanges) {
  open();
  ASSERT_TRUE(apply({{"parcel.yaml", kParcel}}).is_good());
  std::string other = kParcel;
  other.replace(other.find("10m"), 3, "20m");
  EXPECT_EQ(ids_of(apply({{"p", with_version(other, "version: 1")}}).machines[0]),
            std::vector<std::string>{"version_taken"});
  EXPECT_EQ(apply({{"p", other}}).machines[0].version, 2);
  EXPECT_EQ(apply({{"p", with_version(kParcel, "version: 7")}}).machines[0].version, 7);
  EXPECT_EQ(ids_of(apply({{"p", with_version(other, "version: 5")}}).machines[0]),
            std::vector<std::string>{"version_behind"});
  EXPECT_EQ(ids_of(apply({{"p", with_version(kParcel, "version: 1")}}).machines[0]),
            std::vector<std::string>{"version_behind"});
  EXPECT_EQ(ids_of(apply({{"a", kParcel}, {"b", kParcel}}).machines[1]),
            std::vector<std::string>{"machine_twice"});
}

TEST_P(EmbeddingTest, ADryRunSaysWhatBecomesOfLiveRecords) {
  Engine& engine = open();
  ASSERT_TRUE(apply({{"parcel.yaml", kParcel}}).is_good());
  for (const char* key : {"a", "b", "c"}) ok(engine.create({"parcel", key}));
  ok(engine.done((*engine.claim({.queues = {"packers"}}))[0]));
  std::string renamed = kParcel;
  for (std::size_t at = 0; (at = renamed.find("packing", at)) != std::string::npos; at += 8)
    renamed.replace(at, 7, "wrapping");
  const auto touched_by = [&](const std::string& text) {
    const Applied applied = apply({{"p", text}}, {.dry_run = true});
    std::string all;
    for (const Touched& touched : applied.machines[0].touched)
      all += std::to_string(touched.records) + " " + touched.state + " " +
             std::string(to_text(touched.fate)) + " " + touched.to + ";";
    return all + (applied.is_good() ? "" : " refused");
  };
  std::string longer = kParcel;
  longer.replace(longer.find("10m"), 3, "20m");
  EXPECT_EQ(touched_by(longer), "2 packing follows packing;");
  EXPECT_EQ(touched_by(renamed), "2 packing stays ;");
  EXPECT_EQ(touched_by(with_version(longer, "pin: true")), "2 packing pinned ;");
  EXPECT_EQ(touched_by(with_version(renamed, "migrate: {1: {states: {packing: wrapping}}}")),
            "2 packing moves wrapping;");
  EXPECT_EQ(touched_by(with_version(renamed, "migrate: {1: {states: {packed: packed}}}")),
            "2 packing stranded ; refused");
  EXPECT_EQ(engine.machines()->size(), 1U);
  // And really: they follow at their next stimulus.
  ASSERT_TRUE(apply({{"p", with_version(renamed, "migrate: {1: {states: {packing: wrapping}}}")}})
                  .is_good());
  ok(engine.done((*engine.claim({.queues = {"packers"}}))[0]));
  EXPECT_EQ(state_of({"parcel", "b"}), "packed");
  EXPECT_EQ((*engine.show({"parcel", "b"}))->version, 2);
}

}  // namespace
}  // namespace pawl
