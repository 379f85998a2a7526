#include "pipe/search_cluster.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <latch>
#include <map>
#include <thread>

#include "pipe/local_search.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Answer = BulkWindow::Answer;
using Request = LocalSearch::Request;

constexpr auto kLong = std::chrono::minutes{1};  // more than any test takes

Secret secret(const char* name, const char* value) {
  setenv(name, value, 1);
  return *Secret::parse(std::string("env:") + name);
}

std::unique_ptr<SearchCluster> make(SearchConfig config) {
  auto made = SearchCluster::make(config);
  EXPECT_TRUE(made.has_value()) << made.error().message;
  return std::move(made).value();
}

std::string why_not(const SearchConfig& config) {
  const auto made = SearchCluster::make(config);
  return made.has_value() ? "" : made.error().message;
}

// Until that many have ended.
std::vector<BulkReply> replies(SearchClient& client, std::size_t count) {
  std::vector<BulkReply> all;
  while (all.size() < count)
    client.poll(kLong, -1, [&](BulkReply reply) { all.push_back(std::move(reply)); });
  return all;
}

BulkReply ask(SearchClient& client, std::string_view body = "{}\n") {
  client.send(7, body);
  return replies(client, 1).front();
}

BulkFailure failure_of(const std::string& answer) {
  LocalSearch search([&](const Request&) { return answer; });
  const auto cluster = make({.urls = {search.url()}});
  SearchClient client(*cluster);
  return ask(client).failure.value_or(BulkFailure{.message = "it did not fail"});
}

Request request_of(SearchConfig config, std::string_view body = "{}\n") {
  LocalSearch search([](const Request&) { return indexed_answer(1); });
  config.urls = {search.url()};
  const auto cluster = make(config);
  SearchClient client(*cluster);
  EXPECT_FALSE(ask(client, body).failure.has_value());
  return search.requests().at(0);
}

bool has_line(const Request& request, const std::string& line) {
  return request.head.find("\r\n" + line + "\r\n") != std::string::npos;
}

void answer(BulkWindow& window, Answer how, int times = 1) {
  for (; times > 0; --times) {
    EXPECT_TRUE(window.take());
    window.give_back(how);
  }
}

TEST(BulkWindow, BeginsWithTwo) {
  BulkWindow window(8);
  EXPECT_TRUE(window.take());
  EXPECT_TRUE(window.take());
  EXPECT_FALSE(window.take());
  EXPECT_EQ(window.under_way(), 2);
  window.give_back(Answer::neither);
  EXPECT_TRUE(window.take());
  EXPECT_EQ(BulkWindow(1).size(), 1);
  EXPECT_EQ(BulkWindow(0).size(), 1);
}

TEST(BulkWindow, GrowsByOneAfterTenCleanAnswers) {
  BulkWindow window(4);
  answer(window, Answer::clean, 9);
  EXPECT_EQ(window.size(), 2);
  answer(window, Answer::neither, 5);
  EXPECT_EQ(window.size(), 2);
  answer(window, Answer::clean);
  EXPECT_EQ(window.size(), 3);
  answer(window, Answer::clean, 10);
  EXPECT_EQ(window.size(), 4);
  answer(window, Answer::clean, 50);
  EXPECT_EQ(window.size(), 4) << "the most";
}

TEST(BulkWindow, HalvesUnderPressureAndKeepsOne) {
  BulkWindow window(9);
  answer(window, Answer::clean, 79);
  EXPECT_EQ(window.size(), 9);
  for (const int size : {4, 2, 1, 1}) {
    answer(window, Answer::pressed);
    EXPECT_EQ(window.size(), size);
  }
  answer(window, Answer::clean, 9);
  answer(window, Answer::pressed);
  answer(window, Answer::clean, 9);
  EXPECT_EQ(window.size(), 1) << "counted from the last sign of pressure";
  answer(window, Answer::clean);
  EXPECT_EQ(window.size(), 2);
}

TEST(BulkWindow, LetsWhatIsUnderWayEndWhenItShrinks) {
  BulkWindow window(8);
  EXPECT_TRUE(window.take());
  EXPECT_TRUE(window.take());
  window.give_back(Answer::pressed);
  EXPECT_EQ(window.size(), 1);
  EXPECT_FALSE(window.take());
  window.give_back(Answer::neither);
  EXPECT_TRUE(window.take());
}

