#include "api/api.h"

#include <algorithm>
#include <array>
#include <future>
#include <set>

#include "api/access.h"
#include "api/call.h"
#include "api/documents.h"
#include "base/nearest.h"
#include "base/text.h"
#include "decide/built_in.h"
#include "decide/json_edit.h"
#include "model/built_in_names.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr unsigned kReaders = kViewer | kApp | kOperator | kAdmin;
constexpr unsigned kWorkers = kWorker | kAdmin;
constexpr unsigned kOperators = kOperator | kAdmin;
constexpr unsigned kWatchers = kViewer | kOperators;
constexpr unsigned kAnybody = kReaders | kWorker;

struct RouteHandle {
  Route route;
  Handle handle;
};

constexpr std::string_view kListQuery =
    "machine state key_prefix label parent held dead error fingerprint created_from "
    "created_before built_in max from";

constexpr RouteHandle kTable[] = {
    {{"GET", "/healthz", kOpen, "", "Check that the process is alive", "", "Healthy"}, show_health},
    {{"GET", "/readyz", kOpen, "", "Check that the server can carry out requests", "", "Ready"},
     show_readiness},
    {{"GET", "/v1/openapi.json", kAnybody, "", "Get this API as an OpenAPI 3.1 document", "",
      "OpenApi"},
     show_openapi},
    {{"GET", "/v1/machines", kReaders, "", "List all machines and their versions", "", "Machines"},
     list_machines},
    {{"POST", "/v1/machines", kAdmin, "", "Apply machine files in one step", "Apply", "Applied"},
     apply_machines},
    {{"GET", "/v1/machines/{machine}", kReaders, "", "Get the newest version of a machine", "",
      "MachineText"},
     show_machine},
    {{"GET", "/v1/machines/{machine}/{version}", kReaders, "", "Get one version of a machine", "",
      "MachineText"},
     show_version},
    {{"GET", "/v1/records", kReaders, kListQuery, "List records", "", "Records"}, list_records},
    {{"POST", "/v1/records/{machine}/{key}", kCallers, "", "Create a record", "Create", "Answer"},
     create_record},
    {{"GET", "/v1/records/{machine}/{key}", kReaders, "wait until state revision",
      "Get a record, or wait for it to change", "", "Record"},
     show_record},
    {{"GET", "/v1/records/{machine}/{key}/log", kReaders, "max from", "Get a record's log", "",
      "Log"},
     show_log},
    {{"GET", "/v1/records/{machine}/{key}/why", kReaders, "", "Explain why a record is not moving",
      "", "Why"},
     show_why},
    {{"GET", "/v1/records/{machine}/{key}/events", kReaders, "actor role",
      "List the events that the caller can fire now", "", "Permitted"},
     show_permitted},
    {{"POST", "/v1/records/{machine}/{key}/fire", kCallers, "", "Fire an event", "Fire", "Answer"},
     fire_event},
    {{"POST", "/v1/records/{machine}/{key}/orders", kOperators, "", "Give an operator's order",
      "Order", "Answer"},
     give_order},
    {{"POST", "/v1/batch", kCallers, "", "Make many create, fire and order calls at once", "Batch",
      "Answers"},
     carry_out_batch},
    {{"GET", "/v1/feed", kReaders, "machine max from",
      "Read the entries of all records in commit order", "", "Feed"},
     show_feed},
    {{"GET", "/v1/feed/live", kReaders, "machine from", "Follow the feed as server-sent events", "",
      "Events"},
     listen_to_feed},
    {{"GET", "/v1/counts", kReaders, "", "Count records by machine and state", "", "Counts"},
     show_counts},
    {{"GET", "/v1/errors", kReaders, "", "List errors by fingerprint, first and last seen", "",
      "Errors"},
     show_errors},
    {{"POST", "/v1/claim", kWorkers, "", "Claim attempts, or wait for them", "Claim", "Claimed"},
     claim_attempts},
    {{"POST", "/v1/beat", kWorkers, "", "Extend the leases of running attempts", "Beat", "Settled"},
     beat_attempts},
    {{"POST", "/v1/done", kWorkers, "", "Settle attempts that succeeded", "Done", "Settled"},
     settle_done},
    {{"POST", "/v1/fail", kWorkers, "", "Settle attempts that failed", "Fail", "Settled"},
     settle_fail},
    {{"GET", "/v1/pauses", kReaders, "", "List pauses", "", "Pauses"}, list_pauses},
    {{"POST", "/v1/pauses", kOperators, "", "Pause a machine, a queue, a label or everything",
      "SetPause", "Pause"},
     set_pause},
    {{"POST", "/v1/pauses/end", kOperators, "", "End a pause", "EndPause", "Ended"}, end_pause},
    {{"GET", "/v1/pipes", kReaders, "", "List the pipes that run in this process", "", "Pipes"},
     list_pipes},
    {{"GET", "/v1/pipes/{pipe}", kReaders, "", "Get a pipe and its partitions", "", "Pipe"},
     show_pipe},
    {{"GET", "/v1/pipes/{pipe}/{topic}/{partition}", kReaders, "", "Get a partition of a pipe", "",
      "PipePartition"},
     show_partition},
    {{"POST", "/v1/pipes/{pipe}/{topic}/{partition}/pause", kOperators, "", "Pause a partition",
      "SteerPipe", "PipePartition"},
     pause_partition},
    {{"POST", "/v1/pipes/{pipe}/{topic}/{partition}/resume", kOperators, "",
      "Resume a partition and retry now", "SteerPipe", "PipePartition"},
     resume_partition},
    {{"POST", "/v1/pipes/{pipe}/{topic}/{partition}/skip", kOperators, "",
      "Skip a message and write it to the errors topic", "SkipMessage", "PipePartition"},
     skip_message},
    {{"GET", "/v1/clock", kAnybody, "", "Get the current time", "", "Clock"}, show_clock},
    {{"POST", "/v1/clock/advance", kOperators, "", "Move a virtual clock", "Advance", "Clock"},
     advance_clock},
    {{"GET", "/metrics", kWatchers, "", "Get metrics for Prometheus, as text", "", "Metrics"},
     show_metrics},
    {{"GET", "/v1/tokens", kAdmin, "", "List access tokens, without their secrets", "", "Tokens"},
     list_tokens},
    {{"POST", "/v1/tokens", kAdmin, "", "Create an access token", "NewToken", "Token"},
     create_token},
    {{"POST", "/v1/tokens/revoke", kAdmin, "", "Revoke an access token", "RevokeToken", "Revoked"},
     revoke_token},
};

