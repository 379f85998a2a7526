// What the engine promises to whoever waits: every answer of `why`, one commit from an event to the
// worker that waits for it, and a channel that is down for an hour.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <map>
#include <set>
#include <string>

#include "engine/runner.h"
#include "pawl/engine.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/driven_engine.h"
#include "tests/support/forwarding_store.h"

namespace pawl {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

const Instant kStart = *parse_instant("2026-03-02T09:00:00Z");

void ok(const Result<Answer>& answer) {
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->kind, Answer::Kind::ok) << answer->reason;
}

// --- why ---------------------------------------------------------------------------------------

constexpr const char* kEverything = R"(machine: job
initial: new
schedule: {cron: "0 6 * * *"}
states:
  new:
    on: {work: working, single: limited, plan: planning, nap: napping, ask: asking, split: splitting, end: over}
  working: {task: work, done: over}
  limited: {task: single, done: over}
  planning: {planned: over}
  napping: {after: {1h: over}}
  asking: {on: {answer: over}}
  splitting: {effects: [{create: part, key: "{record.key}"}], when: [{if: children.part.open == 0, to: over}]}
  over: {final: true}
tasks:
  work: {queue: jobs, retry: [1h]}
  single: {queue: singles, concurrency: 1}
)";

constexpr const char* kPart = R"(machine: part
initial: begun
states: {begun: {on: {close: closed}}, closed: {final: true}}
)";

TEST(WhyOfTheEngine, GivesEveryMemberOfItsClosedList) {
  const auto engine = *Engine::open({.virtual_clock = kStart});
  const std::vector<MachineText> files{{"job", kEverything}, {"part", kPart}};
  ASSERT_TRUE(engine->apply(files)->is_good());
  const auto create = [&](const std::string& key, const std::string& event) {
    ok(engine->create({"job", key}));
    if (!event.empty()) ok(engine->fire({"job", key}, event));
  };
  std::map<std::string, Why::Kind> expected{{"ready", Why::Kind::ready_since},
                                            {"running", Why::Kind::running_until},
                                            {"failed", Why::Kind::backing_off_until},
                                            {"planned", Why::Kind::planned_at},
                                            {"napping", Why::Kind::timer_at},
                                            {"asking", Why::Kind::waiting_for_events},
                                            {"split", Why::Kind::waiting_for_children},
                                            {"held", Why::Kind::on_hold},
                                            {"second", Why::Kind::slot},
                                            {"paused", Why::Kind::paused},
                                            {"over", Why::Kind::final}};
  create("running", "work");
  ASSERT_EQ(engine->claim({.queues = {"jobs"}})->size(), 1U);
  create("failed", "work");
  ok(engine->fail((*engine->claim({.queues = {"jobs"}}))[0], {.code = "boom"}));
  create("ready", "work");
  create("planned", "plan");
  create("napping", "nap");
  create("asking", "ask");
  create("split", "split");
  create("over", "end");
  create("held", "");
  ok(engine->order({"job", "held"},
                   {.verb = Stimulus::Order::Verb::hold, .reason = "r", .text = "look"},
                   {.actor = {"eve", {"operator"}}}));
  create("first", "single");
  create("second", "single");
  ASSERT_EQ(engine->claim({.queues = {"singles"}, .max = 2})->size(), 1U);
  create("paused", "work");
  std::set<Why::Kind> met;
  const auto look = [&](const std::string& key) {
    const auto why = engine->why({"job", key});
    ASSERT_TRUE(why && *why) << key;
    EXPECT_EQ(to_text((*why)->kind), to_text(expected.at(key))) << key;
    EXPECT_FALSE((*why)->sentence.empty());
    met.insert((*why)->kind);
  };
  for (const auto& [key, kind] : expected)
    if (key != "paused") look(key);
  ASSERT_TRUE(engine->pause({{PauseTarget::Kind::machine, "job"}, "stocktaking", "eve", kStart}));
  look("paused");
  EXPECT_EQ(met.size(), static_cast<std::size_t>(Why::Kind::final) + 1);
}

