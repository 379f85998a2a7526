// pawl work: a worker that runs a command for each attempt.
//
// The command gets the data as JSON on its standard input and the rest in its environment. Exit
// code 0 is done, its standard output the result; any other is a failure with the code `exit_N`, or
// with what a JSON map on its standard output says: {"code": …, "message": …, "retry_after": …}.
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
// How soon what could not be asked or told is tried again.
constexpr std::chrono::milliseconds kAgainAfter{1'000};

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

struct Tally {
  std::atomic<std::size_t> done = 0;
  std::atomic<std::size_t> failed = 0;
  std::atomic<std::size_t> returned = 0;
  std::atomic<std::size_t> stale = 0;
};

// One thread of the worker.
class Worker {
 public:
  Worker(Client& client, const WorkOptions& options, Tally& tally, std::mutex& output,
         const Surroundings& surroundings)
      : client_(client),
        options_(options),
        tally_(tally),
        output_(output),
        surroundings_(surroundings) {}

  // Until it is interrupted, or nothing is ready; false when the records cannot be reached.
  bool run() {
    while (!is_interrupted) {
      const ApiReply reply = client_.call(post("/v1/claim", claim_body()));
      if (!is_ok(reply)) {
        report_reply(reply, "", surroundings_);
        return false;
      }
      const auto attempts = items_of(reply.body, "attempts");
      if (attempts.empty() && options_.until_idle) return true;
      for (const std::string& attempt : attempts) work_on(attempt);
    }
    return true;
  }

 private:
  std::string claim_body() const {
    std::string body;
    {
      JsonMap map(body);
      std::string& queues = map.member("queues");
      for (const std::string& queue : options_.queues)
        queues += (&queue == &options_.queues.front() ? "[" : ",") + json_string(queue);
      queues += "]";
      map.text("worker", options_.worker);
      if (!options_.until_idle) map.text("wait", kClaimWait);
    }
    return body;
  }

  void work_on(const std::string& attempt) {
    bool is_stale = false;
    ChildProgram program{.arguments = options_.command,
                         .environment = environment_of(attempt),
                         .input = said(attempt, "data"),
                         .asked_every = beats_every(attempt)};
    const bool has_lease = !said(attempt, "lease_until").empty();
    const auto deadline = parse_instant(said(attempt, "deadline_at"));
    program.may_go_on = [&] {
      if (is_interrupted || (deadline && surroundings_.now() > *deadline)) return false;
      if (has_lease) is_stale = !beat(attempt);
      return !is_stale;
    };
    const auto end = run_child(program);
    if (!end) return settle(attempt, "/v1/fail", failure("cannot_run", end.error().message));
    if (is_stale) {
      ++tally_.stale;
      return say(attempt, "was taken away");
    }
    if (end->is_killed && is_interrupted)
      return settle(attempt, "/v1/fail", failure("returned", "the worker was stopped"));
    if (end->is_killed) return say(attempt, "ran out of time");
    if (end->exit_code == 0 && end->signal == 0) {
      settle(attempt, "/v1/done", result_of(*end));
    } else {
      settle(attempt, "/v1/fail", failure_of(*end));
    }
  }

  static std::vector<std::string> environment_of(const std::string& attempt) {
    std::vector<std::string> environment;
    for (const char* name : {"machine", "key", "task", "queue", "attempt", "fence", "token",
                             "idempotency_key", "deadline_at", "progress"})
      environment.push_back("PAWL_" + to_upper(name) + "=" + said(attempt, name));
    return environment;
  }

  // Three times within a lease; without one only to see whether to stop.
  std::chrono::milliseconds beats_every(const std::string& attempt) const {
    using std::chrono::milliseconds;
    const auto lease = parse_instant(said(attempt, "lease_until"));
    if (!lease) return milliseconds{200};
    const auto third = std::chrono::duration_cast<milliseconds>(*lease - surroundings_.now()) / 3;
    return std::clamp(third, milliseconds{10}, milliseconds{200'000});
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
    if (end.is_cut) return failure("bad_result", "the output has more than 256 KiB");
    std::string out = end.output;
    out.erase(out.find_last_not_of(" \t\r\n") + 1);
    if (out.empty()) return R"("result":{})";
    if (check_json(out) && JsonView(out).kind() == JsonView::Kind::map) return R"("result":)" + out;
    return R"("result":{"output":)" + json_string(out) + "}";
  }

  static std::string failure_of(const ChildEnd& end) {
    std::string message = end.error;
    message.erase(message.find_last_not_of(" \t\r\n") + 1);
    const std::string code = end.signal != 0 ? "signal_" + std::to_string(end.signal)
                                             : "exit_" + std::to_string(end.exit_code);
    const bool says_more = check_json(end.output).has_value() && !said(end.output, "code").empty();
    if (!says_more) return failure(code, message);
    std::string members = failure(said(end.output, "code"), said(end.output, "message"));
    if (const std::string after = said(end.output, "retry_after"); !after.empty())
      members += R"(,"retry_after":)" + json_string(after);
    if (const JsonView detail = JsonView(end.output).member("detail"); !detail.absent())
      members += R"(,"detail":)" + std::string(detail.json());
    return members;
  }

  // Until it is answered: a settle that is repeated is carried out once.
  void settle(const std::string& attempt, const char* path, const std::string& members) {
    if (members.starts_with(R"("code":"bad_result")")) path = "/v1/fail";
    const std::string body = "{" + named(attempt) + "," + members + "}";
    for (;;) {
      const ApiReply reply = client_.call(post(path, body));
      if (reply.status == 503 && !is_interrupted) {
        std::this_thread::sleep_for(kAgainAfter);
        continue;
      }
      if (!is_ok(reply)) {
        ++tally_.stale;
        return say(attempt, problem_text(reply.body));
      }
      if (path == std::string_view("/v1/done")) {
        ++tally_.done;
        return say(attempt, "done: " + said(reply.body, "state"));
      }
      const std::string code = said("{" + members + "}", "code");
      ++(code == "returned" ? tally_.returned : tally_.failed);
      return say(attempt, "failed: " + code + ": " + said(reply.body, "state"));
    }
  }

  void say(const std::string& attempt, const std::string& what) const {
    if (options_.json) return;
    const std::lock_guard lock(output_);
    surroundings_.out << printable(said(attempt, "machine") + "/" + said(attempt, "key") + " " +
                                   said(attempt, "task") + " " + said(attempt, "attempt") + ": " +
                                   what)
                      << std::endl;
  }

  Client& client_;
  const WorkOptions& options_;
  Tally& tally_;
  std::mutex& output_;
  const Surroundings& surroundings_;
};

std::string worker_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return std::string(host) + "/" + std::to_string(getpid());
}

ExitCode work(WorkOptions options, const Surroundings& surroundings) {
  if (options.worker.empty()) options.worker = worker_name();
  std::mutex output;
  Channels channels;
  for (const std::string& name : options.log_channels)
    channels[name] = log_channel([&](const std::string& line) {
      const std::lock_guard lock(output);
      surroundings.err << line << std::endl;
    });
  const auto client = open_client(options, std::move(channels));
  if (!client) return report(client.error(), "", "", surroundings.err);
  const Interrupts interrupts;
  Tally tally;
  std::atomic<bool> is_reached = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.parallel; ++i)
    threads.emplace_back([&] {
      if (!Worker(**client, options, tally, output, surroundings).run()) is_reached = false;
    });
  for (std::thread& thread : threads) thread.join();
  if (options.json) {
    surroundings.out << R"({"done":)" << tally.done << R"(,"failed":)" << tally.failed
                     << R"(,"returned":)" << tally.returned << R"(,"stale":)" << tally.stale
                     << "}\n";
  } else {
    surroundings.out << tally.done << " done, " << tally.failed << " failed";
    if (tally.returned > 0) surroundings.out << ", " << tally.returned << " handed back";
    if (tally.stale > 0) surroundings.out << ", " << tally.stale << " too late";
    surroundings.out << '\n';
  }
  return is_reached ? ExitCode::ok : ExitCode::environment;
}

}  // namespace