TEST(SearchClient, GivesTheBodyOfAnAnswer) {
  LocalSearch search([](const Request&) { return indexed_answer(2); });
  const auto cluster = make({.urls = {search.url() + "/"}});
  SearchClient client(*cluster);
  const std::string body = "{\"index\":{}}\n{}\n";
  client.send(42, body);
  EXPECT_EQ(client.under_way(), 1U);
  const BulkReply reply = replies(client, 1).front();
  EXPECT_EQ(client.under_way(), 0U);
  EXPECT_EQ(reply.id, 42U);
  EXPECT_FALSE(reply.failure.has_value());
  EXPECT_EQ(reply.body,
            R"({"errors":false,"items":[{"index":{"status":201}},{"index":{"status":201}}]})");
  EXPECT_GT(reply.took, Duration{0});
  EXPECT_EQ(cluster->answered(), 1U);
  const Request request = search.requests().at(0);
  EXPECT_TRUE(request.head.starts_with(
      "POST /_bulk?filter_path=errors,items.*.status,items.*.error HTTP/1.1\r\n"))
      << request.head;
  EXPECT_TRUE(has_line(request, "Content-Type: application/x-ndjson"));
  EXPECT_EQ(request.head.find("Expect"), std::string::npos);
  EXPECT_EQ(request.head.find("Authorization"), std::string::npos);
  EXPECT_EQ(request.body, body);
}

TEST(SearchClient, SendsLongBodiesWhole) {
  std::string body;
  while (body.size() < (6U << 20U)) body += "{\"at\":" + std::to_string(body.size()) + "}\n";
  EXPECT_TRUE(request_of({}, body).body == body);
}

TEST(SearchClient, KeepsItsConnection) {
  LocalSearch search([](const Request&) { return indexed_answer(1); });
  const auto cluster = make({.urls = {search.url()}});
  SearchClient client(*cluster);
  for (int at = 0; at < 5; ++at) EXPECT_FALSE(ask(client).failure.has_value());
  EXPECT_EQ(search.connections(), 1);
  EXPECT_EQ(cluster->nodes().at(0).bulks, 5U);
}

TEST(SearchClient, HasManyBulksUnderWayAtOnce) {
  std::latch all(20);
  LocalSearch search([&](const Request& request) {
    all.arrive_and_wait();
    return http_answer(200, request.body);
  });
  const auto cluster = make({.urls = {search.url()}});
  SearchClient client(*cluster);
  std::vector<std::string> bodies;
  for (int at = 0; at < 20; ++at) bodies.push_back("body " + std::to_string(at) + "\n");
  for (std::size_t at = 0; at < 20; ++at) client.send(at, bodies[at]);
  EXPECT_EQ(client.under_way(), 20U);
  for (const BulkReply& reply : replies(client, 20)) EXPECT_EQ(reply.body, bodies[reply.id]);
}

TEST(SearchClient, MaySendWhenItIsTold) {
  LocalSearch search([](const Request&) { return indexed_answer(1); });
  const auto cluster = make({.urls = {search.url()}});
  SearchClient client(*cluster);
  std::uint64_t ended = 0;
  client.send(0, "{}\n");
  while (ended < 5)
    client.poll(kLong, -1, [&](const BulkReply& reply) {
      EXPECT_EQ(reply.id, ended++);
      if (ended < 5) client.send(ended, "{}\n");
    });
}

TEST(SearchClient, SaysHowARequestFailed) {
  const BulkFailure bad = failure_of(http_answer(
      400,
      R"({"error":{"type":"illegal_argument_exception","reason":"no newline"},"status":400})"));
  EXPECT_EQ(bad.code, pipe_code::kEs4xx);
  EXPECT_TRUE(bad.bisect);
  EXPECT_EQ(bad.status, 400);
  EXPECT_EQ(bad.message, "the search engine answered 400: illegal_argument_exception: no newline");
  EXPECT_EQ(failure_of(http_answer(503, "")).code, pipe_code::kEs5xx);
  EXPECT_EQ(failure_of(http_answer(413, "")).bisect, true);
}

TEST(SearchClient, SaysWhenToTryAgain) {
  const BulkFailure busy = failure_of(http_answer(429, "", "Retry-After: 7\r\n"));
  EXPECT_EQ(busy.code, pipe_code::kEsBusy);
  EXPECT_EQ(busy.retry_after, Duration{7s});
  EXPECT_EQ(failure_of(http_answer(429, "")).retry_after, std::nullopt);
  EXPECT_EQ(failure_of(http_answer(429, "", "Retry-After: 99999999999\r\n")).retry_after,
            Duration{10min});
}

TEST(SearchClient, DoesNotGoElsewhere) {
  const ClosedPort elsewhere;
  const BulkFailure moved =
      failure_of(http_answer(302, "", "Location: " + elsewhere.url() + "/\r\n"));
  EXPECT_EQ(moved.status, 302);
  setenv("http_proxy", elsewhere.url().c_str(), 1);
  EXPECT_EQ(request_of({}).body, "{}\n");
  unsetenv("http_proxy");
}

