// The routes of pipes, with a board on which nothing moves by itself.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "api/access.h"
#include "api/api.h"
#include "pipe/pipe_board.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using std::chrono::seconds;

const Instant kPipesStart = *parse_instant("2026-03-02T09:00:00Z");

PartitionView busy_partition() {
  PartitionView view{.id = {"events", 3},
                     .epoch = 2,
                     .state = "retrying",
                     .of = "load",
                     .since = kPipesStart,
                     .code = std::string(pipe_code::kEsUnavailable),
                     .error = "connection refused",
                     .attempt = 1,
                     .failures = 4,
                     .next_at = kPipesStart + seconds{2},
                     .committed = 100,
                     .watermark = 110,
                     .next = 125,
                     .high = 500,
                     .batches = 2,
                     .on_its_way = 15,
                     .bytes = 4'096,
                     .consumed = 30,
                     .outcomes = {.indexed = 10, .duplicate = 2, .errors = 2, .skipped = 1},
                     .retried = 7,
                     .resets = 1,
                     .gaps = 5};
  view.counted = view.outcomes;
  view.in_per_second = 12.34;
  view.out_per_second = 10;
  return view;
}

class FakeBoard final : public PipeBoard {
 public:
  std::vector<PipeView> views() const override { return pipes; }
  Result<void> give(const PipeOrder& order) override {
    orders.push_back(order);
    if (!refusal.empty()) return Error{ErrorCode::bad_input, refusal};
    pipes[0].partitions[1].is_paused = order.kind == PipeOrder::Kind::pause;
    return {};
  }

  std::vector<PipeView> pipes = {
      {.name = "clicks",
       .partitions = {{.id = {"events", 0}, .state = "extract", .since = kPipesStart},
                      busy_partition()},
       .nodes = {{.url = "http://es:9200", .is_down = true, .error = "refused", .failures = 3}},
       .window = 4,
       .bulks = 2,
       .rebalances = 1,
       .commits = 8}};
  std::vector<PipeOrder> orders;
  std::string refusal;
};

class PipeRoutes : public testing::Test {
 protected:
  ApiReply call(const std::string& method, const std::string& path, const std::string& body = {}) {
    return api.handle({.method = method, .path = path, .body = body, .caller = caller});
  }
  ApiReply steer(const std::string& order, const std::string& body) {
    return call("POST", "/v1/pipes/clicks/events/3/" + order, body);
  }
  static std::string id_of(const ApiReply& reply) {
    const std::size_t begin = reply.body.find(R"("id":")") + 6;
    return reply.body.substr(begin, reply.body.find('"', begin) - begin);
  }

  std::unique_ptr<Engine> engine = *Engine::open({.virtual_clock = kPipesStart});
  std::unique_ptr<Access> access = *Access::open(*engine);
  FakeBoard board;
  Api api{*engine, *access, {}, &board};
  Caller caller{.roles = kOperator, .actor = {.name = "olga", .roles = {"operator"}}};
};

TEST_F(PipeRoutes, APartitionIsShownWithAllThereIsToKnow) {
  caller.roles = kViewer;
  const std::string partition =
      R"({"topic":"events","partition":3,"epoch":2,"state":"retrying","of":"load",)"
      R"("since":"2026-03-02T09:00:00Z","code":10,"error":"es_unavailable",)"
      R"("reason":"connection refused","attempt":1,"failures":4,)"
      R"("next_at":"2026-03-02T09:00:02Z","paused":false,"draining":false,"stalled":false,)"
      R"("alarm":false,)"
      R"("offset":{"committed":100,"watermark":110,"next":125,"high":500,"lag":390},)"
      R"("in_flight":{"batches":2,"items":15,"bytes":4096},"rate":{"in":12.3,"out":10},)"
      R"("counts":{"consumed":30,"indexed":10,"duplicate":2,"errors":2,"skipped":1,)"
      R"("retried_items":7,"resets":1,"gaps":5},"unaccounted":0})";
  const ApiReply one = call("GET", "/v1/pipes/clicks/events/3");
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(one.body, partition);
  const std::string idle = call("GET", "/v1/pipes/clicks/events/0").body;
  EXPECT_NE(idle.find(R"("offset":{},)"), std::string::npos) << idle;  // not known yet
  const std::string pipe = R"({"name":"clicks","partitions":[)" + idle + "," + partition +
                           R"(],"window":4,"bulks":2,"nodes":[{"url":"http://es:9200","down":true,)"
                           R"("error":"refused","bulks":0,"failures":3}],"rebalances":1,)"
                           R"("commits":8,"commit_failures":0,"late_answers":0})";
  EXPECT_EQ(call("GET", "/v1/pipes/clicks").body, pipe);
  EXPECT_EQ(call("GET", "/v1/pipes").body, R"({"items":[)" + pipe + "]}");
}

