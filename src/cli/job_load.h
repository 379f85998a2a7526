// JobLoad: callers that keep an engine busy with jobs, and what that costs.
//
// A job is three stimuli: its record is created under a random key, a claim starts it, it is done.
// A caller has one of them under way at a time. Callers are completions of the engine, no threads
// of their own: what they cost is part of what is measured, and is little.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/runner.h"
#include "pawl/result.h"
#include "pawl/zones.h"
#include "store/sqlite/sqlite_store.h"

namespace pawl::cli {

// What a part of a run cost. Times and bytes are those of the whole process.
struct LoadFigures {
  std::uint64_t stimuli = 0;
  std::uint64_t commits = 0;
  double wall_s = 0;
  double cpu_s = 0;
  double write_bytes = 0;
  double rss_mib = 0;                     // at its end
  std::vector<std::uint32_t> waits = {};  // for each answer, in microseconds, sorted
};

// Puts records that sleep for a year, of the machine of the jobs, into a store that is new.
Result<void> seed_sleeping(SqliteStore& store, const Zones& zones, std::int64_t count,
                           const std::function<void(std::int64_t)>& progress);

class JobLoad {
 public:
  using Clock = std::chrono::steady_clock;

  // On a store that has the machine of the jobs. The store outlives it.
  static Result<std::unique_ptr<JobLoad>> start(SqliteStore& store, const Zones& zones,
                                                std::size_t callers);

  // The costs from now until the time is over. Fails when a caller did not get what it asked for.
  Result<LoadFigures> measure(std::chrono::duration<double> time);

  // Ends what is under way, and says how many jobs were done in all.
  Result<std::uint64_t> finish();

 private:
  struct Caller {
    Clock::time_point asked_at = {};
  };

  explicit JobLoad(std::size_t callers) : callers_(callers) {}

  void begin_some();
  void create(Caller& caller);
  void claim(Caller& caller);
  void done(Caller& caller, const GivenAttempt& attempt);
  // The caller has its answer. False: it has to stop.
  bool answered(const Caller& caller, const Error* error);
  bool answered(const Caller& caller, const Result<Answer>& answer);
  LoadFigures figures_now();
  Result<void> failure();

  // Of the thread that decides.
  std::vector<Caller> callers_;
  std::size_t thirds_begun_ = 0;
  std::uint64_t jobs_created_ = 0;
  std::uint64_t jobs_done_ = 0;
  std::uint64_t stimuli_ = 0;
  std::uint64_t commits_ = 0;
  std::vector<std::uint32_t> waits_;
  bool stops_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t idle_ = 0;  // callers that have stopped
  std::optional<Error> failed_;

  std::unique_ptr<Runner> runner_;  // goes first
};

}  // namespace pawl::cli
