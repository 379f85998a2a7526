// The runner with real threads, a real clock and a real file.
#include "engine/runner.h"

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/driven_engine.h"
#include "tests/support/forwarding_store.h"
#include "tests/support/full_disk.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kSum = R"(machine: sum
initial: adding
data: {a: int, b: int}
tasks:
  add: {function: add, timeout: 2m, lease: 3s, retry: [0]}
states:
  adding: {task: add, done: {to: added, set: {a: "{result.sum}"}}, on: {stop: stopped}}
  added: {final: true}
  stopped: {final: true}
)";

constexpr const char* kRunnerJob = R"(machine: job
initial: working
tasks: {work: {queue: jobs}}
states: {working: {task: work, done: finished}, finished: {final: true}}
)";

constexpr const char* kNote = R"(machine: note
initial: written
states:
  written:
    effects: [{notify: journal, with: {text: hello}}, {notify: pager, with: {n: 1}}]
    after: {1d: over}
  over: {final: true}
)";

// Whether it was told to stop: the flag is all that a function has. No machine is so slow that the
// bound matters.
bool is_told_to_stop(const TaskRun& run) {
  const auto end = std::chrono::steady_clock::now() + minutes{1};
  while (!run.is_cancelled() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return run.is_cancelled();
}

class RunnerTest : public testing::Test {
 protected:
  Runner& open(RunnerOptions options = {}) {
    runner_.reset();
    store_.reset();
    store_ = *open_sqlite_store({.directory = directory_.path() / "store"});
    for (const auto& [name, text] :
         {std::pair{"sum", kSum}, std::pair{"job", kRunnerJob}, std::pair{"note", kNote}})
      EXPECT_TRUE(*store_->put_machine({name, 1, text}));
    runner_ = *Runner::open(*store_, {.zones = all_zones()}, std::move(options));
    return *runner_;
  }

  // Asked, and it was accepted.
  static void must(Runner& runner, Stimulus stimulus) {
    const auto answer = runner.call(std::move(stimulus));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->kind, Answer::Kind::ok) << answer->reason;
  }

  static Stimulus create(const std::string& machine, const std::string& key,
                         std::string data = "{}") {
    return {.what = Stimulus::Create{.data = std::move(data)},
            .machine = machine,
            .key = key,
            .actor = {.name = "app"}};
  }

  TemporaryDirectory directory_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Runner> runner_;
};

TEST_F(RunnerTest, ATaskWrittenInCppRunsByItself) {
  Runner& runner = open({.functions = {{"add", [](TaskRun& run) {
                                          EXPECT_EQ(run.given().payload, R"({"a":1,"b":2})");
                                          return TaskResult{.result = R"({"sum":3})"};
                                        }}}});
  EXPECT_EQ(runner.call(create("sum", "s1", R"({"a":1,"b":2})"))->kind, Answer::Kind::ok);
  const auto record = runner.wait({"sum", "s1"}, {}, seconds{20});
  ASSERT_TRUE(record);
  ASSERT_TRUE(*record);
  EXPECT_EQ((*record)->state, "added");
  EXPECT_EQ((*record)->data, R"({"a":3,"b":2})");
}

TEST_F(RunnerTest, AnExceptionIsAFailureAndIsTriedAgain) {
  std::atomic<int> calls = 0;
  Runner& runner = open({.functions = {{"add", [&](TaskRun&) -> TaskResult {
                                          if (++calls == 1) throw std::runtime_error("no sum");
                                          return {.result = R"({"sum":3})"};
                                        }}}});
  must(runner, create("sum", "s1"));
  const auto record = runner.wait({"sum", "s1"}, {}, seconds{20});
  EXPECT_EQ((**record).state, "added");
  const auto log = store_->log((**record).id, {}, 10);
  EXPECT_EQ(log->items[1].error->code, "crashed");
  EXPECT_EQ(log->items[1].error->message, "no sum");
}

// Tells of the first lease that is prolonged.
class Prolonging final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  Result<std::vector<bool>> extend(std::span<const Beat> beats) override {
    auto extended = inner().extend(beats);
    if (extended && !is_told_.exchange(true)) prolonged.set_value({beats[0], (*extended)[0]});
    return extended;
  }
  std::promise<std::pair<Beat, bool>> prolonged;

 private:
  std::atomic<bool> is_told_ = false;
};

TEST_F(RunnerTest, AFunctionKeepsItsLeaseAndTellsItsProgress) {
  open();
  runner_.reset();
  Prolonging store(*store_);
  auto prolonged = store.prolonged.get_future();
  const auto add = [&](TaskRun& run) -> TaskResult {
    run.report(R"({"half":true})");
    if (prolonged.wait_for(minutes{1}) != std::future_status::ready)
      return {.failure = Failure{.code = "no_beat"}};
    const auto [beat, is_kept] = prolonged.get();
    EXPECT_TRUE(is_kept);
    EXPECT_GT(beat.lease_until, run.given().lease_until);
    EXPECT_EQ(beat.progress, R"({"half":true})");
    EXPECT_FALSE(run.is_cancelled());
    return {};
  };
  const auto runner = *Runner::open(store, {.zones = all_zones()}, {.functions = {{"add", add}}});
  must(*runner, create("sum", "s1"));
  const auto record = runner->wait({"sum", "s1"}, {}, minutes{2});
  EXPECT_EQ((**record).state, "added");
  EXPECT_EQ((**record).failures, 0);
}

