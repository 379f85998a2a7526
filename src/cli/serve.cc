// pawl serve: the engine as a server.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/listening.h"
#include "cli/machine_files.h"
#include "cli/pipe_verbs.h"
#include "cli/serve_config.h"
#include "cli/signals.h"
#include "cli/verb.h"
#include "outside/http_task.h"
#include "server/server.h"

namespace pawl::cli {
namespace {

// What flags say, by the table of keys.
struct ServeFlags {
  std::string config;
  std::map<const KeyOf<ServeConfig>*, std::vector<std::string>> values;
  std::map<const KeyOf<ServeConfig>*, bool> switches;
};

// Everything that was said, the later ones over the earlier ones.
ExitCode read_config(const ServeFlags& flags, ServeConfig& config,
                     const Surroundings& surroundings) {
  if (!flags.config.empty()) {
    const auto text = read_text_file(flags.config);
    if (!text) return report(text.error(), "", "", surroundings.err);
    Diagnostics diagnostics;
    read_config_file(*text, config, diagnostics);
    report_findings(flags.config, *text, diagnostics.sorted(), surroundings);
    if (diagnostics.has_errors()) return ExitCode::wrong;
  }
  if (const auto read = read_environment(std::getenv, config); !read)
    return report(read.error(), "", "", surroundings.err);
  for (const KeyOf<ServeConfig>& key : serve_keys().keys) {
    std::vector<std::string> words;
    if (const auto given = flags.values.find(&key); given != flags.values.end())
      words = given->second;
    if (const auto given = flags.switches.find(&key);
        given != flags.switches.end() && given->second)
      words = {"true"};
    if (words.empty()) continue;
    if (const auto read = read_config_value(key, words, config); !read)
      return report(read.error(), flag_name(key.key), "", surroundings.err);
  }
  return ExitCode::ok;
}

Result<ServerOptions> server_options(const ServeConfig& config, const Door& door, ServeLog& log,
                                     std::mutex& output, const Surroundings& surroundings) {
  ServerOptions server;
  PAWL_CHECK(listen_at({.address = config.listen,
                        .tls_certificate = config.tls_certificate,
                        .tls_key = config.tls_key,
                        .is_insecure = config.insecure_listen},
                       log, server));
  server.rate_per_token = config.rate_per_token;
  server.http.body_max = config.body_max;
  PAWL_TRY(server.engine.directory, directory_of(config));
  if (!config.virtual_clock.empty()) {
    if (!config.in_memory)
      return Error{
          ErrorCode::bad_input,
          "--virtual-clock needs --memory: records on disk would carry times that never were"};
    PAWL_TRY(server.engine.virtual_clock, parse_instant(config.virtual_clock));
  }
  PAWL_TRY(server.engine.channels, channels_of(config, door, [&](const std::string& line) {
             const std::lock_guard lock(output);
             surroundings.err << line << std::endl;
           }));
  if (!config.alerts.empty() && !server.engine.channels.contains(config.alerts))
    return Error{ErrorCode::bad_input, "`alerts` names the channel " + in_ticks(config.alerts) +
                                           ", which is not in `channels` or `log_channel`"};
  for (const auto& [name, channel] : config.channels)
    if (channel.is_ordered) server.engine.ordered_channels.insert(name);
  server.engine.http = http_task(door);
  server.engine.task_threads = config.task_threads;
  server.engine.noted = [&log](Instant now, const std::string& note) {
    log.write(ServeLog::Level::warn, now, "note", {{"text", note}});
  };
  server.engine.on_notice = [&log](const Notice& notice) { log.write(notice); };
  server.is_ready = false;  // not before the machines are applied and the pipes are open
  return server;
}

// A variable that nobody reads is one that is misspelt; those of secrets are read later.
Result<void> check_environment(const ServeConfig& config, const std::vector<PipeToRun>& pipes) {
  std::vector<std::string> variables;
  for (char** one = environ; *one != nullptr; ++one) variables.emplace_back(*one);
  std::vector<std::string> secrets;
  for (const PipeToRun& pipe : pipes)
    for (std::string& name : secret_variables(pipe.config)) secrets.push_back(std::move(name));
  return check_variables(variables, config, secrets);
}

// What there is to say besides the log's own events: lines of the log where these are JSON, else in
// the words of every verb.
class Teller {
 public:
  Teller(ServeLog& log, std::mutex& output, bool is_json, const Surroundings& surroundings)
      : log_(log), output_(output), is_json_(is_json), surroundings_(surroundings) {}

