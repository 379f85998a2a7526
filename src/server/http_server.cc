// Each connection is a chain of callbacks on a strand of its own:
//
//   read bytes until there is a request -> hand it over -> write the answer -> read the next
//
// What the bytes mean says HttpReader, and not Beast's parser: that one accepts several of the
// forms that requests are smuggled in. Each of these steps has its time, and whoever needs longer
// is dropped.
#include "server/http_server.h"

#include <poll.h>

#include <atomic>
#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "api/api.h"
#include "base/json_text.h"
#include "server/http_reader.h"

namespace pawl {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using tcp = asio::ip::tcp;
using Failed = boost::system::error_code;

// How often a listener that hears nothing is shown that the connection is alive.
constexpr std::chrono::seconds kQuietAtMost{15};
// How long bytes of a request that was refused are thrown away. Were the connection closed while
// some are unread, the system would take the answer back as well.
constexpr std::chrono::seconds kLingers{2};
// Read at once: little where thousands may wait, more where a body comes.
constexpr std::size_t kHeaderRoom = 4U << 10U;
constexpr std::size_t kBodyRoom = 64U << 10U;

HttpResponse failed_response(std::string_view id, const std::string& message) {
  ApiReply reply = error_reply(id, message);
  return {.status = reply.status, .body = std::move(reply.body)};
}

// Whether the other side has not closed it, or its half of it.
bool is_connected(int socket) {
  pollfd one{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return poll(&one, 1, 0) == 0;
}

// `a=1&b=%20`; none when it cannot be decoded.
std::optional<std::vector<std::pair<std::string, std::string>>> read_query(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> pairs;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    std::string pair(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    for (char& c : pair)
      if (c == '+') c = ' ';
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decoded(std::string_view(pair).substr(0, equals));
    auto value = percent_decoded(std::string_view(pair).substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return std::nullopt;
    pairs.emplace_back(*std::move(name), *std::move(value));
  }
  return pairs;
}

// Ends a connection that is not busy. What it returns keeps the connection until the lock under
// which it was called is free: one that goes needs it.
using Close = std::function<std::shared_ptr<void>()>;

// Those who listen to events, to be woken.
class Listeners {
 public:
  using Wake = std::function<void()>;

  std::uint64_t add(Wake wake) {
    const std::lock_guard lock(mutex_);
    wakes_.emplace_back(++last_, std::move(wake));
    are_some_ = true;
    return last_;
  }
  void remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    std::erase_if(wakes_, [&](const auto& one) { return one.first == id; });
    are_some_ = !wakes_.empty();
  }
  // Not under the lock: whoever is woken may be gone with that, and then removes himself.
  void wake() {
    if (!are_some_) return;
    std::vector<std::pair<std::uint64_t, Wake>> wakes;
    {
      const std::lock_guard lock(mutex_);
      wakes = wakes_;
    }
    for (const auto& [id, wake] : wakes) wake();
  }

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::uint64_t, Wake>> wakes_;
  std::uint64_t last_ = 0;
  std::atomic<bool> are_some_ = false;
};

}  // namespace

// Outlives its connections: those that are left go with `context`.
struct HttpServer::Inside {
  Inside(HttpOptions given, Handle answers)
      : options(std::move(given)),
        handle(std::move(answers)),
        acceptor(asio::make_strand(context)) {}

  Result<void> listen();
  Result<void> load_certificate();
  void accept();
  void run();

  const HttpOptions options;
  const Handle handle;
  Listeners listeners;

  std::mutex mutex;
  std::condition_variable answered;
  std::shared_ptr<ssl::context> tls;  // null: none
  std::set<Close*> closers;           // of connections
  std::size_t in_work = 0;            // requests that are not answered
  std::atomic<bool> drains = false;
  std::atomic<std::size_t> connections = 0;
  std::atomic<std::uint64_t> requests = 0;
  std::atomic<std::uint64_t> refused = 0;