TEST(SearchClient, KnowsThatNobodyListens) {
  const ClosedPort port;
  const auto cluster = make({.urls = {port.url()}});
  SearchClient client(*cluster);
  const BulkReply reply = ask(client);
  ASSERT_TRUE(reply.failure.has_value());
  EXPECT_EQ(reply.failure->code, pipe_code::kEsUnavailable);
  EXPECT_EQ(reply.failure->status, 0);
  EXPECT_TRUE(reply.failure->message.starts_with(port.url() + ": ")) << reply.failure->message;
  EXPECT_TRUE(cluster->nodes().at(0).is_down);
  EXPECT_EQ(cluster->nodes().at(0).error, reply.failure->message);
}

TEST(SearchClient, GoesToANodeThatAnswers) {
  const ClosedPort port;
  LocalSearch gateway([](const Request&) { return http_answer(502, ""); });
  LocalSearch search([](const Request&) { return indexed_answer(1); });
  const auto cluster = make({.urls = {port.url(), gateway.url(), search.url()}});
  SearchClient client(*cluster);
  EXPECT_EQ(ask(client).failure->code, pipe_code::kEsUnavailable);
  EXPECT_EQ(ask(client).failure->code, pipe_code::kEsUnavailable);
  for (int at = 0; at < 3; ++at) EXPECT_FALSE(ask(client).failure.has_value());
  const auto nodes = cluster->nodes();
  EXPECT_TRUE(nodes[0].is_down);
  EXPECT_EQ(nodes[0].failures, 1U);
  EXPECT_TRUE(nodes[1].is_down);
  EXPECT_FALSE(nodes[2].is_down);
  EXPECT_EQ(nodes[2].bulks, 3U);
  EXPECT_EQ(cluster->answered(), 3U);
}

