#include "pawl/engine.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "engine/apply.h"
#include "engine/runner.h"
#include "engine/stepper.h"
#include "engine/virtual_clock.h"
#include "engine/wrapped_engine.h"
#include "pawl/decide.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"

namespace pawl {
namespace {

// What only the engine itself may give.
bool is_the_engines_own(const Stimulus& stimulus) {
  return std::holds_alternative<Stimulus::Start>(stimulus.what) ||
         std::holds_alternative<Stimulus::Wake>(stimulus.what) ||
         std::holds_alternative<Stimulus::Sent>(stimulus.what) ||
         std::holds_alternative<Stimulus::ChildChanged>(stimulus.what);
}

// The value of a label is data, which is nothing for a log.
std::string logged(const PauseTarget& target) {
  return target.kind == PauseTarget::Kind::label ? "label:" + target.name : to_text(target);
}

Answer no_callers_stimulus() {
  return {.kind = Answer::Kind::error,
          .reason = "only the engine makes starts, wakes and messages: use claim, fire or create"};
}

Error not_to_be_moved() {
  return {ErrorCode::bad_input, "only a virtual clock can be moved, and only forward"};
}

Stimulus asked(const RecordName& name, decltype(Stimulus::what) what, const CallOptions& options) {
  return {.what = std::move(what),
          .machine = name.machine,
          .key = name.key,
          .actor = options.actor,
          .idempotency_key = options.idempotency_key,
          .at = options.at,
          .dry_run = options.dry_run};
}

Stimulus settled(const GivenAttempt& attempt, decltype(Stimulus::what) what) {
  return {.what = std::move(what),
          .machine = attempt.given.machine,
          .key = attempt.given.key,
          .actor = {.name = "worker"}};
}

}  // namespace

// In the order in which they are made; the last is destroyed first.
struct Engine::Parts {
  Zones zones;
  Guards guards = {};
  OwnNames own = {};
  std::function<void(const Notice&)> noticed = {};
  std::unique_ptr<VirtualClock> clock = {};
  std::unique_ptr<Store> store = {};
  std::unique_ptr<Runner> runner = {};

  // On the thread that decides.
  void tell(const Notice& notice) const {
    if (noticed) noticed(notice);
  }
};

Engine::Engine(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options) {
  return open(std::move(options), {});
}

Result<std::unique_ptr<Engine>> Engine::open(EngineOptions options, const Wrap& wrap) {
  PAWL_TRY(Zones zones, Zones::open());
  auto parts = std::make_unique<Parts>(Parts{.zones = zones, .guards = options.guards});
  for (const auto& [name, function] : options.functions) parts->own.functions.insert(name);
  for (const auto& [name, channel] : options.channels) parts->own.channels.insert(name);
  parts->own.makes_calls = static_cast<bool>(options.http);
  std::function<Instant()> now;
  if (options.virtual_clock) {
    parts->clock = std::make_unique<VirtualClock>(*options.virtual_clock);
    now = [clock = parts->clock.get()] { return clock->now(); };
  }
  StepperOptions stepper{.zones = std::move(zones), .guards = std::move(options.guards)};
  stepper.ordered_channels = std::move(options.ordered_channels);
  stepper.noted = std::move(options.noted);
  parts->noticed = options.on_notice;
  stepper.noticed = std::move(options.on_notice);
  if (options.directory.empty()) {
    if (!now) now = [] { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); };
    parts->store = open_memory_store(now);
  } else {
    PAWL_TRY(auto store,
             open_sqlite_store(
                 {.directory = options.directory, .clock = now, .creates = options.creates}));
    stepper.closed_at = store->last_used();
    stepper.ward = options.directory / "ward";
    parts->store = std::move(store);
  }
  if (wrap) parts->store = wrap(std::move(parts->store));
  RunnerOptions runner{.functions = std::move(options.functions),
                       .channels = std::move(options.channels),
                       .http = std::move(options.http),
                       .task_threads = options.task_threads,
                       .virtual_clock = parts->clock.get(),
                       .on_stopped = std::move(options.on_stopped),
                       .on_committed = std::move(options.on_committed)};
  PAWL_TRY(parts->runner, Runner::open(*parts->store, std::move(stepper), std::move(runner)));
  return std::unique_ptr<Engine>(new Engine(std::move(parts)));
}

Result<std::unique_ptr<Engine>> WrappedEngine::open(EngineOptions options, const Wrap& wrap) {
  return Engine::open(std::move(options), wrap);
}

// --- machines ----------------------------------------------------------------------------------