  ExitCode fail(std::string_view event, const Error& error) {
    std::ostringstream said;
    const ExitCode code = report(error, "", "", said);
    if (is_json_) {
      log_.write(Level::error, clock_now(), event, {{"text", error.message}});
    } else {
      const std::lock_guard lock(output_);
      surroundings_.err << said.str() << std::flush;
    }
    return code;
  }

  // As cli::read_pipes; what is wrong is one line where lines are JSON.
  ExitCode read_pipes(const std::vector<std::string>& files, std::vector<PipeToRun>& into) {
    std::ostringstream said;
    const Surroundings aside{.out = said, .err = said, .now = surroundings_.now};
    const ExitCode code = cli::read_pipes(files, into, is_json_ ? aside : surroundings_);
    if (!said.str().empty())
      log_.write(code == ExitCode::ok ? Level::warn : Level::error, clock_now(),
                 code == ExitCode::ok ? "pipes" : "refused_start", {{"text", said.str()}});
    return code;
  }

  void tell(const AppliedMachine& file, const std::vector<Diagnostic>& findings) {
    if (!is_json_) {
      const std::lock_guard lock(output_);
      return report_findings(file.path, file.text, findings, surroundings_);
    }
    for (const Diagnostic& finding : findings)
      log_.write(finding.severity == Diagnostic::Severity::error ? Level::error : Level::warn,
                 clock_now(), "finding",
                 {{"file", file.path},
                  {"line", std::to_string(finding.position.line), true},
                  {"column", std::to_string(finding.position.column), true},
                  {"id", std::string(finding.id)},
                  {"text", finding.message}});
  }

 private:
  using Level = ServeLog::Level;