TEST(SearchClient, KnowsAnAnswerThatEndsEarly) {
  const std::string cut =
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 100\r\n\r\n{\"errors\":fal";
  EXPECT_EQ(failure_of(cut).code, pipe_code::kNetwork);
  EXPECT_EQ(failure_of("").code, pipe_code::kNetwork) << "nothing at all";
}

TEST(SearchClient, KnowsAnAnswerThatIsTooLong) {
  const BulkFailure failure = failure_of(http_answer(200, std::string((64U << 20U) + 1, ' ')));
  EXPECT_EQ(failure.code, pipe_code::kNetwork);
  EXPECT_NE(failure.message.find("response too long"), std::string::npos) << failure.message;
  EXPECT_TRUE(failure.bisect);  // else the same answer would come for ever
}

TEST(SearchClient, DoesNotWaitForEver) {
  std::promise<void> over;
  LocalSearch search([waiting = over.get_future().share()](const Request&) {
    waiting.wait();
    return std::string();
  });
  const auto cluster = make({.urls = {search.url()}, .timeout = 50ms});
  SearchClient client(*cluster);
  const BulkReply reply = ask(client);
  over.set_value();
  ASSERT_TRUE(reply.failure.has_value());
  EXPECT_EQ(reply.failure->code, pipe_code::kNetwork);
  EXPECT_GE(reply.took, Duration{50ms});
}

TEST(SearchClient, EndsWhatIsUnderWayWithItself) {
  std::promise<void> asked;
  std::promise<void> over;
  LocalSearch search([&](const Request&) {
    asked.set_value();
    over.get_future().wait();
    return indexed_answer(1);
  });
  const auto cluster = make({.urls = {search.url()}});
  {
    SearchClient client(*cluster);
    client.send(1, "{}\n");
    auto arrived = asked.get_future();
    while (arrived.wait_for(0s) != std::future_status::ready)
      client.poll(1ms, -1, [](const BulkReply&) { ADD_FAILURE() << "it was not answered"; });
  }
  over.set_value();
  search.wait_until_all_are_closed();
}

TEST(SearchClient, IsWokenByAnotherThread) {
  const ClosedPort port;
  const auto cluster = make({.urls = {port.url()}});
  SearchClient client(*cluster);
  const auto begin = std::chrono::steady_clock::now();
  client.wake();
  client.poll(kLong, -1, [](const BulkReply&) {});
  std::thread other([&] { client.wake(); });
  client.poll(kLong, -1, [](const BulkReply&) {});
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
}

TEST(SearchClient, IsWokenByADescriptor) {
  const ClosedPort port;
  const auto cluster = make({.urls = {port.url()}});
  SearchClient client(*cluster);
  const int descriptor = eventfd(0, EFD_CLOEXEC);
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { eventfd_write(descriptor, 1); });
  client.poll(kLong, descriptor, [](const BulkReply&) {});
  other.join();
  eventfd_t count = 0;
  EXPECT_EQ(eventfd_read(descriptor, &count), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
  close(descriptor);
}

TEST(SearchClient, IsToldWhenThereIsRoom) {
  const ClosedPort port;
  const auto cluster = make({.urls = {port.url()}, .bulks_max = 1});
  SearchClient one(*cluster);
  SearchClient two(*cluster);
  EXPECT_TRUE(one.take_place());
  EXPECT_FALSE(two.take_place());
  { EXPECT_FALSE(SearchClient(*cluster).take_place()); }
  const auto begin = std::chrono::steady_clock::now();
  std::thread other([&] { one.give_back_place(Answer::clean); });
  two.poll(kLong, -1, [](const BulkReply&) {});
  other.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
  EXPECT_TRUE(two.take_place());
  two.give_back_place(Answer::clean);
  EXPECT_EQ(cluster->window().under_way(), 0);
}

TEST(SearchClient, SaysWhoItIs) {
  const Request basic =
      request_of({.user = "me:too", .password = secret("PAWL_TEST_PASSWORD", "open sesame")});
  EXPECT_TRUE(has_line(basic, "Authorization: Basic bWU6dG9vOm9wZW4gc2VzYW1l")) << basic.head;
  const Request key = request_of({.api_key = secret("PAWL_TEST_KEY", "a2V5")});
  EXPECT_TRUE(has_line(key, "Authorization: ApiKey a2V5")) << key.head;
}

TEST(SearchClient, NamesThePipeline) {
  EXPECT_TRUE(request_of({.pipeline = "geo & more"})
                  .head.starts_with("POST /_bulk?filter_path=errors,items.*.status,items.*.error"
                                    "&pipeline=geo%20%26%20more HTTP/1.1\r\n"));
}

std::string inflated(std::string packed, std::size_t size_max) {
  std::string text(size_max, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

TEST(SearchClient, PacksBodiesWhenItIsAskedTo) {
  LocalSearch search([](const Request&) { return indexed_answer(1); });
  const auto cluster = make({.urls = {search.url()}, .gzip = true});
  SearchClient client(*cluster);
  std::string body;
  for (int at = 0; at < 20'000; ++at) body += "{\"at\":" + std::to_string(at) + "}\n";
  EXPECT_FALSE(ask(client, body).failure.has_value());
  EXPECT_FALSE(ask(client, "{}\n").failure.has_value());
  const auto requests = search.requests();
  EXPECT_TRUE(has_line(requests.at(0), "Content-Encoding: gzip"));
  EXPECT_LT(requests[0].body.size(), body.size() / 2);
  EXPECT_TRUE(inflated(requests[0].body, body.size()) == body);
  EXPECT_EQ(inflated(requests[1].body, 100), "{}\n");
}

TEST(SearchCluster, GetsAPathFromTheFirstNodeThatAnswers) {
  const ClosedPort port;
  LocalSearch search([](const Request& request) {
    return request.head.starts_with("GET /here HTTP/1.1\r\n") ? http_answer(200, "yes")
                                                              : http_answer(404, "no");
  });
  const auto cluster =
      make({.urls = {port.url(), search.url()}, .api_key = secret("PAWL_TEST_KEY", "a2V5")});
  EXPECT_EQ(*cluster->get("/here"), "yes");
  EXPECT_TRUE(has_line(search.requests().at(0), "Authorization: ApiKey a2V5"));
  EXPECT_EQ(cluster->get("/there").error().message,
            search.url() + "/there: the search engine answered 404: no");
  const auto nobody = make({.urls = {port.url(), port.url()}})->get("/");
  ASSERT_FALSE(nobody.has_value());
  EXPECT_TRUE(nobody.error().message.starts_with("the search engine cannot be reached: "));
}

TEST(SearchCluster, RefusesWhatItCannotUse) {
  EXPECT_EQ(why_not({}), "the search engine has no URL: name at least one");
  for (const char* const url :
       {"es1:9200", "ftp://es1", "", "http://", "http://es1/?a=b", "http://es 1"})
    EXPECT_NE(why_not({.urls = {url}}).find("is not the URL of a search engine"), std::string::npos)
        << url;
  const std::string hidden = why_not({.urls = {"http://me:sesame@es1:9200"}});
  EXPECT_NE(hidden, "");
  EXPECT_EQ(hidden.find("sesame"), std::string::npos);
  unsetenv("PAWL_TEST_PASSWORD");
  EXPECT_NE(why_not({.urls = {"http://es1"},
                     .user = "me",
                     .password = *Secret::parse("env:PAWL_TEST_PASSWORD")}),
            "");
  const std::string broken =
      why_not({.urls = {"http://es1"}, .api_key = secret("PAWL_TEST_KEY", "a\r\nX-Evil: sesame")});
  EXPECT_EQ(broken, "the key of the search engine contains a control character");
}

}  // namespace
}  // namespace pawl
