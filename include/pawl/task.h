// Tasks from the other side: what a worker claims and is given, and tasks and channels that are
// written in C++ and run in this process.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/record.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"

namespace pawl {

inline constexpr std::size_t kClaimMax = 1'000;  // attempts

struct ClaimRequest {
  std::vector<std::string> queues;
  std::size_t max = 1;  // at least 1, at most kClaimMax
  std::string worker = {};
  Duration wait = {};  // at most, while nothing is ready
  // What would be given now, without tokens: nothing is started, and nobody waits.
  bool dry_run = false;
};

// An attempt that a worker was given.
struct GivenAttempt {
  Answer given;  // machine, key, task, fence, payload…
  RecordId record = {};
  std::string queue = {};  // that it was claimed from
  std::string token;       // what settles it
};

// What is stored of a token, and what stimuli carry.
TokenHash hash_of_token(std::string_view token);

// --- in this process ---------------------------------------------------------------------------

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
using Functions = std::map<std::string, TaskFunction>;  // by name

// What a channel is given. The id is the same every time it is tried.
struct Delivered {
  std::string id;
  std::string channel;
  std::string payload = {};  // JSON
  int attempt = 1;
  std::function<bool()> may_go_on = {};  // false: its time is over, or the process is ending
};

// Says why it failed, or nothing. May run on several threads at once; an exception is a failure.
using Channel = std::function<std::optional<Failure>(const Delivered&)>;
using Channels = std::map<std::string, Channel>;

// One line of JSON for each delivery. `write` may be called from several threads at once.
Channel log_channel(std::function<void(const std::string& line)> write);

}  // namespace pawl
