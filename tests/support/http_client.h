// One connection to a server on this machine, request after request, for tests.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

namespace pawl {

struct HttpAnswer {
  int status = 0;  // 0: the connection is closed
  std::string body = {};
};

class HttpClient {
 public:
  HttpClient(std::uint16_t port, std::string token)
      : socket_(::socket(AF_INET, SOCK_STREAM, 0)), token_(std::move(token)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    timeval at_most{20, 0};  // a test that would hang fails
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &at_most, sizeof at_most);
  }
  ~HttpClient() { close(socket_); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpAnswer get(const std::string& path) { return ask("GET", path, {}); }
  HttpAnswer post(const std::string& path, const std::string& body) {
    return ask("POST", path, body);
  }
  HttpAnswer ask(const std::string& method, const std::string& path, const std::string& body) {
    send(method, path, body);
    return receive();
  }

  // No token: no header that shows one.
  void send(const std::string& method, const std::string& path, const std::string& body) const {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: x\r\n";
    if (!token_.empty()) text += "Authorization: Bearer " + token_ + "\r\n";
    if (!body.empty())
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n";
    send_bytes(text + "\r\n" + body);
  }
  void send_bytes(const std::string& bytes) const {
    ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  HttpAnswer receive() {
    const std::string head = until("\r\n\r\n");
    if (head.size() < 12) return {};
    const std::size_t length = head.find("Content-Length: ");
    HttpAnswer answer{.status = std::stoi(head.substr(9, 3))};
    if (length == std::string::npos) return answer;
    const auto size = std::stoul(head.substr(length + 16));
    while (got_.size() < size && read_some()) {
    }
    answer.body = got_.substr(0, size);
    got_.erase(0, size);
    return answer;
  }

  // Everything up to this text; what there is when the connection is closed before.
  std::string until(const std::string& text) {
    std::size_t at = got_.find(text);
    while (at == std::string::npos && read_some()) at = got_.find(text);
    const std::size_t end = at == std::string::npos ? got_.size() : at + text.size();
    std::string some = got_.substr(0, end);
    got_.erase(0, end);
    return some;
  }
  bool is_closed() {
    char byte = 0;
    return recv(socket_, &byte, 1, 0) == 0;
  }

 private:
  bool read_some() {
    char buffer[4096];
    const ssize_t size = recv(socket_, buffer, sizeof buffer, 0);
    if (size <= 0) return false;
    got_.append(buffer, static_cast<std::size_t>(size));
    return true;
  }

  int socket_;
  std::string token_;
  std::string got_;
};

}  // namespace pawl
