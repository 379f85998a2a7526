// `pawl pipe check` on brokers and a search engine in this process.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>

#include "base/json_text.h"
#include "cli/cli.h"
#include "pipe/local_search.h"
#include "pipe/mock_kafka.h"
#include "tests/support/temporary_directory.h"

namespace pawl::cli {
namespace {

using Words = std::vector<std::string>;

struct RanCheck {
  ExitCode code;
  std::string out;
  std::string err;
};

class PipeCheckTest : public testing::Test {
 protected:
  PipeCheckTest()
      : search([this](const LocalSearch::Request&) {
          return http_answer(status, status == 200 ? version : "{}");
        }) {
    kafka.create("events", 2);
    kafka.create("_errors", 1);
  }

  void put_some() {
    for (int i = 0; i < 6; ++i) kafka.put("events", i % 2, {.value = R"({"kind":"a","n":1})"});
    kafka.put("events", 0, {.value = R"({"kind":"b"})"});
    kafka.put("events", 0, {.value = "{"});
    kafka.put("events", 1, {.value = "[1]"});
    kafka.put("events", 1, {.value = std::nullopt});
  }

  std::string write(const std::string& transform = R"({index: "{data.kind}-events"})",
                    const std::string& more = "", const std::string& topics = "[events]") {
    const std::string path = directory.path() / "events.yaml";
    std::ofstream(path) << "pipe: events\nkafka: {brokers: \"" + kafka.brokers() +
                               "\", group: g, topics: " + topics + more +
                               "}\ntransform: " + transform + "\nelasticsearch: {url: \"" +
                               (url.empty() ? search.url() : url) + "\"}\n";
    return path;
  }

  static RanCheck check(Words arguments) {
    if (std::find(arguments.begin(), arguments.end(), "--timeout") == arguments.end())
      arguments.insert(arguments.end(), {"--timeout", "5s"});
    arguments.insert(arguments.begin(), {"pipe", "check"});
    std::ostringstream out;
    std::ostringstream err;
    const auto now = [] { return *parse_instant("2026-03-02T12:00:00Z"); };
    const ExitCode code = run(arguments, {out, err, now, false, false});
    return {code, out.str(), err.str()};
  }

  static void expect_says(const RanCheck& ran, const std::string& text) {
    EXPECT_NE(ran.out.find(text), std::string::npos) << text << "\nis not in\n"
                                                     << ran.out << ran.err;
  }

