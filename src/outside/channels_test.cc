#include "outside/channels.h"

#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <cstdlib>
#include <fstream>

#include "outside/http_task.h"
#include "outside/local_service.h"

namespace pawl {
namespace {

constexpr const char* kOk = "HTTP/1.1 204 No Content\r\n\r\n";

Door door_to_loopback() { return Door({{"127.0.0.1"}, {*parse_network("127.0.0.0/8")}}); }

Delivered delivered() {
  return {
      .id = "17/3/0",
      .channel = "office",
      .payload =
          R"({"machine":"order","key":"a","state":"lost","error":{"code":"gone","message":"no such street"}})"};
}

std::string header(const std::string& request, const std::string& name) {
  const std::size_t at = request.find("\r\n" + name + ": ");
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 4;
  return request.substr(begin, request.find('\r', begin) - begin);
}

std::string body(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

std::string base64_hmac(const std::string& key, const std::string& content) {
  unsigned char sum[32];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(content.data()), content.size(), sum, &size);
  char text[64];
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text), sum, static_cast<int>(size));
  return text;
}

TEST(Secret, IsReadWhereItIs) {
  setenv("PAWL_TEST_SECRET", "word", 1);
  EXPECT_EQ(*Secret::parse("env:PAWL_TEST_SECRET")->read(), "word");
  unsetenv("PAWL_TEST_SECRET");
  EXPECT_FALSE(Secret::parse("env:PAWL_TEST_SECRET")->read());
  const std::string path = testing::TempDir() + "pawl_secret";
  std::ofstream(path) << "line\r\n";
  EXPECT_EQ(*Secret::parse("file:" + path)->read(), "line");
  std::remove(path.c_str());
  EXPECT_FALSE(Secret::parse("file:" + path)->read());
}

TEST(Secret, ThatIsWrittenDownIsRefusedWithoutBeingRepeated) {
  for (const char* text : {"hunter2", "", "env:", "file:"}) {
    const auto secret = Secret::parse(text);
    ASSERT_FALSE(secret) << text;
    EXPECT_EQ(secret.error().message.find("hunter2"), std::string::npos);
  }
}

// Of some services the URL is all that lets a caller in.
TEST(Secret, OfAUrlIsNotRepeatedWhenItIsWrong) {
  for (const char* url : {"hooks.example.org/hunter2", "ftp://hooks.example.org/hunter2",
                          "https://hooks.example.org /hunter2", "hunter2://hooks.example.org/",
                          "https://hunter2:x@hooks.example.org/", "hunter2"}) {
    setenv("PAWL_TEST_URL", url, 1);
    const Target target{.secret_url = *Secret::parse("env:PAWL_TEST_URL")};
    for (const Channel& channel :
         {webhook_channel(door_to_loopback(), {target}),
          alert_channel(door_to_loopback(), {AlertSettings::Service::slack, target})}) {
      const auto failure = channel(delivered());
      ASSERT_TRUE(failure) << url;
      EXPECT_EQ(failure->message.find("hunter2"), std::string::npos) << failure->message;
      EXPECT_NE(failure->message.find("URL"), std::string::npos) << failure->message;
    }
  }
  unsetenv("PAWL_TEST_URL");
}

TEST(Webhook, IsSignedOverIdTimeAndBody) {
  const LocalService service([](const std::string&) { return kOk; });
  setenv("PAWL_TEST_KEY", "plain key", 1);
  setenv("PAWL_TEST_KEY64", "whsec_cGxhaW4ga2V5", 1);  // the same in base64
  for (const char* key : {"env:PAWL_TEST_KEY", "env:PAWL_TEST_KEY64"}) {
    const Channel channel =
        webhook_channel(door_to_loopback(), {{service.url("/hook")}, *Secret::parse(key)});
    const auto failure = channel(delivered());
    EXPECT_FALSE(failure) << failure->message;
    const std::string request = service.requests().back();
    const std::string content = header(request, "webhook-id") + "." +
                                header(request, "webhook-timestamp") + "." + body(request);
    EXPECT_EQ(header(request, "webhook-signature"), "v1," + base64_hmac("plain key", content));
    EXPECT_EQ(header(request, "webhook-id"), "17/3/0");
    EXPECT_TRUE(body(request).starts_with(R"({"id":"17/3/0","channel":"office","payload":{)"));
  }
  unsetenv("PAWL_TEST_KEY");
  const Channel channel = webhook_channel(
      door_to_loopback(), {{service.url("/hook")}, *Secret::parse("env:PAWL_TEST_KEY")});
  EXPECT_EQ(channel(delivered())->code, "bad_channel");
  EXPECT_EQ(service.requests().size(), 2U);
}

TEST(Webhook, AReceiverThatRefusesIsAFailure) {
  const LocalService service([](const std::string&) {
    return "HTTP/1.1 503 Busy\r\nRetry-After: 3\r\nContent-Length: 5\r\n\r\nlater";
  });
  const auto failure = webhook_channel(door_to_loopback(), {{service.url()}})(delivered());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, "http_503");
  EXPECT_EQ(failure->message, "later");
  EXPECT_EQ(failure->retry_after, Duration{std::chrono::seconds{3}});
}

TEST(Alert, SpeaksAsTheServiceHasIt) {
  const LocalService service([](const std::string&) { return kOk; });
  setenv("PAWL_TEST_KEY", "k", 1);
  using Service = AlertSettings::Service;
  const auto sent = [&](Service as) {
    const auto failure =
        alert_channel(door_to_loopback(),
                      {as, {service.url()}, *Secret::parse("env:PAWL_TEST_KEY")})(delivered());
    EXPECT_FALSE(failure) << failure->message;
    return service.requests().back();
  };
  EXPECT_EQ(body(sent(Service::slack)), R"j({"text":"order/a, lost: gone (no such street)"})j");
  const std::string opsgenie = sent(Service::opsgenie);
  EXPECT_EQ(header(opsgenie, "Authorization"), "GenieKey k");
  EXPECT_TRUE(body(opsgenie).starts_with(
      R"j({"message":"order/a, lost: gone (no such street)","alias":"17/3/0","source":"pawl",)j"));
  EXPECT_TRUE(body(sent(Service::pagerduty))
                  .starts_with(R"({"routing_key":"k","event_action":"trigger",)"
                               R"("dedup_key":"17/3/0","payload":{"summary":)"));
}

TEST(Exec, TheProgramReadsWhatIsDelivered) {
  const std::string path = testing::TempDir() + "pawl_exec";
  const Channel channel = exec_channel(
      {{"/bin/sh", "-c", "cat > \"$0\"; echo \"$PAWL_DELIVERY $PAWL_CHANNEL\" >> \"$0\"", path}});
  const auto failure = channel(delivered());
  EXPECT_FALSE(failure) << failure->message;
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(text, delivery_json(delivered()) + "17/3/0 office\n");
  std::remove(path.c_str());
}

TEST(Exec, HowItEndsIsWhatBecomesOfIt) {
  EXPECT_EQ(exec_channel({{"/bin/sh", "-c", "echo no >&2; exit 3"}})(delivered())->code, "exit_3");
  EXPECT_EQ(exec_channel({{"/no/such/program"}})(delivered())->code, "bad_channel");
  EXPECT_EQ(exec_channel({{"/bin/sleep", "60"}, std::chrono::milliseconds{50}})(delivered())->code,
            "timeout");
}

}  // namespace
}  // namespace pawl
