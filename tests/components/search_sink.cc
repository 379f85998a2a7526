// A search node that fails as it is told: search_sink PORT|0 [--log FILE] [--engine
// opensearch|elasticsearch]
//
// Listens on 127.0.0.1 and says `listening on PORT` on standard output. It speaks the bulk API
// (POST /_bulk, POST /{index}/_bulk, gzip too) and answers like OpenSearch 2, or with the order of
// members and the header of Elasticsearch 8. Documents are kept in memory; external versions hold.
//
//   POST /_script         a JSON list of faults, in the place of those that are left
//   GET  /_docs?index=…   every document, a line each: index, id, version, writes, source. The
//                         index is a name, a beginning with `*`, or left out for all.
//   GET  /_stats          counts: requests, answers by status (or `closed`), items by status,
//                         documents, bytes, connections, max_concurrent, faults_left
//   POST /_reset          forgets documents, faults and counts
//
// A bulk request meets the first fault whose conditions hold; that fault is used up after `times`
// requests (1; -1: never). A fault has any of these members:
//   if_body_over, if_contains   conditions: bytes of the body, a text in it
//   delay_ms                    waits before anything else
//   status                      answers the whole request so and writes nothing, or writes all
//                               documents first with "apply": true. With `type` and `reason` of the
//                               error, or a `body` of your own; 413 has none. retry_after: seconds.
//   close                       before: no answer, nothing written; after_headers, mid_body: closes
//                               there, and everything is written
//   short_items                 the answer lacks its last item
//   truncate, garbage           half of the answer's JSON; no JSON at all
//   items                       a list of {match, status, type, reason, times}: documents in whose
//                               action line or source `match` occurs are refused, `times` of them
//                               (-1: all); the others are written
//
// --log writes an object a line for each bulk request:
//   {"request":1,"began_ms":12,"ended_ms":13,"bytes":52,"items":1,"status":200,"closed":false}
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/json_text.h"
#include "sink_documents.h"
#include "sink_http.h"
#include "sink_script.h"

namespace pawl::sink {
namespace {

using Clock = std::chrono::steady_clock;

struct Counts {
  std::uint64_t requests = 0, bytes = 0, connections = 0, concurrent = 0, concurrent_max = 0;
  std::map<std::string, std::uint64_t> answers, items;  // by status
};

// What becomes of a bulk request.
struct Handled {
  Answer answer;
  std::vector<Outcome> outcomes = {};
  Close close = Close::never;
};

class Sink {
 public:
  Sink(Engine engine, std::FILE* log) : engine_(engine), log_(log) {}

  void serve(Connection& connection);

 private:
  bool answer(Connection& connection, const Request& request);
  Answer control(const Request& request);
  bool send_documents(Connection& connection, std::string_view index);
  bool bulk(Connection& connection, const Request& request, std::string_view index);
  Handled carry_out(const Request& request, std::string_view index);
  Handled apply(const Request& request, std::string_view index, Fault& fault);
  void account(const Handled& handled, std::size_t bytes, Clock::time_point began);
  std::string stats() const;
  std::string about() const;
  std::uint64_t ms_since_start(Clock::time_point at) const;

  const Engine engine_;
  std::FILE* const log_;
  const Clock::time_point started_ = Clock::now();
  Documents documents_;
  Script script_;
  mutable std::mutex mutex_;
  Counts counts_;  // and the log
};

Answer refuse(int status, std::string type, std::string reason) {
  return {status, refusal_answer({status, std::move(type), std::move(reason)})};
}

std::string error_type(int status) {
  if (status == 429) return "rejected_execution_exception";
  if (status == 401 || status == 403) return "security_exception";
  if (status == 404) return "index_not_found_exception";
  return status < 500 ? "illegal_argument_exception" : "unavailable_exception";
}

Answer answer_of(const Fault& fault) {
  auto answer = refuse(fault.status, fault.type.empty() ? error_type(fault.status) : fault.type,
                       fault.reason.empty() ? "as told by the script" : fault.reason);
  if (fault.status == 413) answer.body.clear();  // as the node does it
  if (fault.body) answer.body = *fault.body;
  if (fault.retry_after_s)
    answer.headers.emplace_back("retry-after", std::to_string(*fault.retry_after_s));
  return answer;
}

bool send_answer(Connection& connection, const Answer& answer, Close close) {
  if (close == Close::before) return false;
  auto text = head_of(answer, answer.body.size());
  if (close == Close::never) text += answer.body;
  if (close == Close::mid_body) text += answer.body.substr(0, answer.body.size() / 2);
  return connection.send(text) && close == Close::never;
}

void Sink::serve(Connection& connection) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.connections;
  }
  while (const auto request = connection.read())
    if (!answer(connection, *request)) return;
}

