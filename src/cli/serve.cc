// pawl serve: the engine as a server.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/serve_config.h"
#include "cli/verb.h"
#include "outside/http_task.h"
#include "server/server.h"

namespace pawl::cli {
namespace {

constexpr std::size_t kLoggedPathMax = 200;  // bytes

// What flags say, by the table of keys.
struct ServeFlags {
  std::string config;
  std::map<const KeyOf<ServeConfig>*, std::vector<std::string>> values;
  std::map<const KeyOf<ServeConfig>*, bool> switches;
};

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

// `127.0.0.1:7295` or `[::1]:7295`.
Result<void> read_listen(const std::string& text, HttpOptions& http) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos ? std::nullopt : parse_whole(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65'535)
    return Error{ErrorCode::bad_input,
                 in_quotes(text) + " is not ADDRESS:PORT, as in 127.0.0.1:7295"};
  http.address = text.substr(0, colon);
  if (http.address.starts_with('[') && http.address.ends_with(']'))
    http.address = http.address.substr(1, http.address.size() - 2);
  http.port = static_cast<std::uint16_t>(*port);
  return {};
}

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

Instant clock_now() { return std::chrono::floor<Duration>(std::chrono::system_clock::now()); }

Result<ServerOptions> server_options(const ServeConfig& config, const Door& door, ServeLog& log,
                                     std::mutex& output, const Surroundings& surroundings) {
  ServerOptions server;
  PAWL_CHECK(read_listen(config.listen, server.http));
  if (config.tls_certificate.empty() != config.tls_key.empty())
    return Error{ErrorCode::bad_input, "give --tls-certificate and --tls-key, or neither"};
  server.http.certificate = config.tls_certificate;
  server.http.private_key = config.tls_key;
  if (!is_loopback(server.http.address) && config.tls_certificate.empty() &&
      !config.insecure_listen)
    return Error{ErrorCode::bad_input,
                 "access tokens would cross the network in the clear: give --tls-certificate and "
                 "--tls-key, or --insecure-listen where something else encrypts"};
  server.rate_per_token = config.rate_per_token;
  if (!config.in_memory) server.engine.directory = config.directory;
  if (!config.virtual_clock.empty()) {
    if (!config.in_memory)
      return Error{ErrorCode::bad_input,
                   "--virtual-clock needs --memory: records on a disk would be of a time that "
                   "never was"};
    PAWL_TRY(server.engine.virtual_clock, parse_instant(config.virtual_clock));
  }
  PAWL_TRY(server.engine.channels, channels_of(config, door, [&](const std::string& line) {
             const std::lock_guard lock(output);
             surroundings.err << line << std::endl;
           }));
  if (!config.alerts.empty() && !server.engine.channels.contains(config.alerts))
    return Error{ErrorCode::bad_input, "`alerts` names the channel " + in_ticks(config.alerts) +
                                           ", which is not one of `channels` or `log_channel`"};
  for (const auto& [name, channel] : config.channels)
    if (channel.is_ordered) server.engine.ordered_channels.insert(name);
  server.engine.http = http_task(door);
  server.engine.task_threads = config.task_threads;
  server.engine.noted = [&log](Instant now, const std::string& note) {
    log.write(ServeLog::Level::warn, now, "note", {{"text", note}});
  };
  server.engine.on_notice = [&log](const Notice& notice) { log.write(notice); };
  server.on_denied = [&log](const ServerOptions::Denial& denial) {
    std::vector<ServeLog::Field> fields{{"method", denial.method},
                                        {"path", denial.path.substr(0, kLoggedPathMax)},
                                        {"error", denial.id}};
    if (!denial.actor.empty()) fields.push_back({"actor", denial.actor});
    log.write(ServeLog::Level::warn, clock_now(), "denied", fields);
  };
  server.is_ready = false;  // not before the machines are applied
  return server;
}

ExitCode apply_files(Engine& engine, const std::vector<std::string>& paths, ServeLog& log,
                     const Surroundings& surroundings) {
  std::vector<MachineText> files;
  for (const std::string& path : paths) {
    auto text = read_text_file(path);
    if (!text) return report(text.error(), "", "", surroundings.err);
    files.push_back({path, *std::move(text)});
  }
  if (files.empty()) return ExitCode::ok;
  const auto applied = engine.apply(files, {});
  if (!applied) return report(applied.error(), "", "", surroundings.err);
  std::size_t warnings = 0;
  for (const AppliedMachine& one : applied->machines) {
    std::vector<Diagnostic> told;
    for (const Diagnostic& finding : one.findings) {
      const bool is_shown = finding.severity == Diagnostic::Severity::error ||
                            finding.id == "unknown_function";  // which `validate` cannot know
      if (is_shown) told.push_back(finding);
      if (!is_shown) ++warnings;
    }
    report_findings(one.path, one.text, told, surroundings);
  }
  if (warnings > 0)
    log.write(ServeLog::Level::warn, clock_now(), "machines",
              {{"warnings", std::to_string(warnings), true}, {"shown_by", "pawl validate FILE"}});
  return applied->is_good() ? ExitCode::ok : ExitCode::wrong;
}

// As many open files as the connections that are taken need, where the system lets it.
void raise_open_files(std::size_t connections_max) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = connections_max + 200;  // those of the store, and of what it calls
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(wanted, limit.rlim_max));
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Signals are taken by this thread alone, once it waits for them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set_, one);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~Signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int wait() const {
    int given = 0;
    sigwait(&set_, &given);
    return given;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

ExitCode serve(const ServeFlags& flags, const Surroundings& surroundings) {
  ServeConfig config;
  if (const ExitCode code = read_config(flags, config, surroundings); code != ExitCode::ok)
    return code;
  const Signals signals;  // before there are other threads
  std::mutex output;
  const Door door(config.outside);
  ServeLog log(surroundings.err, output, config.log_format, config.log_level);
  const auto refuse = [&](const Error& error) {
    std::ostringstream said;
    const ExitCode code = report(error, "", "", said);
    if (config.log_format == ServeLog::Format::json) {
      log.write(ServeLog::Level::error, clock_now(), "refused_start", {{"text", error.message}});
    } else {
      const std::lock_guard lock(output);
      surroundings.err << said.str() << std::flush;
    }
    return code;
  };
  auto prepared = server_options(config, door, log, output, surroundings);
  if (!prepared) return refuse(prepared.error());
  raise_open_files(prepared->http.connections_max);
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
             {"records", config.in_memory ? "in memory" : config.directory},
             {"process", std::to_string(getpid()), true}});
  Server& server = **opened;
  const ExitCode applied = apply_files(server.engine(), config.apply, log, surroundings);
  if (applied != ExitCode::ok) {
    if (config.log_format == ServeLog::Format::json)
      log.write(ServeLog::Level::error, clock_now(), "refused_start",
                {{"text", "the machine files could not be applied"}});
    return applied;
  }
  if (const auto set = server.engine().set_alerts(config.alerts); !set) return refuse(set.error());
  const auto token = server.first_token();  // once nothing can go wrong any more
  if (!token) return refuse(token.error());
  server.set_ready();
  log.write(ServeLog::Level::info, clock_now(), "ready",
            {{"port", std::to_string(server.port()), true},
             {"tls", server.has_tls() ? "true" : "false", true}});
  {
    const std::lock_guard lock(output);
    surroundings.out << "pawl serves " << (config.in_memory ? "from memory" : config.directory)
                     << " at " << (server.has_tls() ? "https://" : "http://")
                     << config.listen.substr(0, config.listen.rfind(':')) << ':' << server.port()
                     << '\n';
    if (*token)
      surroundings.out << "access token, shown this once (role admin): " << **token << '\n';
    surroundings.out << std::flush;
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
  server.shut_down(std::chrono::duration_cast<std::chrono::milliseconds>(config.grace));
  log.write(ServeLog::Level::info, clock_now(), "stopped", {});
  if (stopped) return report(*stopped, "", "", surroundings.err);
  return ExitCode::ok;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  CLI::App* verb = app.add_subcommand("serve", "Serve records over HTTP");
  verb->add_option("--config", flags->config,
                   "a file with these keys and more (docs/reference/server.md)")
      ->type_name("FILE");
  for (const KeyOf<ServeConfig>& key : serve_keys().keys) {
    const std::string name = flag_name(key.key);
    const std::string says(key.key.doc);
    if (name.empty()) continue;
    if (key.key.shape == Shape::boolean) {
      verb->add_flag(name, flags->switches[&key], says);
    } else if (key.key.shape == Shape::names) {
      verb->add_option(name, flags->values[&key], says + "; may be repeated")
          ->allow_extra_args(false);
    } else {
      verb->add_option(name, flags->values[&key], says)->expected(1);
    }
  }
  verb->footer("Example:\n  pawl serve --dir /var/lib/pawl --apply machines/parcel.yaml");
  verb->callback([flags, &action] {
    action = [flags](const Surroundings& surroundings) { return serve(*flags, surroundings); };
  });
}

}  // namespace pawl::cli
