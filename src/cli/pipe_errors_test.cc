// The verbs on a pipe's errors, on brokers in this process.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "cli/cli.h"
#include "pipe/error_record.h"
#include "pipe/mock_kafka.h"
#include "pipe/pipe_codes.h"
#include "tests/support/temporary_directory.h"

namespace pawl::cli {
namespace {

using Words = std::vector<std::string>;

struct RanErrors {
  ExitCode code;
  std::string out;
  std::string err;
};

class PipeErrorsTest : public testing::Test {
 protected:
  PipeErrorsTest() {
    kafka.create("_errors", 3);
    kafka.create("events", 4);
  }

  // `pawl pipe errors …`
  RanErrors errors(Words arguments, bool screen = false) {
    arguments.insert(arguments.begin(), {"pipe", "errors"});
    arguments.insert(arguments.begin() + 3, {"--brokers", kafka.brokers()});
    return pawl(arguments, screen);
  }
  static RanErrors pawl(const Words& arguments, bool screen = false) {
    std::ostringstream out;
    std::ostringstream err;
    const auto now = [] { return *parse_instant("2026-03-02T12:00:00Z"); };
    const ExitCode code = run(arguments, {out, err, now, false, screen});
    return {code, out.str(), err.str()};
  }

  void put(const ErrorRecord& record, const ErrorsConfig& config = {}) {
    kafka.put("_errors", record.partition % 3, write_error(record, config));
  }

  // Three of one kind, one of them twice, one of another, and one whose payload is not there.
  void put_some() {
    for (int i = 0; i < 3; ++i) put(refused(i));
    put(refused(1), {.format = ErrorsConfig::Format::json});
    ErrorRecord busy = refused(7);
    busy.code = pipe_code::kBulkItemBlocked;
    busy.index = "events-b";
    busy.es_type = "cluster_block_exception";
    busy.reason = "index is read-only";
    busy.retryable = true;
    busy.partition = 2;
    busy.at = *parse_instant("2026-03-02T11:30:00Z");
    put(busy);
    ErrorRecord large = refused(9);
    large.code = pipe_code::kMessageTooBig;
    large.reason = "too large";
    large.payload_omitted = true;
    large.payload_bytes = 5'000'000;
    put(large);
  }

  static ErrorRecord refused(int offset) {
    return {.pipe = "events",
            .code = std::string(pipe_code::kBulkItem),
            .reason = "failed to parse field [age]",
            .state = "load",
            .topic = "events",
            .partition = 1,
            .offset = offset,
            .timestamp_ms = 1'772'445'600'000,
            .index = "events-a",
            .id = "events-1-" + std::to_string(offset),
            .es_status = 400,
            .es_type = "mapper_parsing_exception",
            .at = *parse_instant("2026-03-01T10:00:0" + std::to_string(offset) + "Z"),
            .original = {.key = "k" + std::to_string(offset),
                         .value = R"({"age":"x"})",
                         .headers = {{"trace", "t"}, {"pawl.replayed", "events/1/old"}}}};
  }