// False when the connection is to be closed.
bool Sink::answer(Connection& connection, const Request& request) {
  constexpr std::string_view kBulk = "/_bulk";
  if (request.path.ends_with(kBulk) && (request.method == "POST" || request.method == "PUT")) {
    auto index = std::string_view(request.path).substr(0, request.path.size() - kBulk.size());
    if (!index.empty()) index.remove_prefix(1);
    return bulk(connection, request, index);
  }
  if (request.method == "GET" && request.path == "/_docs")
    return send_documents(connection, request.parameter("index"));
  auto answer = control(request);
  if (engine_ == Engine::elasticsearch)
    answer.headers.emplace_back("x-elastic-product", "Elasticsearch");
  if (request.method == "HEAD") return connection.send(head_of(answer, answer.body.size()));
  return send_answer(connection, answer, Close::never);
}

Answer Sink::control(const Request& request) {
  const auto is = [&](std::string_view method, std::string_view path) {
    return request.path == path &&
           (request.method == method || (method == "GET" && request.method == "HEAD"));
  };
  if (is("GET", "/")) return {200, about()};
  if (is("GET", "/_stats")) return {200, stats()};
  if (is("GET", "/_cluster/health")) return {200, R"({"status":"green","timed_out":false})"};
  if (is("GET", "/_nodes/http"))
    return {200,
            R"({"nodes":{"n1":{"name":"n1","http":{"max_content_length_in_bytes":104857600}}}})"};
  if (is("POST", "/_script")) {
    const auto replaced = script_.replace(request.body);
    return replaced ? Answer{200, R"({"acknowledged":true})"}
                    : refuse(400, "script_exception", replaced.error().message);
  }
  if (is("POST", "/_reset")) {
    documents_.clear();
    const auto emptied = script_.replace("[]");
    const std::lock_guard lock(mutex_);
    const auto concurrent = counts_.concurrent;
    counts_ = {.concurrent = concurrent, .concurrent_max = concurrent};
    return {emptied ? 200 : 500, R"({"acknowledged":true})"};
  }
  return refuse(
      404, "resource_not_found_exception",
      "no handler found for uri [" + request.path + "] and method [" + request.method + "]");
}

bool Sink::send_documents(Connection& connection, std::string_view index) {
  bool is_there = connection.send(head_of({}, std::nullopt));
  documents_.print(index, [&](const std::string& lines) {
    std::array<char, 20> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", lines.size());
    is_there = is_there && connection.send(size.data() + lines + "\r\n");
  });
  return is_there && connection.send("0\r\n\r\n");
}

bool Sink::bulk(Connection& connection, const Request& request, std::string_view index) {
  const auto began = Clock::now();
  {
    const std::lock_guard lock(mutex_);
    counts_.concurrent_max = std::max(counts_.concurrent_max, ++counts_.concurrent);
  }
  const auto handled = carry_out(request, index);
  account(handled, request.body.size(), began);
  return send_answer(connection, handled.answer, handled.close);
}

Handled Sink::carry_out(const Request& request, std::string_view index) {
  const auto fault = script_.next(request.body);
  if (fault->delay_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(fault->delay_ms));
  if (fault->close == Close::before) return {{}, {}, Close::before};
  if (fault->status != 0 && !fault->apply) return {answer_of(*fault), {}, fault->close};
  auto handled = apply(request, index, *fault);
  handled.close = fault->close;
  auto& body = handled.answer.body;
  if (fault->status != 0) handled.answer = answer_of(*fault);
  if (fault->garbage) body = "<html>the balancer has something to say</html>";
  if (fault->truncate) body.resize(body.size() / 2);
  return handled;
}

Handled Sink::apply(const Request& request, std::string_view index, Fault& fault) {
  const auto type = request.header("content-type");
  if (!type.starts_with("application/json") && !type.starts_with("application/x-ndjson"))
    return {{406, R"({"error":)" +
                      json_string("Content-Type header [" + type + "] is not supported") +
                      R"(,"status":406})"}};
  const auto parsed = parse_bulk(request.body, index);
  if (const auto* refusal = std::get_if<Refusal>(&parsed))
    return {{refusal->status, refusal_answer(*refusal)}};
  auto outcomes = documents_.write(
      *std::get_if<std::vector<Action>>(&parsed),
      [&](const Action& action) -> std::optional<Refusal> {
        const auto item = script_.against(fault, action.line, action.source);
        if (!item) return std::nullopt;
        return Refusal{item->status, item->type.empty() ? error_type(item->status) : item->type,
                       item->reason.empty() ? "as told by the script" : item->reason};
      });
  const Filter filter(request.parameter("filter_path"));
  auto shown = outcomes;
  if (fault.short_items) shown.pop_back();
  return {{200, bulk_answer(shown, filter, engine_)}, std::move(outcomes)};
}