Result<Applied> Engine::apply(std::span<const MachineText> files, const ApplyOptions& options) {
  PAWL_TRY(ApplyPlan plan,
           plan_apply(*parts_->store, parts_->zones, parts_->guards, parts_->own, files, options));
  if (options.dry_run || plan.stored.empty() || !plan.applied.is_good())
    return std::move(plan.applied);
  PAWL_CHECK(parts_->runner->between_batches([&](Stepper& engine) -> Result<void> {
    for (StoredMachine& machine : plan.stored) {
      machine.applied_at = now();
      machine.applied_by = options.by;
    }
    PAWL_TRY(const bool is_put, parts_->store->put_machines(plan.stored));
    if (!is_put)
      return Error{
          ErrorCode::environment,
          "somebody else applied another version in the meantime: review it, then apply again"};
    for (auto& machine : plan.machines) engine.machines().add(std::move(machine));
    for (const StoredMachine& machine : plan.stored)
      parts_->tell({.kind = Notice::Kind::applied,
                    .at = machine.applied_at,
                    .machine = machine.name,
                    .version = machine.version,
                    .actor = machine.applied_by});
    return {};
  }));
  return std::move(plan.applied);
}

Result<std::vector<MachineVersion>> Engine::machines() {
  PAWL_TRY(const auto stored, parts_->store->machines());
  std::vector<MachineVersion> versions;
  for (const StoredMachine& one : stored)
    versions.push_back({one.name, one.version, one.applied_at, one.applied_by});
  return versions;
}

Result<std::optional<std::string>> Engine::machine_text(const std::string& name, int version) {
  PAWL_TRY(auto stored, parts_->store->machine(name, version));
  if (!stored) return std::optional<std::string>();
  return std::optional(std::move(stored->text));
}

std::shared_ptr<const Machine> Engine::machine(const std::string& name) {
  return parts_->runner->between_batches(
      [&](Stepper& engine) { return engine.machines().newest_shared(name); });
}

// --- stimuli -----------------------------------------------------------------------------------

void Engine::submit(std::span<const Stimulus> stimuli,
                    const std::function<void(std::size_t index, Result<Answer>)>& answered) {
  std::vector<Stimulus> wanted;
  std::vector<Stepper::Answered> completions;
  for (std::size_t i = 0; i < stimuli.size(); ++i) {
    if (is_the_engines_own(stimuli[i])) {
      answered(i, no_callers_stimulus());
      continue;
    }
    wanted.push_back(stimuli[i]);
    completions.emplace_back(
        [i, answered](Result<Answer>&& answer) { answered(i, std::move(answer)); });
  }
  parts_->runner->submit(std::move(wanted), std::move(completions));
}

Result<Answer> Engine::call(Stimulus stimulus) {
  if (is_the_engines_own(stimulus)) return no_callers_stimulus();
  return parts_->runner->call(std::move(stimulus));
}

Result<Answer> Engine::create(const RecordName& name, std::string data,
                              const CallOptions& options) {
  return call(asked(name, Stimulus::Create{.data = std::move(data)}, options));
}

Result<Answer> Engine::fire(const RecordName& name, std::string event, std::string payload,
                            const CallOptions& options) {
  return call(asked(name, Stimulus::Fire{.event = std::move(event), .payload = std::move(payload)},
                    options));
}

Result<Answer> Engine::order(const RecordName& name, Stimulus::Order order,
                             const CallOptions& options) {
  return call(asked(name, std::move(order), options));
}

void Engine::wind_down(std::function<void()> settled) {
  parts_->runner->wind_down(std::move(settled));
}

// --- workers -----------------------------------------------------------------------------------

void Engine::claim(ClaimRequest request, Given given) {
  parts_->runner->claim(std::move(request), std::move(given));
}

Result<std::vector<GivenAttempt>> Engine::claim(ClaimRequest request) {
  return parts_->runner->claim(std::move(request));
}

Result<Answer> Engine::beat(const GivenAttempt& attempt, std::string progress) {
  return call(settled(attempt, Stimulus::Beat{hash_of_token(attempt.token), std::move(progress)}));
}

Result<Answer> Engine::done(const GivenAttempt& attempt, std::string result) {
  return call(settled(attempt, Stimulus::Done{hash_of_token(attempt.token), std::move(result)}));
}

Result<Answer> Engine::fail(const GivenAttempt& attempt, Failure error) {
  return call(settled(attempt, Stimulus::Fail{hash_of_token(attempt.token), std::move(error)}));
}

// --- looking -----------------------------------------------------------------------------------

Result<std::optional<Record>> Engine::show(const RecordName& name) {
  return parts_->runner->find(name);
}

