// What `pawl serve` is told: by a file, the environment and flags, from one table of keys. A flag
// goes before the environment, and that before the file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/listen_address.h"
#include "cli/serve_log.h"
#include "model/reader.h"
#include "outside/channels.h"
#include "outside/door.h"
#include "pawl/diagnostic.h"
#include "pawl/time.h"
#include "server/server.h"

namespace pawl::cli {

// A channel as the administrator has it.
struct ChannelConfig {
  enum class Kind { none, log, webhook, alert, mail, exec };

  Kind kind = Kind::none;
  Target target = {};
  std::optional<Secret> key = {};  // of a webhook, an alert or a mail (its password)
  AlertSettings::Service service = AlertSettings::Service::slack;
  MailSettings mail = {};
  ExecSettings exec = {};
  bool is_ordered = false;
  Position at = {};
};

struct ServeConfig {
  std::string directory;  // empty: it was not said; see directory_of
  ListenAddress listen = {};
  std::string tls_certificate;
  std::string tls_key;
  bool insecure_listen = false;
  bool in_memory = false;
  std::string virtual_clock;
  Duration grace = std::chrono::seconds{10};
  int task_threads = 16;
  int rate_per_token = ServerOptions{}.rate_per_token;
  std::size_t body_max = HttpOptions{}.body_max;  // bytes of a request
  std::vector<std::string> apply;
  std::vector<std::string> pipes;
  std::vector<std::string> log_channels;
  std::string alerts;
  ServeLog::Format log_format = ServeLog::Format::human;
  ServeLog::Level log_level = ServeLog::Level::info;
  DoorOptions outside;
  std::map<std::string, ChannelConfig> channels;
};

// Where the records are; empty: in memory. Fails where both are asked for.
Result<std::string> directory_of(const ServeConfig& config);

const Keys<ServeConfig>& serve_keys();

// Reads a file of configuration into it; what is wrong is in the diagnostics.
void read_config_file(std::string_view text, ServeConfig& into, Diagnostics& diagnostics);

// One key by its words: those of a flag, or the value of an environment variable.
Result<void> read_config_value(const KeyOf<ServeConfig>& key, const std::vector<std::string>& words,
                               ServeConfig& into);

// `listen` -> `PAWL_LISTEN`, `--listen`. Empty for what only a file can say.
std::string environment_name(const Key& key);
std::string flag_name(const Key& key);

// Those of the table that the environment says.
Result<void> read_environment(const std::function<const char*(const char*)>& environment,
                              ServeConfig& into);

// Fails at a variable (NAME=VALUE) that begins with PAWL_ and that nobody reads: it is none of the
// table, of clients, of what workers and channels run, and no secret of the configuration nor one
// of these. Those that Kubernetes makes of services whose names begin with `pawl` are left alone.
Result<void> check_variables(const std::vector<std::string>& variables, const ServeConfig& config,
                             const std::vector<std::string>& secrets = {});

// The channels, `log` ones by `write`. What is missing of one is an error that names it.
Result<Channels> channels_of(const ServeConfig& config, const Door& door,
                             const std::function<void(const std::string&)>& write);

}  // namespace pawl::cli
