#include "cli/server_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_text.h"
#include "cli/reply_text.h"
#include "decide/json_edit.h"
#include "outside/transfer.h"
#include "pawl/assert.h"

namespace pawl::cli {
namespace {

constexpr long kConnectMs = 10'000;
// A call waits for a minute at most, and a server answers soon after that.
constexpr long kCallMs = 90'000;
// A feed says every 15 seconds that it is alive.
constexpr std::chrono::seconds kQuietAtMost{45};
// More than 1,000 records of the largest kind that is usual.
constexpr std::size_t kReplyMax = 256U << 20U;

// The lines of server-sent events: `id: 7`, `data: […]`, and an empty one at the end of each.
class EventReader {
 public:
  explicit EventReader(const Client::Take& take) : take_(take) {}

  // What has come of a line that has not ended.
  std::size_t waiting() const { return text_.size(); }

  // Whether there is to be more.
  bool read(std::string_view bytes) {
    text_ += bytes;
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const bool goes_on = read_line(std::string_view(text_).substr(0, end));
      text_.erase(0, end + 1);
      if (!goes_on) return false;
    }
    return true;
  }

 private:
  bool read_line(std::string_view line) {
    constexpr std::string_view kId = "id: ";
    constexpr std::string_view kData = "data: ";
    if (line.starts_with(kId)) id_ = line.substr(kId.size());
    if (line.starts_with(kData)) data_ = line.substr(kData.size());
    if (!line.empty() || data_.empty()) return true;
    return take_(id_, std::exchange(data_, {}));
  }

  const Client::Take& take_;
  std::string text_;
  std::string id_;
  std::string data_;
};

// One connection, used by one call at a time.
class Connection {
 public:
  explicit Connection(const ServerPlace& place) : curl_(curl_easy_init()) {
    PAWL_ASSERT(curl_ != nullptr, "there is memory for a connection");
    headers_.add("Authorization: Bearer " + place.token);
    headers_.add("Content-Type: application/json");
    headers_.add("Expect:");
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    // A proxy would see what is not encrypted.
    if (place.url.starts_with("http:")) set(CURLOPT_PROXY, "");
    if (!place.certificates.empty()) set(CURLOPT_CAINFO, place.certificates.c_str());
    set(CURLOPT_USERAGENT, "pawl");
    set(CURLOPT_CONNECTTIMEOUT_MS, kConnectMs);
    set(CURLOPT_HTTPHEADER, headers_.list());
    set(CURLOPT_WRITEFUNCTION, receive);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_XFERINFOFUNCTION, go_on);
    set(CURLOPT_XFERINFODATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_ERRORBUFFER, why_.data());
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // With `events`: these are read as they come, and are not in the body of the reply.
  ApiReply ask(const std::string& url, const ApiRequest& request, EventReader* events) {
    body_.clear();
    why_[0] = '\0';
    events_ = events;
    is_over_ = false;
    const bool has_body = request.method == "POST";
    set(CURLOPT_HTTPGET, 1L);
    if (has_body) {
      set(CURLOPT_POST, 1L);
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      set(CURLOPT_POSTFIELDS, request.body.c_str());
    }
    set(CURLOPT_URL, (url + request.path + query_text(request)).c_str());
    set(CURLOPT_TIMEOUT_MS, events != nullptr ? 0L : kCallMs);
    heard_at_ = Clock::now();
    const CURLcode code = curl_easy_perform(curl_.get());
    if (is_over_) return {.status = 200};
    const long status = status_of();
    if (code != CURLE_OK) return no_reply("cannot reach " + url + ": " + reason(code));
    if (events != nullptr && status == 200) return no_reply(url + " closed the feed");
    if (status < 200 || (status >= 300 && status < 400) || !check_json(body_))
      return no_reply(url + " does not answer like a Pawl server (status " +
                      std::to_string(status) + "): check the address");
    return {.status = static_cast<int>(status), .body = std::move(body_)};
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct HandleFree {
    void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  };

  template <class Value>
  void set(CURLoption option, Value value) {
    const CURLcode code = curl_easy_setopt(curl_.get(), option, value);
    PAWL_ASSERT(code == CURLE_OK, "libcurl knows the option");
  }

  static std::string query_text(const ApiRequest& request) {
    std::string text;
    for (const auto& [name, value] : request.query)
      text += (text.empty() ? "?" : "&") + name + "=" + percent_encoded(value);
    return text;
  }

  static std::size_t receive(char* bytes, std::size_t size, std::size_t count, void* of) {
    Connection& self = *static_cast<Connection*>(of);
    const std::string_view some(bytes, size * count);
    self.heard_at_ = Clock::now();
    if (self.events_ != nullptr && self.status_of() == 200) {
      if (self.events_->waiting() + some.size() > kReplyMax) return 0;
      self.is_over_ = !self.events_->read(some);
      return self.is_over_ ? 0 : some.size();
    }
    if (self.body_.size() + some.size() > kReplyMax) return 0;
    self.body_ += some;
    return some.size();
  }

  // A feed that has gone quiet has lost its server.
  static int go_on(void* of, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const Connection& self = *static_cast<const Connection*>(of);
    return self.events_ != nullptr && Clock::now() - self.heard_at_ > kQuietAtMost ? 1 : 0;
  }

  long status_of() const {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    return status;
  }

  std::string reason(CURLcode code) const {
    return why_[0] != '\0' ? why_.data() : curl_easy_strerror(code);
  }

  static ApiReply no_reply(const std::string& message) {
    return {.status = kNoReply, .body = R"({"error":{"message":)" + json_string(message) + "}}"};
  }

  std::unique_ptr<CURL, HandleFree> curl_;
  Lines headers_;
  std::array<char, CURL_ERROR_SIZE> why_{};
  std::string body_;
  EventReader* events_ = nullptr;
  bool is_over_ = false;  // no more events are wanted
  Clock::time_point heard_at_;
};

class ServerClient : public Client {
 public:
  ServerClient(ServerPlace place, Actor actor)
      : place_(std::move(place)), actor_(std::move(actor)) {}

