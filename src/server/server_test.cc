// A server in this process, spoken to byte by byte.
#include "server/server.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

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
  Server& open(HttpOptions http = {}) {
    ServerOptions options{.http = std::move(http)};
    auto opened = Server::open(std::move(options));
    EXPECT_TRUE(opened) << opened.error().message;
    server_ = *std::move(opened);
    token_ = server_->first_token().value_or("");
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
  for (const char* path : {"/v1//counts", "/v1/counts/", "/V1/counts", "/v1/./counts",
                           "/v1/counts;x", "/v1%2fcounts", "/v1/records/parcel/%zz"})
    EXPECT_TRUE(has_status(ask(request("GET", path)), 404)) << path;
}

TEST_F(ServerTest, WhatWasAskedBeforeTheEndIsAnswered) {
  open();
  Wire idle(server_->port());
  idle.send(request("GET", "/v1/counts"));
  idle.response();
  Wire worker(server_->port());
  worker.send(request("POST", "/v1/claim", R"({"queues":["packers"],"wait":"30s"})"));
  while (server_->figures().requests < 2) std::this_thread::yield();
  std::thread ends([&] { server_->shut_down(milliseconds{20'000}); });
  EXPECT_TRUE(idle.is_closed());
  EXPECT_EQ(server_->engine().create({"parcel", "late"})->kind, Answer::Kind::ok);
  EXPECT_NE(worker.response().find(R"("key":"late")"), std::string::npos);
  ends.join();
}

}  // namespace
}  // namespace pawl
