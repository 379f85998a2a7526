// pawl serve: the engine as a server.
#include <unistd.h>

#include <csignal>
#include <memory>
#include <mutex>
#include <ostream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/verb.h"
#include "server/server.h"

namespace pawl::cli {
namespace {

struct ServeOptions {
  std::string directory = "pawl-data";
  std::string listen = "127.0.0.1:7295";
  std::string certificate;
  std::string private_key;
  std::string virtual_clock;
  std::vector<std::string> apply;
  std::vector<std::string> log_channels;
  std::string grace = "10s";
  bool in_memory = false;
  bool insecure = false;
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

Result<ServerOptions> server_options(const ServeOptions& options, std::mutex& output,
                                     const Surroundings& surroundings) {
  ServerOptions server;
  PAWL_CHECK(read_listen(options.listen, server.http));
  if (options.certificate.empty() != options.private_key.empty())
    return Error{ErrorCode::bad_input, "give --tls-certificate and --tls-key, or neither"};
  server.http.certificate = options.certificate;
  server.http.private_key = options.private_key;
  if (!is_loopback(server.http.address) && options.certificate.empty() && !options.insecure)
    return Error{ErrorCode::bad_input,
                 "access tokens would cross the network in the clear: give --tls-certificate and "
                 "--tls-key, or --insecure-listen where something else encrypts"};
  if (!options.in_memory) server.engine.directory = options.directory;
  if (!options.virtual_clock.empty()) {
    if (!options.in_memory)
      return Error{ErrorCode::bad_input,
                   "--virtual-clock needs --memory: records on a disk would be of a time that "
                   "never was"};
    PAWL_TRY(server.engine.virtual_clock, parse_instant(options.virtual_clock));
  }
  for (const std::string& name : options.log_channels)
    server.engine.channels[name] = log_channel([&](const std::string& line) {
      const std::lock_guard lock(output);
      surroundings.err << line << std::endl;
    });
  server.engine.noted = [&](Instant now, const std::string& note) {
    const std::lock_guard lock(output);
    surroundings.err << to_text(now) << " note: " << printable(note) << std::endl;
  };
  return server;
}

ExitCode apply_files(Engine& engine, const std::vector<std::string>& paths,
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
  for (const AppliedMachine& one : applied->machines)
    report_findings(one.path, one.text, one.findings, surroundings);
  return applied->is_good() ? ExitCode::ok : ExitCode::wrong;
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

ExitCode serve(const ServeOptions& options, const Surroundings& surroundings) {
  const auto grace = parse_duration(options.grace);
  if (!grace) return report(grace.error(), "--grace", "", surroundings.err);
  const Signals signals;  // before there are other threads
  std::mutex output;
  auto prepared = server_options(options, output, surroundings);
  if (!prepared) return report(prepared.error(), "", "", surroundings.err);
  // The engine tells the thread that waits below; SIGUSR1 is nobody else's here.
  std::optional<Error> stopped;
  prepared->engine.on_stopped = [&](const Error& error) {
    const std::lock_guard lock(output);
    stopped = error;
    kill(getpid(), SIGUSR1);
  };
  const auto opened = Server::open(*std::move(prepared));
  if (!opened) return report(opened.error(), "", "", surroundings.err);
  Server& server = **opened;
  const ExitCode applied = apply_files(server.engine(), options.apply, surroundings);
  if (applied != ExitCode::ok) return applied;
  {
    const std::lock_guard lock(output);
    surroundings.out << "pawl serves " << (options.in_memory ? "from memory" : options.directory)
                     << " at " << (server.has_tls() ? "https://" : "http://")
                     << options.listen.substr(0, options.listen.rfind(':')) << ':' << server.port()
                     << '\n';
    if (server.first_token())
      surroundings.out << "access token, shown this once (role admin): " << *server.first_token()
                       << '\n';
    surroundings.out << std::flush;
  }
  for (;;) {
    const int given = signals.wait();
    if (given == SIGHUP) {
      if (const auto loaded = server.reload(); !loaded)
        report(loaded.error(), "", "", surroundings.err);
      continue;
    }
    if (given != SIGUSR1) break;
    const std::lock_guard lock(output);
    if (stopped) break;
  }
  server.shut_down(std::chrono::duration_cast<std::chrono::milliseconds>(*grace));
  if (stopped) return report(*stopped, "", "", surroundings.err);
  return ExitCode::ok;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* verb = app.add_subcommand("serve", "Serve records over HTTP");
  verb->add_option("--dir", options->directory, "the directory of the records; made when missing")
      ->capture_default_str()
      ->type_name("DIR");
  verb->add_option("--listen", options->listen, "where")
      ->capture_default_str()
      ->type_name("ADDRESS:PORT");
  verb->add_option("--tls-certificate", options->certificate,
                   "the chain (PEM); read again on SIGHUP")
      ->type_name("FILE");
  verb->add_option("--tls-key", options->private_key, "its private key (PEM)")->type_name("FILE");
  verb->add_flag("--insecure-listen", options->insecure, "beyond loopback without TLS");
  verb->add_option("--apply", options->apply,
                   "machine files, applied at the start; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FILE");
  verb->add_option("--log-channel", options->log_channels,
                   "a channel whose deliveries are lines on standard error; may be repeated")
      ->allow_extra_args(false)
      ->type_name("CHANNEL");
  verb->add_option("--grace", options->grace, "for what was asked before it is told to end")
      ->capture_default_str()
      ->type_name("DURATION");
  verb->add_flag("--memory", options->in_memory, "nothing is kept: for tests");
  verb->add_option("--virtual-clock", options->virtual_clock,
                   "a clock that stands until it is moved: for tests")
      ->type_name("INSTANT");
  verb->footer("Example:\n  pawl serve --dir /var/lib/pawl --apply machines/parcel.yaml");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return serve(*options, surroundings); };
  });
}

}  // namespace pawl::cli
