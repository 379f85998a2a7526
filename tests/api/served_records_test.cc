// Records over sockets, as an application in any language has them: docs/reference/api.md.
#include "served.h"

namespace pawl {
namespace {

constexpr const char* kMachines = R"(machine: order
initial: waiting
data: {amount: {type: int, default: 0}}
events: {add: {with: {n: int}}}
tasks: {pack: {queue: packers}}
states:
  waiting: {on: {pay: packing, add: {set: {amount: "{data.amount + event.n}"}}}}
  packing: {task: pack, done: packed, on: {cancel: cancelled}}
  packed: {final: true}
  cancelled: {final: true}
)";

class ServedRecords : public Served {
 protected:
  ServedRecords() : Served(kMachines) {}

  std::string state_of(const std::string& path) {
    const HttpAnswer answer = admin->get("/v1/records/" + path);
    return answer.status == 200 ? at(answer.body, "state") : std::to_string(answer.status);
  }
};

TEST_F(ServedRecords, AMachineMayBeJson) {
  const std::string file =
      R"({"machine":"note","initial":"new","states":{"new":{"on":{"close":"closed"}},"closed":{"final":true}}})";
  const std::string body = R"({"files":[{"path":"note.json","text":)" + json_string(file) + "}]";
  const std::string tried = good(admin->post("/v1/machines", body + R"(,"dry_run":true})"));
  EXPECT_EQ(at(tried, "files.0.new"), "true") << tried;
  EXPECT_EQ(admin->get("/v1/machines/note").status, 404);
  good(admin->post("/v1/machines", body + "}"));
  EXPECT_EQ(at(good(admin->get("/v1/machines/note")), "text"), file);
  good(admin->post("/v1/records/note/1", "{}"));
  good(admin->post("/v1/records/note/1/fire", R"({"event":"close"})"));
  EXPECT_EQ(state_of("note/1"), "closed");
}

TEST_F(ServedRecords, AFireMayCreateItsRecord) {
  const std::string body =
      R"({"event":"add","payload":{"n":2},"create":{"data":{"amount":5}},"idempotency_key":")";
  good(admin->post("/v1/records/order/1/fire", body + R"(a"})"));
  EXPECT_EQ(at(good(admin->get("/v1/records/order/1")), "data.amount"), "7");
  good(admin->post("/v1/records/order/1/fire", body + R"(a"})"));  // carried out once
  EXPECT_EQ(at(good(admin->get("/v1/records/order/1")), "data.amount"), "7");
  good(admin->post("/v1/records/order/1/fire", body + R"(b"})"));  // it is there: fired only
  EXPECT_EQ(at(good(admin->get("/v1/records/order/1")), "data.amount"), "9");
  EXPECT_EQ(admin->post("/v1/records/order/2/fire", R"({"event":"pay"})").status, 404);
  good(admin->post("/v1/records/order/2/fire", R"({"event":"pay","create":{},"dry_run":true})"));
  EXPECT_EQ(state_of("order/2"), "404");
}

TEST_F(ServedRecords, WhatIsForLaterHappensThen) {
  good(admin->post("/v1/records/order/1", "{}"));
  good(admin->post("/v1/records/order/1/fire", R"({"event":"pay","in":"1h"})"));
  good(admin->post("/v1/records/order/2", R"({"at":"2026-03-02T11:00:00Z"})"));
  good(admin->post("/v1/clock/advance", R"({"by":"59m"})"));
  EXPECT_EQ(state_of("order/1") + " " + state_of("order/2"), "waiting 404");
  good(admin->post("/v1/clock/advance", R"({"by":"1m"})"));
  EXPECT_EQ(state_of("order/1") + " " + state_of("order/2"), "packing 404");
  good(admin->post("/v1/clock/advance", R"({"to":"2026-03-02T11:00:00Z"})"));
  EXPECT_EQ(state_of("order/2"), "waiting");
  const HttpAnswer both = admin->post("/v1/records/order/1/fire",
                                      R"({"event":"pay","in":"1h","at":"2026-03-02T12:00:00Z"})");
  EXPECT_EQ(both.status, 400) << both.body;
}

// Answered as the order would be, and nothing is done.
TEST_F(ServedRecords, EveryOrderHasADryRun) {
  good(admin->post("/v1/records/order/1", "{}"));
  good(admin->post("/v1/records/order/1/fire", R"({"event":"pay"})"));
  const std::string orders = "/v1/records/order/1/orders";
  const auto give = [&](const std::string& order, bool dry_run) {
    return admin->post(
        orders, "{" + order + R"(,"reason":"r","dry_run":)" + (dry_run ? "true}" : "false}"));
  };
  // In an order in which each of them has something to do.
  for (const char* order :
       {R"("order":"hold","text":"t")", R"("order":"patch","data":{"amount":3})",
        R"("order":"retry")", R"("order":"hold","text":"t")", R"("order":"release")",
        R"("order":"move","state":"cancelled")", R"("order":"erase")"}) {
    const std::string before = good(admin->get("/v1/records/order/1"));
    const HttpAnswer tried = give(order, true);
    EXPECT_EQ(tried.status, 200) << order << tried.body;
    EXPECT_EQ(good(admin->get("/v1/records/order/1")), before) << order;
    const HttpAnswer given = give(order, false);
    EXPECT_EQ(given.status, 200) << order << given.body;
    EXPECT_EQ(at(given.body, "state"), at(tried.body, "state")) << order;
    EXPECT_NE(good(admin->get("/v1/records/order/1")), before) << order;
  }
  // Without a later version there is nothing to migrate to, and both say so.
  const HttpAnswer tried = give(R"("order":"migrate")", true);
  EXPECT_EQ(tried.body, give(R"("order":"migrate")", false).body);
}

TEST_F(ServedRecords, TheLaterVersionIsMigratedToAfterADryRun) {
  good(admin->post("/v1/records/order/1", "{}"));
  std::string later(kMachines);
  later.replace(later.find("packed: {final: true}"), 6, "parcel");
  later.replace(later.find("done: packed"), 12, "done: parcel");
  const std::string body = R"({"files":[{"path":"order.yaml","text":)" + json_string(later) + "}]}";
  good(admin->post("/v1/machines", body));
  const auto version = [&] { return at(admin->get("/v1/records/order/1").body, "version"); };
  const std::string order = R"({"order":"migrate","reason":"r","dry_run":)";
  good(admin->post("/v1/records/order/1/orders", order + "true}"));
  EXPECT_EQ(version(), "1");
  good(admin->post("/v1/records/order/1/orders", order + "false}"));
  EXPECT_EQ(version(), "2");
}

TEST_F(ServedRecords, ABatchHasOneAnswerEach) {
  const std::string reply = good(admin->post("/v1/batch", R"({"calls":[
    {"call":"create","machine":"order","key":"1"},
    {"call":"fire","machine":"order","key":"1","event":"pay"},
    {"call":"fire","machine":"order","key":"1","event":"pay"},
    {"call":"fire","machine":"order","key":"none","event":"pay"},
    {"call":"order","machine":"order","key":"1","order":"hold","text":"t","reason":"r","dry_run":true}]})"));
  const std::vector<std::string> statuses{"200", "200", "409", "404", "200"};
  for (std::size_t i = 0; i < statuses.size(); ++i)
    EXPECT_EQ(at(reply, "items." + std::to_string(i) + ".status"), statuses[i]) << reply;
  EXPECT_EQ(at(reply, "items.1.state"), "packing");
  EXPECT_EQ(state_of("order/1"), "packing");
}

}  // namespace
}  // namespace pawl
