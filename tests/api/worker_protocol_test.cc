// What a worker in any language is promised, over sockets: docs/reference/api.md, Work.
#include <thread>

#include "tests/api/served.h"

namespace pawl {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kWorkedOrder = R"(machine: order
initial: paying
data: {amount: {type: int, default: 0}}
states:
  paying: {task: charge, done: shipping, on: {cancel: cancelled}}
  shipping: {on: {arrive: arrived}}
  arrived: {final: true}
  cancelled: {final: true}
tasks:
  charge: {queue: payments, timeout: 10m, lease: 1m, retry: [1m, 1m, 1m]}
)";

class WorkerProtocol : public Served {
 protected:
  WorkerProtocol() : Served(kWorkedOrder) {
    worker = client(make_token("w", R"("roles":["worker"],"queues":["payments"])"));
  }

  void create(const std::string& key, const std::string& data = "{}") {
    good(admin->post("/v1/records/order/" + key, R"({"data":)" + data + "}"));
  }
  std::string record(const std::string& key) {
    return good(admin->get("/v1/records/order/" + key));
  }
  // The attempts, as a list.
  std::string claim(const std::string& more = {}) {
    return at(good(worker->post("/v1/claim", R"({"queues":["payments"])" + more + "}")),
              "attempts");
  }
  std::string attempt() { return at(claim(), "0"); }
  // The engine has it: the clock may be moved, or the worker leave.
  void wait_for_a_waiting_claim() const {
    while (server->engine().figures().waiting_claims == 0) std::this_thread::yield();
  }
  static std::string named(const std::string& attempt, const std::string& more = {}) {
    return R"({"machine":"order","key":)" + json_string(at(attempt, "key")) + R"(,"token":)" +
           json_string(at(attempt, "token")) + more + "}";
  }

  std::unique_ptr<HttpClient> worker;
};

TEST_F(WorkerProtocol, AnAttemptHasAllThatAWorkerNeeds) {
  create("17", R"({"amount":5})");
  const std::string first = at(claim(R"(,"max":10,"wait":"30s","worker":"w1")"), "0");
  EXPECT_EQ(at(first, "machine") + " " + at(first, "key") + " " + at(first, "task") + " " +
                at(first, "queue") + " " + at(first, "attempt"),
            "order 17 charge payments 1");
  EXPECT_EQ(at(first, "token").size(), 32U);
  EXPECT_EQ(at(first, "lease_until"), "2026-03-02T09:01:00Z");
  EXPECT_EQ(at(first, "deadline_at"), "2026-03-02T09:10:00Z");
  EXPECT_EQ(at(first, "data"), R"({"amount":5})");
  EXPECT_EQ(at(first, "progress"), "(absent)");
  EXPECT_EQ(at(record("17"), "running.worker"), "w1");
  good(worker->post("/v1/beat", named(first, R"(,"progress":{"page":3})")));
  run_for(minutes{3});  // the lease is lost, and the delay over
  const std::string second = attempt();
  EXPECT_EQ(at(second, "attempt"), "2");
  EXPECT_EQ(at(second, "progress"), R"({"page":3})");
  EXPECT_EQ(at(second, "idempotency_key"), at(first, "idempotency_key"));
  EXPECT_GT(std::stoll(at(second, "fence")), std::stoll(at(first, "fence")));
  EXPECT_NE(at(second, "token"), at(first, "token"));
}

// The record neither waits for a lease nor pays.
TEST_F(WorkerProtocol, WhoHasLeftWhileItWaitedGetsNothing) {
  auto left = client(make_token("left", R"("roles":["worker"],"queues":["payments"])"));
  left->send("POST", "/v1/claim", R"({"queues":["payments"],"wait":"30s"})");
  wait_for_a_waiting_claim();
  left.reset();
  create("17");
  EXPECT_EQ(at(claim(R"(,"wait":"30s")"), "0.attempt"), "1");
  EXPECT_EQ(at(record("17"), "failures"), "(absent)");
}

