#include "cli/job_load.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <utility>

namespace pawl::cli {
namespace {

constexpr const char* kJobMachine = R"(machine: job
initial: ready
data: {note: string}
tasks: {work: {queue: workers, lease: 30s}}
states:
  ready: {task: work, done: finished, on: {sleep: asleep}}
  asleep: {after: {365d: finished}}
  finished: {final: true}
)";
constexpr std::size_t kKinds = 3;  // of stimuli: create, start, done
constexpr auto kLoadClaimWait = std::chrono::seconds{30};

// A bijection: different numbers have different keys, which are all over the index.
std::string key_of(std::uint64_t number) {
  std::uint64_t x = number * 0x9E3779B97F4A7C15U;
  x = (x ^ x >> 29U) * 0xBF58476D1CE4E5B9U;
  x ^= x >> 32U;
  std::string key(16, '0');
  for (char& digit : key) {
    digit = "0123456789abcdef"[x & 15U];
    x >>= 4U;
  }
  return key;
}

Stimulus creation(std::uint64_t number, std::string event) {
  static const std::string kData = R"({"note":")" + std::string(109, 'x') + "\"}";  // 120 bytes
  return {.what = Stimulus::Create{.data = kData, .event = std::move(event)},
          .machine = "job",
          .key = key_of(number),
          .actor = {.name = "bench"}};
}

double proc_figure(const char* file, const std::string& name) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (double value = 0; word == name && in >> value) return value;
  return 0;
}

double seconds_now() {
  return std::chrono::duration<double>(JobLoad::Clock::now().time_since_epoch()).count();
}

}  // namespace

Result<void> seed_sleeping(SqliteStore& store, const Zones& zones, std::int64_t count,
                           const std::function<void(std::int64_t)>& progress) {
  PAWL_CHECK(store.put_machine({"job", 1, kJobMachine}));
  PAWL_TRY(const auto engine, Stepper::open(store, {.zones = zones}));
  std::optional<Error> failed;
  const auto answered = [&](const Result<Answer>& answer) {
    if (!answer) failed = answer.error();
  };
  for (std::int64_t seeded = 0; seeded < count && !failed;) {
    for (int i = 0; i < 900 && seeded < count; ++i)
      engine->submit(creation(static_cast<std::uint64_t>(++seeded), "sleep"), answered);
    PAWL_CHECK(engine->step());
    if (progress) progress(seeded);
  }
  if (failed) return *std::move(failed);
  return {};
}

Result<std::unique_ptr<JobLoad>> JobLoad::start(SqliteStore& store, const Zones& zones,
                                                std::size_t callers) {
  std::unique_ptr<JobLoad> load(new JobLoad(callers));
  JobLoad& self = *load;
  PAWL_TRY(const RecordId last, store.last_id());
  self.jobs_created_ = last.value;  // keys go on after those of the records that sleep
  StepperOptions engine{.zones = zones, .committed = [&self](std::span<const Unit> units) {
                          ++self.commits_;
                          self.stimuli_ += units.size();
                        }};
  PAWL_TRY(self.runner_, Runner::open(store, std::move(engine), {.task_threads = 1}));
  self.runner_->between_batches([&self](Stepper&) {
    self.begin_some();
    return true;
  });
  return load;
}

// A third of the callers; the others with the next batches. The stimuli of a batch are then of all
// kinds, as they are where callers know nothing of each other.
void JobLoad::begin_some() {
  for (std::size_t i = thirds_begun_++; i < callers_.size(); i += kKinds) create(callers_[i]);
}

void JobLoad::create(Caller& caller) {
  caller.asked_at = Clock::now();
  runner_->submit(creation(++jobs_created_, ""), [this, &caller](const Result<Answer>& answer) {
    if (answered(caller, answer)) claim(caller);
  });
}

void JobLoad::claim(Caller& caller) {
  caller.asked_at = Clock::now();
  runner_->claim({.queues = {"workers"}, .worker = "bench", .wait = kLoadClaimWait},
                 [this, &caller](const Result<std::vector<GivenAttempt>>& given) {
                   const Error none{ErrorCode::environment, "a claim returned no work"};
                   const bool is_empty = given && given->empty();
                   if (answered(caller, is_empty ? &none : given ? nullptr : &given.error()))
                     done(caller, given->front());
                 });
}

void JobLoad::done(Caller& caller, const GivenAttempt& attempt) {
  caller.asked_at = Clock::now();
  runner_->submit({.what = Stimulus::Done{.token_hash = hash_of_token(attempt.token)},
                   .machine = attempt.given.machine,
                   .key = attempt.given.key,
                   .actor = {.name = "bench"}},
                  [this, &caller](const Result<Answer>& answer) {
                    if (!answered(caller, answer)) return;
                    ++jobs_done_;
                    if (!stops_) return create(caller);
                    const std::lock_guard lock(mutex_);
                    ++idle_;
                    changed_.notify_all();
                  });
}

bool JobLoad::answered(const Caller& caller, const Result<Answer>& answer) {
  if (!answer) return answered(caller, &answer.error());
  if (answer->kind == Answer::Kind::ok) return answered(caller, nullptr);
  const Error refused{
      ErrorCode::environment,
      "a call was answered `" + std::string(to_text(answer->kind)) + "`: " + answer->reason};
  return answered(caller, &refused);
}

bool JobLoad::answered(const Caller& caller, const Error* error) {
  if (error == nullptr) {
    const auto waited = Clock::now() - caller.asked_at;
    waits_.push_back(static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(waited).count()));
    if (thirds_begun_ < kKinds && &caller == callers_.data()) begin_some();
    return true;
  }
  const std::lock_guard lock(mutex_);
  if (!failed_) failed_ = *error;
  ++idle_;
  changed_.notify_all();
  return false;
}

LoadFigures JobLoad::figures_now() {
  return {.stimuli = stimuli_,
          .commits = commits_,
          .wall_s = seconds_now(),
          .cpu_s = static_cast<double>(std::clock()) / CLOCKS_PER_SEC,
          .write_bytes = proc_figure("/proc/self/io", "write_bytes:"),
          .rss_mib = proc_figure("/proc/self/status", "VmRSS:") / 1024};
}

Result<LoadFigures> JobLoad::measure(std::chrono::duration<double> time) {
  const LoadFigures begun = runner_->between_batches([this](Stepper&) {
    waits_.clear();
    return figures_now();
  });
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [&] { return failed_.has_value(); });
  }
  LoadFigures figures = runner_->between_batches([&](Stepper&) {
    LoadFigures ended = figures_now();
    ended.stimuli -= begun.stimuli;
    ended.commits -= begun.commits;
    ended.wall_s -= begun.wall_s;
    ended.cpu_s -= begun.cpu_s;
    ended.write_bytes -= begun.write_bytes;
    ended.waits = waits_;
    return ended;
  });
  PAWL_CHECK(failure());
  std::sort(figures.waits.begin(), figures.waits.end());
  return figures;
}

Result<std::uint64_t> JobLoad::finish() {
  runner_->between_batches([this](Stepper&) { return stops_ = true; });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return idle_ == callers_.size() || failed_.has_value(); });
  }
  PAWL_CHECK(failure());
  return jobs_done_;
}

Result<void> JobLoad::failure() {
  const std::lock_guard lock(mutex_);
  if (failed_) return *failed_;
  return {};
}

}  // namespace pawl::cli
