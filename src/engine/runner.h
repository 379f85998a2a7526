// Runner: the threads around an engine. One decides and commits, some run tasks written in C++; all
// of them sleep while there is nothing to do.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/channels.h"
#include "engine/functions.h"
#include "engine/stepper.h"
#include "engine/virtual_clock.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"
#include "store/store.h"

namespace pawl {

struct RunnerOptions {
  Functions functions = {};  // by the name in `function:`
  Channels channels = {};
  TaskFunction http = {};                 // that carries `http:` out
  int task_threads = 4;                   // that run them
  VirtualClock* virtual_clock = nullptr;  // that the store goes by as well; null: the machine's
  // The engine has stopped by itself, since the outcome of a commit is unknown. On the thread that
  // decides.
  std::function<void(const Error&)> on_stopped = {};
  std::function<void()> on_committed = {};
};

class Runner {
 public:
  // The store outlives it.
  static Result<std::unique_ptr<Runner>> open(Store& store, StepperOptions engine,
                                              RunnerOptions options);
  // Tells the tasks to stop and waits for them, ends the batch that is under way, and answers what
  // was not decided with an error.
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // All of these from any thread. Completions run on the thread that decides: they must not block.
  void submit(Stimulus stimulus, Stepper::Answered answered);
  void submit(std::vector<Stimulus> stimuli, std::vector<Stepper::Answered> answered);
  void claim(ClaimRequest request, Claims::Answered answered);

  // The same, and wait for the answer; not for use in completions.
  Result<Answer> call(Stimulus stimulus);
  Result<std::vector<GivenAttempt>> claim(ClaimRequest request);

  // The record once it is final, or its revision is above the given one; as it is when the time is
  // over. None when there is no such record.
  Result<std::optional<Record>> wait(const RecordName& name,
                                     std::optional<std::int64_t> revision_above, Duration at_most);
  using Waited = std::function<void(Result<std::optional<Record>>)>;
  void wait(const RecordName& name, std::optional<std::int64_t> revision_above, Duration at_most,
            Waited waited);

  // Claims give nothing more and nobody waits any longer, from the next batch on. Called back once
  // no worker has an attempt of this run, or none can be settled any more; on the thread that
  // decides.
  void wind_down(std::function<void()> settled);

  // Of a virtual clock: lets it run to the instant, from one thing that is due to the next.
  // Functions and channels that are started on the way are waited for. Says where the clock stands:
  // at `until`, or with `stops_when_idle` where something happened last.
  Result<Instant> run_until(Instant until, bool stops_when_idle);

  void run_until(Instant until, std::function<void(Result<Instant>)> arrived);

  // Whether the last batch could be carried out, as it cannot while the disk is full.
  bool can_commit() const { return can_commit_; }

  // Null when there is no such record. From any thread.
  Result<std::optional<Record>> find(const RecordName& name);

  // What needs the engine between two batches.
  template <class Act>
  auto between_batches(Act act) {
    using Given = decltype(act(std::declval<Stepper&>()));
    auto promise = std::make_shared<std::promise<Given>>();  // outlives whoever waits for it
    auto result = promise->get_future();
    post([promise, act = std::move(act)](Stepper& engine) { promise->set_value(act(engine)); });
    return result.get();
  }

 private:
  using Act = std::function<void(Stepper&)>;
  // Somebody who waits for a record. Of the thread that decides.
  struct Wait {
    RecordName name;
    std::optional<std::int64_t> revision_above;
    Instant until;
    Waited answered;
  };
  // Somebody who lets the virtual clock run. Of the thread that decides.
  struct Advance {
    Instant until;
    bool stops_when_idle;
    std::function<void(Result<Instant>)> answered;
  };

  Runner(Store& store, RunnerOptions options) : store_(store), options_(std::move(options)) {}

  void run();
  Instant now() const;
  void sleep_until(std::optional<Instant> next, std::unique_lock<std::mutex>& lock);
  std::optional<Instant> step();
  std::optional<Instant> advance(std::optional<Instant> next, bool is_idle);
  void claim_for_task(ClaimRequest request, Claims::Answered answered);
  void post(Act act);
  bool is_over(const Wait& wait, const Record& record);
  void begin_wait(Wait wait);
  void see(std::span<const Unit> units);
  void end_waits();
  void look_for_settled();

  Store& store_;
  RunnerOptions options_;
  std::unique_ptr<Stepper> engine_;
  std::vector<Wait> waits_;
  std::deque<Advance> advances_;
  bool winds_down_ = false;
  std::atomic<bool> can_commit_ = true;
  std::function<void()> settled_;  // empty: nobody waits for it
  int task_threads_ = 0;           // 0: there are no functions
  int idle_task_threads_ = 0;

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Act> acts_;  // before the next batch
  bool stops_ = false;

  std::thread thread_;
  std::unique_ptr<FunctionPool> pool_;
};

}  // namespace pawl
