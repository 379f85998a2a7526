// A server in this process, spoken to byte by byte.
#include "server/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "tests/support/temporary_directory.h"
#include "tests/support/wire.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;

constexpr const char* kParcel = R"(machine: parcel
initial: packing
states:
  packing: {task: pack, done: packed, on: {stop: stopped}}
  packed: {final: true}
  stopped: {final: true}
tasks:
  pack: {queue: packers}
)";

class ServerTest : public testing::Test {
 protected:
  Server& open(HttpOptions http = {}, EngineOptions engine = {}, int rate_per_token = 0) {
    ServerOptions options{
        .engine = std::move(engine), .http = std::move(http), .rate_per_token = rate_per_token};
    auto opened = Server::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().message;
    server_ = *std::move(opened);
    token_ = server_->first_token()->value_or("");
    const std::vector<MachineText> files{{"parcel", kParcel}};
    EXPECT_TRUE(server_->engine().apply(files)->is_good());
    return *server_;
  }

  std::string request(const std::string& method, const std::string& path,
                      const std::string& body = {}, const std::string& more = {}) const {
    std::string text = method + " " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                       token_ + "\r\n" + more;
    if (!body.empty())
      text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n";
    return text + "\r\n" + body;
  }

  std::string ask(const std::string& bytes) const {
    Wire wire(server_->port());
    wire.send(bytes);
    return wire.response();
  }

  std::unique_ptr<Server> server_;
  std::string token_;
};

