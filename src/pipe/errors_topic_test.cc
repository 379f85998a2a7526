#include "pipe/errors_topic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "pipe/mock_kafka.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int16_t kProduce = 0;  // the number of the request
constexpr seconds kPatience{60};

ErrorRecord record_of(std::int64_t offset, std::string value = "not json") {
  return {.pipe = "events",
          .code = std::string(pipe_code::kInvalidFormat),
          .reason = "no JSON",
          .state = "transform",
          .topic = "ev",
          .offset = offset,
          .original = {.key = "k", .value = std::move(value), .headers = {{"trace", "1"}}}};
}

class ErrorsTopicTest : public testing::Test {
 protected:
  ErrorsTopicTest() { kafka.create("_errors", 1); }

  std::unique_ptr<ErrorsTopic> open(const ErrorsTopic::Limits& limits = {},
                                    std::vector<KafkaConfig::Option> options = {}) {
    PipeConfig config{.name = "events", .kafka = kafka.config()};
    config.kafka.options = std::move(options);
    auto opened = ErrorsTopic::open(config, limits);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }

  // Until so many tickets are settled.
  void settle(ErrorsTopic& topic, std::size_t tickets) {
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (settled.size() < tickets && std::chrono::steady_clock::now() < until)
      topic.poll(seconds{1}, [&](std::uint64_t ticket, const auto& failed) {
        EXPECT_TRUE(settled.emplace(ticket, failed).second) << ticket << " is settled twice";
      });
    ASSERT_EQ(settled.size(), tickets);
  }
  std::string code_of(std::uint64_t ticket) {
    return settled[ticket] ? std::string(settled[ticket]->code) : "";
  }

  std::vector<ErrorRecord> written() {
    std::vector<ErrorRecord> records;
    for (const auto& found : kafka.all_of("_errors")) {
      const auto read = read_error(found.message);
      EXPECT_TRUE(read) << read.error().message;
      if (read) records.push_back(*read);
    }
    return records;
  }

  MockKafka kafka;
  std::map<std::uint64_t, std::optional<ErrorsTopic::Failed>> settled;
};

TEST_F(ErrorsTopicTest, WritesEachOnceThroughFailingBrokers) {
  rd_kafka_mock_push_request_errors(
      kafka.cluster(), kProduce, 6, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
      RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, RD_KAFKA_RESP_ERR__TRANSPORT,
      RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE);
  const auto topic = open();
  std::thread other([&] {
    for (int i = 500; i < 1000; ++i) topic->send(static_cast<std::uint64_t>(i), record_of(i));
  });
  for (int i = 0; i < 500; ++i) topic->send(static_cast<std::uint64_t>(i), record_of(i));
  other.join();
  settle(*topic, 1000);
  for (const auto& [ticket, failed] : settled)
    EXPECT_FALSE(failed) << ticket << ": " << failed->message;
  EXPECT_EQ(topic->outstanding(), 0U);
  std::set<std::int64_t> offsets;
  const auto records = written();
  EXPECT_EQ(records.size(), 1000U);
  for (const ErrorRecord& record : records) offsets.insert(record.offset);
  EXPECT_EQ(offsets.size(), 1000U);
}

TEST_F(ErrorsTopicTest, WritesWhatIsTooLargeForTheProducerWithoutItsPayload) {
  const auto topic = open({}, {{.name = "message.max.bytes", .value = "2000"},
                               {.name = "batch.size", .value = "2000"}});
  topic->send(1, record_of(1, std::string(5000, 'x')));
  topic->send(2, record_of(2));
  settle(*topic, 2);
  EXPECT_EQ(code_of(1), "");
  const auto records = written();
  ASSERT_EQ(records.size(), 2U);
  const ErrorRecord& large = records[records[0].offset == 1 ? 0 : 1];
  EXPECT_TRUE(large.payload_omitted);
  EXPECT_EQ(large.payload_bytes, 5000);
  EXPECT_EQ(large.original.key, "k");
  EXPECT_EQ(large.original.headers.size(), 1U);
}

TEST_F(ErrorsTopicTest, LeavesOutKeyAndHeadersWhenTheyAreTooLarge) {
  const auto topic = open({}, {{.name = "message.max.bytes", .value = "2000"},
                               {.name = "batch.size", .value = "2000"}});
  ErrorRecord record = record_of(1);
  record.original.headers.emplace_back("large", std::string(5000, 'x'));
  topic->send(1, record);
  settle(*topic, 1);
  EXPECT_EQ(code_of(1), "");
  const auto records = written();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_TRUE(records[0].payload_omitted);
  EXPECT_EQ(records[0].payload_bytes, 8);
  EXPECT_TRUE(records[0].original.headers.empty());
  EXPECT_EQ(records[0].reason, "(key and headers left out: too large) no JSON");
}

