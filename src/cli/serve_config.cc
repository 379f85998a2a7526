#include "cli/serve_config.h"

#include <algorithm>
#include <utility>

#include "base/nearest.h"
#include "base/text.h"
#include "engine/ward.h"
#include "model/tree.h"
#include "pipe/pipe_values.h"

namespace pawl::cli {
namespace {

using ChannelKind = ChannelConfig::Kind;

template <std::string ServeConfig::*member>
void read_text(Reader& reader, const Node& node, ServeConfig& config) {
  reader.text(node, "a text", config.*member);
}

template <bool ServeConfig::*member>
void read_boolean(Reader& reader, const Node& node, ServeConfig& config) {
  reader.boolean(node, config.*member);
}

void read_texts(Reader& reader, const Node& node, std::string_view subject,
                std::vector<std::string>& into) {
  if (!reader.is_list(node, subject)) return;
  for (const Node& item : node.items) reader.text(item, "a text", into.emplace_back());
}

template <std::vector<std::string> ServeConfig::*member>
void read_list(Reader& reader, const Node& node, ServeConfig& config) {
  read_texts(reader, node, "it", config.*member);
}

template <class T, class Parsed>
void take(Reader& reader, const Node& node, Result<Parsed> parsed, T& into) {
  if (parsed) {
    into = *std::move(parsed);
  } else {
    reader.error("bad_setting", node.at, parsed.error().message);
  }
}

void read_duration(Reader& reader, const Node& node, Duration& into) {
  std::string text;
  reader.text(node, "a duration", text);
  if (!text.empty()) take(reader, node, parse_duration(text), into);
}

void read_listen(Reader& reader, const Node& node, ServeConfig& config) {
  if (node.kind != Node::Kind::text) return reader.wrong_kind(node, "ADDRESS:PORT");
  take(reader, node, parse_listen_address(node.text), config.listen);
}

void read_reference(Reader& reader, const Node& node, std::optional<Secret>& into) {
  std::string text;
  reader.text(node, "env:NAME or file:PATH", text);
  take(reader, node, Secret::parse(text), into);
}

// A URL, or where one is that is a secret.
void read_target(Reader& reader, const Node& node, Target& into) {
  std::string text;
  reader.text(node, "a URL", text);
  if (text.starts_with("env:") || text.starts_with("file:")) {
    take(reader, node, Secret::parse(text), into.secret_url);
  } else {
    into.url = text;
  }
}

void read_alert(Reader& reader, const Node& node, ChannelConfig& channel) {
  static constexpr std::string_view kServices[] = {"opsgenie", "pagerduty", "slack"};
  channel.kind = ChannelKind::alert;
  reader.word(node, "a service", kServices, channel.service);
}

const Keys<ChannelConfig>& channel_keys() {
  static const Keys<ChannelConfig> keys{
      "channel",
      "a channel",
      {{{"log", Shape::only_true, "true: print a line of JSON on standard error"},
        [](Reader& r, const Node& n, ChannelConfig& c) {
          if (r.is_true(n)) c.kind = ChannelKind::log;
        }},
       {{"webhook", Shape::text, "the URL to post to, or env:NAME, file:PATH where it is"},
        [](Reader& r, const Node& n, ChannelConfig& c) {
          c.kind = ChannelKind::webhook;
          read_target(r, n, c.target);
        }},
       {{"alert", Shape::word, "opsgenie, pagerduty or slack"}, read_alert},
       {{"mail", Shape::text, "smtp://host:587 or smtps://host"},
        [](Reader& r, const Node& n, ChannelConfig& c) {
          c.kind = ChannelKind::mail;
          r.text(n, "a URL", c.mail.url);
        }},
       {{"exec", Shape::names, "a program and its arguments"},
        [](Reader& r, const Node& n, ChannelConfig& c) {
          c.kind = ChannelKind::exec;
          read_texts(r, n, "`exec`", c.exec.arguments);
        }},
       {{"url", Shape::text, "URL of the alert service, if not the usual one"},
        [](Reader& r, const Node& n, ChannelConfig& c) { read_target(r, n, c.target); }},
       {{"key", Shape::text,
         "env:NAME or file:PATH: the key that signs webhooks or authorises alerts"},
        [](Reader& r, const Node& n, ChannelConfig& c) { read_reference(r, n, c.key); }},
       {{"from", Shape::text, "sender of mails"},
        [](Reader& r, const Node& n, ChannelConfig& c) { r.text(n, "an address", c.mail.from); }},
       {{"to", Shape::names, "recipients of mails"},
        [](Reader& r, const Node& n, ChannelConfig& c) { read_texts(r, n, "`to`", c.mail.to); }},
       {{"user", Shape::text, "user name at the mail server"},
        [](Reader& r, const Node& n, ChannelConfig& c) { r.text(n, "a name", c.mail.user); }},
       {{"password", Shape::text, "env:NAME or file:PATH: password at the mail server"},
        [](Reader& r, const Node& n, ChannelConfig& c) { read_reference(r, n, c.mail.password); }},
       {{"without_tls", Shape::only_true, "true: mails cross the network unencrypted"},
        [](Reader& r, const Node& n, ChannelConfig& c) { c.mail.without_tls = r.is_true(n); }},
       {{"ordered", Shape::only_true,
         "true: deliveries of one record are made one after the other"},
        [](Reader& r, const Node& n, ChannelConfig& c) { c.is_ordered = r.is_true(n); }},
       {{"timeout", Shape::duration, "how long the program may take (30s)"},
        [](Reader& r, const Node& n, ChannelConfig& c) {
          Duration timeout = c.exec.timeout;
          read_duration(r, n, timeout);
          c.exec.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(timeout);
        }}},
      {"log", "webhook", "alert", "mail", "exec"},
      true};
  return keys;
}

const Keys<DoorOptions>& outside_keys() {
  static const Keys<DoorOptions> keys{
      "outside",
      "`outside`",
      {{{"hosts", Shape::names,
         "hosts that `http:` tasks may call: api.example.org, *.example.org:8443"},
        [](Reader& r, const Node& n, DoorOptions& o) { read_texts(r, n, "`hosts`", o.hosts); }},
       {{"networks", Shape::names, "non-public addresses that may be called: 10.1.0.0/16"},
        [](Reader& r, const Node& n, DoorOptions& o) {
          if (!r.is_list(n, "`networks`")) return;
          for (const Node& item : n.items) {
            std::string text;
            r.text(item, "a network", text);
            take(r, item, parse_network(text), o.networks.emplace_back());
          }
        }},
       {{"certificates", Shape::text, "file of CA certificates to trust, instead of the system's"},
        [](Reader& r, const Node& n, DoorOptions& o) { r.text(n, "a file", o.certificates); }}}};
  return keys;
}

void read_channels(Reader& reader, const Node& node, ServeConfig& config) {
  reader.members(node, "`channels`", [&](const Member& member) {
    if (!reader.check_name(member.key, member.key_at, "a channel")) return;
    ChannelConfig& channel = config.channels[member.key];
    channel.at = member.key_at;
    reader.keys(member.value, channel_keys(), channel);
  });
}

// What a key takes, by its words.
Result<Node> node_of(const Key& key, const std::vector<std::string>& words) {
  const auto text_node = [](const std::string& word) {
    Node node;
    node.kind = Node::Kind::text;
    node.text = word;
    node.quoted = true;
    return node;
  };
  Node node = text_node(words.empty() ? "" : words.back());
  if (key.shape == Shape::names) {
    node = {};
    node.kind = Node::Kind::list;
    for (const std::string& word : words) node.items.push_back(text_node(word));
  } else if (key.shape == Shape::boolean) {
    if (node.text != "true" && node.text != "false")
      return Error{ErrorCode::bad_input, "expected true or false, not " + in_quotes(node.text)};
    node.kind = Node::Kind::boolean;
  } else if (key.shape == Shape::positive || key.shape == Shape::natural) {
    node.kind = Node::Kind::number;
  }
  return node;
}

// What a channel of that kind cannot do without.
Result<void> check_complete(const std::string& name, const ChannelConfig& channel) {
  const auto needs = [&](bool has, const char* what) -> Result<void> {
    if (has) return {};
    return Error{ErrorCode::bad_input, "the channel " + in_ticks(name) + " needs " + what,
                 channel.at};
  };
  switch (channel.kind) {
    case ChannelKind::alert:
      if (channel.service == AlertSettings::Service::slack)
        return needs(channel.target.secret_url || !channel.target.url.empty(), "`url`");
      return needs(channel.key.has_value(), "`key`");
    case ChannelKind::mail:
      PAWL_CHECK(needs(!channel.mail.from.empty(), "`from`"));
      PAWL_CHECK(needs(!channel.mail.to.empty(), "`to`"));
      return needs(channel.mail.user.empty() == !channel.mail.password,
                   "`user` and `password`, or neither");
    case ChannelKind::exec:
      return needs(!channel.exec.arguments.empty(), "a program in `exec`");
    case ChannelKind::none:
    case ChannelKind::log:
    case ChannelKind::webhook:
      break;
  }
  return {};
}

// --- variables that nobody reads ---------------------------------------------------------------

constexpr std::string_view kVariablePrefix = "PAWL_";

// What verbs read that use a server.
constexpr std::string_view kOfClients[] = {"PAWL_URL", "PAWL_TOKEN", "PAWL_PROFILE", "PAWL_CA"};

// What the command of a worker and the program of a channel are given: each may start a server.
constexpr std::string_view kOfCommands[] = {
    "PAWL_MACHINE",         "PAWL_KEY",      "PAWL_TASK",          "PAWL_QUEUE",
    "PAWL_ATTEMPT",         "PAWL_FENCE",    "PAWL_ATTEMPT_TOKEN", "PAWL_DEADLINE_AT",
    "PAWL_IDEMPOTENCY_KEY", "PAWL_PROGRESS", "PAWL_DELIVERY",      "PAWL_CHANNEL"};

// What somebody who sets a variable may mean.
std::vector<std::string> meant_variables() {
  std::vector<std::string> names(std::begin(kOfClients), std::end(kOfClients));
  for (const KeyOf<ServeConfig>& key : serve_keys().keys)
    if (std::string name = environment_name(key.key); !name.empty())
      names.push_back(std::move(name));
  return names;
}

void add_secrets(const ServeConfig& config, std::vector<std::string>& names) {
  for (const auto& [name, channel] : config.channels)
    for (const auto& secret : {channel.key, channel.target.secret_url, channel.mail.password})
      if (secret) names.emplace_back(secret->variable());
}

// Of a service `pawl` Kubernetes makes PAWL_SERVICE_HOST, PAWL_SERVICE_PORT, PAWL_PORT=tcp://… and
// PAWL_PORT_7295_TCP_ADDR in every container, and nobody can help it.
bool is_of_a_service(std::string_view name, std::string_view variable) {
  static constexpr std::string_view kParts[] = {"_SERVICE_HOST", "_SERVICE_PORT", "_TCP", "_UDP",
                                                "_SCTP"};
  if (name.ends_with("_PORT") && variable.find("://") != std::string_view::npos) return true;
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

// What is alike in all names does not make them near.
std::string without_prefix(std::string_view name) {
  return std::string(name.substr(kVariablePrefix.size()));
}

Error unknown_variable(const std::string& name, const std::vector<std::string>& meant) {
  const std::string bare = without_prefix(name);
  const auto& keys = serve_keys().keys;
  if (std::any_of(keys.begin(), keys.end(),
                  [&](const KeyOf<ServeConfig>& key) { return to_upper(key.key.name) == bare; }))
    return {ErrorCode::bad_input, name + ": " + in_ticks(to_lower(bare)) +
                                      " can only be set in a file: use --config FILE"};
  std::vector<std::string> words;
  for (const std::string& one : meant) words.push_back(without_prefix(one));
  words = nearest(bare, words);
  for (std::string& word : words) word = std::string(kVariablePrefix) + word;
  return {ErrorCode::bad_input,
          "unknown environment variable " + printable(name) +
              (words.empty() ? ": unset it; docs/reference/server.md lists the known ones"
                             : "; did you mean " + join(words, ", ", " or ") + "?")};
}

}  // namespace

Result<std::string> directory_of(const ServeConfig& config) {
  if (!config.in_memory)
    return config.directory.empty() ? std::string("pawl-data") : config.directory;
  if (config.directory.empty()) return std::string();
  return Error{ErrorCode::bad_input, "`memory` keeps nothing on disk, but `dir` is " +
                                         in_quotes(config.directory) + ": remove one of the two"};
}

const Keys<ServeConfig>& serve_keys() {
  static const Keys<ServeConfig> keys{
      "serve",
      "the configuration",
      {{{"dir", Shape::text, "directory of the records, created if missing (pawl-data)"},
        [](Reader& r, const Node& n, ServeConfig& c) {
          read_plain_text(r, n, "a directory", c.directory);
        }},
       {{"listen", Shape::text, "ADDRESS:PORT to listen on (127.0.0.1:7295)"}, read_listen},
       {{"tls_certificate", Shape::text, "certificate chain (PEM), reloaded on SIGHUP"},
        read_text<&ServeConfig::tls_certificate>},
       {{"tls_key", Shape::text, "private key of the certificate (PEM)"},
        read_text<&ServeConfig::tls_key>},
       {{"insecure_listen", Shape::boolean, "listen beyond loopback without TLS"},
        read_boolean<&ServeConfig::insecure_listen>},
       {{"apply", Shape::names, "machine files to apply at startup"},
        read_list<&ServeConfig::apply>},
       {{"pipes", Shape::names, "pipe files to run in this process"},
        read_list<&ServeConfig::pipes>},
       {{"log_channel", Shape::names, "channels whose deliveries are printed on standard error"},
        read_list<&ServeConfig::log_channels>},
       {{"alerts", Shape::text, "channel to notify when a record is given up"},
        read_text<&ServeConfig::alerts>},
       {{"log_format", Shape::word, "format of the log on standard error: human or json (human)"},
        [](Reader& r, const Node& n, ServeConfig& c) {
          static constexpr std::string_view kFormats[] = {"human", "json"};
          r.word(n, "a format", kFormats, c.log_format);
        }},
       {{"log_level", Shape::word, "lowest level to log: info, warn or error (info)"},
        [](Reader& r, const Node& n, ServeConfig& c) {
          static constexpr std::string_view kLevels[] = {"info", "warn", "error"};
          r.word(n, "a level", kLevels, c.log_level);
        }},
       {{"grace", Shape::duration,
         "on shutdown, how long workers and requests have to finish (10s)"},
        [](Reader& r, const Node& n, ServeConfig& c) { read_duration(r, n, c.grace); }},
       {{"task_threads", Shape::positive,
         "`http:` calls and deliveries to run at once, 1 to 128 (16)"},
        [](Reader& r, const Node& n, ServeConfig& c) {
          constexpr int kMost = static_cast<int>(kTaskThreadsMax);
          c.task_threads = r.integer(n, 1, kMost).value_or(c.task_threads);
        }},
       {{"rate_per_token", Shape::natural,
         "requests per second for each access token; 0: no limit (20000)"},
        [](Reader& r, const Node& n, ServeConfig& c) {
          c.rate_per_token = r.integer(n, 0, 1'000'000).value_or(c.rate_per_token);
        }},
       {{"body_max", Shape::text, "largest request body, 1KiB to 64MiB (8MiB)"},
        [](Reader& r, const Node& n, ServeConfig& c) {
          read_size(r, n, {std::size_t{1} << 10U, std::size_t{64} << 20U}, c.body_max);
        }},
       {{"memory", Shape::boolean, "keep records in memory only: for tests"},
        read_boolean<&ServeConfig::in_memory>},
       {{"virtual_clock", Shape::text,
         "instant of a clock that moves only when told to: for tests"},
        read_text<&ServeConfig::virtual_clock>},
       {{"outside", Shape::values, "hosts and networks that calls and deliveries may reach"},
        [](Reader& r, const Node& n, ServeConfig& c) { r.keys(n, outside_keys(), c.outside); }},
       {{"channels", Shape::values, "channels that machines notify, by name"}, read_channels}}};
  return keys;
}

void read_config_file(std::string_view text, ServeConfig& into, Diagnostics& diagnostics) {
  const auto tree = read_tree(text, diagnostics);
  if (!tree) return;
  Reader reader(diagnostics);
  reader.keys(*tree, serve_keys(), into);
}

Result<void> read_config_value(const KeyOf<ServeConfig>& key, const std::vector<std::string>& words,
                               ServeConfig& into) {
  PAWL_TRY(const Node node, node_of(key.key, words));
  Diagnostics diagnostics;
  Reader reader(diagnostics);
  key.read(reader, node, into);
  if (!diagnostics.has_errors()) return {};
  return Error{ErrorCode::bad_input, diagnostics.sorted().front().message};
}

std::string environment_name(const Key& key) {
  return key.shape == Shape::values ? "" : "PAWL_" + to_upper(key.name);
}

std::string flag_name(const Key& key) {
  if (key.shape == Shape::values) return "";
  std::string name = "--" + std::string(key.name);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

Result<void> read_environment(const std::function<const char*(const char*)>& environment,
                              ServeConfig& into) {
  for (const KeyOf<ServeConfig>& key : serve_keys().keys) {
    const std::string name = environment_name(key.key);
    const char* const value = name.empty() ? nullptr : environment(name.c_str());
    if (value == nullptr) continue;
    std::vector<std::string> words;
    std::string_view rest = value;
    while (key.key.shape == Shape::names && rest.find(',') != std::string_view::npos) {
      words.emplace_back(rest.substr(0, rest.find(',')));
      rest.remove_prefix(rest.find(',') + 1);
    }
    words.emplace_back(rest);
    if (auto read = read_config_value(key, words, into); !read)
      return Error{ErrorCode::bad_input, name + ": " + read.error().message};
  }
  return {};
}

Result<void> check_variables(const std::vector<std::string>& variables, const ServeConfig& config,
                             const std::vector<std::string>& secrets) {
  std::vector<std::string> known = meant_variables();
  const std::vector<std::string> meant = known;
  known.insert(known.end(), secrets.begin(), secrets.end());
  known.insert(known.end(), std::begin(kOfCommands), std::end(kOfCommands));
  add_secrets(config, known);
  for (const std::string& variable : variables) {
    const std::string name = variable.substr(0, variable.find('='));
    const bool is_known = std::find(known.begin(), known.end(), name) != known.end();
    if (!name.starts_with(kVariablePrefix) || is_known || is_of_a_service(name, variable)) continue;
    return unknown_variable(name, meant);
  }
  return {};
}

Result<Channels> channels_of(const ServeConfig& config, const Door& door,
                             const std::function<void(const std::string&)>& write) {
  Channels channels;
  for (const std::string& name : config.log_channels) channels[name] = log_channel(write);
  for (const auto& [name, channel] : config.channels) {
    PAWL_CHECK(check_complete(name, channel));
    switch (channel.kind) {
      case ChannelKind::none:
      case ChannelKind::log:
        channels[name] = log_channel(write);
        break;
      case ChannelKind::webhook:
        channels[name] = webhook_channel(door, {channel.target, channel.key});
        break;
      case ChannelKind::alert: {
        AlertSettings settings{channel.service, channel.target, channel.key};
        if (!settings.target.secret_url && settings.target.url.empty())
          settings.target.url = usual_url(channel.service);
        channels[name] = alert_channel(door, std::move(settings));
        break;
      }
      case ChannelKind::mail:
        channels[name] = mail_channel(door, channel.mail);
        break;
      case ChannelKind::exec:
        channels[name] = exec_channel(channel.exec);
        break;
    }
  }
  return channels;
}

}  // namespace pawl::cli
