// pawl work: a worker that runs a command for each attempt.
//
// The command gets the data as JSON on its standard input and the rest in its environment. Exit
// code 0 is done, its standard output the result; any other is a failure with the code `exit_N`, or
// with what a JSON map on its standard output says: {"code": …, "message": …, "retry_after": …,
// "detail": …}. A command that cannot be run at all is no failure of the record: the attempt is
// handed back, and the worker ends.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>

#include "base/child_process.h"
#include "base/json_text.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/reply_text.h"
#include "cli/verb.h"
#include "decide/json_edit.h"
#include "model/expression/json_view.h"

namespace pawl::cli {
namespace {

struct WorkOptions : ClientOptions {
  std::vector<std::string> queues;
  std::vector<std::string> command;
  std::vector<std::string> log_channels;
  std::string worker;
  int parallel = 1;
  bool until_idle = false;
};

// How long one claim waits: a worker that is to stop notices it no later.
constexpr const char* kClaimWait = "1s";
// How soon what could not be asked or told is tried again: each time twice as late.
constexpr std::chrono::milliseconds kAgainAtFirst{500};
constexpr std::chrono::milliseconds kAgainAtMost{10'000};

// How often a command that runs is asked whether it may go on: so long a worker that is to stop
// takes.
constexpr std::chrono::milliseconds kAskedEvery{200};

std::atomic<bool> is_interrupted = false;

// Attempts under way are handed back, and nothing more is claimed.
class Interrupts {
 public:
  Interrupts() {
    is_interrupted = false;
    struct sigaction act {};
    act.sa_handler = [](int) { is_interrupted = true; };
    sigaction(SIGINT, &act, &interrupt_);
    sigaction(SIGTERM, &act, &terminate_);
  }
  ~Interrupts() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  struct sigaction interrupt_ {};
  struct sigaction terminate_ {};
};

// What the threads have in common.
struct Common {
  std::mutex output;                          // of both streams, and of `said_last`
  std::string said_last;                      // of a server that is away: once for all threads
  std::atomic<ExitCode> code = ExitCode::ok;  // else: it cannot go on
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> failed = 0;
  std::atomic<std::size_t> returned = 0;
  std::atomic<std::size_t> stale = 0;
};

std::string claim_body(const WorkOptions& options) {
  std::string body;
  {
    JsonMap map(body);
    std::string& queues = map.member("queues");
    for (const std::string& queue : options.queues)
      queues += (&queue == &options.queues.front() ? "[" : ",") + json_string(queue);
    queues += "]";
    map.text("worker", options.worker);
    if (options.dry_run) {
      map.member("dry_run") += "true";
      map.member("max") += std::to_string(kClaimMax);
    } else if (!options.until_idle) {
      map.text("wait", kClaimWait);
    }
  }
  return body;
}

// For people: `order/17 pay 1`.
std::string name_of(const std::string& attempt) {
  return printable(said(attempt, "machine") + "/" + said(attempt, "key") + " " +
                   said(attempt, "task") + " " + said(attempt, "attempt"));
}

// One thread of the worker.
class Worker {
 public:
  Worker(Client& client, const WorkOptions& options, Common& common,
         const Surroundings& surroundings)
      : client_(client), options_(options), common_(common), surroundings_(surroundings) {}

  // Until it is to stop, or nothing is ready.
  void run() {
    while (!is_to_stop()) {
      const ApiReply reply = client_.call(post("/v1/claim", claim_body(options_)));
      if (is_for_later(reply) && !client_.url().empty() && !options_.until_idle) {
        wait(reply);
        continue;
      }
      if (!is_ok(reply)) return give_up(problem_text(reply.body), exit_code_of(reply));
      forget_waits();
      const auto attempts = items_of(reply.body, "attempts");
      if (attempts.empty() && options_.until_idle) return;
      for (const std::string& attempt : attempts) work_on(attempt);
    }
  }

 private:
  bool is_to_stop() const { return is_interrupted || common_.code != ExitCode::ok; }

  void work_on(const std::string& attempt) {
    using Clock = std::chrono::steady_clock;
    bool is_stale = false;
    const auto lease = parse_instant(said(attempt, "lease_until"));
    const auto deadline = parse_instant(said(attempt, "deadline_at"));
    // Three times within a lease.
    const auto beats_every = lease ? std::max<Duration>((*lease - surroundings_.now()) / 3,
                                                        std::chrono::milliseconds{10})
                                   : kDurationMax;
    auto last_beat = Clock::now();
    using std::chrono::milliseconds;
    ChildProgram program{.arguments = options_.command,
                         .environment = environment_of(attempt),
                         .input = said(attempt, "data"),
                         .asked_every = std::min(
                             kAskedEvery, std::chrono::duration_cast<milliseconds>(beats_every))};
    program.may_go_on = [&] {
      if (is_to_stop() || (deadline && surroundings_.now() > *deadline)) return false;
      if (lease && Clock::now() - last_beat >= beats_every) {
        last_beat = Clock::now();
        is_stale = !beat(attempt);
      }
      return !is_stale;
    };
    const auto end = run_child(program);
    if (!end) {  // nor will it be for the next: the records are not to pay for that
      settle(attempt, "/v1/fail", failure("returned", end.error().message));
      return give_up("error: " + printable(end.error().message), exit_code_of(end.error().code));
    }
    if (!is_stale) return conclude(attempt, *end);
    ++common_.stale;
    say(attempt, "lost: the attempt was cancelled or its lease expired");
  }

  void conclude(const std::string& attempt, const ChildEnd& end) {
    if (end.is_killed && is_to_stop())
      return settle(attempt, "/v1/fail", failure("returned", "the worker was stopped"));
    if (end.is_killed)  // the engine may have seen it already: over it is either way
      return settle(attempt, "/v1/fail",
                    failure("timeout", "the command did not finish before its deadline"));
    if (end.exit_code == 0 && end.signal == 0 && !end.is_cut)
      return settle(attempt, "/v1/done", result_of(end));
    settle(attempt, "/v1/fail", failure_of(end));
  }

  static std::vector<std::string> environment_of(const std::string& attempt) {
    // PAWL_TOKEN is what lets verbs in at a server: the command may use some.
    std::vector<std::string> environment{"PAWL_ATTEMPT_TOKEN=" + said(attempt, "token")};
    for (const char* name : {"machine", "key", "task", "queue", "attempt", "fence",
                             "idempotency_key", "deadline_at", "progress"})
      environment.push_back("PAWL_" + to_upper(name) + "=" + said(attempt, name));
    return environment;
  }

  static std::string named(const std::string& attempt) {
    std::string members;
    for (const char* name : {"machine", "key", "token"})
      members += (members.empty() ? "\"" : ",\"") + std::string(name) +
                 "\":" + json_string(said(attempt, name));
    return members;
  }

  // Whether the attempt is still ours. Where that cannot be asked, it goes on.
  bool beat(const std::string& attempt) const {
    return client_.call(post("/v1/beat", "{" + named(attempt) + "}")).status != 409;
  }

  static std::string failure(const std::string& code, const std::string& message) {
    return R"("code":)" + json_string(code) + R"(,"message":)" + json_string(message);
  }

  static std::string result_of(const ChildEnd& end) {
    std::string out = end.output;
    out.erase(out.find_last_not_of(" \t\r\n") + 1);
    if (out.empty()) return R"("result":{})";
    if (check_json(out) && JsonView(out).kind() == JsonView::Kind::map) return R"("result":)" + out;
    return R"("result":{"output":)" + json_string(out) + "}";
  }

  // By what the command says of it on its output, else by how it ended and the end of what it wrote
  // to standard error.
  static std::string failure_of(const ChildEnd& end) {
    if (end.exit_code == 0 && end.signal == 0)
      return failure("bad_result", "the output is larger than 256 KiB");
    std::string message = end.error;
    message.erase(message.find_last_not_of(" \t\r\n") + 1);
    const std::string code = end.signal != 0 ? "signal_" + std::to_string(end.signal)
                                             : "exit_" + std::to_string(end.exit_code);
    const std::string json = check_json(end.output) ? end.output : "{}";
    if (said(json, "code").empty()) return failure(code, message);
    const std::string own = said(json, "message");
    std::string members = failure(said(json, "code"), own.empty() ? message : own);
    // A number is one of seconds, as HTTP has it.
    std::string after = said(json, "retry_after");
    if (parse_whole(after)) after += "s";
    if (!after.empty()) members += R"(,"retry_after":)" + json_string(after);
    if (const JsonView detail = JsonView(json).member("detail"); !detail.absent())
      members += R"(,"detail":)" + std::string(detail.json());
    return members;
  }

  // Until it is answered: a settle that is repeated is carried out once.
  void settle(const std::string& attempt, const char* path, const std::string& members) {
    const std::string body = "{" + named(attempt) + "," + members + "}";
    ApiReply reply = client_.call(post(path, body));
    while (is_unsettled(reply) && !is_to_stop()) {
      wait(reply);
      reply = client_.call(post(path, body));
    }
    forget_waits();
    const std::string code = said("{" + members + "}", "code");
    if (reply.status == 400 && code != "bad_result")  // what the command said cannot be taken
      return settle(attempt, "/v1/fail", failure("bad_result", said(reply.body, "error.message")));
    if (code == "timeout" && reply.status == 409) {
      ++common_.failed;
      return say(attempt, "failed: timeout");
    }
    if (!is_ok(reply)) {
      ++common_.stale;
      return say(attempt, problem_text(reply.body));
    }
    const std::string state = printable(said(reply.body, "state"));
    if (code.empty()) {
      ++common_.done;
      return say(attempt, "done: " + state);
    }
    ++(code == "returned" ? common_.returned : common_.failed);
    const std::string message = said("{" + members + "}", "message");
    say(attempt, (code == "returned" ? "handed back" : "failed: " + printable(code)) +
                     (message.empty() ? "" : " (" + printable(message) + ")") + ": " + state);
  }

  // A server that does not know what became of a commit is started again, and knows then.
  bool is_unsettled(const ApiReply& reply) const {
    return is_for_later(reply) ||
           (!client_.url().empty() && said(reply.body, "error.id") == "outcome_unknown");
  }

  // Before the same is asked again; not longer than until it is to stop.
  void wait(const ApiReply& reply) {
    const std::string problem =
        problem_text(reply.body) + "; trying again in " + to_text(Duration(again_after_));
    {
      const std::lock_guard lock(common_.output);
      if (common_.said_last != problem) surroundings_.err << "pawl: " << problem << std::endl;
      common_.said_last = problem;
    }
    const auto end = std::chrono::steady_clock::now() + again_after_;
    while (!is_to_stop() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::min(kAskedEvery, again_after_));
    again_after_ = std::min(2 * again_after_, kAgainAtMost);
  }

  // There was an answer.
  void forget_waits() {
    again_after_ = kAgainAtFirst;
    const std::lock_guard lock(common_.output);
    common_.said_last.clear();
  }

  // `what` is printable.
  void say(const std::string& attempt, const std::string& what) const {
    if (options_.json) return;
    const std::lock_guard lock(common_.output);
    surroundings_.out << name_of(attempt) << ": " << what << std::endl;
  }

  // All threads stop; the first reason is said.
  void give_up(const std::string& why, ExitCode code) {
    const std::lock_guard lock(common_.output);
    if (common_.code != ExitCode::ok) return;
    common_.code = code;
    surroundings_.err << "pawl: " << why << '\n';
  }

  Client& client_;
  const WorkOptions& options_;
  Common& common_;
  const Surroundings& surroundings_;
  std::chrono::milliseconds again_after_ = kAgainAtFirst;
};

// A delivery that is due, or under way, to one of these channels; empty: there is none.
std::string due_delivery(Client& client, const std::vector<std::string>& channels, Instant now) {
  std::string from;
  do {
    const ApiReply reply = client.call(
        get("/v1/records",
            {{"machine", "delivery"}, {"state", "sending"}, {"max", "1000"}, {"from", from}}));
    for (std::string& record : items_of(reply.body)) {
      const auto ready_at = parse_instant(said(record, "ready_at"));
      const bool is_due = !said(record, "running").empty() || (ready_at && *ready_at <= now);
      const bool is_ours = std::find(channels.begin(), channels.end(),
                                     said(record, "data.channel")) != channels.end();
      if (is_due && is_ours) return std::move(record);
    }
    from = said(reply.body, "next");
  } while (!from.empty());
  return {};
}

// What the work has brought about is printed before the worker ends.
void finish_deliveries(Client& client, const WorkOptions& options,
                       const Surroundings& surroundings) {
  while (!is_interrupted) {
    const std::string record = due_delivery(client, options.log_channels, surroundings.now());
    if (record.empty()) return;
    client.call(
        get(path_of({said(record, "machine"), said(record, "key")}),
            {{"wait", kClaimWait}, {"until", "revision"}, {"revision", said(record, "revision")}}));
  }
}

std::string worker_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::string(host) + "/" + std::to_string(getpid());
}

// What the command would be run for now.
ExitCode look(Client& client, const WorkOptions& options, const Surroundings& surroundings) {
  const ApiReply reply = client.call(post("/v1/claim", claim_body(options)));
  if (!is_ok(reply)) return report_reply(reply, options, "", surroundings);
  if (options.json) {
    surroundings.out << reply.body << '\n';
    return ExitCode::ok;
  }
  const auto attempts = items_of(reply.body, "attempts");
  for (const std::string& attempt : attempts) surroundings.out << name_of(attempt) << '\n';
  surroundings.out << "dry run: " << attempts.size() << " ready to run\n";
  return ExitCode::ok;
}

ExitCode work(WorkOptions options, const Surroundings& surroundings) {
  if (options.worker.empty()) options.worker = worker_name();
  Common common;
  Channels channels;
  if (options.dry_run) options.log_channels.clear();
  for (const std::string& name : options.log_channels)
    channels[name] = log_channel([&](const std::string& line) {
      const std::lock_guard lock(common.output);
      surroundings.err << line << std::endl;
    });
  const auto client = open_client(options, surroundings, std::move(channels));
  if (!client) return report(client.error(), "", "", surroundings.err);
  if (options.dry_run) return look(**client, options, surroundings);
  const Interrupts interrupts;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.parallel; ++i)
    threads.emplace_back([&] { Worker(**client, options, common, surroundings).run(); });
  for (std::thread& thread : threads) thread.join();
  if (common.code == ExitCode::ok && !options.log_channels.empty())
    finish_deliveries(**client, options, surroundings);
  if (options.json) {
    surroundings.out << R"({"done":)" << common.done << R"(,"failed":)" << common.failed
                     << R"(,"returned":)" << common.returned << R"(,"stale":)" << common.stale
                     << "}\n";
  } else {
    surroundings.out << common.done << " done, " << common.failed << " failed";
    if (common.returned > 0) surroundings.out << ", " << common.returned << " handed back";
    if (common.stale > 0) surroundings.out << ", " << common.stale << " too late";
    surroundings.out << '\n';
  }
  return common.code;
}

}  // namespace

