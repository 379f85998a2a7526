// pawl dead: dead letters, records that were given up and wait for a person.
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <thread>
#include <tuple>

#include "base/text.h"
#include "cli/change_verbs.h"
#include "cli/reply_text.h"
#include "cli/store_files.h"

namespace pawl::cli {
namespace {

struct DeadOptions : ClientOptions {
  std::string machine;
  std::string fingerprint;
  std::string reason;
  std::size_t max = 100;
  bool grouped = false;
  bool all = false;
};

// Of one line each: there may be a hundred thousand.
constexpr std::size_t kRefusalsShown = 20;

using Visit = std::function<bool(const std::string& record)>;

// Calls `visit` for every dead letter that is asked for, until it says false. Gives the reply that
// was the last.
ApiReply for_each_dead(Client& client, const DeadOptions& options, const Surroundings& surroundings,
                       const Visit& visit) {
  const auto progress = progress_line("dead letters found:", surroundings);
  std::int64_t seen = 0;
  std::string from;
  for (;;) {
    QueryPairs query{{"dead", "true"}, {"max", "1000"}, {"built_in", "true"}};
    if (!options.machine.empty()) query.emplace_back("machine", options.machine);
    if (!options.fingerprint.empty()) query.emplace_back("fingerprint", options.fingerprint);
    if (!from.empty()) query.emplace_back("from", from);
    ApiReply reply = client.call(get("/v1/records", query));
    bool is_over = !is_ok(reply);
    for (const std::string& record : items_of(reply.body)) {
      is_over = is_over || !visit(record);
      if (is_over) break;
      ++seen;
    }
    from = said(reply.body, "next");
    if (progress) progress(seen, 0);
    if (is_over || from.empty()) {
      end_progress_line(surroundings);
      return reply;
    }
  }
}

// --- looking -----------------------------------------------------------------------------------

// Dead letters with one error.
struct Group {
  std::size_t records = 0;
  std::string machine;
  std::string state;
  std::string code;
  std::string message;
  std::string last;  // when the last one was put on hold
};

std::string group_json(const std::string& fingerprint, const Group& group) {
  std::string out;
  {
    JsonMap map(out);
    map.text("machine", group.machine);
    map.text("state", group.state);
    map.text("code", group.code);
    map.text("fingerprint", fingerprint);
    map.number("records", static_cast<std::int64_t>(group.records));
    map.text("last_at", group.last);
    map.text("message", group.message);
  }
  return out;
}

using GroupKey = std::tuple<std::string, std::string, std::string>;  // machine, state, fingerprint
using Groups = std::map<GroupKey, Group>;

void add_to(Groups& groups, const std::string& record) {
  const std::string machine = said(record, "machine");
  const std::string failed_from = said(record, "failed_from");
  const std::string state = failed_from.empty() ? said(record, "state") : failed_from;
  Group& group = groups[{machine, state, said(record, "error.fingerprint")}];
  ++group.records;
  group.machine = machine;
  group.state = state;
  group.code = said(record, "error.code");
  if (group.code.empty()) group.code = said(record, "hold.code");
  group.message = said(record, "error.message");
  if (group.message.empty()) group.message = said(record, "hold.text");
  group.last = std::max(group.last, said(record, "hold.since"));
}

ExitCode list_groups(Client& client, const DeadOptions& options, const Surroundings& surroundings) {
  Groups groups;
  const ApiReply reply =
      for_each_dead(client, options, surroundings, [&](const std::string& record) {
        add_to(groups, record);
        return true;
      });
  if (!is_ok(reply)) return report_reply(reply, options, "", surroundings);
  if (options.json) {
    std::vector<std::string> all;
    for (const auto& [key, group] : groups) all.push_back(group_json(std::get<2>(key), group));
    surroundings.out << R"({"groups":[)" << join(all, ",", ",") << "]}\n";
    return ExitCode::ok;
  }
  if (groups.empty()) surroundings.out << "no dead letters\n";
  if (groups.empty()) return ExitCode::ok;
  std::vector<std::vector<std::string>> rows{
      {"RECORDS", "MACHINE", "STATE", "CODE", "FINGERPRINT", "LAST", "MESSAGE"}};
  for (const auto& [key, group] : groups)
    rows.push_back({std::to_string(group.records), group.machine, group.state, group.code,
                    std::get<2>(key), short_time(group.last), group.message});
  print_table(std::move(rows), surroundings.out);
  return ExitCode::ok;
}

void print_dead(const std::vector<std::string>& records, bool is_all, std::ostream& out) {
  if (records.empty()) {
    out << "no dead letters\n";
    return;
  }
  std::vector<std::vector<std::string>> rows{{"RECORD", "STATE", "SINCE", "FINGERPRINT", ""}};
  for (const std::string& record : records)
    rows.push_back({said(record, "machine") + "/" + said(record, "key"), said(record, "state"),
                    short_time(said(record, "hold.since")), said(record, "error.fingerprint"),
                    plight_of(record)});
  print_table(std::move(rows), out);
  if (!is_all) out << "there are more: use --grouped, or raise --max\n";
}

ExitCode list_dead(const DeadOptions& options, const Surroundings& surroundings) {
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  if (options.grouped) return list_groups(**client, options, surroundings);
  std::vector<std::string> records;
  bool is_all = true;
  const ApiReply reply =
      for_each_dead(**client, options, surroundings, [&](const std::string& record) {
        is_all = records.size() < options.max;
        if (is_all) records.push_back(record);
        return is_all;
      });
  if (!is_ok(reply)) return report_reply(reply, options, "", surroundings);
  if (options.json) {
    surroundings.out << R"({"items":[)" << join(records, ",", ",") << R"(],"more":)"
                     << (is_all ? "false" : "true") << "}\n";
  } else {
    print_dead(records, is_all, surroundings.out);
  }
  return ExitCode::ok;
}

// --- steering ----------------------------------------------------------------------------------

// What is done to each of them.
struct Deed {
  std::string_view path;
  std::string body;
  std::string done;  // `discarded`
};

// Several at once, so that the engine can commit them together. Each is a decision of its own: one
// that is refused does not keep the others.
class Steering {
 public:
  Steering(Client& client, const DeadOptions& options, const Deed& deed,
           std::vector<RecordName> names, const Surroundings& surroundings)
      : client_(client),
        options_(options),
        deed_(deed),
        names_(std::move(names)),
        surroundings_(surroundings),
        progress_(progress_line(deed.done + ":", surroundings)) {}