  asio::io_context context;
  // A request that waits for the engine is no work of the context: it must not end meanwhile.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  tcp::acceptor acceptor;
  std::vector<std::thread> threads;
};

namespace {

// One connection. `Stream` is a TCP stream, or TLS on one.
template <class Stream>
class Connection : public std::enable_shared_from_this<Connection<Stream>> {
 public:
  Connection(HttpServer::Inside* inside, Stream stream, std::string peer)
      : inside_(inside),
        stream_(std::move(stream)),
        peer_(std::move(peer)),
        quiet_(stream_.get_executor()),
        reader_(inside->options.body_max),
        close_([this]() -> std::shared_ptr<void> {
          const std::shared_ptr<Connection> self = this->weak_from_this().lock();
          if (!self) return nullptr;  // it is going already
          asio::post(stream_.get_executor(), [self] {
            if (self->is_busy_) return;
            self->socket().close();
            self->quiet_.cancel();
          });
          return self;
        }) {
    ++inside_->connections;
    const std::lock_guard lock(inside_->mutex);
    inside_->closers.insert(&close_);
  }
  ~Connection() {
    if (listener_ != 0) inside_->listeners.remove(listener_);
    {
      const std::lock_guard lock(inside_->mutex);
      inside_->closers.erase(&close_);
    }
    --inside_->connections;
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin() {
    asio::dispatch(stream_.get_executor(), [self = this->shared_from_this()] {
      if constexpr (std::is_same_v<Stream, beast::tcp_stream>) {
        self->read_request(self->inside_->options.header_within);
      } else {
        self->expire(self->inside_->options.header_within);
        self->stream_.async_handshake(ssl::stream_base::server, [self](Failed failed) {
          if (!failed) self->read_request(self->inside_->options.header_within);
        });
      }
    });
  }

 private:
  using Self = std::shared_ptr<Connection>;
  using State = HttpReader::State;

  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }
  tcp::socket& socket() { return lowest().socket(); }
  void expire(std::chrono::milliseconds within) { lowest().expires_after(within); }

  // --- a request

  // With what has come behind the last one.
  void read_request(std::chrono::milliseconds idle_within) {
    if (inside_->drains) return close();
    is_busy_ = false;
    expire(reader_.state() == State::idle ? idle_within : inside_->options.header_within);
    if (reader_.state() == State::body) return read_body();
    go_on();
  }

  void go_on() {
    if (reader_.state() == State::whole) return have_request();
    if (reader_.state() == State::refused)
      return refuse(reader_.refusal().id, reader_.refusal().why);
    room_.resize(reader_.state() == State::body ? kBodyRoom : kHeaderRoom);
    stream_.async_read_some(asio::buffer(room_),
                            [self = this->shared_from_this()](Failed failed, std::size_t size) {
                              if (failed) return self->close();
                              self->have_bytes(size);
                            });
  }

  // A header and a body have their time from their first byte on.
  void have_bytes(std::size_t size) {
    const State before = reader_.state();
    reader_.add({room_.data(), size});
    const State now = reader_.state();
    if (before == State::idle && now == State::header) expire(inside_->options.header_within);
    if (before != State::body && now == State::body) return read_body();
    go_on();
  }

  void read_body() {
    is_busy_ = true;
    if (reader_.header().expects_continue) return invite_body();
    expire(inside_->options.body_within);
    go_on();
  }

  // curl asks before it sends more than 1 KiB.
  void invite_body() {
    static constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    expire(inside_->options.write_within);
    asio::async_write(stream_, asio::buffer(kGoOn),
                      [self = this->shared_from_this()](Failed failed, std::size_t) {
                        if (failed) return self->close();
                        self->expire(self->inside_->options.body_within);
                        self->go_on();
                      });
  }

  void have_request() {
    is_busy_ = true;
    auto [header, body] = reader_.take();
    room_ = {};  // what waits for an answer needs none
    keeps_alive_ = header.keeps_alive && !inside_->drains;
    const std::string_view target = header.target;
    const std::size_t mark = std::min(target.find('?'), target.size());
    auto query = read_query(target.substr(std::min(mark + 1, target.size())));
    if (!query) return refuse("bad_http", "the query cannot be decoded");
    HttpRequest request{
        .method = std::move(header.method),
        .path = std::string(target.substr(0, mark)),
        .query = *std::move(query),
        .authorization = std::move(header.authorization),
        .content_type = std::move(header.content_type),
        .last_event_id = std::move(header.last_event_id),
        .body = std::move(body),
        .peer = peer_,
        .is_there = [self = this->shared_from_this(), socket = socket().native_handle()] {
          return is_connected(socket);
        }};
    is_head_ = request.method == "HEAD";
    {
      const std::lock_guard lock(inside_->mutex);
      ++inside_->in_work;
    }
    ++inside_->requests;
    lowest().expires_never();
    inside_->handle(std::move(request), [self = this->shared_from_this()](HttpResponse response) {
      auto kept = std::make_shared<HttpResponse>(std::move(response));
      asio::post(self->stream_.get_executor(), [self, kept] { self->answer(std::move(*kept)); });
    });
  }

