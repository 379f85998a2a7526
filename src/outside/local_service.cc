#include "outside/local_service.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "base/text.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

// With its body, when it says how long that is.
std::string read_request(int socket) {
  std::string text;
  for (;;) {
    const std::size_t end = text.find("\r\n\r\n");
    if (end != std::string::npos) {
      const std::string head = to_lower(text.substr(0, end + 2));
      const std::size_t at = head.find("\r\ncontent-length: ");
      const auto length =
          at == std::string::npos
              ? 0
              : parse_whole(head.substr(at + 18, head.find('\r', at + 2) - at - 18)).value_or(0);
      if (text.size() >= end + 4 + static_cast<std::size_t>(length)) return text;
    }
    char bytes[4'096];
    const ssize_t size = recv(socket, bytes, sizeof bytes, 0);
    if (size <= 0) return text;
    text.append(bytes, static_cast<std::size_t>(size));
  }
}

}  // namespace

LocalService::LocalService(Answer answer) : answer_(std::move(answer)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  PAWL_ASSERT(bind(listener_, reinterpret_cast<sockaddr*>(&at), size) == 0 &&
                  listen(listener_, 16) == 0 &&
                  getsockname(listener_, reinterpret_cast<sockaddr*>(&at), &size) == 0,
              "there is a free port");
  port_ = ntohs(at.sin_port);
  thread_ = std::thread([this] { serve(); });
}

LocalService::~LocalService() {
  shutdown(listener_, SHUT_RDWR);
  thread_.join();
  close(listener_);
}

std::vector<std::string> LocalService::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void LocalService::serve() {
  for (;;) {
    const int socket = accept(listener_, nullptr, nullptr);
    if (socket < 0) return;
    const std::string request = read_request(socket);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    const std::string response = answer_(request);
    for (std::size_t sent = 0; sent < response.size();) {
      const ssize_t size =
          send(socket, response.data() + sent, response.size() - sent, MSG_NOSIGNAL);
      if (size <= 0) break;
      sent += static_cast<std::size_t>(size);
    }
    close(socket);
  }
}

}  // namespace pawl
