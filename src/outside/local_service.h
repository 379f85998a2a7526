// LocalService: a service on a loopback port that answers as it is told to and keeps what it was
// asked. For tests.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace pawl {

class LocalService {
 public:
  // Gives the whole response to the whole request; an empty one closes the connection.
  using Answer = std::function<std::string(const std::string& request)>;

  explicit LocalService(Answer answer);
  ~LocalService();
  LocalService(const LocalService&) = delete;
  LocalService& operator=(const LocalService&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url(const std::string& path = "/") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  std::vector<std::string> requests() const;

 private:
  void serve();

  Answer answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace pawl