TEST_F(ServerTest, NobodyIsLetInWithoutAToken) {
  open();
  EXPECT_TRUE(has_status(ask("GET /v1/counts HTTP/1.1\r\nHost: x\r\n\r\n"), 401));
  for (const char* wrong : {"", "nothing", "pawl_", "pawl_00000000000000000000000000000000"})
    EXPECT_TRUE(has_status(ask("GET /v1/counts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                               std::string(wrong) + "\r\n\r\n"),
                           401))
        << wrong;
  EXPECT_TRUE(has_status(ask("GET /v1/counts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " +
                             token_.substr(0, token_.size() - 1) + "\r\n\r\n"),
                         401));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/counts")), 200));
  EXPECT_TRUE(has_status(ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
  EXPECT_TRUE(has_status(ask("POST /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 405));
  EXPECT_TRUE(has_status(ask("GET /readyz?x=1 HTTP/1.1\r\nHost: x\r\n\r\n"), 400));
  // Without a body, so that the next answer is where it is looked for.
  const std::string head = ask("HEAD /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(has_status(head, 200));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
  EXPECT_TRUE(has_status(ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
}

TEST_F(ServerTest, ARecordLivesOverOneConnection) {
  open();
  Wire wire(server_->port());
  wire.send(request("POST", "/v1/records/parcel/a%2Fb", R"({"data":{}})"));
  EXPECT_TRUE(has_status(wire.response(), 200));
  wire.send(request("POST", "/v1/claim", R"({"queues":["packers"],"wait":"10s"})"));
  const std::string claimed = wire.response();
  EXPECT_NE(claimed.find(R"("key":"a/b")"), std::string::npos) << claimed;
  const std::size_t token = claimed.find(R"("token":")") + 9;
  const std::string done = R"({"machine":"parcel","key":"a/b","token":")" +
                           claimed.substr(token, 32) + R"(","result":{"n":1}})";
  wire.send(request("POST", "/v1/done", done));
  EXPECT_NE(wire.response().find(R"("state":"packed")"), std::string::npos);
  wire.send(request("POST", "/v1/done", done));
  EXPECT_NE(wire.response().find(R"("answer":"duplicate")"), std::string::npos);
}

TEST_F(ServerTest, RequestsSentTogetherAreAnsweredInOrder) {
  open();
  Wire wire(server_->port());
  wire.send(request("POST", "/v1/records/parcel/a", R"({})") +
            request("GET", "/v1/records/parcel/a") + request("GET", "/v1/records/parcel/none"));
  EXPECT_NE(wire.response().find(R"("answer":"ok")"), std::string::npos);
  EXPECT_NE(wire.response().find(R"("state":"packing")"), std::string::npos);
  EXPECT_TRUE(has_status(wire.response(), 404));
}

TEST_F(ServerTest, ItDoesNotMatterHowTheBytesCome) {
  open();
  const std::string whole = request("POST", "/v1/records/parcel/a", R"({"data":{}})");
  for (std::size_t split = 1; split < whole.size(); split += 7) {
    Wire wire(server_->port());
    wire.send(whole.substr(0, split));
    wire.send(whole.substr(split));
    EXPECT_TRUE(has_status(wire.response(), 200)) << split;
  }
  const std::string smuggled =
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n";
  for (std::size_t split = 1; split < smuggled.size(); split += 5) {
    Wire wire(server_->port());
    wire.send(smuggled.substr(0, split));
    wire.send(smuggled.substr(split));
    EXPECT_TRUE(has_status(wire.response(), 400)) << split;
    EXPECT_TRUE(wire.is_closed());
  }
}

TEST_F(ServerTest, ChunkedBodiesAreTakenAndTheirExtensionsBounded) {
  open();
  const auto chunked = [&](const std::string& extension) {
    return ask(request("POST", "/v1/records/parcel/c", {},
                       "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n") +
               "2" + extension + "\r\n{}\r\n0\r\n\r\n");
  };
  EXPECT_TRUE(has_status(chunked(""), 200));
  EXPECT_TRUE(has_status(chunked(";a=" + std::string(200, 'x')), 200));
  EXPECT_TRUE(has_status(chunked(";a=" + std::string(300, 'x')), 400));
}

TEST_F(ServerTest, EverythingHasABound) {
  open({.body_max = 1'000, .header_within = milliseconds{100}});
  EXPECT_TRUE(has_status(
      ask("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n"), 431));
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/claim", std::string(1'001, ' '))), 413));
  Wire slow(server_->port());
  slow.send("GET / HT");
  EXPECT_TRUE(slow.is_closed());
  Wire asks_first(server_->port());
  const std::string claim =
      request("POST", "/v1/claim", R"({"queues":["packers"]})", "Expect: 100-continue\r\n");
  asks_first.send(claim.substr(0, claim.find("\r\n\r\n") + 4));
  EXPECT_TRUE(has_status(asks_first.response(), 100));
  asks_first.send(claim.substr(claim.find("\r\n\r\n") + 4));
  EXPECT_TRUE(has_status(asks_first.response(), 200));
}

TEST_F(ServerTest, MoreConnectionsThanMayBeAreClosedAtOnce) {
  open({.connections_max = 1});
  Wire first(server_->port());
  first.send(request("GET", "/v1/counts"));
  EXPECT_TRUE(has_status(first.response(), 200));
  Wire second(server_->port());
  EXPECT_TRUE(second.is_closed());
}

TEST_F(ServerTest, AClaimWaitsUntilSomethingIsReady) {
  open();
  Wire worker(server_->port());
  worker.send(request("POST", "/v1/claim", R"({"queues":["packers"],"wait":"30s"})"));
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/records/parcel/a", "{}")), 200));
  EXPECT_NE(worker.response().find(R"("key":"a")"), std::string::npos);
}

TEST_F(ServerTest, WhoeverListensSeesEachEntryOnce) {
  open();
  std::string seen;
  std::string last;
  for (int i = 0; i < 20; ++i) {
    Wire listener(server_->port());
    listener.send(
        request("GET", "/v1/feed/live", {}, last.empty() ? "" : "Last-Event-ID: " + last + "\r\n"));
    const std::string key = "k" + std::to_string(i);
    EXPECT_TRUE(has_status(ask(request("POST", "/v1/records/parcel/" + key, "{}")), 200));
    listener.until("id: ");
    last = listener.until("\n");
    last.pop_back();
    seen += listener.until("\n\n");
  }
  for (int i = 0; i < 20; ++i) {
    const std::string key = R"("key":"k)" + std::to_string(i) + "\"";
    const std::size_t first = seen.find(key);
    EXPECT_NE(first, std::string::npos) << key;
    EXPECT_EQ(seen.find(key, first + 1), std::string::npos) << key;
  }
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/feed/live?from=nothing")), 400));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/feed/live?machin=x")), 400));
}

TEST_F(ServerTest, OtherContentTypesAndMethodsAreRefused) {
  open();
  const std::string text =
      "POST /v1/records/parcel/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token_ +
      "\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}";
  EXPECT_TRUE(has_status(ask(text), 415));
  EXPECT_TRUE(has_status(ask(request("DELETE", "/v1/records/parcel/a")), 405));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/nothing")), 404));
}

// --- the end

TEST_F(ServerTest, WhoWaitsForWorkIsToldAtOnceThatThereIsNone) {
  open();
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/records/parcel/a", "{}")), 200));
  Wire holder(server_->port());
  holder.send(request("POST", "/v1/claim", R"({"queues":["packers"]})"));
  const std::string claimed = holder.response();
  const std::string token = claimed.substr(claimed.find(R"("token":")") + 9, 32);
  Wire waits(server_->port());
  waits.send(request("POST", "/v1/claim", R"({"queues":["packers"],"wait":"60s"})"));
  Wire watches(server_->port());
  watches.send(request("GET", "/v1/records/parcel/a?wait=60s"));
  while (server_->figures().requests < 4 || server_->engine().figures().waiting_claims == 0)
    std::this_thread::yield();
  EXPECT_TRUE(has_status(ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));

  std::thread ends([&] { server_->shut_down(milliseconds{20'000}); });
  EXPECT_TRUE(waits.response().ends_with(R"({"attempts":[]})"));
  EXPECT_NE(watches.response().find(R"("state":"packing")"), std::string::npos);
  const std::string ready = ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(has_status(ready, 503));
  EXPECT_NE(ready.find(R"("id":"not_ready")"), std::string::npos) << ready;
  EXPECT_TRUE(has_status(ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
  // Others are served, on old connections and on new ones, while an attempt is open.
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/records/parcel/b", "{}")), 200));
  const std::string refused = ask(request("POST", "/v1/claim", R"({"queues":["packers"]})"));
  EXPECT_TRUE(has_status(refused, 503)) << refused;
  EXPECT_NE(refused.find("Retry-After: 1\r\n"), std::string::npos);
  holder.send(request("POST", "/v1/done",
                      R"({"machine":"parcel","key":"a","token":")" + token +
                          R"(","claim":{"queues":["packers"],"wait":"60s"}})"));
  const std::string settled = holder.response();
  EXPECT_NE(settled.find(R"("state":"packed")"), std::string::npos) << settled;
  EXPECT_NE(settled.find(R"("attempts":[])"), std::string::npos) << settled;
  ends.join();  // long before the grace is over
  EXPECT_TRUE(holder.is_closed());
}

TEST_F(ServerTest, TheGraceIsNotExceeded) {
  open();
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/records/parcel/a", "{}")), 200));
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/claim", R"({"queues":["packers"]})")), 200));
  Wire idle(server_->port());
  const auto start = std::chrono::steady_clock::now();
  server_->shut_down(milliseconds{200});  // the attempt is never settled
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, milliseconds{150});
  EXPECT_LT(took, milliseconds{10'000});
  EXPECT_TRUE(idle.is_closed());
}

// A commit whose outcome is unknown: the file under the log of the store is taken away.
TEST_F(ServerTest, AServerThatStartsIsNotReady) {
  auto opened = Server::open({.is_ready = false});
  ASSERT_TRUE(opened) << opened.error().message;
  server_ = *std::move(opened);
  const std::string ready = ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(has_status(ready, 503));
  EXPECT_NE(ready.find("the server is starting"), std::string::npos) << ready;
  EXPECT_TRUE(has_status(ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
  server_->set_ready();
  EXPECT_TRUE(has_status(ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
}

TEST_F(ServerTest, AGetWithABodyIsRefusedAndAWrongMethodIsOneFirst) {
  open();
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/counts", "{}")), 400));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/batch", "{}")), 405));
}

TEST_F(ServerTest, AStoreThatHasStoppedIsNotReady) {
  const TemporaryDirectory directory;
  open({}, {.directory = directory.path()});
  EXPECT_TRUE(has_status(ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string name = std::filesystem::read_symlink(file, gone).string();
    if (name.starts_with(directory.path().string()) && name.ends_with("-wal"))
      dup2(nothing, std::stoi(file.path().filename().string()));
  }
  close(nothing);
  const std::string failed = ask(request("POST", "/v1/records/parcel/a", "{}"));
  EXPECT_TRUE(has_status(failed, 500)) << failed;
  EXPECT_NE(failed.find(R"("id":"outcome_unknown")"), std::string::npos) << failed;
  // Who asked is told first, the server right after.
  std::string ready;
  do {
    ready = ask("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n");
  } while (has_status(ready, 200));
  EXPECT_TRUE(has_status(ready, 503)) << ready;
  EXPECT_NE(ready.find(R"("id":"not_ready")"), std::string::npos) << ready;
  EXPECT_TRUE(has_status(ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
  server_->shut_down(milliseconds{60'000});  // at once: there is nothing that could be settled
}

// --- what may not be

TEST_F(ServerTest, ATokenIsUsedOnlySoOften) {
  open({}, {}, 5);
  Wire wire(server_->port());
  int refused = 0;
  std::string last;
  for (int i = 0; i < 50; ++i) {
    wire.send(request("GET", "/v1/counts"));
    const std::string response = wire.response();
    if (has_status(response, 200)) continue;
    ++refused;
    last = response;
  }
  EXPECT_GE(refused, 20);
  EXPECT_TRUE(has_status(last, 429)) << last;
  EXPECT_NE(last.find("Retry-After: 1\r\n"), std::string::npos) << last;
  EXPECT_NE(last.find(R"("id":"too_many_requests")"), std::string::npos) << last;
  EXPECT_TRUE(has_status(ask("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), 200));
}

TEST_F(ServerTest, BodiesAreReadStrictly) {
  open();
  const auto create = [&](const std::string& body) {
    return ask(request("POST", "/v1/records/parcel/x", body));
  };
  const auto typed = [&](const std::string& type) {
    return ask("POST /v1/records/parcel/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token_ +
               "\r\n" + type + "Content-Length: 2\r\n\r\n{}");
  };
  const std::string deep =
      R"({"data":{"a":)" + std::string(10'000, '[') + std::string(10'000, ']') + "}}";
  const std::string deep_maps = [] {
    std::string text = R"({"data":)";
    for (int i = 0; i < 10'000; ++i) text += R"({"a":)";
    return text + "1" + std::string(10'000, '}') + "}";
  }();
  for (const std::string& body :
       {std::string("["), std::string("[]"), std::string("1"), std::string("{} {}"),
        std::string(R"({"data":[]})"), std::string(R"({"data":"{}"})"),
        std::string(R"({"dta":{}})"), std::string(R"({"data":{},"data":{}})"),
        std::string(R"({"dry_run":"yes"})"), std::string(R"({"idempotency_key":1})"),
        std::string(R"({"at":"soon"})"), std::string("{\"idempotency_key\":\"\xff\"}"),
        std::string("{\"data\":{},}"), std::string(10'000, '['), deep, deep_maps}) {
    const std::string response = create(body);
    EXPECT_TRUE(has_status(response, 400)) << body.substr(0, 80) << response;
    EXPECT_NE(response.find(R"({"error":{"id":"bad_request","message":")"), std::string::npos)
        << body.substr(0, 80);
    EXPECT_TRUE(has_status(ask(request("GET", "/v1/counts")), 200)) << body.substr(0, 80);
  }
  for (const char* type :
       {"", "Content-Type: text/plain\r\n", "Content-Type: application/jsonx\r\n",
        "Content-Type: application/json; charset=latin1\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: application/json, text/plain\r\n"}) {
    const std::string response = typed(type);
    EXPECT_TRUE(has_status(response, 415)) << type;
    EXPECT_NE(response.find(R"("id":"wrong_content_type")"), std::string::npos) << type;
  }
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/counts", "{}")), 400));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/records/parcel/x")), 404));
  EXPECT_TRUE(has_status(typed("Content-Type: Application/JSON; Charset=UTF-8\r\n"), 200));
}

TEST_F(ServerTest, NoPathIsAnotherOne) {
  open();
  EXPECT_TRUE(has_status(ask(request("POST", "/v1/records/parcel/a", "{}")), 200));
  for (const char* path : {"/v1/counts;x",
                           "/v1/counts;x=y",
                           "/v1;/counts",
                           "//v1/counts",
                           "/v1//counts",
                           "/v1/counts/",
                           "/v1/counts/.",
                           "/v1/counts/..",
                           "/v1/./counts",
                           "/v1/x/../counts",
                           "/../v1/counts",
                           "/v1/%2e%2e/v1/counts",
                           "/v1%2fcounts",
                           "/v1%2Fcounts",
                           "/v1/%63ounts",
                           "/V1/counts",
                           "/v1/Counts",
                           "/v1/counts.json",
                           "/v1/counts%00",
                           "/v1/counts%20",
                           "/v1/counts%0d%0aX:%20y",
                           "/v1/counts#x",
                           "/v1/records/parcel/a/",
                           "/v1/records/parcel//",
                           "/v1/records//a",
                           "/v1/records/parcel/a/log/",
                           "/v1/records/parcel/a/../a",
                           "/v1/records/parcel/%zz",
                           "/v1/records/parcel/%",
                           "/v1/feed/live/",
                           "/v1/feed/Live",
                           "/v1/feed/live;x",
                           "/healthz/",
                           "/healthz;x",
                           "/Healthz",
                           "/readyz/x",
                           "/"}) {
    const std::string response = ask(request("GET", path));
    EXPECT_TRUE(has_status(response, 404)) << path << response;
    EXPECT_NE(response.find(R"({"error":{"id":"no_such_)"), std::string::npos) << path;
  }
  // A slash in a key is part of the key, never of the path.
  EXPECT_NE(ask(request("GET", "/v1/records/parcel/a%2Flog")).find("parcel/a/log"),
            std::string::npos);
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/counts?x=%zz")), 400));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/counts?x=1")), 400));
  EXPECT_TRUE(has_status(ask(request("GET", "/v1/records?max=1&max=2")), 400));
}

}  // namespace
}  // namespace pawl