constexpr ErrorId kErrorIds[] = {
    {"bad_http", 400, "the request is not HTTP that Pawl accepts; the connection is closed",
     "send well-formed HTTP/1.1 requests, each with one Host and at most one Content-Length"},
    {"bad_request", 400, "the request is malformed, or a value in it is not valid",
     "correct the request as the message says; nothing was done"},
    {"too_many_items", 400, "a list in the body is too long",
     "split it into several calls; nothing was done"},
    {"no_access", 401, "the access token is missing, unknown, revoked or expired",
     "send the header Authorization: Bearer TOKEN with a valid token"},
    {"machine_role_missing", 403,
     "the actor has none of the roles that the machine requires (`by`)",
     "call as an actor who has the role, or with an access token that has it"},
    {"may_not_act_as", 403, "the access token may not act as this actor, or as anyone else",
     "leave `actor` out, or use a token created with act_as"},
    {"outside_scope", 403, "the access token does not cover this machine or queue",
     "use a token whose machines and queues include it"},
    {"role_missing", 403, "the access token has none of the roles that this route requires",
     "use a token with one of the roles that docs/reference/api.md lists for this route"},
    {"no_such_machine", 404, "there is no such machine, or no such version of it",
     "apply its file, or see GET /v1/machines for a list"},
    {"no_such_partition", 404, "the pipe is not reading this partition",
     "see GET /v1/pipes/{pipe} for the partitions it reads; another process may have this one"},
    {"no_such_path", 404, "there is no such route", "see GET /v1/openapi.json for all routes"},
    {"no_such_pipe", 404, "no pipe with this name runs in this process",
     "see GET /v1/pipes for a list; the server's `pipes` setting names their files"},
    {"no_such_record", 404, "there is no such record",
     "create it, or see GET /v1/records for a list"},
    {"no_such_token", 404, "there is no access token with this name",
     "see GET /v1/tokens for a list"},
    {"no_virtual_clock", 404, "the server uses the real clock, which cannot be moved",
     "for tests, start the server with --virtual-clock INSTANT --memory"},
    {"not_paused", 404, "there is no such pause to end", "see GET /v1/pauses for what is paused"},
    {"wrong_method", 405, "the path does not support this method",
     "see GET /v1/openapi.json for the methods of this path"},
    {"body_too_large", 413, "the body is larger than the limit",
     "split it into several calls; nothing was done"},
    {"wrong_content_type", 415, "the body is not application/json",
     "send JSON with the header Content-Type: application/json"},
    {"too_many_requests", 429,
     "the access token has exceeded its request rate: wait for as long as Retry-After says",
     "wait, and combine several calls in one POST /v1/batch"},
    {"header_too_large", 431, "the header is larger than 16 KiB", "send fewer or shorter headers"},
    {"damaged", 500, "the store is damaged: run `pawl doctor`",
     "stop the server and run `pawl doctor`"},
    {"outcome_unknown", 500,
     "Pawl does not know whether it was done: repeat it with the same idempotency key",
     "once the server is ready again, repeat it with the same idempotency key"},
    {"not_now", 503, "nothing was done, for example because the disk is full: try again",
     "try again later"},
    {"not_ready", 503,
     "the server is starting or shutting down, or its store has stopped: try "
     "again later",
     "try again later, or try another server"},
};

