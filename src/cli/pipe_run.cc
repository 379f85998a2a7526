// pawl pipe FILE…: from Kafka's topics into a search engine, until it is told to stop.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <ostream>
#include <vector>

#include "cli/listening.h"
#include "cli/machine_files.h"
#include "cli/pipe_verbs.h"
#include "cli/serve_log.h"
#include "cli/signals.h"
#include "pipe/kafka.h"
#include "pipe/pipe_file.h"
#include "pipe/search_cluster.h"
#include "server/server.h"

namespace pawl::cli {
namespace {

// For those who ask while it ends.
constexpr std::chrono::milliseconds kAnswersWithin{1'000};

struct PipeFlags {
  std::vector<std::string> files;
  bool as_json = false;
  std::string listen;  // empty: nowhere
  Listening listening;
  std::string token_file;
};

}  // namespace

ExitCode read_pipe_file(const std::string& path, PipeConfig& into,
                        const Surroundings& surroundings) {
  const auto text = read_text_file(path);
  if (!text) return report(text.error(), "", "", surroundings.err);
  Diagnostics diagnostics;
  auto config = read_pipe(*text, diagnostics);
  report_findings(path, *text, diagnostics.sorted(), surroundings);
  if (!config) return ExitCode::wrong;
  if (const auto transform = Transform::make(config->transform); !transform)
    return report(transform.error(), path, *text, surroundings.err);
  into = *std::move(config);
  return ExitCode::ok;
}

// A machine file stands beside the file of the pipe, unless its path says otherwise.
ExitCode read_pipe_machine(const std::string& pipe_path, const std::string& path,
                           std::shared_ptr<const PipeMachine>& into,
                           const Surroundings& surroundings) {
  const auto zones = Zones::open();
  if (!zones) return report(zones.error(), "", "", surroundings.err);
  std::string text(PipeMachine::built_in());
  std::string where = "the built-in machine";
  if (!path.empty()) {
    where = path;
    if (const std::size_t slash = pipe_path.rfind('/');
        slash != std::string::npos && !path.starts_with('/'))
      where = pipe_path.substr(0, slash + 1) + path;
    auto read = read_text_file(where);
    if (!read) return report(read.error(), "", "", surroundings.err);
    text = *std::move(read);
  }
  const auto machine = PipeMachine::read(text, *zones);
  if (!machine) return report(machine.error(), where, text, surroundings.err);
  into = *machine;
  return ExitCode::ok;
}

namespace {

// What can be known before anything is begun: options that librdkafka does not take, secrets and
// certificates that are not there.
ExitCode check_parts(const PipeToRun& pipe, const Surroundings& surroundings) {
  const auto read = read_text_file(pipe.path);
  const std::string text = read ? *read : "";
  if (const auto conf = kafka::make_conf(pipe.config.kafka, {}); !conf)
    return report(conf.error(), pipe.path, text, surroundings.err);
  if (const auto search = SearchCluster::make(pipe.config.search); !search)
    return report(search.error(), pipe.path, text, surroundings.err);
  return ExitCode::ok;
}

}  // namespace

ExitCode read_pipes(const std::vector<std::string>& paths, std::vector<PipeToRun>& into,
                    const Surroundings& surroundings) {
  for (const std::string& path : paths) {
    PipeToRun one{.path = path, .config = {}, .machine = nullptr};
    if (const ExitCode code = read_pipe_file(path, one.config, surroundings); code != ExitCode::ok)
      return code;
    if (const ExitCode code =
            read_pipe_machine(path, one.config.machine, one.machine, surroundings);
        code != ExitCode::ok)
      return code;
    for (const PipeToRun& before : into)
      if (before.config.name == one.config.name)
        return report({ErrorCode::bad_input, "two pipes have the name " + one.config.name +
                                                 "; give one of them another name"},
                      path, "", surroundings.err);
    into.push_back(std::move(one));
  }
  for (const PipeToRun& one : into)
    if (const ExitCode code = check_parts(one, surroundings); code != ExitCode::ok) return code;
  return ExitCode::ok;
}

Result<void> start_pipes(std::vector<PipeToRun> to_run, RunningPipes& pipes, ServeLog& log) {
  const PipeLog said = [&log](bool is_problem, std::string_view event,
                              const std::vector<std::pair<std::string, std::string>>& fields) {
    std::vector<ServeLog::Field> given;
    for (const auto& [name, value] : fields) given.push_back({name, value});
    log.write(is_problem ? ServeLog::Level::warn : ServeLog::Level::info, clock_now(), event,
              given);
  };
  for (PipeToRun& one : to_run) {
    auto opened = pipes.open(std::move(one.config), one.machine, said);
    if (!opened) return Error{opened.error().code, one.path + ": " + opened.error().message};
  }
  return {};
}

std::vector<std::string> secret_variables(const PipeConfig& config) {
  std::vector<std::string> names;
  const auto add = [&](const std::optional<Secret>& secret) {
    if (secret && !secret->variable().empty()) names.emplace_back(secret->variable());
  };
  for (const KafkaConfig::Option& option : config.kafka.options) add(option.secret);
  add(config.search.password);
  add(config.search.api_key);
  return names;
}

namespace {

// For its owner alone, from the first byte on.
Result<void> write_token(const std::string& path, const std::string& token) {
  const Error failed{ErrorCode::environment, "writing the access token to " + path + ": "};
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return Error{failed.code, failed.message + std::strerror(errno)};
  const std::string text = token + "\n";
  const bool is_written =
      fchmod(file, 0600) == 0 && write(file, text.data(), text.size()) == std::ssize(text);
  const int error = errno;
  close(file);
  if (!is_written) return Error{failed.code, failed.message + std::strerror(error)};
  return {};
}

// Pipes alone, seen and steered by the API of an engine without records.
Result<std::unique_ptr<Server>> open_server(const PipeFlags& flags, RunningPipes& pipes,
                                            ServeLog& log) {
  ServerOptions options;
  Listening listening = flags.listening;
  PAWL_TRY(listening.address, parse_listen_address(flags.listen));
  PAWL_CHECK(listen_at(listening, log, options));
  options.is_ready = false;
  options.pipes = &pipes;
  return Server::open(std::move(options));
}

Result<void> tell_where(const PipeFlags& flags, Server& server, std::ostream& out) {
  PAWL_TRY(std::optional<std::string> token, server.first_token());
  if (!flags.token_file.empty() && token) {
    PAWL_CHECK(write_token(flags.token_file, *token));
    token.reset();
  }
  PAWL_TRY(const ListenAddress address, parse_listen_address(flags.listen));
  say_where(server, address, "pipes", token, out);
  if (!flags.token_file.empty())
    out << "access token (role admin) written to " << flags.token_file << '\n' << std::flush;
  return {};
}

ExitCode run_pipes(const PipeFlags& flags, const Surroundings& surroundings) {
  std::vector<PipeToRun> to_run;
  if (const ExitCode code = read_pipes(flags.files, to_run, surroundings); code != ExitCode::ok)
    return code;
  const Signals signals;  // before there are other threads
  std::mutex output;
  ServeLog log(surroundings.err, output,
               flags.as_json ? ServeLog::Format::json : ServeLog::Format::human,
               ServeLog::Level::info);
  const auto refuse = [&](const Error& error) {
    const std::lock_guard lock(output);
    return report(error, "", "", surroundings.err);
  };
  RunningPipes pipes;  // outlives the server
  std::unique_ptr<Server> server;
  if (!flags.listen.empty()) {
    auto opened = open_server(flags, pipes, log);
    if (!opened) return refuse(opened.error());
    server = *std::move(opened);
  }
  if (const auto started = start_pipes(std::move(to_run), pipes, log); !started)
    return refuse(started.error());
  log.write(
      ServeLog::Level::info, clock_now(), "start",
      {{"pipes", std::to_string(pipes.size()), true}, {"process", std::to_string(getpid()), true}});
  if (server) {
    server->set_ready();  // who reads where it listens may ask at once
    const auto told = tell_where(flags, *server, surroundings.out);
    if (!told) return refuse(told.error());
  }
  for (int given = signals.wait(); given == SIGHUP; given = signals.wait()) {
    if (!server) continue;
    if (const auto loaded = server->reload(); !loaded)
      log.write(ServeLog::Level::error, clock_now(), "reload", {{"text", loaded.error().message}});
  }
  pipes.stop();
  if (server) server->shut_down(kAnswersWithin);
  return ExitCode::ok;
}

}  // namespace

void add_pipe_run(Command& pipe, Action& action) {
  auto flags = std::make_shared<PipeFlags>();
  pipe.add_option("file", flags->files, "pipe files (see docs/reference/pipe.md)")
      ->type_name("FILE");
  pipe.add_flag("--json", flags->as_json, "write the log as JSON");
  pipe.add_option("--listen", flags->listen,
                  "serve an HTTP API to monitor and control the pipes (default: none)")
      ->check(not_empty())
      ->type_name("ADDRESS:PORT");
  const auto file = [&](const char* name, std::string& into, const char* says) {
    pipe.add_option(name, into, says)->check(not_empty())->type_name("FILE")->needs("--listen");
  };
  file("--token-file", flags->token_file,
       "write the access token to this file, readable only by its owner, instead of printing it");
  file("--tls-certificate", flags->listening.tls_certificate,
       "the certificate chain (PEM); reloaded on SIGHUP");
  file("--tls-key", flags->listening.tls_key, "its private key (PEM)");
  pipe.add_flag("--insecure-listen", flags->listening.is_insecure,
                "listen beyond loopback without TLS")
      ->needs("--listen");
  pipe.callback([flags, &action, &pipe] {
    if (pipe.got_subcommand()) return;
    action = [flags](const Surroundings& surroundings) {
      if (flags->files.empty()) return report_usage("name a pipe file", "pipe", surroundings.err);
      return run_pipes(*flags, surroundings);
    };
  });
}

}  // namespace pawl::cli
