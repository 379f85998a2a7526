// Client: how verbs reach the records, wherever these are: in a directory that no other process
// uses, or with a server. A call of the API, and its reply.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/api.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/place.h"
#include "pawl/engine.h"

namespace pawl::cli {

class Client {
 public:
  virtual ~Client() = default;
  // From any thread; waits for the reply. Where a server gave none the status is kNoReply, and the
  // body an error that says why.
  virtual ApiReply call(ApiRequest request) = 0;

  // What a server tells as it happens: each event, its id and its data, until `take` says false
  // (then the status is 200), or the connection is lost (kNoReply). Only of a server.
  using Take = std::function<bool(const std::string& id, const std::string& data)>;
  virtual ApiReply listen(ApiRequest request, const Take& take) = 0;

  // The address of the server; empty for a directory.
  virtual std::string url() const = 0;
};
inline constexpr int kNoReply = 0;

// What all verbs on records have in common.
struct ClientOptions {
  GivenPlace place = {};
  std::string actor = {};  // empty: who runs the command, or whose the access token is
  std::vector<std::string> roles = {};
  std::string idempotency_key = {};
  bool dry_run = false;
  bool json = false;
};

// Each adds some of the options to a verb.
void add_client_options(Command& verb, ClientOptions& options);
void add_actor_options(Command& verb, ClientOptions& options);   // and who does it, or dry run
void add_role_option(Command& verb, ClientOptions& options);     // and which roles these have
void add_change_options(Command& verb, ClientOptions& options);  // of what changes one record

// `channels`: those that this process carries out, which it can with a directory only.
Result<std::unique_ptr<Client>> open_client(const ClientOptions& options,
                                            const Surroundings& surroundings,
                                            Channels channels = {});

// --- requests

// `order/17` is the key 17 of the machine order; a key may have further slashes.
Result<RecordName> parse_record(const std::string& text);
std::string path_of(const RecordName& name, std::string_view more = {});

using QueryPairs = std::vector<std::pair<std::string, std::string>>;
ApiRequest get(std::string path, QueryPairs query = {});
ApiRequest post(std::string path, std::string body);

// JSON as it is given, or read from `@FILE`. Fails when it is no JSON.
Result<std::string> read_json_argument(const std::string& option, const std::string& argument);

// --- replies

bool is_ok(const ApiReply& reply);
// Whether the same call may be answered otherwise a little later, by a server that is away, is
// ending or is asked too often.
bool is_for_later(const ApiReply& reply);
// 0, or by the status: the thing asked about is wrong, or the machine cannot.
ExitCode exit_code_of(const ApiReply& reply);
// Of an error, a refusal, a stale token: says what is wrong to a person, or with --json prints the
// reply where there is one. `about` may be empty.
ExitCode report_reply(const ApiReply& reply, const ClientOptions& options, const std::string& about,
                      const Surroundings& surroundings);

}  // namespace pawl::cli
