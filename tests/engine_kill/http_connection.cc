#include "http_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "api/api.h"
#include "base/json_text.h"
#include "model/expression/json_view.h"
#include "pawl/time.h"

namespace pawl::kill {
namespace {

struct Reply {
  int status = 0;
  std::string body = {};
};

std::string text_of(const JsonView& value) {
  Scratch scratch;
  return std::string(value.text(scratch));
}

std::string number_of(const JsonView& value) {
  return value.absent() ? "0" : std::string(value.json());
}

Words failed(const Reply& reply) {
  return {"failed", std::to_string(reply.status) + " " + reply.body};
}

std::string path_of(const Words& asked) {
  return "/v1/records/" + percent_encoded(asked.at(1)) + "/" + percent_encoded(asked.at(2));
}

// `{"a":"x","b":{}}` of names and JSON.
std::string map_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  for (const auto& [name, json] : members)
    out += (out.empty() ? "{" : ",") + json_string(name) + ":" + json;
  return out + "}";
}

class HttpConnection final : public Connection {
 public:
  HttpConnection(Descriptor socket, HttpPlace place)
      : socket_(std::move(socket)), place_(std::move(place)) {}

  std::optional<Words> ask(const Words& asked) override {
    const std::string& verb = asked.at(0);
    if (verb == "claim") return claim(asked);
    if (verb == "open") return names("machine=" + asked.at(1));
    if (verb == "held") return names("held=true&built_in=true");
    if (verb == "wait") return wait(asked);
    if (verb == "create") return change(path_of(asked), map_of({{"data", asked.at(3)}}));
    if (verb == "fire")
      return change(path_of(asked) + "/fire",
                    map_of({{"event", json_string(asked.at(3))},
                            {"payload", asked.at(4)},
                            {"idempotency_key", json_string(asked.at(5))}}));
    if (verb == "release")
      return change(path_of(asked) + "/orders",
                    map_of({{"order", R"("release")"}, {"reason", R"("a kill")"}}));
    const std::pair<std::string, std::string> what =
        verb == "beat"   ? std::pair{"progress", asked.at(4)}
        : verb == "done" ? std::pair{"result", asked.at(4)}
                         : std::pair{"code", json_string(asked.at(4))};
    return change("/v1/" + verb, map_of({{"machine", json_string(asked.at(1))},
                                         {"key", json_string(asked.at(2))},
                                         {"token", json_string(asked.at(3))},
                                         what}));
  }

 private:
  std::optional<Words> change(const std::string& path, const std::string& body) {
    const auto reply = call("POST", path, body);
    if (!reply) return std::nullopt;
    const JsonView json(reply->body);
    if (reply->status == 400)
      return Words{"error", text_of(json.member("error").member("message")), "", "0"};
    if (reply->status != 200 && reply->status != 409) return failed(*reply);
    return Words{text_of(json.member("answer")), text_of(json.member("reason")),
                 text_of(json.member("state")), number_of(json.member("revision"))};
  }

  std::optional<Words> claim(const Words& asked) {
    std::string queues;
    for (std::size_t i = 4; i < asked.size(); ++i)
      queues += (queues.empty() ? "[" : ",") + json_string(asked[i]);
    const auto reply = call("POST", "/v1/claim",
                            map_of({{"max", asked.at(1)},
                                    {"wait", json_string(asked.at(2) + "ms")},
                                    {"worker", json_string(asked.at(3))},
                                    {"queues", queues + "]"}}));
    if (!reply) return std::nullopt;
    if (reply->status != 200) return failed(*reply);
    Words words{"ok"};
    for (JsonWalk walk(JsonView(reply->body).member("attempts")); walk.next();) {
      const JsonView one = walk.value();
      const auto lease = parse_instant(text_of(one.member("lease_until")));
      const auto deadline = parse_instant(text_of(one.member("deadline_at")));
      if (!lease || !deadline) return failed(*reply);
      for (const std::string& word :
           {text_of(one.member("machine")), text_of(one.member("key")),
            text_of(one.member("token")), number_of(one.member("fence")),
            std::string(one.member("data").json()),
            std::to_string(std::min(*lease, *deadline).time_since_epoch().count())})
        words.push_back(word);
    }
    return words;
  }

  std::optional<Words> wait(const Words& asked) {
    const auto reply = call("GET", path_of(asked) + "?wait=" + asked.at(3) + "ms", {});
    if (!reply) return std::nullopt;
    if (reply->status != 200) return failed(*reply);
    return Words{"ok", text_of(JsonView(reply->body).member("state"))};
  }

  // But for deliveries that run since before this process: their timeouts are not waited for.
  std::optional<Words> names(const std::string& query) {
    Words words{"ok"};
    std::string from;
    do {
      const auto reply = call("GET", "/v1/records?max=1000&" + query + from, {});
      if (!reply) return std::nullopt;
      if (reply->status != 200) return failed(*reply);
      const JsonView page(reply->body);
      for (JsonWalk walk(page.member("items")); walk.next();) {
        const JsonView record = walk.value();
        const auto started = parse_instant(text_of(record.member("running").member("started_at")));
        if (text_of(record.member("machine")) == "delivery" && started && *started < place_.since)
          continue;
        words.push_back(text_of(record.member("machine")));
        words.push_back(text_of(record.member("key")));
      }
      from = text_of(page.member("next"));
      if (!from.empty()) from = "&from=" + percent_encoded(from);
    } while (!from.empty());
    return words;
  }

  std::optional<Reply> call(const std::string& method, const std::string& path,
                            const std::string& body) {
    std::string bytes = method + " " + path + " HTTP/1.1\r\nHost: pawl\r\nAuthorization: Bearer " +
                        place_.token + "\r\n";
    if (!body.empty())
      bytes += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n";
    bytes += "\r\n" + body;
    errno = 0;
    const bool is_sent = send(socket_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                         static_cast<ssize_t>(bytes.size());
    auto reply = is_sent ? receive() : std::nullopt;
    if (!reply && is_time_up()) give_up("an answer to " + method + " " + path);
    return reply;
  }

  std::optional<Reply> receive() {
    static const std::string kLength = "Content-Length: ";
    std::string got;
    std::size_t end = std::string::npos;
    std::size_t whole = 0;
    while (end == std::string::npos || got.size() < whole) {
      char some[16'384];
      const ssize_t size = recv(socket_.number(), some, sizeof some, 0);
      if (size <= 0) return std::nullopt;
      got.append(some, static_cast<std::size_t>(size));
      if (end != std::string::npos) continue;
      end = got.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      const std::size_t length = got.find(kLength);
      if (length == std::string::npos) return std::nullopt;
      whole = end + 4 + std::stoull(got.substr(length + kLength.size()));
    }
    return Reply{std::stoi(got.substr(9, 3)), got.substr(end + 4)};
  }

  Descriptor socket_;
  HttpPlace place_;
};

}  // namespace

std::unique_ptr<Connection> connect_to(const HttpPlace& place) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(place.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  be_patient(socket);
  if (connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (is_time_up()) give_up("a connection to port " + std::to_string(place.port));
    return nullptr;
  }
  const int at_once = 1;
  setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  return std::make_unique<HttpConnection>(std::move(socket), place);
}

}  // namespace pawl::kill
