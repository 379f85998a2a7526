// The API on an engine whose store does what a good one does not.
#include <gtest/gtest.h>

#include <thread>

#include "api/access.h"
#include "api/api.h"
#include "engine/wrapped_engine.h"
#include "tests/api/at.h"
#include "tests/support/forgetful_store.h"
#include "tests/support/full_disk.h"

namespace pawl {
namespace {

constexpr const char* kJob = R"(machine: job
initial: working
tasks: {work: {queue: jobs}}
states: {working: {task: work, done: over, on: {look: working}}, over: {final: true}}
)";

class FailingStore : public testing::Test {
 protected:
  void open(const WrappedEngine::Wrap& wrap) {
    api.reset();
    access.reset();
    engine = *WrappedEngine::open({.virtual_clock = parse_instant("2026-03-02T09:00:00Z").value()},
                                  wrap);
    access = *Access::open(*engine);
    api = std::make_unique<Api>(*engine, *access);
    const std::vector<MachineText> files{{"job.yaml", kJob}};
    ASSERT_TRUE(engine->apply(files)->is_good());
  }
  void open_full_disk() {
    open([&](std::unique_ptr<Store> store) {
      kept = std::move(store);
      auto made = std::make_unique<FullDisk>(*kept);
      disk = made.get();
      return made;
    });
  }

  ApiReply post(const std::string& path, const std::string& body) {
    return api->handle({.method = "POST", .path = path, .body = body, .caller = {.roles = kAdmin}});
  }
  ApiReply get(const std::string& path) {
    return api->handle({.path = path, .caller = {.roles = kAdmin}});
  }

  std::unique_ptr<Store> kept;  // outlives what stands before it
  FullDisk* disk = nullptr;     // the engine's
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Access> access;
  std::unique_ptr<Api> api;
};

TEST_F(FailingStore, ItIsNotReadyWhileCommitsFail) {
  open_full_disk();
  EXPECT_EQ(get("/readyz").status, 200);
  disk->is_full = true;
  EXPECT_EQ(post("/v1/records/job/1", "{}").status, 503);
  while (engine->can_commit()) std::this_thread::yield();  // who asked is told first
  const ApiReply reply = get("/readyz");
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(at(reply.body, "error.id"), "not_ready");
  EXPECT_EQ(at(reply.body, "error.message"),
            "the last commit failed: check whether the disk is full");
  EXPECT_EQ(reply.retry_after, std::chrono::seconds{1});
  EXPECT_EQ(get("/healthz").status, 200);
  disk->is_full = false;
  EXPECT_EQ(post("/v1/records/job/1", "{}").status, 200);
  while (!engine->can_commit()) std::this_thread::yield();
  EXPECT_EQ(get("/readyz").status, 200);
}

TEST_F(FailingStore, ASettleSaysThatItsClaimFailed) {
  open_full_disk();
  for (const char* key : {"1", "2"}) post("/v1/records/job/" + std::string(key), "{}");
  const std::string given = post("/v1/claim", R"({"queues":["jobs"]})").body;
  ASSERT_EQ(at(given, "attempts.0.key"), "1");
  // A claim that is to be given attempts waits until there is room again; one that looks does not.
  const std::string done = R"({"machine":"job","key":"1","token":")" +
                           at(given, "attempts.0.token") +
                           R"(","claim":{"queues":["jobs"],"dry_run":true}})";
  disk->is_full = true;
  const ApiReply failed = post("/v1/done", done);
  EXPECT_EQ(failed.status, 200);
  EXPECT_EQ(at(failed.body, "items.0.status"), "503");
  EXPECT_EQ(at(failed.body, "attempts"), "[]");
  EXPECT_EQ(at(failed.body, "claim_error.id"), "not_now") << failed.body;
  EXPECT_EQ(at(failed.body, "claim_error.message"), at(failed.body, "items.0.error.message"));
  EXPECT_EQ(at(failed.body, "claim_error.hint"), "try again later");
  disk->is_full = false;
  const ApiReply settled = post("/v1/done", done);
  EXPECT_EQ(at(settled.body, "items.0.status"), "200");
  EXPECT_EQ(at(settled.body, "attempts.0.key"), "2");
  EXPECT_EQ(at(settled.body, "claim_error"), "(absent)");
}

TEST_F(FailingStore, WhatIsCarriedOutTwiceIsInTheMetrics) {
  for (const bool forgets : {false, true}) {
    open([&](std::unique_ptr<Store> store) -> std::unique_ptr<Store> {
      if (!forgets) return store;
      return std::make_unique<ForgetfulStore>(std::move(store));
    });
    post("/v1/records/job/1", "{}");
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(post("/v1/records/job/1/fire", R"({"event":"look","idempotency_key":"k"})").status,
                200);
    const std::string text = get("/metrics").body;
    const std::string line =
        "\npawl_double_applied_total " + std::string(forgets ? "1" : "0") + "\n";
    EXPECT_NE(text.find(line), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace pawl