constexpr auto kRoutes = [] {
  std::array<Route, std::size(kTable)> routes{};
  for (std::size_t i = 0; i < routes.size(); ++i) routes[i] = kTable[i].route;
  return routes;
}();

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> segments;
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin);
    segments.push_back(path.substr(begin, end - begin));
    if (end == std::string_view::npos) return segments;
    begin = end + 1;
  }
}

bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }

// The parameters when the path is one of this route; a parameter is never empty.
std::optional<std::vector<std::string>> matched(std::string_view pattern,
                                                const std::vector<std::string_view>& given) {
  const auto wanted = segments_of(pattern);
  if (wanted.size() != given.size()) return std::nullopt;
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_parameter(wanted[i])) {
      if (wanted[i] != given[i]) return std::nullopt;
      continue;
    }
    auto decoded = percent_decoded(given[i]);
    if (!decoded || decoded->empty()) return std::nullopt;
    parameters.push_back(*std::move(decoded));
  }
  return parameters;
}

// Whoever watches may ask by HEAD.
bool is_for(const Route& route, std::string_view method) {
  return route.method == method || (is_open(route) && method == "HEAD");
}

// A misspelt filter must not list everything, and neither must an empty one. A list begins where
// `from` is empty, and one may have several roles.
Result<void> check_query(const Route& route, const ApiRequest& request) {
  const std::vector<std::string> known = query_names(route);
  std::set<std::string_view> met;
  for (const auto& [name, value] : request.query) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Error{ErrorCode::bad_input,
                   in_ticks(name) + " is not a parameter of this call" + did_you_mean(name, known)};
    if (!met.insert(name).second && name != "role")
      return Error{ErrorCode::bad_input, in_ticks(name) + " is given twice"};
    if (value.empty() && name != "from")
      return Error{ErrorCode::bad_input, in_ticks(name) + " is empty"};
  }
  return {};
}