  ServeLog& log_;
  std::mutex& output_;
  bool is_json_;
  const Surroundings& surroundings_;
};

Result<std::vector<MachineText>> read_files(const std::vector<std::string>& paths) {
  std::vector<MachineText> files;
  for (const std::string& path : paths) {
    PAWL_TRY(std::string text, read_text_file(path));
    files.push_back({path, std::move(text)});
  }
  return files;
}

// What is wrong with the files is told; the error says that something is.
Result<void> apply_files(Engine& engine, const std::vector<std::string>& paths, ServeLog& log,
                         Teller& teller) {
  if (paths.empty()) return {};
  PAWL_TRY(const auto files, read_files(paths));
  PAWL_TRY(const auto applied, engine.apply(files, {.by = "pawl serve"}));
  std::size_t warnings = 0;
  for (const AppliedMachine& one : applied.machines) {
    std::vector<Diagnostic> told;
    for (const Diagnostic& finding : one.findings) {
      const bool is_shown = finding.severity == Diagnostic::Severity::error ||
                            finding.id == "unknown_function";  // which `validate` cannot know
      if (is_shown) told.push_back(finding);
      if (!is_shown) ++warnings;
    }
    teller.tell(one, told);
  }
  if (warnings > 0)
    log.write(ServeLog::Level::warn, clock_now(), "machines",
              {{"warnings", std::to_string(warnings), true}, {"shown_by", "pawl validate FILE"}});
  if (applied.is_good()) return {};
  return Error{ErrorCode::bad_input, "the machine files could not be applied"};
}

ExitCode serve(const ServeFlags& flags, const Surroundings& surroundings) {
  ServeConfig config;
  if (const ExitCode code = read_config(flags, config, surroundings); code != ExitCode::ok)
    return code;
  const Signals signals;  // before there are other threads
  std::mutex output;
  const Door door(config.outside);
  ServeLog log(surroundings.err, output, config.log_format, config.log_level);
  Teller teller(log, output, config.log_format == ServeLog::Format::json, surroundings);
  const auto refuse = [&](const Error& error) { return teller.fail("refused_start", error); };
  std::vector<PipeToRun> to_run;
  if (const ExitCode code = teller.read_pipes(config.pipes, to_run); code != ExitCode::ok)
    return code;
  if (const auto checked = check_environment(config, to_run); !checked)
    return refuse(checked.error());
  RunningPipes pipes;  // outlives the server
  auto prepared = server_options(config, door, log, output, surroundings);
  if (!prepared) return refuse(prepared.error());
  prepared->pipes = &pipes;
  const std::string directory = prepared->engine.directory;
  // The engine tells the thread that waits below; SIGUSR1 is nobody else's here.
  std::optional<Error> stopped;
  prepared->engine.on_stopped = [&](const Error& error) {
    const std::lock_guard lock(output);
    stopped = error;
    kill(getpid(), SIGUSR1);
  };
  const auto opened = Server::open(*std::move(prepared));
  if (!opened) return refuse(opened.error());
  log.write(ServeLog::Level::info, clock_now(), "start",
            {{"version", PAWL_VERSION},
             {"records", directory.empty() ? "in memory" : directory},
             {"process", std::to_string(getpid()), true}});
  Server& server = **opened;
  if (const auto applied = apply_files(server.engine(), config.apply, log, teller); !applied)
    return refuse(applied.error());
  if (const auto set = server.engine().set_alerts(config.alerts); !set) return refuse(set.error());
  if (const auto started = start_pipes(std::move(to_run), pipes, log); !started)
    return refuse(started.error());
  const auto token = server.first_token();  // once nothing can go wrong any more
  if (!token) return refuse(token.error());
  server.set_ready();
  log.write(ServeLog::Level::info, clock_now(), "ready",
            {{"port", std::to_string(server.port()), true},
             {"tls", server.has_tls() ? "true" : "false", true}});
  {
    const std::lock_guard lock(output);
    say_where(server, config.listen, directory.empty() ? "from memory" : directory, *token,
              surroundings.out);
  }
  for (;;) {
    const int given = signals.wait();
    if (given == SIGHUP) {
      if (const auto loaded = server.reload(); !loaded) {
        log.write(ServeLog::Level::error, clock_now(), "reload",
                  {{"text", loaded.error().message}});
      } else {
        log.write(ServeLog::Level::info, clock_now(), "reload", {});
      }
      continue;
    }
    if (given != SIGUSR1) break;
    const std::lock_guard lock(output);
    if (stopped) break;
  }
  log.write(ServeLog::Level::info, clock_now(), "stop",
            {{"because", stopped ? "the store has stopped" : "of a signal"},
             {"grace", to_text(config.grace)}});
  std::thread stopping([&] { pipes.stop(config.grace); });
  server.shut_down(std::chrono::duration_cast<std::chrono::milliseconds>(config.grace));
  stopping.join();
  const ExitCode code = stopped ? teller.fail("store_stopped", *stopped) : ExitCode::ok;
  log.write(ServeLog::Level::info, clock_now(), "stopped", {});
  return code;
}

// What the help says that a flag takes.
std::string placeholder(const Key& key) {
  static const std::map<std::string_view, const char*> words{
      {"dir", "DIR"},          {"listen", "ADDRESS:PORT"}, {"tls_certificate", "FILE"},
      {"tls_key", "FILE"},     {"apply", "FILE"},          {"pipes", "FILE"},
      {"alerts", "CHANNEL"},   {"log_channel", "CHANNEL"}, {"log_format", "FORMAT"},
      {"log_level", "LEVEL"},  {"grace", "DURATION"},      {"task_threads", "N"},
      {"rate_per_token", "N"}, {"body_max", "SIZE"},       {"virtual_clock", "INSTANT"}};
  const auto word = words.find(key.name);
  return word != words.end() ? word->second : "TEXT";
}

}  // namespace

void add_serve(Command& app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  Command* verb = app.add_subcommand("serve", "Run the server: the engine with an HTTP API");
  verb->add_option("--config", flags->config,
                   "configuration file with these keys and more (docs/reference/server.md)")
      ->type_name("FILE");
  for (const KeyOf<ServeConfig>& key : serve_keys().keys) {
    const std::string name = flag_name(key.key);
    const std::string says(key.key.doc);
    if (name.empty()) continue;
    if (key.key.shape == Shape::boolean) {
      verb->add_flag(name, flags->switches[&key], says);
    } else if (key.key.shape == Shape::names) {
      verb->add_option(name, flags->values[&key], says + "; may be repeated")
          ->allow_extra_args(false)
          ->type_name(placeholder(key.key));
    } else {
      verb->add_option(name, flags->values[&key], says)
          ->expected(1)
          ->type_name(placeholder(key.key));
    }
  }
  verb->footer("Example:\n  pawl serve --dir /var/lib/pawl --apply machines/parcel.yaml");
  verb->callback([flags, &action] {
    action = [flags](const Surroundings& surroundings) { return serve(*flags, surroundings); };
  });
}

}  // namespace pawl::cli