  ExitCode run() {
    constexpr std::size_t kThreads = 16;
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < std::min(kThreads, names_.size()); ++i)
      threads.emplace_back([this] { take_turns(); });
    for (std::thread& thread : threads) thread.join();
    end_progress_line(surroundings_);
    return say();
  }

 private:
  void take_turns() {
    for (;;) {
      const std::size_t i = next_++;
      if (i >= names_.size() || is_stopped_) return;
      const ApiReply reply = client_.call(post(path_of(names_[i], deed_.path), deed_.body));
      const std::lock_guard lock(mutex_);
      count(names_[i], reply);
    }
  }

  void count(const RecordName& name, const ApiReply& reply) {
    if (is_ok(reply)) {
      ++done_;
    } else if (exit_code_of(reply) == ExitCode::environment) {
      if (!is_stopped_) stopped_by_ = reply;
      is_stopped_ = true;
    } else if (++refused_ <= kRefusalsShown) {
      end_progress_line(surroundings_);
      surroundings_.err << "pawl: " << printable(name.machine + "/" + name.key) << ": "
                        << problem_text(reply.body) << '\n';
    }
    if (progress_ && (done_ + refused_) % 100 == 0)
      progress_(static_cast<std::int64_t>(done_ + refused_),
                static_cast<std::int64_t>(names_.size()));
  }

  ExitCode say() const {
    if (refused_ > kRefusalsShown)
      surroundings_.err << "pawl: and " << refused_ - kRefusalsShown << " more were refused\n";
    if (options_.json) {
      surroundings_.out << R"({"done":)" << done_ << R"(,"refused":)" << refused_ << R"(,"of":)"
                        << names_.size() << "}\n";
    } else {
      surroundings_.out << (options_.dry_run ? "dry run: " : "") << counted(done_, "record") << ' '
                        << deed_.done;
      if (refused_ > 0) surroundings_.out << ", " << refused_ << " refused";
      surroundings_.out << '\n';
    }
    if (is_stopped_) {
      surroundings_.err << "pawl: " << problem_text(stopped_by_.body) << '\n';
      return exit_code_of(stopped_by_);
    }
    return refused_ == 0 ? ExitCode::ok : ExitCode::wrong;
  }

