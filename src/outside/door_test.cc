// What leaves the process, to a real service on a loopback port.
#include "outside/door.h"

#include <gtest/gtest.h>

#include <future>

#include "outside/local_service.h"

namespace pawl {
namespace {

constexpr const char* kEmptyMap = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

Door loopback_door() { return Door({{"127.0.0.1"}, {*parse_network("127.0.0.0/8")}}); }

std::string why(const Result<OutgoingReply>& reply) {
  return reply ? "it was answered" : reply.error().message;
}

bool says(const Result<OutgoingReply>& reply, const std::string& words) {
  return why(reply).find(words) != std::string::npos;
}

TEST(Door, ACallIsMadeAsItIsAsked) {
  const LocalService service([](const std::string&) { return kEmptyMap; });
  const auto reply = loopback_door().call({.method = "PUT",
                                           .url = service.url("/a?b=c%20d"),
                                           .headers = {{"X-One", "1"}, {"X-Empty", ""}},
                                           .body = R"({"n":1})"});
  ASSERT_TRUE(reply) << why(reply);
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "{}");
  const std::string request = service.requests().at(0);
  EXPECT_TRUE(request.starts_with("PUT /a?b=c%20d HTTP/1.1\r\n")) << request;
  EXPECT_NE(request.find("\r\nX-One: 1\r\n"), std::string::npos);
  EXPECT_NE(request.find("\r\nX-Empty:"), std::string::npos);
  EXPECT_NE(request.find("\r\nContent-Type: application/json\r\n"), std::string::npos);
  EXPECT_TRUE(request.ends_with("\r\n\r\n{\"n\":1}")) << request;
}

// D14: only what the administrator has listed.
TEST(Door, AHostThatIsNotListedIsNotCalled) {
  const LocalService service([](const std::string&) { return kEmptyMap; });
  const std::vector<Network> loopback{*parse_network("127.0.0.0/8")};
  const std::string port = std::to_string(service.port());
  EXPECT_TRUE(says(Door({{}, loopback}).call({.url = service.url()}), "outside.hosts"));
  EXPECT_TRUE(
      says(Door({{"127.0.0.1:1"}, loopback}).call({.url = service.url()}), "outside.hosts"));
  for (const char* url : {"http://example.org/", "http://notexample.org/", "http://example.org.x/"})
    EXPECT_TRUE(says(Door({{"*.example.org"}, {}}).call({.url = url}), "outside.hosts")) << url;
  EXPECT_TRUE(Door({{"127.0.0.1:" + port}, loopback}).call({.url = service.url()}));
  EXPECT_TRUE(Door({{"*.0.0.1"}, loopback}).call({.url = service.url()}));
  EXPECT_EQ(service.requests().size(), 2U);
}

// D14: a name that is listed may still lead inside.
TEST(Door, AnAddressInsideIsNotCalled) {
  const LocalService service([](const std::string&) { return kEmptyMap; });
  const std::string port = std::to_string(service.port());
  for (const char* host :
       {"127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0", "localhost", "[::1]",
        "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "169.254.169.254",
        "0xa9fea9fe", "[fe80::1]", "[fd00::1]"}) {
    const std::string url = "http://" + std::string(host) + ":" + port + "/";
    const auto reply = Door({}).also_to(url).call({.url = url});
    EXPECT_TRUE(says(reply, "outside.networks") || says(reply, "outside.hosts") ||
                says(reply, "is not a URL") || says(reply, "cannot resolve the host"))
        << host << ": " << why(reply);
  }
  EXPECT_TRUE(service.requests().empty());
}

TEST(Door, ARedirectIsAnAnswerAndNotFollowed) {
  const LocalService service([](const std::string&) {
    return "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
  });
  const auto reply = loopback_door().call({.url = service.url()});
  ASSERT_TRUE(reply) << why(reply);
  EXPECT_EQ(reply->status, 302);
}

TEST(Door, WhatIsNoUrlOrHeaderIsRefusedBeforeAnythingIsSent) {
  const LocalService service([](const std::string&) { return kEmptyMap; });
  const Door door = loopback_door();
  for (const char* url : {"", "file:///etc/passwd", "gopher://127.0.0.1/", "127.0.0.1 x", "//x",
                          "http://user:word@127.0.0.1/", "http://127.0.0.1/\r\nX: y"})
    EXPECT_FALSE(door.call({.url = url})) << url;
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::string>>{{"X", "a\r\nY: b"},
                                                        {"X\r\nY", "b"},
                                                        {"", "b"},
                                                        {"X:", "b"},
                                                        {"Host", "other"},
                                                        {"content-length", "1"},
                                                        {"Transfer-Encoding", "chunked"}})
    EXPECT_FALSE(door.call({.url = service.url(), .headers = {{name, value}}})) << name;
  EXPECT_TRUE(service.requests().empty());
}

TEST(Door, OfALongAnswerTheBeginningIsKept) {
  const LocalService service([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + std::string(1'000'000, 'x');
  });
  const auto reply = loopback_door().call({.url = service.url()});
  ASSERT_TRUE(reply) << why(reply);
  EXPECT_EQ(reply->body.size(), Door::kBodyMax);
  EXPECT_TRUE(reply->is_cut);
}

TEST(Door, SaysWhenToComeBack) {
  const LocalService service([](const std::string&) {
    return "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
  });
  const auto reply = loopback_door().call({.url = service.url()});
  ASSERT_TRUE(reply) << why(reply);
  EXPECT_EQ(reply->retry_after, Duration{std::chrono::seconds{7}});
}

TEST(Door, ACallThatIsToEndEnds) {
  std::promise<void> asked;
  std::promise<void> ended;
  const LocalService service([&](const std::string&) -> std::string {
    asked.set_value();
    ended.get_future().wait();
    return "";
  });
  auto is_asked = asked.get_future();
  const auto reply = loopback_door().call({.url = service.url(), .may_go_on = [&] {
                                             return is_asked.wait_for(std::chrono::seconds{0}) !=
                                                    std::future_status::ready;
                                           }});
  ended.set_value();
  EXPECT_TRUE(says(reply, "was cancelled")) << why(reply);
}

TEST(Door, WhereNobodyAnswersTheCallFails) {
  std::uint16_t port = 0;
  {
    const LocalService service([](const std::string&) { return ""; });
    EXPECT_FALSE(loopback_door().call({.url = service.url()}));
    port = service.port();
  }
  EXPECT_TRUE(says(loopback_door().call({.url = "http://127.0.0.1:" + std::to_string(port)}),
                   "127.0.0.1:" + std::to_string(port)));
}

}  // namespace
}  // namespace pawl