// --- one commit --------------------------------------------------------------------------------

// Counts commits; told from the thread that decides.
class CommitCounter final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  Result<std::unique_ptr<Batch>> begin() override {
    PAWL_TRY(auto batch, inner().begin());
    return std::unique_ptr<Batch>(std::make_unique<Counted>(std::move(batch), commits));
  }

  std::atomic<int> commits = 0;

 private:
  class Counted final : public ForwardingBatch {
   public:
    Counted(std::unique_ptr<Batch> inner, std::atomic<int>& commits)
        : ForwardingBatch(std::move(inner)), commits_(commits) {}
    Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) override {
      ++commits_;
      return inner()->commit(units);
    }

   private:
    std::atomic<int>& commits_;
  };
};

TEST(WaitingClaim, IsAnsweredAfterExactlyOneCommitFromTheFire) {
  const TemporaryDirectory directory(place_in_memory());
  const auto sqlite = *open_sqlite_store({.directory = directory.path() / "store"});
  CommitCounter store(*sqlite);
  ASSERT_TRUE(*store.put_machine({"job", 1, kEverything}));
  const auto runner = *Runner::open(store, {.zones = all_zones()}, {});
  const auto call = [&](decltype(Stimulus::what) what) {
    ok(runner->call({.what = std::move(what), .machine = "job", .key = "j", .actor = {"app"}}));
  };
  call(Stimulus::Create{});
  std::promise<int> given;
  runner->claim({.queues = {"jobs"}, .wait = minutes{1}}, [&](const auto& attempts) {
    EXPECT_EQ(attempts->size(), 1U);
    given.set_value(store.commits);
  });
  // The claim waits: whoever comes after it is decided after it.
  EXPECT_EQ(runner->between_batches([](Stepper&) { return 0; }), 0);
  const int before = store.commits;
  call(Stimulus::Fire{.event = "work"});
  EXPECT_EQ(given.get_future().get(), before + 1);
}

// --- an outage ---------------------------------------------------------------------------------

constexpr const char* kNote = R"(machine: note
initial: written
states:
  written: {effects: [{notify: down}, {notify: up}], after: {9d: over}}
  over: {final: true}
)";

// Bytes that are allocated; 0 under sanitizers, which have allocators of their own.
std::size_t allocated() { return mallinfo2().uordblks; }

TEST(AChannelThatIsDown, ForAnHourLosesNothingAndCostsNoMemory) {
  constexpr int kNotes = 2'000;
  const TemporaryDirectory directory(place_in_memory());
  std::atomic<bool> is_down = true;
  std::atomic<int> tried = 0;
  std::atomic<int> down = 0;
  std::atomic<int> up = 0;
  EngineOptions options{
      .directory = directory.path() / "store", .task_threads = 1, .virtual_clock = kStart};
  options.channels["down"] = [&](const Delivered&) -> std::optional<Failure> {
    ++tried;
    if (is_down) return Failure{.code = "network"};
    ++down;
    return std::nullopt;
  };
  options.channels["up"] = [&](const Delivered&) -> std::optional<Failure> {
    ++up;
    return std::nullopt;
  };
  const auto engine = *Engine::open(std::move(options));
  ASSERT_TRUE(engine->apply(std::vector<MachineText>{{"note", kNote}})->is_good());
  for (int i = 0; i < kNotes; ++i) ok(engine->create({"note", std::to_string(i)}));
  ASSERT_TRUE(engine->run_until(kStart + minutes{10}));
  EXPECT_EQ(up, kNotes);
  const std::size_t before = allocated();
  ASSERT_TRUE(engine->run_until(kStart + hours{1}));
  EXPECT_LT(allocated(), before + (256U << 10U));  // they wait on the disk
  EXPECT_EQ(down, 0);
  // Eight at once, then single canaries: 5 s, 10 s, … 5 min apart.
  EXPECT_LT(tried, 8 + 30);
  is_down = false;
  ASSERT_TRUE(engine->run_until(kStart + hours{2}));
  EXPECT_EQ(down, kNotes);
}

}  // namespace
}  // namespace pawl
