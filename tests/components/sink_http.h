// As much of HTTP/1.1 as a search_sink speaks, over a socket that blocks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pawl::sink {

struct Request {
  std::string method, path;
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // inflated

  std::string header(const std::string& name) const;
  std::string parameter(const std::string& name) const;
};

struct Answer {
  int status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  // besides type and length
};

// The text of an answer up to its body; without a length the body comes in chunks.
std::string head_of(const Answer& answer, std::optional<std::size_t> length);

// One client. Closes the socket when it ends.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // nullopt: the client is gone, or says what is not understood.
  std::optional<Request> read();

  // False when the client is gone.
  bool send(std::string_view bytes);

 private:
  bool receive();
  std::optional<std::string> read_head();

  int socket_;
  std::string received_;
};

}  // namespace pawl::sink
