// Server: an engine, its API and who may use it, over HTTP.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/access.h"
#include "api/api.h"
#include "pawl/engine.h"
#include "pawl/result.h"
#include "server/http_server.h"
#include "server/rate_limit.h"

namespace pawl {

struct ServerOptions {
  EngineOptions engine = {};
  HttpOptions http = {};
  int rate_per_token = 20'000;  // requests a second; 0: as many as come
  bool is_ready = true;         // false: not before `set_ready`
  PipeBoard* pipes = nullptr;   // of this process, if there are any; outlives the server

  // Somebody was not let in, on whatever thread: who, as far as it is known, and the error's id.
  struct Denial {
    std::string method;
    std::string path;
    std::string actor = {};
    std::string id;
  };
  std::function<void(const Denial&)> on_denied = {};
};

class Server {
 public:
  // Serves when it returns.
  static Result<std::unique_ptr<Server>> open(ServerOptions options);

  // What has to be done before it is of use is done.
  void set_ready() { is_ready_ = true; }

  // As shut_down without grace.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Gives out no more attempts, answers who waits for one with nothing, and is not ready any more.
  // Goes on with everything else until the attempts it gave are settled, then answers what was
  // asked and ends; at most so long. Nothing else may be asked of it then.
  void shut_down(std::chrono::milliseconds grace);

  // The token of the first start, said once: there was none before.
  // Where there is no access token yet one is made, for everything. To be shown: it is not known
  // again.
  Result<std::optional<std::string>> first_token();

  std::uint16_t port() const { return http_->port(); }
  bool has_tls() const { return has_tls_; }
  HttpServer::Figures figures() const { return http_->figures(); }
  Engine& engine() { return *engine_; }
  Result<void> reload() { return http_->reload(); }

 private:
  Server() = default;

  void handle(HttpRequest request, HttpServer::Respond respond);
  void carry_out(HttpRequest request, Caller caller, HttpServer::Respond respond);
  std::optional<std::string> why_not_ready() const;

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<RateLimit> rate_;
  std::unique_ptr<HttpServer> http_;
  bool has_tls_ = false;
  std::atomic<HttpServer*> woken_ = nullptr;  // whoever listens, when something is committed
  std::atomic<bool> is_stopped_ = false;      // the outcome of a commit is unknown
  std::atomic<bool> is_ending_ = false;
  std::atomic<bool> is_ready_ = false;
  std::function<void(const ServerOptions::Denial&)> on_denied_;
};

}  // namespace pawl