TEST_F(ErrorsTopicTest, ShrinksNoneForTheSakeOfItsNeighbours) {
  // The batch is refused as a whole; then, one by one, the first of them is.
  rd_kafka_mock_push_request_errors(kafka.cluster(), kProduce, 2,
                                    RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                                    RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  const auto topic = open({}, {{.name = "linger.ms", .value = "100"}});
  for (int i = 0; i < 3; ++i) topic->send(static_cast<std::uint64_t>(i), record_of(i));
  settle(*topic, 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(code_of(static_cast<std::uint64_t>(i)), "");
  const auto records = written();
  ASSERT_EQ(records.size(), 3U);
  for (const ErrorRecord& record : records) {
    EXPECT_EQ(record.payload_omitted, record.offset == 0) << record.offset;
    EXPECT_EQ(record.payload_bytes, 8);
    EXPECT_EQ(record.original.value.value_or(""), record.offset == 0 ? "" : "not json");
  }
}

TEST_F(ErrorsTopicTest, FailsWithoutABrokerAndGoesOnWhenItIsBack) {
  const auto topic = open({.timeout = milliseconds{500}});
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  topic->send(1, record_of(1));
  settle(*topic, 1);
  EXPECT_EQ(code_of(1), pipe_code::kNetwork) << settled[1]->message;
  EXPECT_NE(settled[1]->message.find("`_errors`"), std::string::npos);

  rd_kafka_mock_broker_set_up(kafka.cluster(), 1);
  settled.clear();
  std::uint64_t ticket = 2;
  // Until the client has found the broker again.
  for (bool is_back = false; !is_back && ticket < 100; ++ticket) {
    topic->send(ticket, record_of(2));
    settle(*topic, static_cast<std::size_t>(ticket) - 1);
    is_back = code_of(ticket).empty();
  }
  ASSERT_EQ(code_of(ticket - 1), "");
  EXPECT_FALSE(written().empty());
}

TEST_F(ErrorsTopicTest, AsksForTheTopicThatIsNotThereAndFindsItLater) {
  rd_kafka_mock_topic_set_error(kafka.cluster(), "_errors",
                                RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const auto topic = open({.topic_wait = milliseconds{200}});
  topic->send(1, record_of(1));
  settle(*topic, 1);
  EXPECT_EQ(code_of(1), pipe_code::kTopicNotFound);
  EXPECT_EQ(settled[1]->message.substr(0, 40), "the error topic `_errors` does not exist");

  rd_kafka_mock_topic_set_error(kafka.cluster(), "_errors", RD_KAFKA_RESP_ERR_NO_ERROR);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::uint64_t ticket = 1;
  while (!code_of(ticket).empty() && std::chrono::steady_clock::now() < until) {
    topic->send(++ticket, record_of(1));
    settle(*topic, static_cast<std::size_t>(ticket));
  }
  EXPECT_EQ(code_of(ticket), "");
  EXPECT_EQ(written().size(), 1U);
}

TEST_F(ErrorsTopicTest, FailsATicketThatFindsTheQueueFull) {
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  const auto topic = open({.records_max = 2});
  for (std::uint64_t i = 1; i <= 3; ++i) topic->send(i, record_of(1));
  settle(*topic, 1);
  EXPECT_EQ(code_of(3), pipe_code::kKafkaUnavailable);
  EXPECT_EQ(topic->outstanding(), 2U);
}  // and forgets the others without waiting

TEST_F(ErrorsTopicTest, MakesAProducerThatIsBrokenAnew) {
  // Nobody else writes with its number: the sequence cannot be wrong unless all is.
  rd_kafka_mock_push_request_errors(kafka.cluster(), kProduce, 1,
                                    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER);
  const auto topic = open({}, {{.name = "batch.num.messages", .value = "1"}});
  for (std::uint64_t i = 1; i <= 3; ++i) topic->send(i, record_of(1));
  settle(*topic, 3);
  EXPECT_EQ(code_of(1), pipe_code::kKafkaUnavailable);
  for (std::uint64_t i = 2; i <= 3; ++i)  // sent by the broken one, or already by the next
    EXPECT_TRUE(code_of(i) == pipe_code::kKafkaUnavailable || code_of(i).empty()) << code_of(i);
  topic->send(4, record_of(2));
  settle(*topic, 4);
  EXPECT_EQ(code_of(4), "");
  // Of those that were on their way when the producer broke some may be there as well: their
  // tickets failed. The one after them is there once.
  const auto records = written();
  EXPECT_LE(records.size(), 4U);
  EXPECT_EQ(std::count_if(records.begin(), records.end(),
                          [](const ErrorRecord& one) { return one.offset == 2; }),
            1);
}

TEST_F(ErrorsTopicTest, WakesWhoWaitsWhenATicketFailsAtOnce) {
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  const auto topic = open({.records_max = 1});
  topic->send(1, record_of(1));
  std::thread other([&] { topic->send(2, record_of(2)); });
  const auto begin = std::chrono::steady_clock::now();
  bool failed = false;
  while (!failed && std::chrono::steady_clock::now() - begin < seconds{20})
    topic->poll(seconds{20}, [&](std::uint64_t ticket, const auto&) { failed = ticket == 2; });
  other.join();
  EXPECT_TRUE(failed);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{15});
}

TEST_F(ErrorsTopicTest, RefusesOptionsThatWouldLoseRecords) {
  PipeConfig config{.name = "events", .kafka = kafka.config()};
  config.kafka.options = {{.name = "acks", .value = "1"}};
  const auto opened = ErrorsTopic::open(config);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("acks"), std::string::npos) << opened.error().message;
}

}  // namespace
}  // namespace pawl