TEST_F(RunnerTest, AFunctionLearnsThatItsAttemptWasRevoked) {
  std::promise<void> begun;
  std::promise<bool> was_told;
  Runner& runner = open({.functions = {{"add", [&](TaskRun& run) {
                                          begun.set_value();
                                          was_told.set_value(is_told_to_stop(run));
                                          return TaskResult{};
                                        }}}});
  must(runner, create("sum", "s1"));
  begun.get_future().get();
  must(runner, {.what = Stimulus::Fire{.event = "stop"},
                .machine = "sum",
                .key = "s1",
                .actor = {.name = "app"}});
  EXPECT_TRUE(was_told.get_future().get());  // by a beat: nothing else ends it
}

TEST_F(RunnerTest, ATaskThatHandsItsAttemptBackRunsAgainAfterTheRestart) {
  std::promise<void> begun;
  Runner& runner = open({.functions = {{"add", [&](TaskRun& run) {
                                          begun.set_value();
                                          EXPECT_TRUE(is_told_to_stop(run));
                                          return TaskResult{.failure = Failure{.code = "returned"}};
                                        }}}});
  must(runner, create("sum", "s1"));
  begun.get_future().get();
  Runner& again =
      open({.functions = {{"add", [](TaskRun&) { return TaskResult{.result = R"({"sum":1})"}; }}}});
  const auto record = again.wait({"sum", "s1"}, {}, seconds{20});
  EXPECT_EQ((**record).state, "added");
  EXPECT_EQ((**record).failures, 0);
}

TEST_F(RunnerTest, DeliveriesReachTheirChannels) {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<int> tries = 0;
  std::promise<Delivered> given;
  Runner& runner = open({.channels = {{"journal", log_channel([&](const std::string& line) {
                                         const std::lock_guard lock(mutex);
                                         lines.push_back(line);
                                       })},
                                      {"pager", [&](const Delivered& delivered) {
                                         ++tries;
                                         given.set_value(delivered);
                                         return std::optional<Failure>();
                                       }}}});
  must(runner, create("note", "n1"));
  const Delivered delivered = given.get_future().get();
  EXPECT_EQ(delivered.channel, "pager");
  EXPECT_EQ(delivered.payload, R"({"n":1})");
  for (const std::string& id : {std::string("1/1/0"), delivered.id})
    EXPECT_EQ((**runner.wait({"delivery", id}, {}, seconds{20})).state, "sent");
  EXPECT_EQ(lines, std::vector<std::string>{
                       R"({"id":"1/1/0","channel":"journal","payload":{"text":"hello"}})"});
  EXPECT_EQ(tries, 1);
}

TEST_F(RunnerTest, ItSaysWhetherItCanCommit) {
  open();
  runner_.reset();
  FullDisk disk(*store_);
  const auto runner = *Runner::open(disk, {.zones = all_zones()}, {});
  must(*runner, create("job", "j1"));
  EXPECT_TRUE(runner->can_commit());
  disk.is_full = true;
  EXPECT_FALSE(runner->call(create("job", "j2")));
  while (runner->can_commit()) std::this_thread::yield();  // who asked is told first
  disk.is_full = false;
  must(*runner, create("job", "j2"));
  while (!runner->can_commit()) std::this_thread::yield();
}

TEST_F(RunnerTest, AWaitEndsWithTheRevisionOrTheTime) {
  Runner& runner = open();
  must(runner, create("job", "j1"));
  EXPECT_FALSE(*runner.wait({"job", "none"}, {}, seconds{20}));
  const auto as_it_is = runner.wait({"job", "j1"}, {}, milliseconds{10});
  EXPECT_EQ((**as_it_is).state, "working");
  EXPECT_EQ((**runner.wait({"job", "j1"}, 0, seconds{20})).revision, 1);
  std::thread worker([&] {
    const auto attempts = runner.claim({.queues = {"jobs"}, .wait = seconds{20}});
    must(runner, {.what = Stimulus::Done{hash_of_token((*attempts)[0].token)},
                  .machine = "job",
                  .key = "j1",
                  .actor = {.name = "worker"}});
  });
  EXPECT_EQ((**runner.wait({"job", "j1"}, 1, seconds{20})).state, "finished");
  worker.join();
}

TEST_F(RunnerTest, WhoStillWaitsWhenItClosesIsTold) {
  Runner& runner = open();
  std::promise<Result<std::vector<GivenAttempt>>> given;
  runner.claim({.queues = {"jobs"}, .wait = minutes{10}},
               [&](auto attempts) { given.set_value(std::move(attempts)); });
  runner_.reset();
  const auto answer = given.get_future().get();
  ASSERT_FALSE(answer);
  EXPECT_NE(answer.error().message.find("closed"), std::string::npos);
}

}  // namespace
}  // namespace pawl