  // --- its answer

  void refuse(std::string_view id, const std::string& why) {
    ++inside_->refused;
    keeps_alive_ = false;
    is_refused_ = true;
    is_busy_ = true;
    {
      const std::lock_guard lock(inside_->mutex);
      ++inside_->in_work;
    }
    answer(failed_response(id, why));
  }

  void answered() {
    {
      const std::lock_guard lock(inside_->mutex);
      --inside_->in_work;
    }
    inside_->answered.notify_all();
  }

  void answer(HttpResponse response) {
    events_ = std::move(response.events);
    response_ = {};
    response_.version(11);
    response_.result(static_cast<unsigned>(response.status));
    response_.set(http::field::server, "pawl");
    response_.set(http::field::content_type, response.content_type);
    response_.set(http::field::cache_control, "no-store");
    response_.set("X-Content-Type-Options", "nosniff");
    if (response.status == 401) response_.set(http::field::www_authenticate, "Bearer");
    if (response.retry_after)
      response_.set(http::field::retry_after, std::to_string(response.retry_after->count()));
    if (!response.allow.empty()) response_.set(http::field::allow, response.allow);
    if (events_) return begin_events();
    response_.keep_alive(keeps_alive_ && !inside_->drains);
    if (!is_head_) response_.body() = std::move(response.body);
    response_.prepare_payload();
    expire(inside_->options.write_within);
    http::async_write(stream_, response_,
                      [self = this->shared_from_this()](Failed failed, std::size_t) {
                        self->answered();
                        self->is_busy_ = false;
                        if (!failed && self->is_refused_) return self->linger();
                        if (failed || !self->response_.keep_alive()) return self->close();
                        self->read_request(self->inside_->options.idle_within);
                      });
  }

  // Until the client has read why it was refused and ends the connection, or has had its time.
  void linger() {
    Failed ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    expire(kLingers);
    throw_away();
  }

  void throw_away() {
    room_.resize(kBodyRoom);
    lowest().async_read_some(asio::buffer(room_),
                             [self = this->shared_from_this()](Failed failed, std::size_t) {
                               if (failed) return self->lowest().close();
                               self->throw_away();
                             });
  }

  // --- events

  void begin_events() {
    answered();
    is_busy_ = false;  // ended without further ado when the server is
    keeps_alive_ = false;
    response_.keep_alive(false);
    std::ostringstream head;
    head << response_.base();
    text_ = std::move(head).str();
    listener_ = inside_->listeners.add([weak = this->weak_from_this()] {
      if (const Self self = weak.lock())
        asio::post(self->stream_.get_executor(), [self] { self->woken(); });
    });
    write_events();
  }

  void woken() {
    if (waits_) quiet_.cancel();
  }

  void write_events() {
    waits_ = false;
    expire(inside_->options.write_within);
    asio::async_write(stream_, asio::buffer(text_),
                      [self = this->shared_from_this()](Failed failed, std::size_t) {
                        if (failed) return self->close();
                        self->next_events();
                      });
  }

  void next_events() {
    if (inside_->drains) return close();
    auto next = events_->next();
    if (!next) return close();
    text_ = *std::move(next);
    if (!text_.empty()) return write_events();
    waits_ = true;
    lowest().expires_never();
    quiet_.expires_after(kQuietAtMost);
    quiet_.async_wait([self = this->shared_from_this()](Failed failed) {
      if (self->inside_->drains || !self->socket().is_open()) return self->close();
      self->waits_ = false;
      if (failed == asio::error::operation_aborted) return self->next_events();
      self->text_ = ": alive\n\n";
      self->write_events();
    });
  }

  void close() {
    if constexpr (std::is_same_v<Stream, beast::tcp_stream>) {
      Failed ignored;
      socket().shutdown(tcp::socket::shutdown_send, ignored);
      lowest().close();
    } else {
      expire(std::chrono::seconds{1});
      stream_.async_shutdown([self = this->shared_from_this()](Failed) { self->lowest().close(); });
    }
  }

