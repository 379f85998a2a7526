// `http:` tasks of an engine, against a real service that fails on purpose.
#include "outside/http_task.h"

#include <gtest/gtest.h>

#include "outside/local_service.h"
#include "pawl/engine.h"

namespace pawl {
namespace {

constexpr const char* kMachine = R"(
machine: order
initial: paying
data: {customer: string, amount: decimal}
tasks:
  pay:
    http:
      post: "URL/pay/{data.customer}?n={record.key}"
      headers: {x-amount: "{data.amount}"}
    retry: [0s, 0s, 0s]
    result: {receipt: string}
  look: {http: {get: "URL/look/{data.customer}"}, retry: [0s]}
states:
  paying: {task: pay, done: {set: {customer: "{result.receipt}"}, to: looking}}
  looking: {task: look, done: paid}
  paid: {final: true}
)";

std::string machine_at(const std::string& url) {
  std::string text = kMachine;
  for (std::size_t at = 0; (at = text.find("URL", at)) != std::string::npos;)
    text.replace(at, 3, url);
  return text;
}

std::string response(const std::string& status, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         body;
}

// The engine carries them out; the failures are the record's, and the key is the same every time.
TEST(HttpTask, FailsAndSucceedsAsTheServiceDoes) {
  int asked = 0;
  const LocalService service([&](const std::string& request) -> std::string {
    if (request.starts_with("GET")) return response("200 OK", "");
    switch (asked++) {
      case 0:
        return response("503 Busy", "come back");
      case 1:
        return "";
      case 2:
        return response("200 OK", "no JSON");
      default:
        return response("201 Created", R"({"receipt":"r 17"})");
    }
  });
  const Door door({{"127.0.0.1"}, {*parse_network("127.0.0.0/8")}});
  auto engine = Engine::open({.http = http_task(door)});
  ASSERT_TRUE(engine);
  const auto applied =
      (*engine)->apply(std::vector<MachineText>{{"order.yaml", machine_at(service.url(""))}});
  ASSERT_TRUE(applied && applied->is_good()) << applied->machines.at(0).findings.at(0).message;
  EXPECT_TRUE(applied->machines.at(0).findings.empty());
  ASSERT_TRUE((*engine)->create({"order", "a/b"}, R"({"customer":"Zoë & Co","amount":12.5})"));
  const auto record = (*engine)->wait({"order", "a/b"}, {}, std::chrono::seconds{30});
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->state, "paid");
  EXPECT_EQ((*record)->data, R"({"customer":"r 17","amount":12.5})");

  const auto requests = service.requests();
  ASSERT_EQ(requests.size(), 5U);
  EXPECT_TRUE(requests[0].starts_with("POST /pay/Zo%C3%AB%20%26%20Co?n=a%2Fb HTTP/1.1\r\n"))
      << requests[0];
  EXPECT_NE(requests[0].find("\r\nx-amount: 12.5\r\n"), std::string::npos) << requests[0];
  EXPECT_TRUE(requests[0].ends_with(R"({"customer":"Zoë & Co","amount":12.5})")) << requests[0];
  for (int i = 0; i < 4; ++i)
    EXPECT_NE(requests[static_cast<std::size_t>(i)].find("\r\nIdempotency-Key: 1/1\r\n"),
              std::string::npos);
  EXPECT_TRUE(requests[4].starts_with("GET /look/r%2017 HTTP/1.1\r\n"));
  EXPECT_TRUE(requests[4].ends_with("\r\n\r\n"));  // brings nothing

  const auto log = (*engine)->log((*record)->id);
  ASSERT_TRUE(log);
  std::vector<std::string> codes;
  for (const Entry& entry : log->items)
    if (entry.error) codes.push_back(entry.error->code);
  EXPECT_EQ(codes, (std::vector<std::string>{"http_503", "network", "bad_result"}));
}

TEST(HttpTask, WithoutADoorApplyingSaysSo) {
  auto engine = Engine::open({});
  ASSERT_TRUE(engine);
  const auto applied =
      (*engine)->apply(std::vector<MachineText>{{"order.yaml", machine_at("http://example.org")}});
  ASSERT_TRUE(applied && applied->is_good());
  ASSERT_EQ(applied->machines.at(0).findings.size(), 2U);
  EXPECT_EQ(applied->machines.at(0).findings.at(0).id, "no_calls");
}

// S: a run aside knows what was asked for when it was asked.
TEST(HttpTask, MayBeRunAside) {
  const LocalService service([](const std::string&) { return response("200 OK", R"({"n":1})"); });
  const Door door({{"127.0.0.1"}, {*parse_network("127.0.0.0/8")}});
  auto engine = Engine::open({.http = http_task(door)});
  ASSERT_TRUE(engine);
  const std::string file =
      "machine: m\ninitial: a\ndata: {x: string}\n"
      "events: {told: {}}\n"
      "tasks: {call: {http: {put: \"" +
      service.url("/{data.x}") +
      "\", body: {y: \"{data.x}\"}}}}\n"
      "states:\n"
      "  a: {effects: [{run: call, then: told}], on: {told: b}}\n"
      "  b: {final: true}\n";
  const auto applied = (*engine)->apply(std::vector<MachineText>{{"m.yaml", file}});
  ASSERT_TRUE(applied && applied->is_good()) << applied->machines.at(0).findings.at(0).message;
  ASSERT_TRUE((*engine)->create({"m", "1"}, R"({"x":"q"})"));
  const auto record = (*engine)->wait({"m", "1"}, {}, std::chrono::seconds{30});
  ASSERT_TRUE(record && *record);
  EXPECT_EQ((*record)->state, "b");
  ASSERT_EQ(service.requests().size(), 1U);
  EXPECT_TRUE(service.requests()[0].starts_with("PUT /q HTTP/1.1\r\n"));
  EXPECT_TRUE(service.requests()[0].ends_with(R"({"y":"q"})"));
}

}  // namespace
}  // namespace pawl
