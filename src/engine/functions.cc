#include "engine/functions.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/token.h"

namespace pawl {
namespace {

using std::chrono::seconds;

// A worker that is silent for a lease has lost it: it shows itself three times in that time.
constexpr int kBeatsPerLease = 3;
// How soon progress is told where there is no lease.
constexpr Duration kProgressEvery = seconds{1};
// How soon what could not be written is tried again.
constexpr Duration kSettleAgainAfter = seconds{1};

Stimulus about(const GivenAttempt& attempt, decltype(Stimulus::what) what) {
  return {.what = std::move(what),
          .machine = attempt.given.machine,
          .key = attempt.given.key,
          .actor = {.name = "function " + attempt.given.task}};
}

Stimulus failed(const GivenAttempt& attempt, Failure failure) {
  return about(attempt, Stimulus::Fail{hash_of_token(attempt.token), std::move(failure)});
}

}  // namespace

void TaskRun::report(std::string progress) {
  const std::lock_guard lock(mutex_);
  progress_ = std::move(progress);
}

FunctionPool::FunctionPool(Functions functions, int threads, FunctionCalls calls)
    : functions_(std::move(functions)), calls_(std::move(calls)) {
  for (const auto& [queue, function] : functions_) queues_.push_back(queue);
  if (queues_.empty()) return;
  for (int i = 0; i < threads; ++i)
    threads_.emplace_back([this, i] { work(static_cast<std::size_t>(i)); });
  threads_.emplace_back([this] { keep_alive(); });
}

FunctionPool::~FunctionPool() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stops = true;
    for (const auto& run : shared_->runs) run->is_cancelled_ = true;
  }
  shared_->changed.notify_all();
  for (std::thread& thread : threads_) thread.join();
  for (const GivenAttempt& attempt : shared_->given)
    calls_.submit(failed(attempt, {.code = "returned"}), [](const Result<Answer>&) {});
}

// Asks for one attempt. What comes too late is handed back.
void FunctionPool::ask() {
  const auto submit = calls_.submit;
  calls_.claim(
      {.queues = queues_, .worker = std::string(kFunctionWorker), .wait = kDurationMax / 4},
      [shared = shared_, submit](Result<std::vector<GivenAttempt>> given) {
        if (!given) return;  // the engine has stopped
        std::unique_lock lock(shared->mutex);
        const bool is_late = shared->stops;
        for (GivenAttempt& attempt : *given) {
          if (!is_late) {
            shared->given.push_back(std::move(attempt));
          } else {
            submit(failed(attempt, {.code = "returned"}), [](const Result<Answer>&) {});
          }
        }
        lock.unlock();
        shared->changed.notify_all();
      });
}

void FunctionPool::work(std::size_t thread) {
  for (;;) {
    ask();
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait(lock, [&] { return shared_->stops || !shared_->given.empty(); });
    if (shared_->stops) return;
    const std::shared_ptr<TaskRun> run(new TaskRun(std::move(shared_->given.front())));
    shared_->given.pop_front();
    const Answer& given = run->given();
    const Instant now = calls_.now();
    if (given.lease_until) run->beats_every_ = (*given.lease_until - now) / kBeatsPerLease;
    run->next_beat_ = now + (given.lease_until ? run->beats_every_ : kProgressEvery);
    shared_->runs.push_back(run);
    lock.unlock();
    shared_->changed.notify_all();

    calls_.begins(thread, run->attempt_.record);
    TaskResult result = this->run(*run);
    lock.lock();
    std::erase(shared_->runs, run);
    lock.unlock();
    settle(*run, std::move(result));
    calls_.ends(thread, run->attempt_.record);
  }
}

TaskResult FunctionPool::run(TaskRun& run) const {
  try {
    return functions_.at(run.attempt_.queue)(run);
  } catch (const std::exception& thrown) {
    return {.failure = Failure{.code = "crashed", .message = thrown.what()}};
  } catch (...) {
    return {.failure = Failure{.code = "crashed", .message = "an exception of an unknown type"}};
  }
}

// Until it is answered: a disk that is full now may have room later.
void FunctionPool::settle(const TaskRun& run, TaskResult result) {
  const Stimulus stimulus =
      result.failure ? failed(run.attempt_, *std::move(result.failure))
                     : about(run.attempt_, Stimulus::Done{hash_of_token(run.attempt_.token),
                                                          std::move(result.result)});
  struct Told {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<bool> again;
  };
  for (;;) {
    const auto told = std::make_shared<Told>();
    calls_.submit(stimulus, [told](const Result<Answer>& answer) {
      const std::lock_guard lock(told->mutex);
      told->again = !answer && answer.error().code == ErrorCode::environment;
      told->changed.notify_all();
    });
    {
      std::unique_lock lock(told->mutex);
      told->changed.wait(lock, [&] { return told->again.has_value(); });
      if (!*told->again) return;
    }
    std::unique_lock lock(shared_->mutex);
    if (shared_->changed.wait_for(lock, kSettleAgainAfter, [&] { return shared_->stops; })) return;
  }
}

// --- beats -------------------------------------------------------------------------------------

// Shows that the functions are alive, tells their progress, and stops those whose time is over.
void FunctionPool::keep_alive() {
  std::unique_lock lock(shared_->mutex);
  while (!shared_->stops) {
    const Instant now = calls_.now();
    Instant next = kInstantMax;
    std::vector<std::pair<std::shared_ptr<TaskRun>, std::string>> due;
    for (const auto& run : shared_->runs) {
      const auto deadline = run->given().deadline_at;
      if (deadline && now > *deadline) run->is_cancelled_ = true;
      if (run->is_cancelled_) continue;
      if (run->next_beat_ <= now) {
        const bool has_lease = run->beats_every_ > Duration{0};
        run->next_beat_ = now + (has_lease ? run->beats_every_ : kProgressEvery);
        const std::lock_guard of_run(run->mutex_);
        if (has_lease || run->progress_)
          due.emplace_back(run, std::exchange(run->progress_, {}).value_or(""));
      }
      next = std::min(next, run->next_beat_);
      if (deadline) next = std::min(next, *deadline + Duration{1});
    }
    if (!due.empty()) {
      lock.unlock();
      for (auto& [run, progress] : due) beat(run, std::move(progress));
      lock.lock();
      continue;
    }
    if (next == kInstantMax) {
      shared_->changed.wait(lock);
    } else {
      shared_->changed.wait_for(lock, next - now);
    }
  }
}

void FunctionPool::beat(const std::shared_ptr<TaskRun>& run, std::string progress) {
  calls_.submit(
      about(run->attempt_, Stimulus::Beat{hash_of_token(run->attempt_.token), std::move(progress)}),
      [run](const Result<Answer>& answer) {
        if (answer && answer->cancel) run->is_cancelled_ = true;
      });
}

}  // namespace pawl
