// What a client sends to a server, and what it makes of answers, Pawl's and others'.
#include "cli/server_client.h"

#include <gtest/gtest.h>

#include "cli/reply_text.h"
#include "outside/local_service.h"

namespace pawl::cli {
namespace {

std::string response(const std::string& status, const std::string& body,
                     const std::string& headers = {}) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "Connection: close\r\n\r\n" + body;
}

class ServerClientTest : public testing::Test {
 protected:
  std::unique_ptr<Client> client(const Actor& actor = {}) {
    return *open_server({service.url(""), "pawl_secret"}, actor);
  }
  // `STATUS: message`.
  std::string asked() {
    const ApiReply reply = client()->call(get("/v1/counts"));
    return std::to_string(reply.status) + ": " + said(reply.body, "error.message");
  }

  std::string answer = response("200 OK", "{}");
  LocalService service{[this](const std::string&) { return answer; }};
};

TEST_F(ServerClientTest, ACallIsARequestWithTheToken) {
  EXPECT_EQ(client()->call(get("/v1/records", {{"label", "a=b&c"}, {"max", "2"}})).status, 200);
  client()->call(post("/v1/claim", R"({"queues":["q"]})"));
  ASSERT_EQ(service.requests().size(), 2U);
  const std::string got = service.requests()[0];
  EXPECT_TRUE(got.starts_with("GET /v1/records?label=a%3Db%26c&max=2 HTTP/1.1\r\n")) << got;
  EXPECT_NE(got.find("\r\nAuthorization: Bearer pawl_secret\r\n"), std::string::npos) << got;
  const std::string posted = service.requests()[1];
  EXPECT_TRUE(posted.starts_with("POST /v1/claim HTTP/1.1\r\n")) << posted;
  EXPECT_NE(posted.find("\r\nContent-Type: application/json\r\n"), std::string::npos) << posted;
  EXPECT_TRUE(posted.ends_with("\r\n\r\n{\"queues\":[\"q\"]}")) << posted;
}

TEST_F(ServerClientTest, AnActorIsNamedInWhatIsPosted) {
  const auto with_actor = client({.name = "ann", .roles = {"clerk"}});
  with_actor->call(get("/v1/counts"));
  with_actor->call(post("/v1/records/m/1", "{}"));
  with_actor->call(post("/v1/records/m/1/orders", R"({"order":"retry"})"));
  ASSERT_EQ(service.requests().size(), 3U);
  EXPECT_TRUE(service.requests()[0].ends_with("\r\n\r\n"));
  EXPECT_TRUE(service.requests()[1].ends_with(
      "\r\n\r\n{\"actor\":{\"name\":\"ann\",\"roles\":[\"clerk\"]}}"))
      << service.requests()[1];
  EXPECT_TRUE(service.requests()[2].ends_with(
      "{\"actor\":{\"name\":\"ann\",\"roles\":[\"clerk\",\"operator\"]},\"order\":\"retry\"}"))
      << service.requests()[2];
}

TEST_F(ServerClientTest, WhatPawlDoesNotAnswerIsNoReply) {
  const std::string odd = "0: " + service.url("") + " does not answer like a Pawl server (status ";
  const std::string question = "): check the address";
  answer = response("200 OK", "<html>");
  EXPECT_EQ(asked(), odd + "200" + question);
  answer = response("502 Bad Gateway", "");
  EXPECT_EQ(asked(), odd + "502" + question);
  // A token goes where it was meant to go.
  answer = response("302 Found", "{}", "Location: " + service.url("/other") + "\r\n");
  EXPECT_EQ(asked(), odd + "302" + question);
  EXPECT_EQ(service.requests().size(), 3U);
  answer = "";
  EXPECT_TRUE(asked().starts_with("0: cannot reach " + service.url("") + ": ")) << asked();
}

TEST_F(ServerClientTest, RepliesHaveTheirExitCodes) {
  const auto code = [&](const std::string& status) {
    answer = response(status, R"({"error":{"id":"x","message":"m"}})");
    return exit_code_of(client()->call(get("/v1/counts")));
  };
  EXPECT_EQ(code("200 OK"), ExitCode::ok);
  for (const char* status : {"400 x", "401 x", "403 x", "404 x", "409 x", "422 x"})
    EXPECT_EQ(code(status), ExitCode::wrong) << status;
  for (const char* status : {"429 x", "500 x", "503 x"})
    EXPECT_EQ(code(status), ExitCode::environment) << status;
}

TEST_F(ServerClientTest, EventsAreTakenUntilEnough) {
  const std::string events =
      ": alive\n\nid: 1\ndata: [1]\n\n: alive\n\nid: 2\ndata: [2]\n\nid: 3\ndata: [3";
  const auto listened = [&](std::size_t enough) {
    std::string taken;
    std::size_t count = 0;
    const ApiReply reply =
        client()->listen(get("/v1/feed/live"), [&](const std::string& id, const std::string& data) {
          taken += id + data + " ";
          return ++count < enough;
        });
    return taken + std::to_string(reply.status);
  };
  answer = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + events;
  EXPECT_EQ(listened(1), "1[1] 200");
  EXPECT_EQ(listened(9), "1[1] 2[2] 0");  // the third was cut
  answer = response("403 Forbidden", R"({"error":{"id":"x","message":"m"}})");
  EXPECT_EQ(listened(9), "403");
}

}  // namespace
}  // namespace pawl::cli