  MockKafka kafka;
};

TEST_F(PipeErrorsTest, ListHasTheLatestRecordOfEachMessageByTime) {
  put_some();
  const RanErrors ran = errors({"list"});
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(
      ran.out,
      "AT                   CODE                  SOURCE      INDEX     REASON\n"
      "2026-03-01 10:00:00  12 bulk_item          events/1/0  events-a  failed to parse field [age]\n"
      "2026-03-01 10:00:01  12 bulk_item          events/1/1  events-a  failed to parse field [age]\n"
      "2026-03-01 10:00:02  12 bulk_item          events/1/2  events-a  failed to parse field [age]\n"
      "2026-03-01 10:00:09  4 message_too_big     events/1/9  events-a  too large\n"
      "2026-03-02 11:30:00  12 bulk_item_blocked  events/2/7  events-b  index is read-only\n");
  EXPECT_EQ(ran.err, "");
}

TEST_F(PipeErrorsTest, ListHasThoseThatAreAskedFor) {
  put_some();
  const auto sources = [&](const Words& words) {
    Words all{"list", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    const RanErrors ran = errors(all);
    EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
    std::string found;
    for (std::size_t at = ran.out.find(R"("key":")"); at != std::string::npos;
         at = ran.out.find(R"("key":")", at + 1))
      found += ran.out.substr(at + 7, ran.out.find('"', at + 7) - at - 7) + " ";
    return found;
  };
  EXPECT_EQ(sources({"--code", "12"}), "events/1/0 events/1/1 events/1/2 events/2/7 ");
  EXPECT_EQ(sources({"--code", "bulk_item_blocked"}), "events/2/7 ");
  EXPECT_EQ(sources({"--since", "1h"}), "events/2/7 ");
  EXPECT_EQ(sources({"--since", "2026-03-01T10:00:02Z"}), "events/1/2 events/1/9 events/2/7 ");
  EXPECT_EQ(sources({"--source", "events/1"}), "events/1/0 events/1/1 events/1/2 events/1/9 ");
  EXPECT_EQ(sources({"--source", "other"}), "");
  EXPECT_EQ(sources({"--limit", "2"}), "events/1/9 events/2/7 ");
  EXPECT_EQ(errors({"list", "--limit", "1"}).out.substr(0, 2), "AT");
  EXPECT_NE(errors({"list", "--limit", "1"}).out.find("there are 4 earlier ones"),
            std::string::npos);
}

TEST_F(PipeErrorsTest, ListLeavesOutWhatIsNoRecordAndSaysSo) {
  kafka.put("_errors", 0, {.key = "a", .value = "hello"});
  const RanErrors ran = errors({"list"});
  EXPECT_EQ(ran.code, ExitCode::ok);
  EXPECT_EQ(ran.out, "no errors\n");
  EXPECT_EQ(ran.err,
            "pawl: 1 message of `_errors` skipped; the first: this is not an error record: "
            "it has no `pawl.*` headers, and its value is not a JSON object\n");
}

TEST_F(PipeErrorsTest, ShowHasAllOfOneAndItsPayload) {
  put_some();
  const RanErrors ran = errors({"show", "events/1/1"});
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(ran.out,
            "key                   events/1/1\n"
            "at                    2026-03-01T10:00:01Z\n"
            "code                  12 bulk_item\n"
            "reason                failed to parse field [age]\n"
            "pipe                  events\n"
            "state                 load\n"
            "sent                  2026-03-02T10:00:00Z\n"
            "index                 events-a\n"
            "id                    events-1-1\n"
            "status                400\n"
            "type                  mapper_parsing_exception\n"
            "attempts              1\n"
            "retryable             no\n"
            "message key           'k1'\n"
            "header trace          t\n"
            "header pawl.replayed  events/1/old\n"
            "payload               11 bytes\n"
            "\n"
            "{\"age\":\"x\"}\n");
  EXPECT_NE(errors({"show", "events/1/9"}).out.find("5000000 bytes, not stored here"),
            std::string::npos);
  const RanErrors json = errors({"show", "--json", "events/1/1"});
  EXPECT_NE(json.out.find(R"("payload":"{\"age\":\"x\"}")"), std::string::npos) << json.out;
}

TEST_F(PipeErrorsTest, ShowDoesNotLetAPayloadSteerTheTerminal) {
  ErrorRecord record = refused(1);
  record.original.value = "a\x1b[2J\nb";
  put(record);
  EXPECT_NE(errors({"show", "events/1/1"}, true).out.find("a\\x1b[2J\nb\n"), std::string::npos);
  EXPECT_NE(errors({"show", "events/1/1"}).out.find("a\x1b[2J\nb\n"), std::string::npos);
}

TEST_F(PipeErrorsTest, ShowSaysThatThereIsNoSuchKey) {
  const RanErrors ran = errors({"show", "events/1/77"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_NE(ran.err.find("`events/1/77`"), std::string::npos) << ran.err;
}

TEST_F(PipeErrorsTest, CountIsByAspects) {
  put_some();
  EXPECT_EQ(errors({"count"}).out,
            "RECORDS  CODE\n"
            "3        12 bulk_item\n"
            "1        12 bulk_item_blocked\n"
            "1        4 message_too_big\n");
  EXPECT_EQ(errors({"count", "--by", "index,day"}).out,
            "RECORDS  INDEX     DAY\n"
            "4        events-a  2026-03-01\n"
            "1        events-b  2026-03-02\n");
  EXPECT_EQ(
      errors({"count", "--by", "partition", "--json"}).out,
      R"({"groups":[{"records":4,"partition":"events/1"},{"records":1,"partition":"events/2"}]})"
      "\n");
  EXPECT_EQ(errors({"count", "--by", "type", "--code", "12"}).out,
            "RECORDS  TYPE\n"
            "3        mapper_parsing_exception\n"
            "1        cluster_block_exception\n");
}

TEST_F(PipeErrorsTest, ReplayPutsMessagesBackAsTheyWere) {
  put_some();
  const RanErrors ran = errors({"replay"});
  EXPECT_EQ(ran.code, ExitCode::wrong);
  EXPECT_EQ(ran.out, "4 messages replayed, 1 left out (no payload)\n");
  EXPECT_EQ(ran.err, "pawl: events/1/9 cannot be replayed: its record has no payload\n");
  std::map<std::string, int> found;
  for (const auto& [partition, offset, message] : kafka.all_of("events")) {
    ASSERT_EQ(message.headers.size(), 2U);
    EXPECT_EQ(message.headers[0].first, "trace");
    EXPECT_EQ(message.headers[1].first, "pawl.replayed");
    EXPECT_EQ(message.value, R"({"age":"x"})");
    ++found[*message.headers[1].second + " " + *message.key + " in " + std::to_string(partition)];
  }
  EXPECT_EQ(found, (std::map<std::string, int>{{"events/1/0 k0 in 1", 1},
                                               {"events/1/1 k1 in 1", 1},
                                               {"events/1/2 k2 in 1", 1},
                                               {"events/2/7 k7 in 2", 1}}));
}

TEST_F(PipeErrorsTest, ReplaySendsThoseThatAreAskedForWhereItIsTold) {
  put_some();
  kafka.create("again", 1);
  const RanErrors dry = errors({"replay", "--code", "12", "--dry-run"});
  EXPECT_EQ(dry.out, "dry run: 4 messages would be replayed\n");
  EXPECT_TRUE(kafka.all_of("events").empty());
  const RanErrors ran = errors({"replay", "--only-retryable", "--to", "again", "--json"});
  EXPECT_EQ(ran.code, ExitCode::ok) << ran.err;
  EXPECT_EQ(ran.out, R"({"replayed":1,"without_payload":0,"failed":0})"
                     "\n");
  EXPECT_TRUE(kafka.all_of("events").empty());
  ASSERT_EQ(kafka.all_of("again").size(), 1U);
}

TEST_F(PipeErrorsTest, ReplaySaysWhatFailed) {
  put(refused(1));
  rd_kafka_mock_push_request_errors(kafka.cluster(), 0 /*Produce*/, 1,
                                    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  const RanErrors ran = errors({"replay"});
  EXPECT_EQ(ran.code, ExitCode::environment);
  EXPECT_EQ(ran.out, "0 messages replayed, 1 failed\n");
  EXPECT_NE(ran.err.find("pawl: events/1/1 was not replayed: TOPIC_AUTHORIZATION_FAILED"),
            std::string::npos)
      << ran.err;
}

TEST_F(PipeErrorsTest, ReplaySendsNothingWhereATopicIsNotThere) {
  put(refused(1));
  rd_kafka_mock_topic_set_error(kafka.cluster(), "none", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const RanErrors ran = errors({"replay", "--to", "none"});
  EXPECT_EQ(ran.code, ExitCode::environment);
  EXPECT_EQ(ran.out, "0 messages replayed\n");
  EXPECT_NE(ran.err.find("there is no topic `none`"), std::string::npos) << ran.err;
}

TEST_F(PipeErrorsTest, FindBrokersAndTopicInTheFileOfThePipe) {
  kafka.create("failed", 1);
  kafka.put("failed", 0, write_error(refused(1), {}));
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "events.yaml";
  std::ofstream(path) << "pipe: events\n"
                         "kafka: {brokers: \"" +
                             kafka.brokers() +
                             "\", group: g, topics: [events]}\n"
                             "transform: {index: events}\n"
                             "elasticsearch: {urls: [\"http://localhost:9200\"]}\n"
                             "errors: {topic: failed}\n";
  EXPECT_EQ(pawl({"pipe", "errors", "count", path}).out, "RECORDS  CODE\n1        12 bulk_item\n");
  EXPECT_EQ(pawl({"pipe", "errors", "show", path, "events/1/1"}).out.substr(0, 4), "key ");
  std::ofstream(path) << "pipe: events\nkafka: {brokers: 7}\n";
  const RanErrors wrong = pawl({"pipe", "errors", "list", path});
  EXPECT_EQ(wrong.code, ExitCode::wrong);
  EXPECT_NE(wrong.err.find(path + ":2:"), std::string::npos) << wrong.err;
  EXPECT_EQ(pawl({"pipe", "errors", "list", path + ".none"}).code, ExitCode::environment);
}

TEST_F(PipeErrorsTest, SayHowTheyAreUsed) {
  EXPECT_EQ(errors({"list", "--code", "99"}).code, ExitCode::usage);
  EXPECT_EQ(errors({"list", "--code", "nonsense"}).code, ExitCode::usage);
  EXPECT_EQ(errors({"list", "--since", "yesterday"}).code, ExitCode::usage);
  EXPECT_EQ(errors({"list", "--source", "a/b"}).code, ExitCode::usage);
  EXPECT_EQ(errors({"list", "--timeout", "soon"}).code, ExitCode::usage);
  EXPECT_EQ(errors({"count", "--by", "colour"}).code, ExitCode::usage);
  const RanErrors both = errors({"list", "pipe.yaml"});
  EXPECT_EQ(both.code, ExitCode::usage);
  EXPECT_NE(both.err.find("give the pipe FILE, or --brokers"), std::string::npos);
}

TEST_F(PipeErrorsTest, SayThatBrokersOrTopicAreNotThere) {
  rd_kafka_mock_topic_set_error(kafka.cluster(), "none", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const RanErrors none = errors({"list", "--topic", "none"});
  EXPECT_EQ(none.code, ExitCode::environment);
  EXPECT_NE(none.err.find("there is no topic `none`"), std::string::npos) << none.err;
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  const RanErrors away = errors({"list", "--timeout", "300ms"});
  EXPECT_EQ(away.code, ExitCode::environment);
  EXPECT_NE(away.err.find("`_errors`"), std::string::npos) << away.err;
}

}  // namespace
}  // namespace pawl::cli
