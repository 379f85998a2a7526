// The runner under load of many threads, opened and closed meanwhile: what it was built for, and
// what ThreadSanitizer looks at. LOAD_SECONDS says for how long.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/runner.h"
#include "gtest/gtest.h"
#include "store/sqlite/sqlite_store.h"
#include "store/verify.h"
#include "tests/support/driven_engine.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr int kCallers = 16;
constexpr int kTaskThreads = 8;

const std::vector<StoredMachine> kMachines{{"sum", 1, R"(machine: sum
initial: adding
data: {n: int}
tasks:
  add: {function: add, timeout: 20s, lease: 300ms, retry: 10ms, result: {n: int}}
states:
  adding: {task: add, done: {to: added, set: {n: "{result.n}"}}}
  added: {final: true, effects: [{notify: journal}]}
)"},
                                           {"job", 1, R"(machine: job
initial: working
tasks: {work: {queue: jobs, timeout: 5s, retry: 10ms, concurrency: 5}}
states: {working: {task: work, done: finished}, finished: {final: true}}
)"},
                                           {"limited", 1, R"(machine: limited
initial: running
tasks: {run: {function: run, timeout: 20s, retry: 10ms, concurrency: 2, rate: {max: 20, every: 100ms}}}
states: {running: {task: run, done: over}, over: {final: true}}
)"},
                                           {"tally", 1, R"(machine: tally
initial: counting
data: {count: {type: int, default: 0}}
states: {counting: {on: {add: {set: {count: "{data.count + 1}"}}}}}
)"}};

// Whoever uses the runner passes through; it is only closed while nobody does.
class Gate {
 public:
  void enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_shut_; });
    ++inside_;
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
  }
  void shut() {
    std::unique_lock lock(mutex_);
    is_shut_ = true;
    changed_.wait(lock, [&] { return inside_ == 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_shut_ = false;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_shut_ = false;
  int inside_ = 0;
};

class RunnerLoad : public testing::Test {
 protected:
  void open() {
    store_ = *open_sqlite_store({.directory = directory_.path() / "store"});
    ASSERT_TRUE(*store_->put_machines(kMachines));
    StepperOptions engine{.zones = all_zones()};
    engine.ward = directory_.path() / "ward";
    runner_ = *Runner::open(
        *store_, std::move(engine),
        {.functions = {{"add",
                        [](TaskRun& run) {
                          run.report("{}");
                          return TaskResult{.result = R"({"n":1})"};
                        }},
                       {"run",
                        [this](TaskRun& run) -> TaskResult {
                          ++runs_;
                          if (run.is_cancelled()) return {.failure = Failure{.code = "returned"}};
                          return {};
                        }}},
         .channels = {{"journal", log_channel([this](const std::string&) { ++lines_; })}},
         .task_threads = kTaskThreads});
  }
  void close() {
    runner_.reset();
    store_.reset();
  }

  static Stimulus about(const std::string& machine, const std::string& key,
                        decltype(Stimulus::what) what) {
    return {.what = std::move(what), .machine = machine, .key = key, .actor = {.name = "app"}};
  }

  // Asked in the open, answered whenever; an error only says that the runner was closed.
  Result<Answer> ask(Stimulus stimulus) {
    auto promise = std::make_shared<std::promise<Result<Answer>>>();
    auto answer = promise->get_future();
    through([&] {
      runner_->submit(std::move(stimulus),
                      [promise](Result<Answer> given) { promise->set_value(std::move(given)); });
    });
    return answer.get();
  }

  Result<std::vector<GivenAttempt>> claim(milliseconds wait) {
    using Given = Result<std::vector<GivenAttempt>>;
    auto promise = std::make_shared<std::promise<Given>>();
    auto answer = promise->get_future();
    through([&] {
      runner_->claim({.queues = {"jobs"}, .max = 3, .worker = "w", .wait = wait},
                     [promise](Given given) { promise->set_value(std::move(given)); });
    });
    return answer.get();
  }

  template <class Act>
  void through(Act act) {
    gate_.enter();
    act();
    gate_.leave();
  }

  void work(milliseconds wait) {
    const auto attempts = claim(wait);
    if (!attempts) return;
    for (const GivenAttempt& attempt : *attempts) {
      const TokenHash token = hash_of_token(attempt.token);
      (void)ask(about("job", attempt.given.key, Stimulus::Beat{token, "{}"}));
      if (ask(about("job", attempt.given.key, Stimulus::Done{token}))) ++worked_;
    }
  }

  void call_once(const std::string& key, std::mt19937_64& random) {
    const PauseTarget target{PauseTarget::Kind::queue, "jobs"};
    switch (random() % 10) {
      case 0: {
        if (!ask(about("sum", key, Stimulus::Create{}))) return;
        through([&] { EXPECT_TRUE(runner_->wait({"sum", key}, {}, milliseconds{20})); });
        return;
      }
      case 1:
        (void)ask(about("limited", key, Stimulus::Create{}));
        return;
      case 2:
        (void)ask(about("job", key, Stimulus::Create{}));
        return;
      case 3:
      case 4:
        return work(milliseconds{20});
      case 5:
      case 6: {
        Stimulus fire = about("tally", "one", Stimulus::Fire{.event = "add"});
        fire.idempotency_key = key;
        const auto answer = ask(fire);
        if (answer && answer->kind == Answer::Kind::ok) ++added_;
        return;
      }
      case 7:
        return through([&] {
          const auto page = store_->list({.machine = "job", .max = 5}, {});
          ASSERT_TRUE(page);
          for (const Record& record : page->items)
            EXPECT_TRUE(
                runner_->between_batches([&](Stepper& engine) { return engine.why(record); }));
        });
      case 8:
        return through([&] {
          EXPECT_TRUE(store_->counts());
          EXPECT_TRUE(store_->feed({}, 20));
          EXPECT_TRUE(store_->log({1}, {}, 20));
        });
      default:
        return through([&] {
          EXPECT_TRUE(runner_->between_batches([&](Stepper& engine) {
            return engine.pause({.target = target, .reason = "a test", .actor = "app"});
          }));
          EXPECT_TRUE(runner_->between_batches(
              [&](Stepper& engine) { return engine.unpause(target, {}); }));
        });
    }
  }

  // Everything that was created comes to its end.
  void settle() {
    for (const char* machine : {"sum", "limited"})
      for (Cursor from;;) {
        const auto page = store_->list({.machine = machine, .max = kPageMax}, from);
        ASSERT_TRUE(page);
        for (const Record& record : page->items) {
          const auto over = runner_->wait({machine, record.key}, {}, minutes{2});
          ASSERT_TRUE(over && *over);
          EXPECT_EQ((**over).state, std::string(machine) == "sum" ? "added" : "over");
        }
        if (page->next.empty()) break;
        from = page->next;
      }
  }

  TemporaryDirectory directory_{place_in_memory()};
  Gate gate_;
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Runner> runner_;
  std::atomic<int> added_ = 0;
  std::atomic<int> worked_ = 0;
  std::atomic<int> runs_ = 0;
  std::atomic<int> lines_ = 0;
};

TEST_F(RunnerLoad, CallersTasksPausesAndRestartsTogether) {
  open();
  ASSERT_TRUE(runner_->call(about("tally", "one", Stimulus::Create{})));
  const char* given = std::getenv("LOAD_SECONDS");
  const auto until =
      std::chrono::steady_clock::now() + seconds{given != nullptr ? std::atoi(given) : 3};
  std::vector<std::thread> callers;
  std::atomic<int> at_work = kCallers;
  std::promise<void> all_done;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&, caller] {
      std::mt19937_64 random(static_cast<std::uint64_t>(caller));
      for (int i = 0; std::chrono::steady_clock::now() < until; ++i)
        call_once(std::to_string(caller) + "-" + std::to_string(i), random);
      if (--at_work == 0) all_done.set_value();
    });
  const auto done = all_done.get_future();
  int restarts = 0;
  while (done.wait_for(milliseconds{250}) == std::future_status::timeout) {
    gate_.shut();
    close();
    open();
    ++restarts;
    gate_.open();
  }
  for (std::thread& caller : callers) caller.join();

  settle();
  const auto tally = runner_->wait({"tally", "one"}, 0, seconds{20});
  EXPECT_EQ((**tally).data, R"({"count":)" + std::to_string(added_) + "}");
  runner_.reset();
  EXPECT_TRUE(verify(*store_)->violations.empty());
  EXPECT_GT(restarts, 0);
  for (const int count : {added_.load(), worked_.load(), runs_.load(), lines_.load()})
    EXPECT_GT(count, 0);
  std::printf("%d restarts, %d events, %d jobs, %d runs, %d deliveries\n", restarts, added_.load(),
              worked_.load(), runs_.load(), lines_.load());
}

}  // namespace
}  // namespace pawl