TEST_F(WorkerProtocol, AClaimWaitsUntilSomethingIsReady) {
  worker->send("POST", "/v1/claim", R"({"queues":["payments"],"wait":"30s"})");
  create("17");
  EXPECT_EQ(at(good(worker->receive()), "attempts.0.key"), "17");
  worker->send("POST", "/v1/claim", R"({"queues":["payments"],"wait":"30s"})");
  wait_for_a_waiting_claim();
  run_for(seconds{31});
  EXPECT_EQ(good(worker->receive()), R"({"attempts":[]})");
}

TEST_F(WorkerProtocol, ABeatKeepsTheLease) {
  create("17");
  const std::string given = attempt();
  run_for(seconds{50});
  EXPECT_EQ(at(good(worker->post("/v1/beat", named(given))), "lease_until"),
            "2026-03-02T09:01:50Z");
  run_for(seconds{50});
  EXPECT_EQ(at(good(worker->post("/v1/done", named(given))), "state"), "shipping");
}

TEST_F(WorkerProtocol, AFailureSaysEverythingAboutItself) {
  create("17");
  const std::string given = attempt();
  good(worker->post("/v1/fail", named(given, R"(,"code":"no_money","message":"try on Monday",)"
                                             R"("retry_after":"2h","detail":{"balance":-3})")));
  const std::string failed = record("17");
  EXPECT_EQ(at(failed, "error.code") + ": " + at(failed, "error.message"),
            "no_money: try on Monday");
  EXPECT_EQ(at(failed, "error.detail"), R"({"balance":-3})");
  EXPECT_EQ(at(failed, "next_at"), "2026-03-02T11:00:00Z");
  EXPECT_EQ(at(failed, "failures"), "1");
}

TEST_F(WorkerProtocol, WhatIsReturnedDoesNotCount) {
  create("17");
  const std::string first = attempt();
  good(worker->post("/v1/fail", named(first, R"(,"code":"returned","message":"I am to stop")")));
  EXPECT_EQ(at(record("17"), "failures"), "(absent)");
  const std::string second = attempt();  // at once
  EXPECT_EQ(at(second, "attempt"), at(first, "attempt"));
  EXPECT_EQ(worker->post("/v1/done", named(first)).status, 409);
  EXPECT_EQ(at(good(worker->post("/v1/done", named(second))), "state"), "shipping");
}

TEST_F(WorkerProtocol, SeveralAreToldAtOnce) {
  for (const char* key : {"1", "2", "3", "4"}) create(key);
  const std::string given = claim(R"(,"max":3)");
  const auto all = [&](const std::string& more) {
    std::string list;
    for (const char* i : {"0", "1", "2"})
      list += (list.empty() ? "[" : ",") + named(at(given, i), more);
    return R"({"attempts":)" + list + "]";
  };
  const std::string beaten = good(worker->post("/v1/beat", all(R"(,"progress":7)") + "}"));
  EXPECT_EQ(at(beaten, "items.2.lease_until"), "2026-03-02T09:01:00Z");
  EXPECT_EQ(at(record("2"), "running.progress"), "7");
  good(worker->post("/v1/done", named(at(given, "1"))));
  const std::string failed = good(
      worker->post("/v1/fail", all(R"(,"code":"oops")") + R"(,"claim":{"queues":["payments"]}})"));
  EXPECT_EQ(at(failed, "items.0.status") + at(failed, "items.1.status"), "200409");
  EXPECT_EQ(at(failed, "items.2.answer"), "ok");
  EXPECT_EQ(at(failed, "attempts.0.key"), "4");
  EXPECT_EQ(at(record("1"), "error.code"), "oops");
  EXPECT_EQ(at(record("2"), "state"), "shipping");
}