  Client& client_;
  const DeadOptions& options_;
  const Deed& deed_;
  const std::vector<RecordName> names_;
  const Surroundings& surroundings_;
  TransferProgress progress_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;  // of what follows, and of the streams
  std::size_t done_ = 0;
  std::size_t refused_ = 0;
  ApiReply stopped_by_;
};

ExitCode steer(const DeadOptions& options, const char* verb, const Deed& deed,
               const Surroundings& surroundings) {
  if (options.machine.empty() && options.fingerprint.empty() && !options.all)
    return report_usage("choose which dead letters: --machine, --fingerprint or --all", verb,
                        surroundings.err);
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  std::vector<RecordName> names;
  const ApiReply reply =
      for_each_dead(**client, options, surroundings, [&](const std::string& record) {
        names.push_back({said(record, "machine"), said(record, "key")});
        return true;
      });
  if (!is_ok(reply)) return report_reply(reply, options, "", surroundings);
  return Steering(**client, options, deed, std::move(names), surroundings).run();
}

ExitCode retry(const DeadOptions& options, const Surroundings& surroundings) {
  std::string body;
  {
    JsonMap map(body);
    map.text("order", "retry");
    map.text("reason", options.reason);
    put_common(map, options);
  }
  return steer(options, "dead retry", {"/orders", body, "retried"}, surroundings);
}

ExitCode discard(const DeadOptions& options, const Surroundings& surroundings) {
  std::string body;
  {
    JsonMap map(body);
    map.text("event", "discard");
    put_common(map, options);
  }
  return steer(options, "dead discard", {"/fire", body, "discarded"}, surroundings);
}

using Act = ExitCode (*)(const DeadOptions&, const Surroundings&);

Command* add_dead_verb(Command& dead, Action& action, const char* name, const char* what,
                       const std::shared_ptr<DeadOptions>& options, Act act) {
  Command* verb = dead.add_subcommand(name, what);
  verb->add_option("--machine", options->machine, "only records of this machine")
      ->check(not_empty())
      ->type_name("MACHINE");
  verb->add_option("--fingerprint", options->fingerprint, "only records with this error")
      ->check(not_empty())
      ->type_name("HEX");
  verb->callback([options, act, &action] {
    action = [options, act](const Surroundings& surroundings) {
      return act(*options, surroundings);
    };
  });
  return verb;
}

}  // namespace

void add_dead(Command& app, Action& action) {
  Command* dead =
      app.add_subcommand("dead", "List, retry or discard dead letters: records that were given up");
  dead->require_subcommand(1);
  auto listed = std::make_shared<DeadOptions>();
  Command* verb = add_dead_verb(*dead, action, "list", "List dead letters", listed, list_dead);
  verb->add_flag("--grouped", listed->grouped, "one line per error, by fingerprint");
  verb->add_option("--max", listed->max, "show at most this many")
      ->capture_default_str()
      ->check(between(1, 1'000'000));
  add_client_options(*verb, *listed);
  verb->footer("Example:\n  pawl dead list --grouped");
  auto retried = std::make_shared<DeadOptions>();
  verb = add_dead_verb(*dead, action, "retry", "Retry dead letters, with all counters reset",
                       retried, retry);
  verb->add_flag("--all", retried->all, "all dead letters");
  verb->add_option("--reason", retried->reason, "why; recorded in the log")
      ->required()
      ->check(not_empty())
      ->type_name("TEXT");
  add_actor_options(*verb, *retried);
  add_role_option(*verb, *retried);
  verb->footer("Example:\n  pawl dead retry --machine order --reason 'the bank is back'");
  auto discarded = std::make_shared<DeadOptions>();
  verb =
      add_dead_verb(*dead, action, "discard",
                    "Discard dead letters: they end in the state `discarded`", discarded, discard);
  verb->add_flag("--all", discarded->all, "all dead letters");
  add_actor_options(*verb, *discarded);
  add_role_option(*verb, *discarded);
  verb->footer("Example:\n  pawl dead discard --fingerprint 412d0d91b8f3d20a --dry-run");
  dead->footer(
      "Example:\n  pawl dead list --grouped\n"
      "  pawl dead retry --machine order --reason 'the bank is back'");
}

}  // namespace pawl::cli