// Before the answer is sent: whoever has it finds itself counted.
void Sink::account(const Handled& handled, std::size_t bytes, Clock::time_point began) {
  const bool is_closed = handled.close != Close::never;
  const std::lock_guard lock(mutex_);
  ++counts_.requests;
  --counts_.concurrent;
  counts_.bytes += bytes;
  ++counts_.answers[is_closed ? "closed" : std::to_string(handled.answer.status)];
  for (const auto& outcome : handled.outcomes) ++counts_.items[std::to_string(outcome.status)];
  if (log_ == nullptr) return;
  std::fprintf(
      log_,
      "{\"request\":%llu,\"began_ms\":%llu,\"ended_ms\":%llu,\"bytes\":%zu,\"items\":%zu,\"status\":%d,\"closed\":%s}\n",
      static_cast<unsigned long long>(counts_.requests),
      static_cast<unsigned long long>(ms_since_start(began)),
      static_cast<unsigned long long>(ms_since_start(Clock::now())), bytes, handled.outcomes.size(),
      handled.answer.status, is_closed ? "true" : "false");
  std::fflush(log_);
}

std::uint64_t Sink::ms_since_start(Clock::time_point at) const {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(at - started_).count());
}

std::string json_counts(const std::map<std::string, std::uint64_t>& counts) {
  std::string object = "{";
  for (const auto& [name, count] : counts)
    object += (object.size() > 1 ? "," : "") + json_string(name) + ":" + std::to_string(count);
  return object + "}";
}

std::string Sink::stats() const {
  const auto documents = documents_.count();
  const auto faults = script_.left();
  const std::lock_guard lock(mutex_);
  return "{\"requests\":" + std::to_string(counts_.requests) +
         ",\"answers\":" + json_counts(counts_.answers) +
         ",\"items\":" + json_counts(counts_.items) +
         ",\"documents\":" + std::to_string(documents) +
         ",\"bytes\":" + std::to_string(counts_.bytes) +
         ",\"connections\":" + std::to_string(counts_.connections) +
         ",\"max_concurrent\":" + std::to_string(counts_.concurrent_max) +
         ",\"faults_left\":" + std::to_string(faults) + "}";
}

std::string Sink::about() const {
  if (engine_ == Engine::elasticsearch)
    return R"({"name":"n1","cluster_name":"sink","version":{"number":"8.19.21","build_flavor":"default"},"tagline":"You Know, for Search"})";
  return R"({"name":"n1","cluster_name":"sink","version":{"distribution":"opensearch","number":"2.19.6"},"tagline":"The OpenSearch Project: https://opensearch.org/"})";
}

int listen_on(std::uint16_t port) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(listener, 512) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("search_sink: cannot listen");
    return -1;
  }
  std::printf("listening on %d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return listener;
}

int run(std::uint16_t port, Engine engine, const std::string& log_path) {
  std::FILE* log = nullptr;
  if (!log_path.empty() && (log = std::fopen(log_path.c_str(), "ae")) == nullptr) {
    std::perror(("search_sink: " + log_path).c_str());
    return 1;
  }
  const int listener = listen_on(port);
  if (listener < 0) return 1;
  Sink sink(engine, log);
  while (true) {
    const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    const int yes = 1;
    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    std::thread([&sink, accepted] {
      Connection connection(accepted);
      sink.serve(connection);
    }).detach();
  }
}

}  // namespace
}  // namespace pawl::sink

// NOLINTNEXTLINE(bugprone-exception-escape): only if an option were declared twice
int main(int argc, char** argv) {
  std::uint16_t port = 0;
  std::string log_path;
  std::string engine = "opensearch";
  CLI::App app("A search node that fails as it is told");
  app.add_option("PORT", port, "0: a free one")->required();
  app.add_option("--log", log_path, "a line for each bulk request");
  app.add_option("--engine", engine)->check(CLI::IsMember({"opensearch", "elasticsearch"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return pawl::sink::run(
      port,
      engine == "opensearch" ? pawl::sink::Engine::opensearch : pawl::sink::Engine::elasticsearch,
      log_path);
}
