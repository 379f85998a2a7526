// LocalSearch: a search engine on a loopback port that answers as it is told to, over connections
// that stay, any number of them at once. For tests.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace pawl {

class LocalSearch {
 public:
  struct Request {
    std::string head;  // with the empty line at its end
    std::string body;
  };
  // Gives the whole response; an empty one, or one that says `Connection: close`, ends the
  // connection. Called by a thread per connection; it may wait.
  using Answer = std::function<std::string(const Request& request)>;

  explicit LocalSearch(Answer answer);
  ~LocalSearch();
  LocalSearch(const LocalSearch&) = delete;
  LocalSearch& operator=(const LocalSearch&) = delete;

  std::string url() const;
  std::vector<Request> requests() const;
  int connections() const;  // ever
  void wait_until_all_are_closed();

 private:
  void listen();
  void serve(int socket);

  Answer answer_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable closed_;
  std::vector<Request> requests_;
  std::vector<int> open_;
  std::vector<std::thread> threads_;
  std::thread thread_;
};

// `headers`: lines, each with its end.
std::string http_answer(int status, std::string_view body, std::string_view headers = {});

// The answer to so many items that were all indexed.
std::string indexed_answer(std::size_t items);

// A port on which nobody listens, for as long as this lives.
class ClosedPort {
 public:
  ClosedPort();
  ~ClosedPort();
  ClosedPort(const ClosedPort&) = delete;
  ClosedPort& operator=(const ClosedPort&) = delete;

  std::string url() const;

 private:
  int socket_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace pawl