void add_work(CLI::App& app, Action& action) {
  auto options = std::make_shared<WorkOptions>();
  CLI::App* verb = app.add_subcommand("work", "A worker: run a command for each attempt");
  verb->add_option("--queue", options->queues, "to claim from; may be repeated")
      ->required()
      ->allow_extra_args(false)
      ->type_name("QUEUE");
  verb->add_flag("--until-idle", options->until_idle, "end when nothing is ready");
  verb->add_option("--parallel", options->parallel, "so many commands at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  verb->add_option("--worker", options->worker, "its name, for `pawl show`")->type_name("NAME");
  verb->add_option("--log-channel", options->log_channels,
                   "print deliveries to this channel on standard error; may be repeated")
      ->allow_extra_args(false)
      ->type_name("CHANNEL");
  add_client_options(*verb, *options);
  verb->add_option("COMMAND", options->command, "what to run, after --")->required();
  verb->footer(
      "The command gets the data on standard input, and PAWL_MACHINE, PAWL_KEY, PAWL_TASK,\n"
      "PAWL_ATTEMPT, PAWL_FENCE, PAWL_TOKEN, PAWL_IDEMPOTENCY_KEY, PAWL_DEADLINE_AT and\n"
      "PAWL_PROGRESS in its environment. Exit code 0 is done, with its output as the result.\n"
      "Example:\n  pawl work --queue payments --until-idle -- ./charge.sh");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return work(*options, surroundings); };
  });
}

}  // namespace pawl::cli
