#include "engine/runner.h"

#include <algorithm>
#include <utility>

#include "engine/queue_name.h"

namespace pawl {
namespace {

// After an error of the disk that may pass.
constexpr Duration kStoreAgainAfter = std::chrono::seconds{1};

Instant clock_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

// A completion for another thread to call, and what it was called with. The promise is shared: the
// one who waits may be gone before the other has returned from keeping it.
template <class T>
struct Awaited {
  std::shared_ptr<std::promise<Result<T>>> promise = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> result = promise->get_future();

  auto completion() {
    return [kept = promise](Result<T> given) { kept->set_value(std::move(given)); };
  }
};

}  // namespace

Result<std::unique_ptr<Runner>> Runner::open(Store& store, StepperOptions engine,
                                             RunnerOptions options) {
  std::unique_ptr<Runner> runner(new Runner(store, std::move(options)));
  Runner& self = *runner;
  engine.committed = [&self, committed = std::move(engine.committed)](std::span<const Unit> units) {
    if (committed) committed(units);
    self.see(units);
    if (self.options_.on_committed) self.options_.on_committed();
  };
  engine.has_asked = [&self] {
    const std::lock_guard lock(self.mutex_);
    return !self.acts_.empty();
  };
  PAWL_TRY(self.engine_, Stepper::open(store, std::move(engine)));
  Functions functions = functions_of(self.options_.channels);
  for (auto& [name, function] : self.options_.functions)
    functions[std::string(kFunctionQueue) + name] = std::move(function);
  if (self.options_.http) functions[std::string(kHttpQueue)] = std::move(self.options_.http);
  const int threads = std::clamp(self.options_.task_threads, 1, static_cast<int>(kTaskThreadsMax));
  if (!functions.empty()) self.task_threads_ = threads;
  self.thread_ = std::thread([&self] { self.run(); });
  self.pool_ = std::make_unique<FunctionPool>(
      std::move(functions), threads,
      FunctionCalls{
          .claim =
              [&self](ClaimRequest request, Claims::Answered answered) {
                self.claim_for_task(std::move(request), std::move(answered));
              },
          .submit =
              [&self](Stimulus stimulus, Stepper::Answered answered) {
                self.submit(std::move(stimulus), std::move(answered));
              },
          .now = [&self] { return self.now(); },
          .begins = [&self](std::size_t thread,
                            RecordId record) { self.engine_->ward().enter_task(thread, record); },
          .ends =
              [&self](std::size_t thread, RecordId record) {
                self.engine_->ward().leave_task(thread);
                self.post([record](Stepper& own) { own.ward().clear_task(record); });
              }});
  return runner;
}

Runner::~Runner() {
  pool_.reset();
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// --- for callers -------------------------------------------------------------------------------

// The lock is held until all is done: once the act is answered, whoever hears of it may end the
// runner.
void Runner::post(Act act) {
  const std::lock_guard lock(mutex_);
  const bool was_empty = acts_.empty();
  acts_.push_back(std::move(act));
  if (was_empty) wake_.notify_one();
}

void Runner::submit(Stimulus stimulus, Stepper::Answered answered) {
  post([stimulus = std::move(stimulus), answered = std::move(answered)](Stepper& engine) mutable {
    engine.submit(std::move(stimulus), std::move(answered));
  });
}

void Runner::submit(std::vector<Stimulus> stimuli, std::vector<Stepper::Answered> answered) {
  post([stimuli = std::move(stimuli), answered = std::move(answered)](Stepper& engine) mutable {
    for (std::size_t i = 0; i < stimuli.size(); ++i)
      engine.submit(std::move(stimuli[i]), std::move(answered[i]));
  });
}

void Runner::claim(ClaimRequest request, Claims::Answered answered) {
  post([this, request = std::move(request),
        answered = std::move(answered)](Stepper& engine) mutable {
    if (request.dry_run) return answered(engine.look_at_claim(std::move(request)));
    if (winds_down_) return answered(std::vector<GivenAttempt>{});
    engine.claim(std::move(request), std::move(answered));
  });
}

// A task thread that asks has nothing else to do until it is answered.
void Runner::claim_for_task(ClaimRequest request, Claims::Answered answered) {
  auto counted = [this, answered = std::move(answered)](Result<std::vector<GivenAttempt>> given) {
    --idle_task_threads_;
    answered(std::move(given));
  };
  post([this, request = std::move(request), counted = std::move(counted)](Stepper& engine) mutable {
    ++idle_task_threads_;
    engine.claim(std::move(request), std::move(counted));
  });
}

Result<Answer> Runner::call(Stimulus stimulus) {
  Awaited<Answer> awaited;
  submit(std::move(stimulus), awaited.completion());
  return awaited.result.get();
}

Result<std::vector<GivenAttempt>> Runner::claim(ClaimRequest request) {
  Awaited<std::vector<GivenAttempt>> awaited;
  claim(std::move(request), awaited.completion());
  return awaited.result.get();
}

Result<std::optional<Record>> Runner::wait(const RecordName& name,
                                           std::optional<std::int64_t> revision_above,
                                           Duration at_most) {
  Awaited<std::optional<Record>> awaited;
  wait(name, revision_above, at_most, awaited.completion());
  return awaited.result.get();
}

void Runner::wait(const RecordName& name, std::optional<std::int64_t> revision_above,
                  Duration at_most, Waited waited) {
  const Instant until = now() + std::min(at_most, kDurationMax / 4);
  post([this, wait = Wait{name, revision_above, until, std::move(waited)}](Stepper&) mutable {
    begin_wait(std::move(wait));
  });
}

void Runner::wind_down(std::function<void()> settled) {
  post([this, settled = std::move(settled)](Stepper& engine) mutable {
    winds_down_ = true;
    settled_ = std::move(settled);
    engine.claims().end_waits(now());
    for (Wait& wait : waits_) wait.until = now();
  });
}

Result<Instant> Runner::run_until(Instant until, bool stops_when_idle) {
  Awaited<Instant> awaited;
  post([this, advance = Advance{until, stops_when_idle, awaited.completion()}](Stepper&) mutable {
    advances_.push_back(std::move(advance));
  });
  return awaited.result.get();
}

void Runner::run_until(Instant until, std::function<void(Result<Instant>)> arrived) {
  post([this, advance = Advance{until, false, std::move(arrived)}](Stepper&) mutable {
    advances_.push_back(std::move(advance));
  });
}

// --- the thread that decides -------------------------------------------------------------------

Instant Runner::now() const {
  return options_.virtual_clock != nullptr ? options_.virtual_clock->now() : clock_now();
}

void Runner::run() {
  std::optional<Instant> next = now();
  for (;;) {
    std::deque<Act> acts;
    {
      std::unique_lock lock(mutex_);
      sleep_until(next, lock);
      acts.swap(acts_);
      if (stops_ && acts.empty()) break;
    }
    for (const Act& act : acts) act(*engine_);
    next = step();
  }
  const Error closed{ErrorCode::environment, "the engine is closed"};
  engine_->close();
  for (Wait& wait : waits_) wait.answered(closed);
  for (Advance& advance : advances_) advance.answered(closed);
}

// Until somebody asks, or it is time. A virtual clock does not move by itself.
void Runner::sleep_until(std::optional<Instant> next, std::unique_lock<std::mutex>& lock) {
  const auto is_asked = [&] { return stops_ || !acts_.empty(); };
  if (next && *next <= now()) return;
  if (!next || options_.virtual_clock != nullptr) {
    wake_.wait(lock, is_asked);
  } else {
    wake_.wait_until(lock, std::chrono::system_clock::time_point(*next), is_asked);
  }
}

// When to be called again, if nobody asks before.
std::optional<Instant> Runner::step() {
  const bool was_stopped = engine_->stopped().has_value();
  const auto stepped = engine_->step(!advances_.empty() && now() < advances_.front().until);
  can_commit_ = stepped.has_value();
  end_waits();
  look_for_settled();
  if (!stepped) {
    if (!engine_->stopped()) return now() + kStoreAgainAfter;
    if (!was_stopped && options_.on_stopped) options_.on_stopped(stepped.error());
    for (Wait& wait : std::exchange(waits_, {})) wait.answered(stepped.error());
    for (Advance& advance : std::exchange(advances_, {})) advance.answered(stepped.error());
    return std::nullopt;
  }
  if (stepped->has_more) return now();
  std::optional<Instant> next = stepped->next;
  Instant due = stepped->due.value_or(kInstantMax);
  for (const Wait& wait : waits_) {
    if (!next || wait.until < *next) next = wait.until;
    due = std::min(due, wait.until);
  }
  if (advances_.empty()) return next;
  return advance(next, due > advances_.front().until);
}

// Moves the virtual clock to what happens next, once nothing is left to do where it stands.
// Functions that run, and what was asked meanwhile, come first: they wake this thread. Idle:
// nothing is due any more.
std::optional<Instant> Runner::advance(std::optional<Instant> next, bool is_idle) {
  {
    const std::lock_guard lock(mutex_);
    if (!acts_.empty()) return now();
  }
  if (idle_task_threads_ < task_threads_) return std::nullopt;
  const Advance& first = advances_.front();
  if (next && *next <= first.until && !(is_idle && first.stops_when_idle)) {
    options_.virtual_clock->move_to(std::max(now(), *next));
    return now();
  }
  if (!first.stops_when_idle) options_.virtual_clock->move_to(std::max(now(), first.until));
  std::exchange(advances_.front().answered, {})(now());
  advances_.pop_front();
  return now();
}

// --- those who wait for a record ---------------------------------------------------------------

Result<std::optional<Record>> Runner::find(const RecordName& name) {
  PAWL_TRY(Page<Record> page,
           store_.list({.machine = name.machine, .key_prefix = name.key, .max = 1}, {}));
  if (page.items.empty() || page.items[0].key != name.key) return std::optional<Record>();
  return std::optional(std::move(page.items[0]));
}

bool Runner::is_over(const Wait& wait, const Record& record) {
  if (wait.revision_above && record.revision > *wait.revision_above) return true;
  const auto machine = engine_->machines().of(record);
  if (!machine) return true;
  const auto state = (*machine)->find_state(record.state);
  return state && (*machine)->state(*state).final;
}

void Runner::begin_wait(Wait wait) {
  auto record = find(wait.name);
  if (winds_down_ || !record || !*record || is_over(wait, **record)) {
    wait.answered(std::move(record));
  } else {
    waits_.push_back(std::move(wait));
  }
}

void Runner::see(std::span<const Unit> units) {
  if (waits_.empty()) return;
  for (const Unit& unit : units) {
    const Record& record = unit.record.record;
    for (std::size_t i = 0; i < waits_.size();) {
      Wait& wait = waits_[i];
      const bool is_it = wait.name.key == record.key && wait.name.machine == record.machine;
      if (!is_it || !is_over(wait, record)) {
        ++i;
        continue;
      }
      wait.answered(std::optional(record));
      waits_.erase(waits_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

void Runner::end_waits() {
  const Instant at = now();
  std::erase_if(waits_, [&](Wait& wait) {
    if (wait.until > at) return false;
    wait.answered(find(wait.name));
    return true;
  });
}

void Runner::look_for_settled() {
  if (!settled_ || (engine_->claims().held() > 0 && !engine_->stopped())) return;
  std::exchange(settled_, {})();
}

}  // namespace pawl
