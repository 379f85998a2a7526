// Engine: Pawl inside a program. Records are kept in a directory, and move by themselves.
//
//   auto engine = Engine::open({.directory = "orders", .channels = {{"office", mail_the_office}}});
//   engine->apply(…);                                    // machine files
//   engine->create({"order", "17"}, R"({"amount":12})");
//   engine->claim({.queues = {"payments"}});             // or functions, in this process
//
// Threads: every call may come from any thread. Completions run on the thread that decides: they
// must not block, and may not make blocking calls.
//
// Failures: a Result holds an error only when the engine could not do its work: `environment` (the
// disk is full: nothing was done, try again), `damaged`, `bad_input` (of apply and lists), or
// `outcome_unknown`: it may have been done or not. The engine has then stopped, and every further
// call fails so; open it again, and repeat the call with the same idempotency key. A refusal, a
// stale token and a repeated call are answers.
//
// A library: it never exits, writes to no stream and installs no signal handler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pawl/apply.h"
#include "pawl/figures.h"
#include "pawl/machine.h"
#include "pawl/notice.h"
#include "pawl/pause.h"
#include "pawl/query.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/task.h"
#include "pawl/time.h"
#include "pawl/why.h"

namespace pawl {

class Store;

struct EngineOptions {
  std::filesystem::path directory = {};  // of the store; empty: in memory, gone with the engine
  bool creates = true;                   // the directory, when it is not there
  Functions functions = {};              // tasks of this process, by the name after `function:`
  Channels channels = {};                // whom `notify` reaches, by name
  // Of these, deliveries that one record asks for are made one after the other, in that order.
  std::set<std::string> ordered_channels = {};
  TaskFunction http = {};  // carries tasks with `http:` out; none: they wait
  Guards guards = {};      // conditions written in C++
  int task_threads = 4;    // that run functions and channels, 1 to 128
  // The clock stands at this instant until run_until moves it, so that a test need not wait.
  std::optional<Instant> virtual_clock = {};

  // All on the thread that decides. The outcome of a commit is unknown: nothing more is done.
  std::function<void(const Error&)> on_stopped = {};
  // Something was committed.
  std::function<void()> on_committed = {};
  // What is no error and no decision either: a message to a record that does not exist.
  std::function<void(Instant now, const std::string& note)> noted = {};
  // What belongs in a log: retries, holds, slow commits, and who has applied or paused what.
  std::function<void(const Notice&)> on_notice = {};
};

// Who asks, and how.
struct CallOptions {
  Actor actor = {.name = "embedder"};
  std::string idempotency_key = {};  // the same call with the same key is carried out once
  std::optional<Instant> at = {};    // of create and fire: not before then
  bool dry_run = false;              // decided and answered, not done
};

class Engine {
 public:
  using Answered = std::function<void(Result<Answer>)>;
  using Given = std::function<void(Result<std::vector<GivenAttempt>>)>;
  using Waited = std::function<void(Result<std::optional<Record>>)>;

  // Fails, and touches nothing, when another process has the directory, or what is in it is not a
  // store that this Pawl can read.
  static Result<std::unique_ptr<Engine>> open(EngineOptions options);

  // Tells functions to stop and waits for them, ends the batch under way, and answers what was not
  // decided with an error.
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // --- machines

  // Several files are applied as one step, and may name each other. Not an error: findings; then
  // nothing was applied (Applied::is_good).
  Result<Applied> apply(std::span<const MachineText> files, const ApplyOptions& options = {});
  // All versions, by name and version.
  Result<std::vector<MachineVersion>> machines();
  // The file; none when there is no such version.
  Result<std::optional<std::string>> machine_text(const std::string& name, int version);
  // The newest version; null when there is no such machine.
  std::shared_ptr<const Machine> machine(const std::string& name);

  // --- stimuli

  // The main form: each is decided in one of the next batches, in order, and answered when it is
  // durable. Starts, wakes and messages are the engine's own, and are answered with an error.
  void submit(std::span<const Stimulus> stimuli,
              const std::function<void(std::size_t index, Result<Answer>)>& answered);
  // The same for one, waiting for the answer; what is below stands on it.
  Result<Answer> call(Stimulus stimulus);

