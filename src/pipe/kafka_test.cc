#include "pipe/kafka.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "pipe/mock_kafka.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

kafka::Client consumer_of(const KafkaConfig& config) {
  return *kafka::make_client(RD_KAFKA_CONSUMER,
                             *kafka::make_conf(config, {{"group.id", "test"}, {"log_level", "0"}}));
}

std::string value_of(const kafka::Conf& conf, const char* name) {
  std::array<char, 200> value{};
  std::size_t size = value.size();
  rd_kafka_conf_get(conf.get(), name, value.data(), &size);
  return value.data();
}

TEST(KafkaConf, HasBrokersThenSettingsThenTheOptionsOfTheFile) {
  const KafkaConfig config{.brokers = "k1:9092,k2:9092",
                           .options = {{.name = "client.id", .value = "of the file"}}};
  const auto conf = kafka::make_conf(config, {{"client.id", "ours"}, {"fetch.min.bytes", "7"}});
  ASSERT_TRUE(conf) << conf.error().message;
  EXPECT_EQ(value_of(*conf, "bootstrap.servers"), "k1:9092,k2:9092");
  EXPECT_EQ(value_of(*conf, "client.id"), "of the file");
  EXPECT_EQ(value_of(*conf, "fetch.min.bytes"), "7");
}

TEST(KafkaConf, SaysWhereAnOptionThatIsNotTakenStands) {
  const KafkaConfig unknown{.options = {{.name = "no.such", .value = "1", .at = {4, 7}}}};
  const auto refused = kafka::make_conf(unknown, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_EQ(refused.error().position, (Position{4, 7}));
  EXPECT_NE(refused.error().message.find("no.such"), std::string::npos);

  const KafkaConfig wrong{.options = {{.name = "fetch.min.bytes", .value = "many", .at = {5, 1}}}};
  const auto value = kafka::make_conf(wrong, {});
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().position, (Position{5, 1}));
}

TEST(KafkaConf, ReadsSecretsAndNeverRepeatsThem) {
  setenv("PAWL_TEST_SECRET", "s3cret", 1);
  KafkaConfig config{
      .options = {{.name = "sasl.password", .secret = *Secret::parse("env:PAWL_TEST_SECRET")}}};
  const auto conf = kafka::make_conf(config, {});
  ASSERT_TRUE(conf);
  config.options[0].name = "fetch.min.bytes";
  const auto refused = kafka::make_conf(config, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.find("s3cret"), std::string::npos) << refused.error().message;

  unsetenv("PAWL_TEST_SECRET");
  config.options[0].at = {3, 2};
  const auto unread = kafka::make_conf(config, {});
  ASSERT_FALSE(unread);
  EXPECT_EQ(unread.error().code, ErrorCode::environment);
  EXPECT_EQ(unread.error().position, (Position{3, 2}));
}

TEST(KafkaClient, SaysWhyItDoesNotStart) {
  const auto conf = kafka::make_conf({}, {{"enable.idempotence", "true"}, {"acks", "0"}});
  ASSERT_TRUE(conf);
  auto again = kafka::make_conf({}, {{"enable.idempotence", "true"}, {"acks", "0"}});
  const auto client = kafka::make_client(RD_KAFKA_PRODUCER, *std::move(again));
  ASSERT_FALSE(client);
  EXPECT_NE(client.error().message.find("acks"), std::string::npos) << client.error().message;
}

TEST(KafkaError, HasANameAndWords) {
  EXPECT_EQ(kafka::to_text(RD_KAFKA_RESP_ERR__TRANSPORT),
            "_TRANSPORT: Local: Broker transport failure");
}

TEST(KafkaError, ComesToACodeOfThePipe) {
  using namespace pipe_code;
  const std::pair<rd_kafka_resp_err_t, std::string_view> kTable[] = {
      {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR__TRANSPORT, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR__RESOLVE, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, kKafkaUnavailable},
      {RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, kTopicNotFound},
      {RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, kTopicNotFound},
      {RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, kTopicNotFound},
      {RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, kPartitionNotFound},
      {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, kMessageTooBig},
      {RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE, kMessageTooBig},
      {RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET, kOffsetNotAvailable},
      {RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, kOffsetNotAvailable},
      {RD_KAFKA_RESP_ERR__NO_OFFSET, kOffsetNotAvailable},
      {RD_KAFKA_RESP_ERR__TIMED_OUT, kNetwork},
      {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, kNetwork},
      {RD_KAFKA_RESP_ERR__SSL, kNetwork},
      {RD_KAFKA_RESP_ERR__AUTHENTICATION, kNetwork},
      {RD_KAFKA_RESP_ERR__BAD_MSG, kInvalidFormat},
      {RD_KAFKA_RESP_ERR__BAD_COMPRESSION, kInvalidFormat},
      {RD_KAFKA_RESP_ERR_INVALID_MSG, kInvalidFormat},
      {RD_KAFKA_RESP_ERR__INTR, kUncategorised},
      {RD_KAFKA_RESP_ERR_UNKNOWN, kUncategorised}};
  for (const auto& [error, code] : kTable)
    EXPECT_EQ(kafka::code_of(error), code) << kafka::to_text(error);
}