TEST_F(PipeRoutes, WhoPausedAndWhatNeedsAPersonIsSeen) {
  board.pipes[0].partitions[1].is_paused = true;
  board.pipes[0].partitions[1].pause = {"olga", "a new mapping", kPipesStart};
  board.pipes[0].partitions[1].is_alarm = true;
  const std::string body = call("GET", "/v1/pipes/clicks/events/3").body;
  EXPECT_NE(body.find(R"("paused":true,"pause":{"by":"olga","reason":"a new mapping",)"
                      R"("since":"2026-03-02T09:00:00Z"},)"),
            std::string::npos)
      << body;
  EXPECT_NE(body.find(R"("alarm":true,)"), std::string::npos) << body;
}

TEST_F(PipeRoutes, WhatTheBooksDoNotExplainIsSeen) {
  board.pipes[0].partitions[1].consumed += 3;
  const std::string body = call("GET", "/v1/pipes/clicks/events/3").body;
  EXPECT_NE(body.find(R"("unaccounted":3})"), std::string::npos) << body;
}

TEST_F(PipeRoutes, WhatIsNotThereIsSaid) {
  for (const char* path : {"/v1/pipes/other", "/v1/pipes/other/events/3"})
    EXPECT_EQ(id_of(call("GET", path)), "no_such_pipe") << path;
  for (const char* path : {"/v1/pipes/clicks/events/1", "/v1/pipes/clicks/events/03",
                           "/v1/pipes/clicks/events/x", "/v1/pipes/clicks/other/3"}) {
    const ApiReply reply = call("GET", path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_EQ(id_of(reply), "no_such_partition") << path;
  }
  EXPECT_EQ(id_of(call("POST", "/v1/pipes/other/events/3/pause", R"({"reason":"r"})")),
            "no_such_pipe");
  EXPECT_TRUE(board.orders.empty());
  Api without(*engine, *access);
  EXPECT_EQ(without.handle({.path = "/v1/pipes", .caller = caller}).body, R"({"items":[]})");
  EXPECT_EQ(id_of(without.handle({.path = "/v1/pipes/clicks", .caller = caller})), "no_such_pipe");
}

TEST_F(PipeRoutes, AnOrderNamesWhoGaveItAndWhy) {
  const ApiReply paused = steer("pause", R"({"reason":"mapping is being repaired"})");
  EXPECT_EQ(paused.status, 200) << paused.body;
  EXPECT_NE(paused.body.find(R"("paused":true)"), std::string::npos) << paused.body;
  EXPECT_EQ(steer("resume", R"({"reason":"repaired"})").status, 200);
  EXPECT_EQ(steer("skip", R"({"offset":112,"reason":"breaks the node"})").status, 200);
  ASSERT_EQ(board.orders.size(), 3U);
  EXPECT_EQ(board.orders[0].kind, PipeOrder::Kind::pause);
  EXPECT_EQ(board.orders[0].reason, "mapping is being repaired");
  EXPECT_EQ(board.orders[1].kind, PipeOrder::Kind::resume);
  const PipeOrder& skip = board.orders[2];
  EXPECT_EQ(skip.kind, PipeOrder::Kind::skip);
  EXPECT_EQ(skip.pipe, "clicks");
  EXPECT_EQ(skip.partition, (kafka::PartitionId{"events", 3}));
  EXPECT_EQ(skip.offset, 112);
  EXPECT_EQ(skip.actor.name, "olga");
  EXPECT_EQ(skip.reason, "breaks the node");
}

TEST_F(PipeRoutes, WhoeverActsForAnotherNamesBoth) {
  caller.act_as = true;
  EXPECT_EQ(steer("pause", R"({"reason":"r","actor":{"name":"ann"}})").status, 200);
  ASSERT_EQ(board.orders.size(), 1U);
  EXPECT_EQ(board.orders[0].actor.name, "ann via olga");
}

TEST_F(PipeRoutes, AnOrderNeedsAReasonAndASkipAnOffset) {
  for (const char* order : {"pause", "resume"})
    for (const char* body : {"", "{}", R"({"reason":""})", R"({"reason":"r","offset":1})"})
      EXPECT_EQ(steer(order, body).status, 400) << order << body;
  for (const char* body : {R"({"reason":"r"})", R"({"offset":1})", R"({"offset":"1","reason":"r"})",
                           R"({"offset":1.5,"reason":"r"})"})
    EXPECT_EQ(steer("skip", body).status, 400) << body;
  EXPECT_TRUE(board.orders.empty());
}

TEST_F(PipeRoutes, AnOrderThatCannotBeCarriedOutSaysWhy) {
  board.refusal = "no message with offset 9 waits to be loaded";
  const ApiReply reply = steer("skip", R"({"offset":9,"reason":"r"})");
  EXPECT_EQ(reply.status, 400);
  EXPECT_NE(reply.body.find(board.refusal), std::string::npos) << reply.body;
}

TEST_F(PipeRoutes, MetricsHaveTheBooksOfEveryPartition) {
  board.pipes[0].bulk_times.add(0.02);
  board.pipes[0].bulk_times.add(60);
  board.pipes[0].commit_times.add(0.3);
  board.pipes[0].partitions[1].state_seconds = {{"load", 1.5}};
  board.pipes[0].items_by_status = {{0, 3}, {200, 12}};
  board.pipes[0].partitions[1].is_alarm = true;
  const std::string text = call("GET", "/metrics").body;
  const std::string labels = R"({pipe="clicks",topic="events",partition="3")";
  for (const std::string& line :
       {"pawl_pipe_messages_total" + labels + R"(,outcome="indexed"} 10)",
        "pawl_pipe_messages_total" + labels + R"(,outcome="duplicate"} 2)",
        "pawl_pipe_messages_total" + labels + R"(,outcome="errors"} 2)",
        "pawl_pipe_messages_total" + labels + R"(,outcome="skipped"} 1)",
        "pawl_pipe_gap_messages_total" + labels + "} 5",
        "pawl_pipe_in_flight" + labels + "} 15",
        "pawl_pipe_lag" + labels + "} 390",
        "pawl_pipe_watermark" + labels + "} 110",
        "pawl_pipe_state" + labels + R"(,state="retrying"} 1)",
        "pawl_pipe_state" + labels + R"(,state="load"} 0)",
        "pawl_pipe_state_seconds_total" + labels + R"(,state="load"} 1.5)",
        "pawl_pipe_books" + labels + R"(,of="consumed"} 30)",
        "pawl_pipe_books" + labels + R"(,of="in_flight"} 15)",
        "pawl_pipe_alarm" + labels + R"(,code="es_unavailable"} 1)",
        "pawl_pipe_stalled" + labels + "} 0",
        "pawl_pipe_unaccounted" + labels + "} 0",
        std::string("# TYPE pawl_pipe_bulk_seconds histogram"),
        std::string(R"(pawl_pipe_bulk_seconds_bucket{pipe="clicks",le="0.01"} 0)"),
        std::string(R"(pawl_pipe_bulk_seconds_bucket{pipe="clicks",le="0.025"} 1)"),
        std::string(R"(pawl_pipe_bulk_seconds_bucket{pipe="clicks",le="+Inf"} 2)"),
        std::string(R"(pawl_pipe_bulk_seconds_count{pipe="clicks"} 2)"),
        std::string(R"(pawl_pipe_bulk_items_total{pipe="clicks",status="0"} 3)"),
        std::string(R"(pawl_pipe_bulk_items_total{pipe="clicks",status="200"} 12)"),
        std::string(R"(pawl_pipe_window{pipe="clicks"} 4)"),
        std::string(R"(pawl_pipe_rebalances_total{pipe="clicks"} 1)"),
        std::string(R"(pawl_pipe_commits_total{pipe="clicks",outcome="done"} 8)"),
        std::string(R"(pawl_pipe_commits_total{pipe="clicks",outcome="failed"} 0)"),
        std::string(R"(pawl_pipe_commit_seconds_bucket{pipe="clicks",le="0.5"} 1)")})
    EXPECT_NE(text.find("\n" + line + "\n"), std::string::npos) << line;
  // What is not known is no number.
  EXPECT_EQ(text.find(R"(pawl_pipe_lag{pipe="clicks",topic="events",partition="0"})"),
            std::string::npos);
  Api without(*engine, *access);
  EXPECT_EQ(without.handle({.path = "/metrics", .caller = caller}).body.find("pawl_pipe"),
            std::string::npos);
}

// Every metric is on the page, with the labels it has.
TEST_F(PipeRoutes, MetricsAreInTheReference) {
  std::ifstream file(PAWL_SOURCE_DIR "/docs/reference/server.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::istringstream text(call("GET", "/metrics").body);
  for (std::string line; std::getline(text, line);)
    if (line.starts_with("# TYPE pawl_pipe")) {
      const std::string name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name;
    }
}

// Roles are held against the table by api_test; pipes are of no machine.
TEST_F(PipeRoutes, ATokenForSomeMachinesSeesAndSteersNoPipe) {
  caller.machines = {"order"};
  for (const char* path : {"/v1/pipes", "/v1/pipes/clicks", "/v1/pipes/clicks/events/3"})
    EXPECT_EQ(id_of(call("GET", path)), "outside_scope") << path;
  EXPECT_EQ(id_of(steer("pause", R"({"reason":"r"})")), "outside_scope");
  caller.machines.reset();
  caller.queues = {"payments"};
  EXPECT_EQ(id_of(call("GET", "/v1/pipes")), "outside_scope");
  EXPECT_TRUE(board.orders.empty());
}

}  // namespace
}  // namespace pawl