  ApiReply call(ApiRequest request) override { return ask(std::move(request), nullptr); }
  ApiReply listen(ApiRequest request, const Take& take) override {
    EventReader events(take);
    return ask(std::move(request), &events);
  }
  std::string url() const override { return place_.url; }

 private:
  ApiReply ask(ApiRequest request, EventReader* events) {
    if (request.method == "POST" && !actor_.name.empty()) name_actor(request);
    std::unique_ptr<Connection> connection = take();
    ApiReply reply = connection->ask(place_.url, request, events);
    if (reply.status == 401)
      reply.body = R"({"error":{"id":"no_access","message":)" +
                   json_string(place_.url +
                               " rejected the access token: it is unknown, revoked or expired; "
                               "check PAWL_TOKEN") +
                   "}}";
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(connection));
    return reply;
  }

  std::unique_ptr<Connection> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Connection>(place_);
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }

  // Orders are given by operators, as they are on a directory. A token that may not say so of
  // others does not get that far.
  void name_actor(ApiRequest& request) const {
    std::vector<std::string> roles = actor_.roles;
    if (request.path.ends_with("/orders")) roles.emplace_back("operator");
    std::string list;
    for (const std::string& role : roles) list += (list.empty() ? "" : ",") + json_string(role);
    std::string actor = R"("actor":{"name":)" + json_string(actor_.name);
    if (!list.empty()) actor += R"(,"roles":[)" + list + "]";
    actor += request.body == "{}" ? "}" : "},";
    request.body.insert(1, actor);
  }

  const ServerPlace place_;
  const Actor actor_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace

Result<std::unique_ptr<Client>> open_server(const ServerPlace& place, const Actor& actor) {
  if (actor.name.empty() && !actor.roles.empty())
    return Error{ErrorCode::bad_input,
                 "a server takes roles from the access token: --role needs --actor, and a token "
                 "created with --act-as"};
  begin_transfers();
  return std::unique_ptr<Client>(std::make_unique<ServerClient>(place, actor));
}

}  // namespace pawl::cli