void add_work(Command& app, Action& action) {
  auto options = std::make_shared<WorkOptions>();
  Command* verb = app.add_subcommand("work", "Run a worker: execute a command for each attempt");
  verb->add_option("--queue", options->queues, "queue to claim from; may be repeated")
      ->required()
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("QUEUE");
  verb->add_flag("--until-idle", options->until_idle, "exit when nothing is ready");
  verb->add_option("--parallel", options->parallel, "how many commands to run at once, 1 to 256")
      ->capture_default_str()
      ->check(between(1, 256));
  verb->add_option("--worker", options->worker,
                   "name of this worker, shown by `pawl show` (default: HOST/PID)")
      ->type_name("NAME");
  verb->add_option("--log-channel", options->log_channels,
                   "print deliveries to this channel on standard error; may be repeated")
      ->allow_extra_args(false)
      ->type_name("CHANNEL");
  verb->add_flag("--dry-run", options->dry_run,
                 "list the attempts the command would run for now, but start nothing");
  add_client_options(*verb, *options);
  verb->add_option("COMMAND", options->command, "command to run, after --")->required();
  verb->footer(
      "The command reads the data as JSON on standard input, and finds PAWL_MACHINE, PAWL_KEY,\n"
      "PAWL_TASK, PAWL_QUEUE, PAWL_ATTEMPT, PAWL_FENCE, PAWL_ATTEMPT_TOKEN, PAWL_IDEMPOTENCY_KEY,\n"
      "PAWL_DEADLINE_AT and PAWL_PROGRESS in its environment. Exit code 0 means done; its output\n"
      "is the result. Any other exit code N means failure, with the error code exit_N and the end\n"
      "of standard error as the message; to choose the error yourself, print it as JSON:\n"
      "{\"code\": …, \"message\": …, \"retry_after\": …, \"detail\": …}.\n"
      "Example:\n  pawl work --queue payments --until-idle -- ./charge.sh");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return work(*options, surroundings); };
  });
}

}  // namespace pawl::cli
