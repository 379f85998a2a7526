// Wire: a connection to a server on this machine, as raw as it gets.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

namespace pawl {

class Wire {
 public:
  explicit Wire(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) std::abort();
    const int at_once = 1;  // so that pieces stay pieces
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    timeval at_most{20, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &at_most, sizeof at_most);
  }
  ~Wire() { close(socket_); }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void send(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }

  // The head and the body of one response; empty when the connection was closed.
  std::string response() {
    const std::size_t head = wait_for("\r\n\r\n");
    if (head == std::string::npos) return std::exchange(got_, {});
    const std::size_t length = got_.find("Content-Length: ");
    std::size_t end = head + 4;
    if (length != std::string::npos && length < head) end += std::stoull(got_.substr(length + 16));
    while (got_.size() < end && read_some()) {
    }
    std::string one = got_.substr(0, end);
    got_.erase(0, end);
    return one;
  }

  // Everything up to this text.
  std::string until(const std::string& text) {
    const std::size_t at = wait_for(text);
    if (at == std::string::npos) return std::exchange(got_, {});
    std::string some = got_.substr(0, at + text.size());
    got_.erase(0, at + text.size());
    return some;
  }

  // Whether the other side ends it, and does not just stay silent for twenty seconds. What came
  // before is in rest().
  bool is_closed() {
    while (read_some()) {
    }
    return is_ended_;
  }
  const std::string& rest() const { return got_; }

  // Whether there is something to read, or the end, within that time.
  bool has_news_within(int milliseconds) const {
    pollfd waits{socket_, POLLIN, 0};
    return poll(&waits, 1, milliseconds) > 0;
  }

 private:
  bool read_some() {
    char buffer[4096];
    const ssize_t size = recv(socket_, buffer, sizeof buffer, 0);
    is_ended_ = size == 0 || (size < 0 && errno == ECONNRESET);
    if (size <= 0) return false;
    got_.append(buffer, static_cast<std::size_t>(size));
    return true;
  }
  std::size_t wait_for(const std::string& text) {
    std::size_t at = 0;
    while ((at = got_.find(text)) == std::string::npos)
      if (!read_some()) return std::string::npos;
    return at;
  }

  int socket_;
  std::string got_;
  bool is_ended_ = false;
};

inline bool has_status(const std::string& response, int status) {
  return response.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}

}  // namespace pawl