  HttpServer::Inside* inside_;
  Stream stream_;
  std::string peer_;
  asio::steady_timer quiet_;
  HttpReader reader_;
  Close close_;
  bool is_busy_ = false;  // with a request
  bool keeps_alive_ = true;
  bool is_refused_ = false;
  bool is_head_ = false;  // what was asked: the answer has no body
  std::string room_;      // for bytes to come
  http::response<http::string_body> response_;
  std::unique_ptr<EventSource> events_;
  std::uint64_t listener_ = 0;
  bool waits_ = false;  // for events
  std::string text_;
};

}  // namespace

// --- the server --------------------------------------------------------------------------------

Result<void> HttpServer::Inside::load_certificate() {
  if (options.certificate.empty()) return {};
  auto made = std::make_shared<ssl::context>(ssl::context::tls_server);
  Failed failed;
  made->set_options(
      ssl::context::default_workarounds | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
      failed);
  made->use_certificate_chain_file(options.certificate, failed);
  if (failed)
    return Error{ErrorCode::environment,
                 "cannot read the certificate " + options.certificate + ": " + failed.message()};
  made->use_private_key_file(options.private_key, ssl::context::pem, failed);
  if (failed)
    return Error{ErrorCode::environment,
                 "cannot read the private key " + options.private_key + ": " + failed.message()};
  const std::lock_guard lock(mutex);
  tls = std::move(made);
  return {};
}

Result<void> HttpServer::Inside::listen() {
  PAWL_CHECK(load_certificate());
  const std::string where = options.address + ":" + std::to_string(options.port);
  const auto cannot = [&](const Failed& failed) {
    return Error{ErrorCode::environment, "cannot listen on " + where + ": " + failed.message()};
  };
  Failed failed;
  const auto address = asio::ip::make_address(options.address, failed);
  if (failed) return cannot(failed);
  const tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), failed);
  if (!failed) acceptor.set_option(asio::socket_base::reuse_address(true), failed);
  if (!failed) acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) return cannot(failed);
  return {};
}

void HttpServer::Inside::accept() {
  acceptor.async_accept(asio::make_strand(context), [this](Failed failed, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (failed) {  // no file descriptors, say: the next one may be luckier
      auto again = std::make_shared<asio::steady_timer>(context, std::chrono::milliseconds{50});
      again->async_wait([this, again](Failed) { accept(); });
      return;
    }
    if (connections >= options.connections_max) {
      ++refused;
    } else {
      Failed ignored;
      socket.set_option(tcp::no_delay(true), ignored);
      const std::string peer = socket.remote_endpoint(ignored).address().to_string();
      std::shared_ptr<ssl::context> certificate;
      {
        const std::lock_guard lock(mutex);
        certificate = tls;
      }
      if (certificate == nullptr) {
        std::make_shared<Connection<beast::tcp_stream>>(this, beast::tcp_stream(std::move(socket)),
                                                        peer)
            ->begin();
      } else {
        std::make_shared<Connection<beast::ssl_stream<beast::tcp_stream>>>(
            this, beast::ssl_stream<beast::tcp_stream>(std::move(socket), *certificate), peer)
            ->begin();
      }
    }
    accept();
  });
}

void HttpServer::Inside::run() {
  for (int i = 0; i < options.threads; ++i) threads.emplace_back([this] { context.run(); });
}

HttpServer::HttpServer(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::open(HttpOptions options, Handle handle) {
  auto inside = std::make_unique<Inside>(std::move(options), std::move(handle));
  PAWL_CHECK(inside->listen());
  inside->accept();
  inside->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(inside)));
}

HttpServer::~HttpServer() { stop(); }

void HttpServer::stop() {
  inside_->context.stop();
  for (std::thread& thread : inside_->threads) thread.join();
  inside_->threads.clear();
}

std::uint16_t HttpServer::port() const {
  Failed ignored;
  return inside_->acceptor.local_endpoint(ignored).port();
}

void HttpServer::wake() { inside_->listeners.wake(); }

Result<void> HttpServer::reload() { return inside_->load_certificate(); }

void HttpServer::drain(std::chrono::milliseconds at_most) {
  inside_->drains = true;
  asio::post(inside_->acceptor.get_executor(), [this] {
    Failed ignored;
    inside_->acceptor.close(ignored);
  });
  std::vector<std::shared_ptr<void>> kept;
  std::unique_lock lock(inside_->mutex);
  for (Close* close : inside_->closers) kept.push_back((*close)());
  inside_->answered.wait_for(lock, at_most, [&] { return inside_->in_work == 0; });
}

HttpServer::Figures HttpServer::figures() const {
  return {inside_->connections, inside_->requests, inside_->refused};
}

}  // namespace pawl
