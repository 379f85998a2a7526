// Connections without an engine behind them: what a client may do to one, and for how long.
#include "server/http_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "tests/support/wire.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLarge = 64U << 20U;  // more than sockets take in advance

class EndlessEvents final : public EventSource {
 public:
  std::optional<std::string> next() override {
    return "data: " + std::string(1U << 20U, 'x') + "\n\n";
  }
};

class SilentEvents final : public EventSource {
 public:
  std::optional<std::string> next() override { return ""; }
};

class HttpServerTest : public testing::Test {
 protected:
  // Answers with what was asked, or with what the path says.
  void open(HttpOptions options) {
    auto opened = HttpServer::open(
        std::move(options), [this](const HttpRequest& request, const HttpServer::Respond& respond) {
          ++handled_;
          HttpResponse response{.body = request.method + " " + request.path + " " + request.body};
          if (request.path == "/large") response.body = std::string(kLarge, 'x');
          if (request.path == "/endless") response.events = std::make_unique<EndlessEvents>();
          if (request.path == "/silent") response.events = std::make_unique<SilentEvents>();
          respond(std::move(response));
        });
    ASSERT_TRUE(opened) << opened.error().message;
    http_ = *std::move(opened);
  }

  // Waits for a connection to be given up by the server, whatever its client does.
  void wait_until_none() const {
    while (http_->figures().connections > 0) std::this_thread::yield();
  }

  std::atomic<int> handled_ = 0;
  std::unique_ptr<HttpServer> http_;
};

const std::string kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

// Each of them, cut at every byte, over a connection: one clear answer, the end, and nothing
// that stands behind it is handled.
TEST_F(HttpServerTest, WhatIsSmuggledIsRefusedAndEndsTheConnection) {
  open({});
  const std::string post = "POST / HTTP/1.1\r\nHost: x\r\n";
  const std::string cases[] = {
      post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
      post + "Content-Length: 5, 5\r\n\r\nhello",
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      post + "X: y\r\n folded\r\n\r\n",
      post + "X: y\nZ: w\r\n\r\n",
      post + "Host: y\r\n\r\n",
      "POST / HTTP/1.1\r\n\r\n",
      post + "Transfer-Encoding: chunked\r\n\r\n1;" + std::string(256, 'x') + "\r\n",
      post + "Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n" + std::string(256, 'x'),
      post + "Transfer-Encoding: chunked\r\n\r\n0\r\nAuthorization: Bearer x\r\n\r\n",
  };
  for (const std::string& bytes : cases) {
    const std::string all = bytes + kGet;
    for (std::size_t cut = 1; cut < all.size(); ++cut) {
      Wire wire(http_->port());
      wire.send(all.substr(0, cut));
      wire.send(all.substr(cut));
      const std::string response = wire.response();
      ASSERT_TRUE(has_status(response, 400)) << "cut at " << cut << " of " << bytes << response;
      ASSERT_NE(response.find(R"({"error":{"id":"bad_http","message":")"), std::string::npos);
      ASSERT_NE(response.find("Connection: close\r\n"), std::string::npos);
      ASSERT_TRUE(wire.is_closed());
      ASSERT_EQ(wire.rest(), "") << "cut at " << cut << " of " << bytes;
    }
  }
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, AClientThatIsSlowToAskIsDropped) {
  open({.header_within = milliseconds{50}, .body_within = milliseconds{50}});
  for (const char* some :
       {"", "G", "GET / HTTP/1.1\r\nHost: x\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhell",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"}) {
    Wire wire(http_->port());
    wire.send(some);
    EXPECT_TRUE(wire.is_closed()) << some;
    EXPECT_EQ(wire.rest(), "");
  }
  wait_until_none();
  EXPECT_EQ(handled_, 0);
}

// Byte by byte it never falls silent, and is dropped all the same.
TEST_F(HttpServerTest, TimeDoesNotBeginAnewWithEachByte) {
  open({.header_within = milliseconds{100}, .body_within = milliseconds{100}});
  for (const char* begin : {"GET / HTTP/1.1\r\nHost: x\r\nX: ",
                            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"}) {
    Wire wire(http_->port());
    wire.send(begin);
    while (!wire.has_news_within(1)) wire.send("x");
    EXPECT_TRUE(wire.is_closed());
    EXPECT_EQ(wire.rest(), "");
  }
  EXPECT_EQ(handled_, 0);
}

// One that waits between two requests may wait longer than a header may take.
TEST_F(HttpServerTest, AnIdleConnectionHasATimeOfItsOwn) {
  open({.header_within = milliseconds{50}, .idle_within = milliseconds{20'000}});
  Wire wire(http_->port());
  wire.send(kGet);
  EXPECT_TRUE(has_status(wire.response(), 200));
  Wire slow(http_->port());
  EXPECT_TRUE(slow.is_closed());  // while the other one waited as long
  wire.send(kGet);
  EXPECT_TRUE(has_status(wire.response(), 200));
  wire.send("G");
  EXPECT_TRUE(wire.is_closed());

  open({.idle_within = milliseconds{50}});
  Wire idle(http_->port());
  idle.send(kGet);
  EXPECT_TRUE(has_status(idle.response(), 200));
  EXPECT_TRUE(idle.is_closed());
}

TEST_F(HttpServerTest, AClientThatDoesNotReadIsDropped) {
  for (const char* path : {"/large", "/endless"}) {
    open({.write_within = milliseconds{50}});
    Wire wire(http_->port());
    wire.send("GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\n\r\n");
    while (http_->figures().requests == 0) std::this_thread::yield();
    wait_until_none();
  }
}

// What is refused is said, however much of it is still on its way.
TEST_F(HttpServerTest, ARefusalIsReadByAClientThatIsStillSending) {
  open({.body_max = 1'000});
  const std::string body(4U << 20U, 'x');
  for (int i = 0; i < 20; ++i) {
    Wire wire(http_->port());
    wire.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
    const std::string response = wire.response();
    EXPECT_TRUE(has_status(response, 413)) << response;
    EXPECT_NE(response.find(R"("id":"body_too_large")"), std::string::npos);
  }
  Wire wire(http_->port());
  wire.send("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(1U << 20U, 'x') + "\r\n\r\n");
  const std::string response = wire.response();
  EXPECT_TRUE(has_status(response, 431)) << response;
  EXPECT_NE(response.find(R"("id":"header_too_large")"), std::string::npos);
  EXPECT_EQ(handled_, 0);
}

TEST_F(HttpServerTest, TinyChunksAreABodyLikeAnyOther) {
  open({});
  std::string bytes = "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  constexpr std::size_t kChunks = 100'000;
  for (std::size_t i = 0; i < kChunks; ++i) bytes += "1\r\nx\r\n";
  Wire wire(http_->port());
  wire.send(bytes + "0\r\n\r\n" + kGet);
  EXPECT_TRUE(wire.response().ends_with("\r\n\r\nPOST /b " + std::string(kChunks, 'x')));
  EXPECT_TRUE(wire.response().ends_with("\r\n\r\nGET /a "));
}

TEST_F(HttpServerTest, WhoListensIsEndedWithTheServer) {
  open({});
  Wire wire(http_->port());
  wire.send("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(has_status(wire.response(), 200));
  http_->drain(milliseconds{10'000});
  EXPECT_TRUE(wire.is_closed());
  wait_until_none();
}

}  // namespace
}  // namespace pawl
