// pawl pipe check: would these pipes run, and how?
#include <algorithm>
#include <memory>
#include <ostream>
#include <set>
#include <thread>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/pipe_verbs.h"
#include "cli/reply_text.h"
#include "decide/json_edit.h"
#include "pipe/pipe_check.h"
#include "pipe/pipe_codes.h"
#include "pipe/pipe_file.h"
#include "pipe/transform.h"

namespace pawl::cli {
namespace {

constexpr std::size_t kIndicesShown = 10;

struct CheckFlags {
  std::vector<std::string> files;
  std::int64_t messages = 100;
  std::string timeout = "10s";
  bool json = false;
};

// What is wrong in the text of a file.
struct FileFinding {
  std::string path;
  std::string text;  // of the file, for the caret
  std::vector<Diagnostic> findings;
};

// All that is known of one file of a pipe.
struct CheckedPipe {
  std::string path;
  std::optional<Error> unreadable = {};
  std::vector<FileFinding> files = {};  // the pipe's, and its machine's
  std::optional<PipeConfig> config = {};
  std::string machine = {};
  std::optional<PipeCheck> check = {};

  bool is_good() const { return check && check->is_good(); }
};

Diagnostic diagnostic_of(const Error& error) {
  return {Diagnostic::Severity::error, "bad_value", error.position.value_or(Position{}),
          error.message};
}

// A machine file stands beside the file of the pipe, unless its path says otherwise.
std::string beside(const std::string& pipe_path, const std::string& path) {
  const std::size_t slash = pipe_path.rfind('/');
  return slash == std::string::npos || path.starts_with('/')
             ? path
             : pipe_path.substr(0, slash + 1) + path;
}

std::shared_ptr<const PipeMachine> read_machine(const Zones& zones, CheckedPipe& file) {
  std::string text(PipeMachine::built_in());
  std::string where = "the built-in machine";
  if (!file.config->machine.empty()) {
    where = beside(file.path, file.config->machine);
    auto read = read_text_file(where);
    if (!read) {
      file.unreadable = read.error();
      return nullptr;
    }
    text = *std::move(read);
  }
  auto machine = PipeMachine::read(text, zones);
  if (machine) return *std::move(machine);
  file.files.push_back({where, text, {diagnostic_of(machine.error())}});
  return nullptr;
}

// The whole file, its transformation and its machine: what is wrong with all of them.
std::shared_ptr<const PipeMachine> read_all(const Zones& zones, CheckedPipe& file) {
  const auto text = read_text_file(file.path);
  if (!text) {
    file.unreadable = text.error();
    return nullptr;
  }
  Diagnostics diagnostics;
  file.config = read_pipe(*text, diagnostics);
  std::vector<Diagnostic> findings = diagnostics.sorted();
  bool is_good = file.config.has_value();
  if (is_good) {
    if (const auto transform = Transform::make(file.config->transform); !transform) {
      findings.push_back(diagnostic_of(transform.error()));
      is_good = false;
    }
    if (const auto conf = kafka::make_conf(file.config->kafka, {}); !conf) {
      findings.push_back(diagnostic_of(conf.error()));
      is_good = false;
    }
  }
  if (!findings.empty()) file.files.push_back({file.path, *text, std::move(findings)});
  auto machine = file.config ? read_machine(zones, file) : nullptr;
  if (machine != nullptr) {
    const Definition& definition = machine->machine().definition();
    file.machine = definition.machine;
    if (definition.version) file.machine += ", version " + std::to_string(*definition.version);
  }
  return is_good ? machine : nullptr;
}

// --- For people --------------------------------------------------------------------------------

void print_partitions(const PipeCheck& check, std::ostream& out) {
  std::vector<std::vector<std::string>> rows{{"PARTITION", "FIRST", "END", "COMMITTED", "LAG"}};
  for (const TopicFound& topic : check.topics)
    for (const PartitionFound& found : topic.partitions)
      rows.push_back({topic.name + "/" + std::to_string(found.partition),
                      std::to_string(found.ends.low), std::to_string(found.ends.high),
                      found.committed ? std::to_string(*found.committed) : "-",
                      std::to_string(found.lag)});
  if (rows.size() == 1) return;
  out << '\n';
  print_table(std::move(rows), out);
}

std::string action_text(PipeMachine::ItemAction action) {
  switch (action) {
    case PipeMachine::ItemAction::errors:
      return "errors";
    case PipeMachine::ItemAction::drop:
      return "dropped";
    case PipeMachine::ItemAction::again:
      break;
  }
  return "again";
}

std::string failure_text(const std::string& code) {
  return std::to_string(pipe_code::number(code)) + " " + code;
}

void print_dry_run(const DryRun& run, std::ostream& out) {
  if (run.messages == 0) return;
  std::vector<std::vector<std::string>> rows{{"MESSAGES", "OF " + run.topic + " GO TO", "FIRST"}};
  std::vector<std::pair<std::string, std::size_t>> indices(run.indices.begin(), run.indices.end());
  std::stable_sort(indices.begin(), indices.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  for (std::size_t i = 0; i < std::min(indices.size(), kIndicesShown); ++i)
    rows.push_back({std::to_string(indices[i].second), "index " + indices[i].first, ""});
  if (indices.size() > kIndicesShown)
    rows.push_back({"", "and " + std::to_string(indices.size() - kIndicesShown) + " more", ""});
  if (run.skipped > 0) rows.push_back({std::to_string(run.skipped), "nowhere (skipped)", ""});
  for (const auto& [code, failed] : run.failed)
    rows.push_back({std::to_string(failed.messages),
                    action_text(failed.action) + ", " + failure_text(code),
                    failed.first + ": " + failed.reason});
  out << '\n';
  print_table(std::move(rows), out);
}

void print_plan(const PipeConfig& config, const PipeCheck& check, std::ostream& out) {
  const PipePlan& plan = check.plan;
  out << "\nplan\n";
  const auto line = [&](const char* name, const std::string& text) {
    out << "  " << name << ": " << text << '\n';
  };
  line("partitions", check.is_plan_of_kafka
                         ? std::to_string(plan.partitions) +
                               (config.kafka.assignment == KafkaConfig::Assignment::group
                                    ? ", shared with the other members of the group"
                                    : ", all read by this process")
                         : "not known; assuming " + std::to_string(plan.partitions));
  line("threads", counted(plan.workers, "worker") + ", one control thread, and librdkafka's own");
  line("memory", "at most " + size_text(plan.fetch_memory()) + " fetched ahead and " +
                     size_text(plan.batch_memory()) +
                     " in batches (twice that while they are sent)");
  line("batches", "at most " + counted(static_cast<std::size_t>(config.batch.messages), "message") +
                      " or " + size_text(plan.batch_bytes) + ", sent after " +
                      to_text(config.batch.linger) + " at the latest; " +
                      std::to_string(config.batch.in_flight) + " per partition in flight" +
                      (config.batch.in_flight == 1 ? ", in order" : ""));
  line("bulks", "about " + size_text(plan.batch_bytes) +
                    " at most; the search engine has to accept that (`http.max_content_length`)");
  line("window", "starts with " + std::to_string(std::min(2, config.search.bulks_max)) +
                     " bulk requests in flight, grows to " +
                     std::to_string(config.search.bulks_max));
}

void print_check(const CheckedPipe& file, const Surroundings& surroundings) {
  std::ostream& out = surroundings.out;
  if (file.unreadable) report(*file.unreadable, "", "", surroundings.err);
  for (const FileFinding& found : file.files)
    report_findings(found.path, found.text, found.findings, surroundings);
  if (!file.check) {
    out << file.path << ": not checked: the file has errors\n";
    return;
  }
  out << file.path << ": pipe " << printable(file.config->name) << ", machine " << file.machine
      << '\n';
  std::size_t problems = 0;
  std::size_t warnings = 0;
  for (const CheckFinding& finding : file.check->findings) {
    out << to_text(finding.kind) << ": " << printable(finding.about) << ": "
        << printable(finding.text) << '\n';
    if (!finding.remedy.empty()) out << "  " << printable(finding.remedy) << '\n';
    problems += finding.kind == CheckFinding::Kind::problem ? 1U : 0U;
    warnings += finding.kind == CheckFinding::Kind::warning ? 1U : 0U;
  }
  print_partitions(*file.check, out);
  for (const DryRun& run : file.check->dry_runs) print_dry_run(run, out);
  print_plan(*file.config, *file.check, out);
  out << '\n' << file.path << ": " << (problems == 0 ? "ok" : counted(problems, "problem"));
  if (warnings > 0) out << ", " << counted(warnings, "warning");
  out << '\n';
}

// --- As data -----------------------------------------------------------------------------------

template <class Range, class Write>
void append_list(std::string& json, const Range& range, Write write) {
  json += '[';
  bool is_first = true;
  for (const auto& one : range) {
    if (!is_first) json += ',';
    is_first = false;
    write(json, one);
  }
  json += ']';
}

void append_finding(std::string& json, const CheckFinding& finding) {
  JsonMap map(json);
  map.text("kind", to_text(finding.kind));
  map.text("about", finding.about);
  map.text("text", finding.text);
  if (!finding.remedy.empty()) map.text("remedy", finding.remedy);
}

void append_diagnostic(std::string& json, const std::string& path, const Diagnostic& finding) {
  JsonMap map(json);
  map.text("kind", finding.severity == Diagnostic::Severity::error ? "problem" : "warning");
  map.text("about", path);
  map.text("text", finding.message);
  map.text("id", finding.id);
  map.number("line", finding.position.line);
  map.number("column", finding.position.column);
}

void append_topic(std::string& json, const TopicFound& topic) {
  JsonMap map(json);
  map.text("topic", topic.name);
  if (topic.message_bytes_max) map.number("message_bytes_max", *topic.message_bytes_max);
  append_list(map.member("partitions"), topic.partitions,
              [](std::string& out, const PartitionFound& found) {
                JsonMap one(out);
                one.number("partition", found.partition);
                one.number("low", found.ends.low);
                one.number("high", found.ends.high);
                if (found.committed) one.number("committed", *found.committed);
                one.number("lag", found.lag);
              });
}

void append_node(std::string& json, const NodeFound& node) {
  JsonMap map(json);
  map.text("url", node.url);
  if (node.status != 0) map.number("status", node.status);
  if (!node.version.empty()) {
    map.text("distribution", node.distribution);
    map.text("version", node.version);
  }
}

void append_dry_run(std::string& json, const DryRun& run) {
  JsonMap map(json);
  map.text("topic", run.topic);
  map.number("messages", static_cast<std::int64_t>(run.messages));
  map.number("documents", static_cast<std::int64_t>(run.documents));
  map.number("skipped", static_cast<std::int64_t>(run.skipped));
  append_list(map.member("failed"), run.failed, [](std::string& out, const auto& one) {
    JsonMap failed(out);
    failed.number("code", pipe_code::number(one.first));
    failed.text("error", one.first);
    failed.number("messages", static_cast<std::int64_t>(one.second.messages));
    failed.text("action", action_text(one.second.action));
    failed.text("first", one.second.first);
    failed.text("reason", one.second.reason);
  });
  append_list(map.member("indices"), run.indices, [](std::string& out, const auto& one) {
    JsonMap index(out);
    index.text("index", one.first);
    index.number("documents", static_cast<std::int64_t>(one.second));
  });
}

void append_plan(std::string& json, const PipeConfig& config, const PipeCheck& check) {
  const PipePlan& plan = check.plan;
  JsonMap map(json);
  if (check.is_plan_of_kafka) map.number("partitions", static_cast<std::int64_t>(plan.partitions));
  map.number("workers", static_cast<std::int64_t>(plan.workers));
  map.number("fetch_memory", static_cast<std::int64_t>(plan.fetch_memory()));
  map.number("batch_memory", static_cast<std::int64_t>(plan.batch_memory()));
  map.number("batch_bytes", static_cast<std::int64_t>(plan.batch_bytes));
  map.number("batch_messages", config.batch.messages);
  map.number("in_flight", config.batch.in_flight);
  map.number("bulks", config.search.bulks_max);
}

void append_file(std::string& json, const CheckedPipe& file) {
  JsonMap map(json);
  map.text("file", file.path);
  map.boolean("ok", file.is_good());
  if (file.config) map.text("pipe", file.config->name);
  if (!file.machine.empty()) map.text("machine", file.machine);
  if (file.unreadable) map.text("unreadable", file.unreadable->message);
  std::vector<std::string> findings;
  for (const FileFinding& found : file.files)
    for (const Diagnostic& finding : found.findings)
      append_diagnostic(findings.emplace_back(), found.path, finding);
  if (file.check)
    for (const CheckFinding& finding : file.check->findings)
      append_finding(findings.emplace_back(), finding);
  map.json("findings", "[" + join(findings, ",", ",") + "]");
  if (!file.check) return;
  append_list(map.member("brokers"), file.check->brokers,
              [](std::string& out, const std::string& one) { append_json_string(out, one); });
  append_list(map.member("topics"), file.check->topics, append_topic);
  append_list(map.member("search"), file.check->nodes, append_node);
  append_list(map.member("transform"), file.check->dry_runs, append_dry_run);
  append_plan(map.member("plan"), *file.config, *file.check);
}

// -----------------------------------------------------------------------------------------------

ExitCode worst_exit_code(const std::vector<CheckedPipe>& files) {
  for (const CheckedPipe& file : files)
    if (file.unreadable) return exit_code_of(file.unreadable->code);
  return std::all_of(files.begin(), files.end(),
                     [](const CheckedPipe& file) { return file.is_good(); })
             ? ExitCode::ok
             : ExitCode::wrong;
}

ExitCode check_pipes(const CheckFlags& flags, const Surroundings& surroundings) {
  const auto patience = parse_duration(flags.timeout);
  if (!patience || *patience < std::chrono::milliseconds{1})
    return report_usage("--timeout: " + in_quotes(flags.timeout) + " is not a duration such as 10s",
                        "pipe check", surroundings.err);
  const auto zones = Zones::open();
  if (!zones) return report(zones.error(), "", "", surroundings.err);
  const PipeCheckOptions options{
      .messages = flags.messages,
      .patience = std::chrono::ceil<std::chrono::milliseconds>(*patience),
      .now = surroundings.now(),
      .cores = std::thread::hardware_concurrency()};
  std::vector<CheckedPipe> files;
  std::set<std::string> names;
  for (const std::string& path : flags.files) {
    CheckedPipe& file = files.emplace_back(CheckedPipe{.path = path});
    const auto machine = read_all(*zones, file);
    if (machine != nullptr) {
      file.check = check_pipe(*file.config, *machine, options);
      if (!names.insert(file.config->name).second)
        file.check->findings.push_back({CheckFinding::Kind::problem, "pipe",
                                        "two pipes have the name " + file.config->name,
                                        "give one of them another name"});
    }
    if (flags.json) continue;
    if (files.size() > 1) surroundings.out << '\n';
    print_check(file, surroundings);
  }
  if (flags.json) {
    std::string json;
    {
      JsonMap map(json);
      map.boolean("ok", worst_exit_code(files) == ExitCode::ok);
      append_list(map.member("files"), files, append_file);
    }
    surroundings.out << json << '\n';
  }
  return worst_exit_code(files);
}

}  // namespace

void add_pipe_check(Command& pipe, Action& action) {
  auto flags = std::make_shared<CheckFlags>();
  Command* verb = pipe.add_subcommand(
      "check",
      "Check pipes without changing anything: connect to both ends, try the last messages, print "
      "the plan");
  verb->add_option("FILE", flags->files, "pipe files (see docs/reference/pipe.md)")->required();
  verb->add_option("--messages", flags->messages,
                   "how many of the last messages of each topic to try (100)")
      ->check(between(0, 100'000));
  verb->add_option("--timeout", flags->timeout, "how long to wait for an answer (10s)")
      ->check(not_empty());
  verb->add_flag("--json", flags->json, "one JSON object");
  verb->footer("Example:\n  pawl pipe check events.yaml --messages 1000");
  verb->callback([flags, &action] {
    action = [flags](const Surroundings& surroundings) {
      return check_pipes(*flags, surroundings);
    };
  });
}

}  // namespace pawl::cli
