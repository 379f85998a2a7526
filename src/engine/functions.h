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
#include "pawl/task.h"
#include "pawl/time.h"

namespace pawl {

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
