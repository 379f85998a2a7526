#include "cli/client.h"

#include <pwd.h>
#include <unistd.h>

#include <ostream>

#include "api/access.h"
#include "base/json_text.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/reply_text.h"
#include "cli/server_client.h"
#include "cli/verb.h"
#include "pawl/assert.h"

namespace pawl::cli {
namespace {

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : "uid " + std::to_string(getuid());
}

// Whoever can write the files may do everything with them.
class DirectoryClient : public Client {
 public:
  DirectoryClient(std::unique_ptr<Engine> engine, std::unique_ptr<Access> access, Caller caller)
      : engine_(std::move(engine)),
        access_(std::move(access)),
        api_(*engine_, *access_),
        caller_(std::move(caller)) {}

  ApiReply call(ApiRequest request) override {
    request.caller = caller_;
    return api_.handle(request);
  }
  ApiReply listen(ApiRequest, const Take&) override {
    PAWL_ASSERT(false, "only a server is listened to");
    return {};
  }
  std::string url() const override { return {}; }

 private:
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Access> access_;
  Api api_;
  Caller caller_;
};

Result<std::unique_ptr<Client>> open_directory(const ClientOptions& options, Channels channels) {
  auto engine = Engine::open({.directory = options.place.directory_or_usual(),
                              .creates = false,
                              .channels = std::move(channels)});
  if (!engine) {
    Error error = std::move(engine).error();
    if (error.code == ErrorCode::bad_input)  // there is no store
      error.message +=
          ": create one with `pawl init`, name another with --dir, or set PAWL_URL to use a server";
    return error;
  }
  PAWL_TRY(auto access, Access::open(**engine));
  Caller caller{.roles = kAdmin};
  caller.actor.name = options.actor.empty() ? user_name() : options.actor;
  caller.actor.roles = options.roles;
  caller.actor.roles.emplace_back("operator");
  return std::unique_ptr<Client>(
      std::make_unique<DirectoryClient>(*std::move(engine), std::move(access), std::move(caller)));
}

}  // namespace

void add_client_options(Command& verb, ClientOptions& options) {
  const auto add = [&](const char* name, std::string& into, const char* what, const char* type) {
    return verb.add_option(name, into, what)
        ->check(not_empty())
        ->type_name(type)
        ->group("Connection");
  };
  GivenPlace& place = options.place;
  add("--dir", place.directory, "directory of the records (default: pawl-data)", "DIR");
  Option* url =
      add("--url", place.url, "use this server instead of a directory (default: $PAWL_URL)", "URL");
  add("--token", place.token, "access token; prefer $PAWL_TOKEN, which stays out of process lists",
      "TOKEN");
  add("--profile", place.profile, "server from profiles.yaml (default: $PAWL_PROFILE)", "NAME")
      ->excludes(url);
  add("--ca", place.certificates, "CA certificates to trust, as PEM (default: $PAWL_CA)", "FILE");
  verb.add_flag("--insecure", place.insecure,
                "allow sending the token over the network unencrypted")
      ->group("Connection");
  verb.add_flag("--json", options.json, "print one JSON object");
}

void add_actor_options(Command& verb, ClientOptions& options) {
  add_client_options(verb, options);
  verb.add_flag("--dry-run", options.dry_run, "show what would happen, but change nothing");
  verb.add_option("--actor", options.actor,
                  "who is acting, for the log (default: your user name, or the token's name)")
      ->check(not_empty())
      ->type_name("NAME");
}

void add_role_option(Command& verb, ClientOptions& options) {
  verb.add_option("--role", options.roles,
                  "role of the actor, for events restricted with `by`; may be repeated")
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name("ROLE");
}

void add_change_options(Command& verb, ClientOptions& options) {
  add_actor_options(verb, options);
  add_role_option(verb, options);
  verb.add_option("--idempotency-key", options.idempotency_key,
                  "safe retries: repeated calls with this key are carried out once")
      ->check(not_empty())
      ->type_name("KEY");
}

Result<std::unique_ptr<Client>> open_client(const ClientOptions& options,
                                            const Surroundings& surroundings, Channels channels) {
  PAWL_TRY(const auto server, choose_server(options.place, surroundings.environment));
  if (!server) return open_directory(options, std::move(channels));
  if (!channels.empty())
    return Error{ErrorCode::bad_input,
                 "a server makes its own deliveries: give --log-channel to `pawl serve` instead"};
  return open_server(*server, {.name = options.actor, .roles = options.roles});
}

// --- requests ----------------------------------------------------------------------------------

Result<RecordName> parse_record(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size())
    return Error{ErrorCode::bad_input,
                 in_quotes(text) + " is not a record name; write MACHINE/KEY, e.g. order/17"};
  return RecordName{text.substr(0, slash), text.substr(slash + 1)};
}

std::string path_of(const RecordName& name, std::string_view more) {
  return "/v1/records/" + percent_encoded(name.machine) + "/" + percent_encoded(name.key) +
         std::string(more);
}

ApiRequest get(std::string path, QueryPairs query) {
  return {.method = "GET", .path = std::move(path), .query = std::move(query)};
}

ApiRequest post(std::string path, std::string body) {
  return {.method = "POST", .path = std::move(path), .body = std::move(body)};
}

Result<std::string> read_json_argument(const std::string& option, const std::string& argument) {
  std::string json = argument;
  if (argument.starts_with('@')) {
    PAWL_TRY(json, read_text_file(argument.substr(1)));
  }
  if (const auto checked = check_json(json); !checked)
    return Error{ErrorCode::bad_input, option + ": " + checked.error().message};
  return json;
}

// --- replies -----------------------------------------------------------------------------------

bool is_ok(const ApiReply& reply) { return reply.status != kNoReply && reply.status < 400; }

bool is_for_later(const ApiReply& reply) {
  return reply.status == kNoReply || reply.status == 429 || reply.status == 503;
}

ExitCode exit_code_of(const ApiReply& reply) {
  if (is_ok(reply)) return ExitCode::ok;
  return is_for_later(reply) || reply.status >= 500 ? ExitCode::environment : ExitCode::wrong;
}

ExitCode report_reply(const ApiReply& reply, const ClientOptions& options, const std::string& about,
                      const Surroundings& surroundings) {
  if (options.json && reply.status != kNoReply) {
    surroundings.out << reply.body << '\n';
  } else {
    surroundings.err << "pawl: " << (about.empty() ? "" : printable(about) + ": ")
                     << problem_text(reply.body) << '\n';
  }
  return exit_code_of(reply);
}

}  // namespace pawl::cli