TEST(KafkaMessages, ComeBackAsTheyWereGiven) {
  MockKafka kafka;
  kafka.create("events", 2);
  const std::vector<KafkaMessage> given{
      {.key = "k", .value = "{}", .headers = {{"a", "1"}, {"a", std::string("\0\xff", 2)}}},
      {.key = std::nullopt, .value = std::nullopt, .headers = {{"null", std::nullopt}}},
      {.key = "", .value = "", .headers = {{"empty", ""}}}};
  for (const KafkaMessage& message : given) kafka.put("events", 1, message);
  const auto found = kafka.all_of("events");
  ASSERT_EQ(found.size(), given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    EXPECT_EQ(found[i].partition, 1);
    EXPECT_EQ(found[i].message.key, given[i].key);
    EXPECT_EQ(found[i].message.value, given[i].value);
    EXPECT_EQ(found[i].message.headers, given[i].headers);
  }
}

TEST(KafkaMessages, AreSeenInPlace) {
  MockKafka kafka;
  kafka.create("events", 1);
  kafka.put("events", 0, {.key = std::nullopt, .value = "{}"});
  const kafka::Client consumer = consumer_of(kafka.config());
  const kafka::Partitions assigned(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(assigned.get(), "events", 0)->offset = 0;
  rd_kafka_assign(consumer.get(), assigned.get());
  const kafka::Message message(rd_kafka_consumer_poll(consumer.get(), 10'000));
  ASSERT_NE(message, nullptr);
  const SourceMessage view = kafka::view_of(*message);
  EXPECT_EQ(view.topic, "events");
  EXPECT_EQ(view.offset, 0);
  EXPECT_GT(view.timestamp_ms, 1'600'000'000'000);
  EXPECT_FALSE(view.key);
  EXPECT_EQ(view.value, "{}");
}

TEST(KafkaPartitions, AreThoseTheBrokersKnow) {
  MockKafka kafka;
  kafka.create("events", 3);
  const kafka::Client consumer = consumer_of(kafka.config());
  const auto partitions = kafka::partitions_of(consumer.get(), "events", seconds{10});
  ASSERT_TRUE(partitions) << partitions.error().message;
  EXPECT_EQ(*partitions, (std::vector<std::int32_t>{0, 1, 2}));
}

TEST(KafkaPartitions, OfATopicThatIsNotThereAreAnErrorOfItsOwn) {
  MockKafka kafka;
  kafka.create("events", 3);
  rd_kafka_mock_topic_set_error(kafka.cluster(), "events", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const kafka::Client consumer = consumer_of(kafka.config());
  std::string_view code;
  const auto partitions = kafka::partitions_of(consumer.get(), "events", seconds{10}, &code);
  ASSERT_FALSE(partitions);
  EXPECT_EQ(code, pipe_code::kTopicNotFound);
  EXPECT_EQ(partitions.error().message,
            "there is no topic `events` on the brokers, or this user may not see it");
}

TEST(KafkaPartitions, AreNotWaitedForLongerThanAllowed) {
  MockKafka kafka;
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  const kafka::Client consumer = consumer_of(kafka.config());
  std::string_view code;
  const auto begin = std::chrono::steady_clock::now();
  const auto partitions = kafka::partitions_of(consumer.get(), "events", milliseconds{200}, &code);
  ASSERT_FALSE(partitions);
  EXPECT_TRUE(code == pipe_code::kKafkaUnavailable || code == pipe_code::kNetwork) << code;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{10});
}

TEST(KafkaEnds, AreThoseOfAllPartitionsInTheirOrder) {
  MockKafka kafka{3};
  kafka.create("events", 4);
  kafka.create("other", 1);
  for (int i = 0; i < 3; ++i) kafka.put("events", 2, {.value = "x"});
  kafka.put("other", 0, {.value = "x"});
  const kafka::Client consumer = consumer_of(kafka.config());
  const auto ends = kafka::ends_of(
      consumer.get(), {{"events", 3}, {"events", 2}, {"other", 0}, {"events", 0}}, seconds{10});
  ASSERT_TRUE(ends) << ends.error().message;
  EXPECT_EQ(*ends, (std::vector<kafka::Ends>{{0, 0}, {0, 3}, {0, 1}, {0, 0}}));
}

TEST(KafkaEnds, AreNotWaitedForWhenTheKnownLeaderIsGone) {
  MockKafka kafka;
  kafka.create("events", 1);
  const kafka::Client consumer = consumer_of(kafka.config());
  ASSERT_TRUE(kafka::ends_of(consumer.get(), {{"events", 0}}, seconds{10}));
  rd_kafka_mock_broker_set_down(kafka.cluster(), 1);
  std::string_view code;
  const auto begin = std::chrono::steady_clock::now();
  const auto ends = kafka::ends_of(consumer.get(), {{"events", 0}}, milliseconds{300}, &code);
  ASSERT_FALSE(ends);
  EXPECT_TRUE(code == pipe_code::kKafkaUnavailable || code == pipe_code::kNetwork) << code;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{10});
}

TEST(KafkaEnds, SayWhatIsWrongWithAPartition) {
  MockKafka kafka;
  kafka.create("events", 1);
  rd_kafka_mock_push_request_errors(kafka.cluster(), 2 /*ListOffsets*/, 1,
                                    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  const kafka::Client consumer = consumer_of(kafka.config());
  std::string_view code;
  const auto ends = kafka::ends_of(consumer.get(), {{"events", 0}}, seconds{10}, &code);
  ASSERT_FALSE(ends);
  EXPECT_EQ(code, pipe_code::kTopicNotFound) << ends.error().message;
}

}  // namespace
}  // namespace pawl