  const TemporaryDirectory directory;
  MockKafka kafka;
  std::atomic<int> status = 200;
  std::string version = R"({"version":{"distribution":"opensearch","number":"2.19.1"}})";
  std::string url;
  LocalSearch search;
};

TEST_F(PipeCheckTest, SaysThatAllIsWell) {
  for (int i = 0; i < 4; ++i) kafka.put("events", 0, {.value = R"({"kind":"a"})"});
  const RanCheck ran = check({write()});
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.out << ran.err;
  EXPECT_EQ(ran.err, "");
  expect_says(ran, ": pipe events, machine qanal, version 2\n");
  expect_says(ran, "ok: brokers: 1 broker: " + kafka.brokers() + "\n");
  expect_says(ran, "ok: topic events: 2 partitions, 4 messages\n");
  expect_says(
      ran,
      "ok: group g: 4 messages of `events` to read; 2 partitions without a committed offset: "
      "starting at the first message\n");
  expect_says(ran, "ok: errors _errors: it exists");
  expect_says(ran, "ok: search " + search.url() + ": OpenSearch 2.19.1\n");
  expect_says(ran,
              "ok: transform events: of the last 4 messages, 4 documents, 0 skipped, 0 failed\n");
  expect_says(ran,
              "PARTITION  FIRST  END  COMMITTED  LAG\n"
              "events/0   0      4    -          4\n"
              "events/1   0      0    -          0\n");
  expect_says(ran, "4         index a-events");
  expect_says(ran, "  partitions: 2, shared with the other members of the group\n");
  expect_says(ran, "events.yaml: ok\n");
}

TEST_F(PipeCheckTest, TriesTheLastMessagesAndSendsNothing) {
  put_some();
  const RanCheck ran = check({write(), "--messages", "8"});
  EXPECT_EQ(ran.code, ExitCode::ok) << "some messages fail in every topic" << ran.out;
  expect_says(
      ran, "warning: transform events: of the last 8 messages, 5 documents, 1 skipped, 2 failed\n");
  expect_says(ran, "4         index a-events");
  expect_says(ran, "1         index b-events");
  expect_says(ran, "1         nowhere (skipped)");
  expect_says(ran, "1         errors, 8 invalid_event   events/1/3: ");
  expect_says(ran, "1         errors, 7 invalid_format  events/0/4: ");
  for (const LocalSearch::Request& request : search.requests())
    EXPECT_TRUE(request.head.starts_with("GET / ")) << request.head;
  EXPECT_TRUE(kafka.all_of("_errors").empty());
  const RanCheck none = check({write(), "--messages", "0"});
  EXPECT_EQ(none.out.find("transform events"), std::string::npos) << none.out;
}

TEST_F(PipeCheckTest, SaysThatNoMessageWouldArrive) {
  put_some();
  const RanCheck ran = check({write("{index: x, require: [none], tombstone: error}")});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  expect_says(ran,
              "problem: transform events: of the last 10 messages, 0 documents, 0 skipped, 10");
  expect_says(ran, "events.yaml: 1 problem\n");
}

TEST_F(PipeCheckTest, CommitsNothing) {
  put_some();
  EXPECT_EQ(check({write()}).code, ExitCode::ok);
  expect_says(check({write()}), "2 partitions without a committed offset");
}

TEST_F(PipeCheckTest, KnowsWhereTheGroupIs) {
  put_some();
  auto conf = kafka::make_conf(kafka.config(), {{"group.id", "g"}});
  const auto member = *kafka::make_client(RD_KAFKA_CONSUMER, *std::move(conf));
  const kafka::Partitions offsets(rd_kafka_topic_partition_list_new(2));
  rd_kafka_topic_partition_list_add(offsets.get(), "events", 0)->offset = 3;
  rd_kafka_topic_partition_list_add(offsets.get(), "events", 1)->offset = 99;
  ASSERT_EQ(rd_kafka_commit(member.get(), offsets.get(), 0), RD_KAFKA_RESP_ERR_NO_ERROR);
  const RanCheck ran = check({write()});
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.out;
  expect_says(ran, "events/0   0      5    3          2\n");
  expect_says(ran, "events/1   0      5    99         0\n");
  expect_says(ran, "ok: group g: 2 messages of `events` to read\n");
  expect_says(ran, "warning: group g: the committed offsets of 1 partition of `events` are beyond");
}

TEST_F(PipeCheckTest, SaysWhatIsNotThere) {
  for (const char* topic : {"none", "_errors"})
    rd_kafka_mock_topic_set_error(kafka.cluster(), topic, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const RanCheck ran = check({write("{index: x}", "", "[events, none]")});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  expect_says(
      ran,
      "problem: topic none: there is no topic `none` on the brokers, or this user may not see it\n"
      "  create the topic, or correct its name");
  expect_says(ran, "problem: errors _errors: there is no topic `_errors`");
  expect_says(ran, "a message that fails blocks its partition\n");
  expect_says(ran, "ok: topic events: ");
  const RanCheck few = check(
      {write("{index: x}", ", assignment: fixed", "[{topic: events, partitions: [1, 7, 9]}]")});
  EXPECT_EQ(few.code, ExitCode::wrong);
  expect_says(few, "problem: topic events: it has 2 partitions, but no partition 7 or 9\n");
}

TEST_F(PipeCheckTest, NamesWhatKeepsItFromTheBrokers) {
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  const RanCheck away = check({write(), "--timeout", "1s"});
  EXPECT_EQ(away.code, ExitCode::wrong);
  expect_says(away, "problem: brokers: no broker in " + kafka.brokers() + " answers: ");
  expect_says(away, "\n  check that the brokers are running");
  expect_says(away, "ok: search ");  // the other end is looked at all the same
  expect_says(away, "  partitions: not known; assuming 16\n");
  const std::string path = directory.path() / "unknown.yaml";
  std::ofstream(path) << "pipe: events\nkafka: {brokers: \"no-such-host.invalid:9092\", group: g, "
                         "topics: [a]}\ntransform: {index: x}\nelasticsearch: {url: \"" +
                             search.url() + "\"}\n";
  const RanCheck unknown = check({path, "--timeout", "5s"});
  expect_says(unknown, "_RESOLVE");
  expect_says(unknown, "  a host in `kafka.brokers` does not resolve");
}

TEST_F(PipeCheckTest, NamesWhatKeepsItFromTheGroup) {
  rd_kafka_mock_push_request_errors(kafka.cluster(), 9 /*OffsetFetch*/, 1,
                                    RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
  const RanCheck ran = check({write(), "--timeout", "3s"});
  EXPECT_EQ(ran.code, ExitCode::wrong) << ran.out;
  expect_says(ran, "problem: group g: cannot get its committed offsets in `events`: ");
  expect_says(ran, "GROUP_AUTHORIZATION_FAILED");
  expect_says(ran, "  allow this user to read the group\n");
}

TEST_F(PipeCheckTest, LooksAtTheSearchEngine) {
  status = 401;
  const RanCheck locked = check({write()});
  EXPECT_EQ(locked.code, ExitCode::wrong);
  expect_says(locked,
              "it rejects the pipe's credentials\n  check `user` and `password`, or `api_key`\n");
  status = 403;
  EXPECT_EQ(check({write()}).code, ExitCode::ok);
  const ClosedPort nobody;
  url = nobody.url();
  const RanCheck gone = check({write()});
  EXPECT_EQ(gone.code, ExitCode::wrong);
  expect_says(gone, "problem: search " + url + ": it does not answer: ");
}

TEST_F(PipeCheckTest, FindsAllThatIsWrongWithAFileBeforeItAsksAnybody) {
  const std::string path = directory.path() / "wrong.yaml";
  std::ofstream(path) << "pipe: events\nkafka: {brokers: 7, topics: [a]}\ntransform: {}\n";
  const RanCheck ran = check({path, write()});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_NE(ran.err.find(path + ":2:"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find(path + ":3:"), std::string::npos) << ran.err;
  expect_says(ran, "wrong.yaml: not checked: the file has errors\n");
  expect_says(ran, "events.yaml: ok\n");  // the others are checked
  EXPECT_EQ(check({path + ".none"}).code, ExitCode::environment);
}

TEST_F(PipeCheckTest, FindsWhatIsWrongWithTheMachine) {
  const std::string path = write();
  std::ofstream(path, std::ios::app) << "machine: own.yaml\n";
  std::ofstream(directory.path() / "own.yaml") << "machine: own\ninitial: a\nstates: {a: {}}\n";
  const RanCheck ran = check({path});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_NE(ran.err.find("own.yaml:"), std::string::npos) << ran.err;
}

TEST_F(PipeCheckTest, SaysTheSameAsData) {
  put_some();
  const RanCheck ran = check({write(), "--json", "--messages", "8"});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_TRUE(check_json(ran.out)) << ran.out;
  expect_says(ran, R"({"ok":true,"files":[{"file":")");
  expect_says(
      ran,
      R"("pipe":"events","machine":"qanal, version 2","findings":[{"kind":"ok","about":"brokers")");
  expect_says(
      ran, R"("topics":[{"topic":"events","partitions":[{"partition":0,"low":0,"high":5,"lag":5})");
  expect_says(ran, R"("distribution":"OpenSearch","version":"2.19.1"}])");
  expect_says(
      ran,
      R"("messages":8,"documents":5,"skipped":1,"failed":[{"code":8,"error":"invalid_event","messages":1,"action":"errors","first":"events/1/3")");
  expect_says(
      ran, R"("indices":[{"index":"a-events","documents":4},{"index":"b-events","documents":1}])");
  expect_says(ran, R"("plan":{"partitions":2,"workers":)");
  std::ofstream(directory.path() / "wrong.yaml") << "pipe: events\n";
  const RanCheck wrong = check({directory.path() / "wrong.yaml", "--json"});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_TRUE(check_json(wrong.out)) << wrong.out;
  expect_says(wrong, R"("ok":false,"findings":[{"kind":"problem","about":")");
  expect_says(wrong, R"("line":1,)");
}

TEST_F(PipeCheckTest, SaysHowItIsUsed) {
  EXPECT_EQ(check({"--json"}).code, ExitCode::usage);
  EXPECT_EQ(check({write(), "--messages", "-1"}).code, ExitCode::usage);
  EXPECT_EQ(check({write(), "--timeout", "soon"}).code, ExitCode::usage);
  const RanCheck twice = check({write(), write()});
  EXPECT_EQ(twice.code, ExitCode::wrong);
  expect_says(twice, "problem: pipe: two pipes have the name events\n");
}

}  // namespace
}  // namespace pawl::cli
