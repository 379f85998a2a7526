#include "server/server.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <utility>

#include "api/documents.h"
#include "base/text.h"
#include "model/expression/json_view.h"

namespace pawl {
namespace {

constexpr std::string_view kBearer = "bearer ";  // the case of a scheme says nothing (RFC 7235)
constexpr std::string_view kLiveFeed = "/v1/feed/live";
constexpr std::string_view kClaim = "/v1/claim";
constexpr std::size_t kFeedPage = 100;
// Of the grace, for what was asked last to be answered.
constexpr std::chrono::milliseconds kAnswersWithin{1'000};

HttpResponse response_of(ApiReply reply) {
  return {.status = reply.status,
          .body = std::move(reply.body),
          .content_type = std::move(reply.content_type),
          .retry_after = reply.retry_after,
          .allow = std::move(reply.allow)};
}

HttpResponse error_response(std::string_view id, const std::string& message) {
  return response_of(error_reply(id, message));
}

// Empty when it is nothing of ours.
std::string_view token_of(std::string_view authorization) {
  if (to_lower(authorization.substr(0, kBearer.size())) != kBearer) return {};
  return authorization.substr(kBearer.size());
}

// `application/json`, in UTF-8 as all JSON.
bool is_json(std::string_view content_type) {
  std::string type = to_lower(content_type);
  std::erase(type, ' ');
  return type == "application/json" || type == "application/json;charset=utf-8" ||
         type == "application/json;charset=\"utf-8\"";
}

// One event is one page of entries, with the place behind it as its id: a client that comes back
// with that id goes on exactly there.
class LiveFeed final : public EventSource {
 public:
  LiveFeed(Engine& engine, std::function<bool()> in_force, LiveEntries entries)
      : engine_(engine),
        in_force_(std::move(in_force)),
        machines_(std::move(entries.machines)),
        from_(std::move(entries.from)) {}

  std::optional<std::string> next() override {
    for (;;) {
      if (in_force_ && !in_force_()) return std::nullopt;
      const auto page = engine_.feed(from_, kFeedPage);
      if (!page) return std::nullopt;
      if (page->items.empty()) return "";
      from_ = page->next;
      std::vector<LoggedEntry> wanted;
      std::copy_if(page->items.begin(), page->items.end(), std::back_inserter(wanted),
                   [&](const LoggedEntry& entry) { return is_wanted(entry); });
      if (wanted.empty()) continue;
      std::string event = "id: " + from_ + "\ndata: ";
      append_list(event, wanted,
                  [](const LoggedEntry& entry) { return to_json(entry.entry, &entry.name); });
      return event + "\n\n";
    }
  }

 private:
  bool is_wanted(const LoggedEntry& entry) const {
    return !machines_ ||
           std::find(machines_->begin(), machines_->end(), entry.name.machine) != machines_->end();
  }

  Engine& engine_;
  std::function<bool()> in_force_;
  std::optional<std::vector<std::string>> machines_;
  Cursor from_;
};

// A client that comes back says where it was, whatever its address says.
void go_on_from(const std::string& last_event_id,
                std::vector<std::pair<std::string, std::string>>& query) {
  if (last_event_id.empty()) return;
  std::erase_if(query, [](const auto& pair) { return pair.first == "from"; });
  query.emplace_back("from", last_event_id);
}

}  // namespace

Result<std::unique_ptr<Server>> Server::open(ServerOptions options) {
  std::unique_ptr<Server> server(new Server);
  Server& self = *server;
  self.has_tls_ = !options.http.certificate.empty();
  self.is_ready_ = options.is_ready;
  self.on_denied_ = std::move(options.on_denied);
  options.engine.on_committed = [&self] {
    if (HttpServer* http = self.woken_) http->wake();
  };
  options.engine.on_stopped = [&self,
                               told = std::move(options.engine.on_stopped)](const Error& error) {
    self.is_stopped_ = true;
    if (told) told(error);
  };
  PAWL_TRY(self.engine_, Engine::open(std::move(options.engine)));
  PAWL_TRY(self.access_, Access::open(*self.engine_, [&self] {
             if (HttpServer* http = self.woken_) http->wake();  // its feeds end
           }));
  self.api_ = std::make_unique<Api>(
      *self.engine_, *self.access_, [&self] { return self.why_not_ready(); }, options.pipes);
  self.rate_ = std::make_unique<RateLimit>(options.rate_per_token);
  PAWL_TRY(self.http_, HttpServer::open(std::move(options.http),
                                        [&self](HttpRequest request, HttpServer::Respond respond) {
                                          self.handle(std::move(request), std::move(respond));
                                        }));
  self.woken_ = self.http_.get();
  return server;
}

Result<std::optional<std::string>> Server::first_token() {
  if (!access_->all().empty()) return std::optional<std::string>();
  PAWL_TRY(std::string token, access_->create({.name = "admin",
                                               .roles = kAdmin | kWorker,
                                               .created_at = engine_->now(),
                                               .made_by = "the first start"}));
  return std::optional(std::move(token));
}

Server::~Server() { shut_down(std::chrono::milliseconds{0}); }

void Server::shut_down(std::chrono::milliseconds grace) {
  if (!http_ || !engine_) return;
  is_ending_ = true;
  const auto end = std::chrono::steady_clock::now() + grace;
  const auto settled = std::make_shared<std::promise<void>>();
  engine_->wind_down([settled] { settled->set_value(); });
  settled->get_future().wait_until(end - std::min(kAnswersWithin, grace / 4));
  const auto rest = end - std::chrono::steady_clock::now();
  http_->drain(std::max(std::chrono::duration_cast<std::chrono::milliseconds>(rest),
                        std::chrono::milliseconds{0}));
  woken_ = nullptr;
  http_->stop();
  engine_.reset();  // answers what still waits, which nobody hears any more
  http_.reset();
}

// --- one request -------------------------------------------------------------------------------

void Server::handle(HttpRequest request, HttpServer::Respond respond) {
  if (Api::is_open_path(request.path))
    return carry_out(std::move(request), Caller{}, std::move(respond));
  const std::string_view token = token_of(request.authorization);
  auto caller = access_->find(token, engine_->now());
  if (!caller && on_denied_)
    on_denied_({.method = request.method, .path = request.path, .id = "no_access"});
  if (!caller)
    return respond(
        error_response("no_access", "send a valid access token: Authorization: Bearer TOKEN"));
  if (const auto wait = rate_->refused(hash_of_token(token), RateLimit::Clock::now())) {
    HttpResponse response = error_response("too_many_requests",
                                           "this access token has exceeded its request rate: wait");
    response.retry_after = std::chrono::ceil<std::chrono::seconds>(*wait);
    return respond(std::move(response));
  }
  carry_out(std::move(request), *std::move(caller), std::move(respond));
}

void Server::carry_out(HttpRequest request, Caller caller, HttpServer::Respond respond) {
  if (is_ending_ && request.path == kClaim)
    return respond(
        response_of(not_ready_reply("the server is shutting down and gives out no more attempts")));
  if (request.path == kLiveFeed) go_on_from(request.last_event_id, request.query);
  const bool has_body = !request.body.empty();
  if (has_body && !is_json(request.content_type))
    return respond(error_response("wrong_content_type", "the body must be application/json"));
  std::function<bool()> in_force = std::move(caller.in_force);
  ApiRequest asked{.method = std::move(request.method),
                   .path = std::move(request.path),
                   .query = std::move(request.query),
                   .body = std::move(request.body),
                   .caller = std::move(caller)};
  std::optional<ServerOptions::Denial> denial;
  if (on_denied_) denial = {asked.method, asked.path, asked.caller.actor.name, ""};
  asked.caller.in_force = [in_force, is_there = std::move(request.is_there)] {
    // What is given to somebody who has left is lost for a while.
    return (!in_force || in_force()) && is_there();
  };
  api_->handle(asked, [this, denial = std::move(denial), in_force = std::move(in_force),
                       respond = std::move(respond)](ApiReply reply) mutable {
    if (reply.status == 403 && denial) {
      Scratch scratch;
      denial->id = JsonView(reply.body).member("error").member("id").text(scratch);
      on_denied_(*denial);
    }
    if (!reply.entries) return respond(response_of(std::move(reply)));
    respond({.content_type = "text/event-stream",
             .events = std::make_unique<LiveFeed>(*engine_, in_force, *std::move(reply.entries))});
  });
}

std::optional<std::string> Server::why_not_ready() const {
  if (is_stopped_)
    return "the outcome of a commit is unknown, and the store has stopped: restart the server";
  if (is_ending_) return "the server is shutting down";
  if (!is_ready_) return "the server is starting";
  return std::nullopt;
}

}  // namespace pawl
