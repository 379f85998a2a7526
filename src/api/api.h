// Api: what callers may ask of an engine, as requests and replies in JSON. One table of routes
// makes the dispatch, the permissions and the documentation; it knows nothing of sockets, so that
// the command line uses it on a directory as a client uses it over HTTP.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/given_tokens.h"
#include "pawl/engine.h"
#include "pawl/record.h"
#include "pawl/result.h"

namespace pawl {

// What an access token lets its bearer do. One may have several.
enum Role : unsigned {
  kViewer = 1U << 0U,    // read
  kApp = 1U << 1U,       // create, fire and read
  kWorker = 1U << 2U,    // claim and settle
  kOperator = 1U << 3U,  // orders, pauses, and all of the above but a worker's
  kAdmin = 1U << 4U,     // everything
  kOpen = 1U << 5U,      // of a route: no access token is asked for; a token has no such role
};

struct Caller {
  unsigned roles = 0;
  Actor actor = {};  // who is named in entries; its roles are those of machines
  // Compared by equality; none: all. Machines bound what may be seen and moved, queues what may be
  // claimed, and both what may be paused.
  std::optional<std::vector<std::string>> machines = {};
  std::optional<std::vector<std::string>> queues = {};
  bool act_as = false;  // may name another actor in the body of a call
  // Whether the access token still holds, for what goes on after the call; none: always.
  std::function<bool()> in_force = {};
};

struct ApiRequest {
  std::string method = "GET";
  std::string path = {};  // percent-encoded, without the query
  std::vector<std::pair<std::string, std::string>> query = {};  // decoded
  std::string body = {};
  Caller caller = {};
};

// Entries as they are committed, for as long as somebody listens.
struct LiveEntries {
  std::optional<std::vector<std::string>> machines = {};  // none: of all
  Cursor from = {};
};

struct ApiReply {
  int status = 200;
  std::string body = {};  // JSON, unless the next says otherwise
  std::string content_type = "application/json";
  std::optional<LiveEntries> entries = {};  // instead of the body
  std::string allow = {};                   // of the wrong method: those of the path
  std::optional<std::chrono::seconds> retry_after = {};
};

// What a reply that is no answer says: ids are stable, each has one status.
struct ErrorId {
  std::string_view id;
  int status;
  std::string_view meaning;
  std::string_view hint = {};  // what to do about it; empty where the message always says it
};
std::span<const ErrorId> error_ids();

// {"error":{"id":…,"message":…,"hint":…}}
ApiReply error_reply(std::string_view id, const std::string& message);
// Of what a caller gave, or of an engine or its store that could not do its work. A position is one
// in the body: `line` and `column`.
ApiReply error_reply(const Error& error);
// Ask again in a second.
ApiReply not_ready_reply(const std::string& message);

struct Route {
  std::string_view method;
  std::string_view path;   // `/v1/records/{machine}/{key}`
  unsigned roles;          // any of them
  std::string_view query;  // parameters that it takes, with blanks between them
  std::string_view summary;
  // The schemas (src/api/openapi.cc) of the body that it takes, if it takes one, and of the reply.
  std::string_view body = {};
  std::string_view reply = {};
};
std::vector<std::string> query_names(const Route& route);
inline bool is_open(const Route& route) { return (route.roles & kOpen) != 0; }

class Access;
class PipeBoard;

class Api {
 public:
  using Replied = std::function<void(ApiReply)>;

  // Why whoever serves is of no use now; none: it is. From any thread.
  using WhyNotReady = std::function<std::optional<std::string>()>;

  // All outlive it. Without `pipes` there are none.
  Api(Engine& engine, Access& access, WhyNotReady why_not_ready = {}, PipeBoard* pipes = nullptr)
      : engine_(engine), access_(access), why_not_ready_(std::move(why_not_ready)), pipes_(pipes) {}

  // Replied once, at once or later, on any thread.
  void handle(const ApiRequest& request, Replied replied);
  ApiReply handle(const ApiRequest& request);  // and waits for the reply

  static std::span<const Route> routes();
  // Whether the path is one of a route that asks for no access token, whatever the method is.
  static bool is_open_path(std::string_view path);

 private:
  Engine& engine_;
  Access& access_;
  WhyNotReady why_not_ready_;
  PipeBoard* pipes_;
  GivenTokens given_;
};

// `a%2Fb` is `a/b`. None when a percent sign is not followed by two hex digits, or a zero byte
// would come of it.
std::optional<std::string> percent_decoded(std::string_view text);
std::string percent_encoded(std::string_view text);

}  // namespace pawl