  Result<Answer> create(const RecordName& name, std::string data = "{}",
                        const CallOptions& options = {});
  Result<Answer> fire(const RecordName& name, std::string event, std::string payload = "{}",
                      const CallOptions& options = {});
  // The actor needs the role `operator`, the order a reason.
  Result<Answer> order(const RecordName& name, Stimulus::Order order, const CallOptions& options);

  // --- workers

  // As soon as something is ready, or when the wait is over: then with nothing.
  void claim(ClaimRequest request, Given given);
  Result<std::vector<GivenAttempt>> claim(ClaimRequest request);
  Result<Answer> beat(const GivenAttempt& attempt, std::string progress = {});
  Result<Answer> done(const GivenAttempt& attempt, std::string result = "{}");
  Result<Answer> fail(const GivenAttempt& attempt, Failure error);

  // --- looking

  Result<std::optional<Record>> show(const RecordName& name);
  Result<Page<Record>> list(const Query& query, const Cursor& from = {});
  Result<Page<Entry>> log(RecordId record, const Cursor& from = {}, std::size_t max = 100);
  // The entries of all records in the order of commits. A cursor stays good, that of the end too:
  // what comes later is read from there. One beyond the end is of another store, and an error.
  Result<Page<LoggedEntry>> feed(const Cursor& from, std::size_t max = 100);
  Result<Counts> counts();
  // What was done since the engine was opened.
  Figures figures();
  // False while commits fail, as when the disk is full.
  bool can_commit() const;
  // Why the record is not moving; none when there is no such record.
  Result<std::optional<Why>> why(const RecordName& name);
  // The events that this actor may fire now with an empty payload.
  Result<std::vector<std::string>> permitted(const RecordName& name, const Actor& actor);

  // The record once it is final, or its revision is above the given one; as it is when the time is
  // over. None when there is no such record.
  Result<std::optional<Record>> wait(const RecordName& name,
                                     std::optional<std::int64_t> revision_above, Duration at_most);
  void wait(const RecordName& name, std::optional<std::int64_t> revision_above, Duration at_most,
            Waited waited);

  // --- steering

  // Nothing that is paused is started; durable when it returns. Of unpause: false when it was not
  // paused.
  Result<void> pause(Pause pause);
  Result<bool> unpause(const PauseTarget& target, const std::string& by = "embedder");
  std::vector<Pause> pauses();
  // Of each target that is not paused now the last pause, the latest end first; at most 1,000.
  std::vector<Pause> ended_pauses();
  // The channel that is told when the built-in policy gives a record up; empty: none.
  Result<void> set_alerts(const std::string& channel);

  // Named values that outlive the process; the engine's own are `pause:…` and `alerts`. Those whose
  // name begins so, by name.
  Result<std::vector<Setting>> settings(const std::string& prefix);
  // The setting as it is afterwards: as given with the next revision, or, when `revision` was not
  // that of the stored one, as it was.
  Result<Setting> put_setting(const Setting& setting);

  // Before the end: claims give nothing more, those that wait are answered at once with what is
  // ready or with nothing, and nobody waits for records any longer. Everything else goes on.
  // `settled` is called, as a completion, once no worker holds an attempt that was given since the
  // engine was opened.
  void wind_down(std::function<void()> settled);

  // To whoever hears of notices, from those who keep more in the store than the engine knows of.
  void tell(const Notice& notice);

  // --- time

  Instant now() const;
  // Of a virtual clock: everything due up to `until` happens, each at its own instant, functions
  // and channels included, and `until` is now. An attempt's deadline at `until` itself is left to a
  // call that passes it.
  Result<void> run_until(Instant until);
  // The same, without waiting for it: with the clock's new time.
  void run_until(Instant until, std::function<void(Result<Instant>)> arrived);
  bool has_virtual_clock() const;
  // The same, but the clock stops with the last thing that happened. Says when that was.
  Result<Instant> run_until_idle(Instant no_later_than);

 private:
  friend struct WrappedEngine;
  using Wrap = std::function<std::unique_ptr<Store>(std::unique_ptr<Store>)>;
  struct Parts;
  explicit Engine(std::unique_ptr<Parts> parts);
  static Result<std::unique_ptr<Engine>> open(EngineOptions options, const Wrap& wrap);

  std::unique_ptr<Parts> parts_;
};

}  // namespace pawl