bool is_in(const std::optional<std::vector<std::string>>& scope, const std::string& name) {
  return !scope || std::find(scope->begin(), scope->end(), name) != scope->end();
}

// Whether the path names the `send` record of a call for later to a machine of the caller: there
// its outcome is, and nowhere else.
bool is_own_call(Engine& engine, const Caller& caller, const std::vector<std::string>& path) {
  if (path.size() != 2 || path[0] != kSendMachine) return false;
  const auto send = engine.show({path[0], path[1]});
  if (!send || !*send) return false;
  const DelayedMessage message = delayed_message_of(**send);
  return !message.call.empty() && is_in(caller.machines, message.machine);
}

}  // namespace

std::span<const Route> Api::routes() { return kRoutes; }
std::span<const ErrorId> error_ids() { return kErrorIds; }

bool Api::is_open_path(std::string_view path) {
  const auto given = segments_of(path);
  return std::any_of(kRoutes.begin(), kRoutes.end(), [&](const Route& route) {
    return is_open(route) && matched(route.path, given);
  });
}

std::vector<std::string> query_names(const Route& route) {
  std::vector<std::string> names;
  for (std::string_view rest = route.query; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    names.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return names;
}

void Api::handle(const ApiRequest& request, Replied replied) {
  const auto given = segments_of(request.path);
  std::vector<std::string> methods;  // of the path
  for (const auto& [route, handle] : kTable) {
    auto parameters = matched(route.path, given);
    if (!parameters) continue;
    methods.emplace_back(route.method);
    if (is_open(route)) methods.emplace_back("HEAD");
    if (!is_for(route, request.method)) continue;
    if (!is_open(route) && (route.roles & request.caller.roles) == 0)
      return replied(error_reply("role_missing", "this call needs an access token with the role " +
                                                     join(role_words(route.roles), ", ", " or ")));
    if (route.method == "GET" && !request.body.empty())
      return replied(error_reply("bad_request", "a GET must have no body: use query parameters"));
    const bool names_machine = route.path.find("{machine}") != std::string_view::npos;
    if (names_machine && !is_in(request.caller.machines, (*parameters)[0]) &&
        !(route.method == "GET" && is_own_call(engine_, request.caller, *parameters)))
      return replied(outside_machine((*parameters)[0]));
    if (const auto checked = check_query(route, request); !checked)
      return replied(error_reply(checked.error()));
    Call call{
        engine_,           access_, given_, why_not_ready_, pipes_, request, *std::move(parameters),
        std::move(replied)};
    auto refused =
        route.method == "POST" ? take_actor(call.request) : take_actor_of_query(call.request);
    if (refused) return call.replied(*std::move(refused));
    return handle(std::make_shared<const Call>(std::move(call)));
  }
  if (!methods.empty()) {
    ApiReply reply = error_reply("wrong_method", request.method + " is not supported at this path");
    reply.allow = join(methods, ", ", ", ");
    return replied(std::move(reply));
  }
  replied(error_reply("no_such_path", "there is nothing at " + in_quotes(request.path)));
}

ApiReply Api::handle(const ApiRequest& request) {
  auto promise = std::make_shared<std::promise<ApiReply>>();
  auto reply = promise->get_future();
  handle(request, [promise](ApiReply given) { promise->set_value(std::move(given)); });
  return reply.get();
}

// --- replies -----------------------------------------------------------------------------------

namespace {

ApiReply error_reply_at(const std::optional<Position>& position, std::string_view id,
                        const std::string& message) {
  const auto* known = std::find_if(std::begin(kErrorIds), std::end(kErrorIds),
                                   [&](const ErrorId& one) { return one.id == id; });
  PAWL_ASSERT(known != std::end(kErrorIds), "every id of an error is in the table");
  std::string body;
  {
    JsonMap outer(body);
    JsonMap error(outer.member("error"));
    error.text("id", id);
    error.text("message", message);
    if (!known->hint.empty()) error.text("hint", known->hint);
    if (position) {
      error.number("line", position->line);
      error.number("column", position->column);
    }
  }
  return {known->status, std::move(body)};
}

}  // namespace

ApiReply error_reply(std::string_view id, const std::string& message) {
  return error_reply_at(std::nullopt, id, message);
}

ApiReply not_ready_reply(const std::string& message) {
  ApiReply reply = error_reply("not_ready", message);
  reply.retry_after = std::chrono::seconds{1};
  return reply;
}

std::string with_status(const ApiReply& reply) {
  return R"({"status":)" + std::to_string(reply.status) + "," + reply.body.substr(1);
}

ApiReply outside_machine(const std::string& machine) {
  return error_reply("outside_scope",
                     "this access token does not cover the machine " + in_ticks(machine));
}

ApiReply outside_queue(const std::string& queue) {
  return error_reply("outside_scope",
                     "this access token does not cover the queue " + in_ticks(queue));
}

ApiReply error_reply(const Error& error) {
  switch (error.code) {
    case ErrorCode::bad_input:
      return error_reply_at(error.position, "bad_request", error.message);
    case ErrorCode::environment:
      return error_reply("not_now", error.message);
    case ErrorCode::damaged:
      return error_reply("damaged", error.message);
    case ErrorCode::outcome_unknown:
      break;
  }
  return error_reply("outcome_unknown", error.message);
}

ApiReply reply_of(const Answer& answer) {
  switch (answer.kind) {
    case Answer::Kind::ok:
    case Answer::Kind::duplicate:
    case Answer::Kind::none:
      return {200, to_json(answer)};
    case Answer::Kind::refused:
      if (answer.missing == Answer::Missing::role)
        return error_reply("machine_role_missing", answer.reason);
      return {409, to_json(answer)};
    case Answer::Kind::stale:
      return {409, to_json(answer)};
    case Answer::Kind::error:
      break;
  }
  switch (answer.missing) {
    case Answer::Missing::machine:
      return error_reply("no_such_machine", answer.reason);
    case Answer::Missing::record:
      return error_reply("no_such_record", answer.reason);
    case Answer::Missing::role:
    case Answer::Missing::nothing:
      break;
  }
  return error_reply("bad_request", answer.reason);
}

void Call::answer(const Result<Answer>& answer) const {
  replied(answer ? reply_of(*answer) : error_reply(answer.error()));
}

std::string Call::query(std::string_view key) const {
  const auto found = std::find_if(request.query.begin(), request.query.end(),
                                  [&](const auto& pair) { return pair.first == key; });
  return found == request.query.end() ? std::string() : found->second;
}

JsonBody Call::body() const {
  JsonBody body(request.body);
  if (!request.caller.actor.via.empty()) body.leave("actor");
  return body;
}

std::string Call::acting() const {
  const Actor& actor = request.caller.actor;
  return actor.via.empty() ? actor.name : actor.name + " via " + actor.via;
}

bool Call::may_see_machine(const std::string& machine) const {
  return is_in(request.caller.machines, machine);
}

bool Call::may_use_queue(const std::string& queue) const {
  return is_in(request.caller.queues, queue);
}

bool Call::is_for_everything() const {
  if (!request.caller.machines && !request.caller.queues) return true;
  fail("outside_scope", "this call needs an access token for all machines and queues");
  return false;
}

// --- paths -------------------------------------------------------------------------------------

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  const auto digit = [](char c) {
    if (is_digit(c)) return c - '0';
    const char lower = to_lower(c);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = digit(text[i + 1]);
    const int low = digit(text[i + 2]);
    if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.' || c == '~') {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += "0123456789ABCDEF"[byte >> 4U];
    encoded += "0123456789ABCDEF"[byte & 15U];
  }
  return encoded;
}

}  // namespace pawl