Result<Page<Record>> Engine::list(const Query& query, const Cursor& from) {
  return parts_->store->list(query, from);
}

Result<Page<Entry>> Engine::log(RecordId record, const Cursor& from, std::size_t max) {
  return parts_->store->log(record, from, max);
}

Result<Page<LoggedEntry>> Engine::feed(const Cursor& from, std::size_t max) {
  return parts_->store->feed(from, max);
}

Result<Counts> Engine::counts() { return parts_->store->counts(); }

Figures Engine::figures() {
  return parts_->runner->between_batches([](Stepper& engine) { return engine.figures(); });
}

bool Engine::can_commit() const { return parts_->runner->can_commit(); }

Result<std::optional<Why>> Engine::why(const RecordName& name) {
  return parts_->runner->between_batches([&](Stepper& engine) -> Result<std::optional<Why>> {
    PAWL_TRY(const auto record, parts_->runner->find(name));
    if (!record) return std::optional<Why>();
    PAWL_TRY(Why why, engine.why(*record));
    return std::optional(std::move(why));
  });
}

Result<std::vector<std::string>> Engine::permitted(const RecordName& name, const Actor& actor) {
  return parts_->runner->between_batches([&](Stepper& engine) -> Result<std::vector<std::string>> {
    PAWL_TRY(const auto record, parts_->runner->find(name));
    if (!record) return std::vector<std::string>();
    PAWL_TRY(const auto machine, engine.machines().of(*record));
    return permitted_events(*machine, *record, actor, now());
  });
}

Result<std::optional<Record>> Engine::wait(const RecordName& name,
                                           std::optional<std::int64_t> revision_above,
                                           Duration at_most) {
  return parts_->runner->wait(name, revision_above, at_most);
}

void Engine::wait(const RecordName& name, std::optional<std::int64_t> revision_above,
                  Duration at_most, Waited waited) {
  parts_->runner->wait(name, revision_above, at_most, std::move(waited));
}

// --- steering ----------------------------------------------------------------------------------

Result<void> Engine::pause(Pause pause) {
  return parts_->runner->between_batches([&](Stepper& engine) -> Result<void> {
    const Notice notice{.kind = Notice::Kind::paused,
                        .at = pause.since,
                        .subject = logged(pause.target),
                        .actor = pause.actor};
    PAWL_CHECK(engine.pause(std::move(pause)));
    parts_->tell(notice);
    return {};
  });
}

Result<bool> Engine::unpause(const PauseTarget& target, const std::string& by) {
  return parts_->runner->between_batches([&](Stepper& engine) -> Result<bool> {
    const Instant at = now();
    PAWL_TRY(const bool was_paused, engine.unpause(target, {at, by}));
    if (was_paused)
      parts_->tell(
          {.kind = Notice::Kind::pause_ended, .at = at, .subject = logged(target), .actor = by});
    return was_paused;
  });
}

std::vector<Pause> Engine::ended_pauses() {
  return parts_->runner->between_batches([](Stepper& engine) { return engine.ended_pauses(); });
}

void Engine::tell(const Notice& notice) {
  parts_->runner->between_batches([&](Stepper&) {
    parts_->tell(notice);
    return true;
  });
}

std::vector<Pause> Engine::pauses() {
  return parts_->runner->between_batches([](Stepper& engine) { return engine.pauses(); });
}

Result<void> Engine::set_alerts(const std::string& channel) {
  return parts_->runner->between_batches(
      [&](Stepper& engine) { return engine.set_alerts(channel); });
}

Result<std::vector<Setting>> Engine::settings(const std::string& prefix) {
  return parts_->store->settings(prefix);
}

Result<Setting> Engine::put_setting(const Setting& setting) {
  return parts_->runner->between_batches(
      [&](Stepper&) { return parts_->store->put_setting(setting); });
}

// --- time --------------------------------------------------------------------------------------

Instant Engine::now() const {
  return parts_->clock ? parts_->clock->now()
                       : std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

bool Engine::has_virtual_clock() const { return parts_->clock != nullptr; }

void Engine::run_until(Instant until, std::function<void(Result<Instant>)> arrived) {
  if (!parts_->clock || until < now()) return arrived(not_to_be_moved());
  parts_->runner->run_until(until, std::move(arrived));
}

Result<void> Engine::run_until(Instant until) {
  if (!parts_->clock || until < now()) return not_to_be_moved();
  PAWL_CHECK(parts_->runner->run_until(until, false));
  return {};
}

Result<Instant> Engine::run_until_idle(Instant no_later_than) {
  if (!parts_->clock) return not_to_be_moved();
  return parts_->runner->run_until(no_later_than, true);
}

}  // namespace pawl
