// Functions: tasks written in C++, run on threads of this process.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/claims.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"

namespace pawl {

// One attempt at a task, as the function sees it.
class TaskRun {
 public:
  // Machine, key, task, attempt, fence, payload, progress of the attempt before, deadline.
  const Answer& given() const { return attempt_.given; }

  // Whether to stop: the attempt was revoked, its time is over, or the process is ending. What is
  // returned then changes nothing; `returned` as the code of a failure hands the attempt back.
  bool is_cancelled() const { return is_cancelled_; }

  // JSON: kept, shown to people, and given to the next attempt.
  void report(std::string progress);

 private:
  friend class FunctionPool;

  explicit TaskRun(GivenAttempt attempt) : attempt_(std::move(attempt)) {}

  GivenAttempt attempt_;
  std::atomic<bool> is_cancelled_ = false;
  std::mutex mutex_;
  std::optional<std::string> progress_;  // not told yet
  Duration beats_every_ = {};            // zero: only to tell the progress
  Instant next_beat_ = kInstantMax;
};

// The result as JSON, or the failure.
struct TaskResult {
  std::string result = "{}";
  std::optional<Failure> failure = {};
};

// May run on several threads at once. An exception is a failure with code `crashed`.
using TaskFunction = std::function<TaskResult(TaskRun&)>;
using Functions = std::map<std::string, TaskFunction>;  // by the queue they take from

// What the pool asks of those around it; each may be called from any thread.
struct FunctionCalls {
  std::function<void(ClaimRequest, Claims::Answered)> claim;
  std::function<void(Stimulus, std::function<void(Result<Answer>)>)> submit;
  std::function<Instant()> now;
  // A thread is about to run the task of this record; has run it.
  std::function<void(std::size_t thread, RecordId record)> begins;
  std::function<void(std::size_t thread, RecordId record)> ends;
};

class FunctionPool {
 public:
  FunctionPool(Functions functions, int threads, FunctionCalls calls);
  // Tells the functions to stop and waits for them. Attempts that nobody took yet are handed back.
  ~FunctionPool();
  FunctionPool(const FunctionPool&) = delete;
  FunctionPool& operator=(const FunctionPool&) = delete;

 private:
  // What completions reach that come when the pool is gone.
  struct Shared {
    std::mutex mutex;
    std::condition_variable changed;
    bool stops = false;
    std::deque<GivenAttempt> given;
    std::vector<std::shared_ptr<TaskRun>> runs;
  };

  void ask();
  void work(std::size_t thread);
  void keep_alive();
  TaskResult run(TaskRun& run) const;
  void settle(const TaskRun& run, TaskResult result);
  void beat(const std::shared_ptr<TaskRun>& run, std::string progress);

  Functions functions_;
  FunctionCalls calls_;
  std::vector<std::string> queues_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::vector<std::thread> threads_;
};

}  // namespace pawl
