#include "pipe/local_search.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/text.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

// A socket with a port of its own.
int bound_socket(std::uint16_t& port) {
  const int bound = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  PAWL_ASSERT(bind(bound, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                  getsockname(bound, reinterpret_cast<sockaddr*>(&at), &size) == 0,
              "there is a free port");
  port = ntohs(at.sin_port);
  return bound;
}

std::string url_of(std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); }

std::size_t length_of(std::string_view head) {
  const std::string lower = to_lower(head);
  constexpr std::string_view kName = "\r\ncontent-length: ";
  const std::size_t at = lower.find(kName);
  if (at == std::string::npos) return 0;
  const std::size_t begin = at + kName.size();
  return static_cast<std::size_t>(
      parse_whole(lower.substr(begin, lower.find('\r', begin) - begin)).value_or(0));
}

// Appends to what is there until it is so long. False: the other side is gone.
bool read_until(int socket, std::string& text, std::size_t size) {
  char bytes[65'536];
  while (text.size() < size) {
    const ssize_t got = recv(socket, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    text.append(bytes, static_cast<std::size_t>(got));
  }
  return true;
}

// The next one; `text` is what has arrived.
std::optional<LocalSearch::Request> read_request(int socket, std::string& text) {
  std::size_t end = 0;
  while ((end = text.find("\r\n\r\n")) == std::string::npos)
    if (!read_until(socket, text, text.size() + 1)) return std::nullopt;
  LocalSearch::Request request{.head = text.substr(0, end + 4)};
  const std::size_t size = end + 4 + length_of(request.head);
  if (!read_until(socket, text, size)) return std::nullopt;
  request.body = text.substr(end + 4, size - end - 4);
  text.erase(0, size);
  return request;
}

bool write_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

LocalSearch::LocalSearch(Answer answer) : answer_(std::move(answer)) {
  listener_ = bound_socket(port_);
  PAWL_ASSERT(::listen(listener_, 64) == 0, "a port can be listened on");
  thread_ = std::thread([this] { listen(); });
}

LocalSearch::~LocalSearch() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  {
    const std::lock_guard lock(mutex_);
    for (const int socket : open_) shutdown(socket, SHUT_RDWR);
  }
  for (std::thread& thread : threads_) thread.join();
  close(listener_);
}

std::string LocalSearch::url() const { return url_of(port_); }

std::vector<LocalSearch::Request> LocalSearch::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

int LocalSearch::connections() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(threads_.size());
}

void LocalSearch::wait_until_all_are_closed() {
  std::unique_lock lock(mutex_);
  closed_.wait(lock, [&] { return open_.empty(); });
}

void LocalSearch::listen() {
  for (;;) {
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return;
    const std::lock_guard lock(mutex_);
    open_.push_back(socket);
    threads_.emplace_back([this, socket] { serve(socket); });
  }
}

void LocalSearch::serve(int socket) {
  std::string arrived;
  while (const auto request = read_request(socket, arrived)) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(*request);
    }
    const std::string response = answer_(*request);
    if (response.empty() || !write_all(socket, response) ||
        response.find("Connection: close\r\n") != std::string::npos)
      break;
  }
  const std::lock_guard lock(mutex_);
  std::erase(open_, socket);
  close(socket);
  closed_.notify_all();
}

std::string http_answer(int status, std::string_view body, std::string_view headers) {
  return "HTTP/1.1 " + std::to_string(status) + " Said\r\nContent-Type: application/json\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

std::string indexed_answer(std::size_t items) {
  std::string body = R"({"errors":false,"items":[)";
  for (std::size_t at = 0; at < items; ++at)
    body += at == 0 ? R"({"index":{"status":201}})" : R"(,{"index":{"status":201}})";
  return http_answer(200, body + "]}");
}

ClosedPort::ClosedPort() { socket_ = bound_socket(port_); }

ClosedPort::~ClosedPort() { close(socket_); }

std::string ClosedPort::url() const { return url_of(port_); }

}  // namespace pawl
