// HttpServer: connections, with bounds on everything a client may do to them. What is asked is
// somebody else's to answer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"

namespace pawl {

struct HttpRequest {
  std::string method;
  std::string path;  // as it was sent, without the query
  std::vector<std::pair<std::string, std::string>> query;
  std::string authorization;
  std::string content_type;
  std::string last_event_id;
  std::string body;
  std::string peer;  // the address
  // Whether the client still waits for an answer. From any thread, until it is given.
  std::function<bool()> is_there;
};

// Events that are sent for as long as the client listens.
class EventSource {
 public:
  virtual ~EventSource() = default;
  // What there is to send now; empty: nothing, ask again when somebody calls HttpServer::wake.
  // None: it is over. On a thread of the server.
  virtual std::optional<std::string> next() = 0;
};

struct HttpResponse {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  std::unique_ptr<EventSource> events = {};  // instead of the body
  std::optional<std::chrono::seconds> retry_after = {};
  std::string allow = {};  // of a 405: the methods that there are
};

struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;        // 0: any that is free
  std::string certificate = {};  // file of the chain (PEM); empty: without TLS
  std::string private_key = {};
  int threads = 2;
  std::size_t connections_max = 12'000;
  std::size_t body_max = 8U << 20U;
  std::chrono::milliseconds header_within{10'000};  // from the first byte, or from the connection
  std::chrono::milliseconds body_within{30'000};
  std::chrono::milliseconds idle_within{75'000};  // between two requests
  std::chrono::milliseconds write_within{30'000};
};

class HttpServer {
 public:
  // May be called once, from any thread.
  using Respond = std::function<void(HttpResponse)>;
  // On a thread of the server; must not block for long.
  using Handle = std::function<void(HttpRequest, Respond)>;

  // Listens when it returns. Fails when the address cannot be had, or the certificate not be read.
  static Result<std::unique_ptr<HttpServer>> open(HttpOptions options, Handle handle);

  // Ends all connections. Whoever still has something to respond is to be gone before.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;

  // There may be more events. From any thread, cheap when nobody listens.
  void wake();

  // Reads the certificate again, for connections to come. Fails, and keeps the one there is.
  Result<void> reload();

  // Takes no more connections and no further request on those there are; waits until what is being
  // answered is answered, at most so long.
  void drain(std::chrono::milliseconds at_most);

  // Handles nothing more. What is responded from now on goes nowhere.
  void stop();

  struct Figures {
    std::size_t connections = 0;
    std::uint64_t requests = 0;
    std::uint64_t refused = 0;  // connections beyond the bound, and headers
  };
  Figures figures() const;

  struct Inside;

 private:
  explicit HttpServer(std::unique_ptr<Inside> inside);

  std::unique_ptr<Inside> inside_;
};

}  // namespace pawl