TEST_F(WorkerProtocol, ASettleClaimsTheNextAndWaitsForIt) {
  create("1");
  worker->send("POST", "/v1/done",
               named(attempt(), R"(,"claim":{"queues":["payments"],"wait":"30s"})"));
  create("2");
  const std::string reply = good(worker->receive());
  EXPECT_EQ(at(reply, "items.0.state"), "shipping");
  EXPECT_EQ(at(reply, "attempts.0.key"), "2");
}

// Whoever did not hear the answer asks again, however much later: it is the answer of then.
TEST_F(WorkerProtocol, ASettleThatIsRepeatedGetsTheAnswerOfThen) {
  create("17");
  const std::string given = attempt();
  const std::string answered = good(worker->post("/v1/done", named(given)));
  good(admin->post("/v1/records/order/17/fire", R"({"event":"arrive"})"));
  for (int i = 0; i < 2; ++i) {
    const HttpAnswer again = worker->post("/v1/done", named(given));
    EXPECT_EQ(again.status, 200);
    EXPECT_EQ(at(again.body, "answer"), "duplicate");
    EXPECT_EQ(at(again.body, "state"), at(answered, "state"));
    EXPECT_EQ(at(again.body, "revision"), at(answered, "revision"));
  }
  EXPECT_EQ(worker->post("/v1/fail", named(given, R"(,"code":"c")")).status, 409);
  EXPECT_EQ(at(record("17"), "state"), "arrived");
}

TEST_F(WorkerProtocol, AStaleBeatSaysToStopAndWhy) {
  const auto stale = [&](const std::string& given) {
    const HttpAnswer answer = worker->post("/v1/beat", named(given));
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(at(answer.body, "answer"), "stale");
    EXPECT_EQ(at(answer.body, "cancel"), "true");
    // A worker is shown attempts, not records: a token that is none shows nothing.
    EXPECT_EQ(at(answer.body, "state") + at(answer.body, "revision"), "(absent)(absent)");
    return at(answer.body, "reason");
  };
  const std::string over = "this attempt is over, stop working: ";
  create("17");
  const std::string first = attempt();
  run_for(minutes{3});
  EXPECT_EQ(stale(first), over + "it timed out or lost its lease, or the record moved on");
  const std::string second = attempt();
  EXPECT_EQ(stale(first), over + "another attempt has started");
  good(admin->post("/v1/records/order/17/orders", R"({"order":"hold","text":"t","reason":"r"})"));
  run_for(minutes{3});  // what runs goes on; but its lease is lost
  EXPECT_EQ(stale(second), over + "the record is on hold");
  create("18");
  const std::string settled = attempt();
  good(worker->post("/v1/done", named(settled)));
  EXPECT_EQ(stale(settled), over + "it was settled");
  create("19");
  const std::string cancelled = attempt();
  good(admin->post("/v1/records/order/19/fire", R"({"event":"cancel"})"));
  EXPECT_EQ(stale(cancelled), over + "the record is final");
}

TEST_F(WorkerProtocol, AWorkerSeesItsAttemptsAlone) {
  create("17", R"({"amount":5})");
  attempt();
  for (const char* path : {"/v1/records", "/v1/records/order/17", "/v1/records/order/17/log",
                           "/v1/records/order/17/why", "/v1/records/order/17/events", "/v1/feed",
                           "/v1/feed/live", "/v1/counts", "/v1/errors", "/v1/machines",
                           "/v1/machines/order", "/v1/pauses", "/v1/tokens"}) {
    const HttpAnswer answer = worker->get(path);
    EXPECT_EQ(answer.status, 403) << path;
    EXPECT_EQ(at(answer.body, "error.id"), "role_missing") << path;
  }
  // Nor does it by a token that it has made up.
  for (const char* path : {"/v1/done", "/v1/fail", "/v1/beat"}) {
    const HttpAnswer answer = worker->post(
        path, R"({"machine":"order","key":"17","token":"x")" +
                  std::string(std::string_view(path) == "/v1/fail" ? R"(,"code":"c"})" : "}"));
    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(answer.body.find("paying"), std::string::npos) << answer.body;
  }
}

}  // namespace
}  // namespace pawl
