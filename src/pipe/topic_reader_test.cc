#include "pipe/topic_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "pipe/mock_kafka.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(TopicReader, ReadsWhatIsThereInTheOrderOfEachPartition) {
  MockKafka kafka;
  kafka.create("_errors", 3);
  for (int i = 0; i < 20; ++i)
    kafka.put("_errors", i % 2, {.key = std::to_string(i), .value = "x"});
  std::map<std::int32_t, std::vector<std::string>> read;
  bool is_added = false;
  const auto result = kafka::read_topic(
      kafka.config(), "_errors", {.message = [&](const rd_kafka_message_t& message) {
        // What comes while it reads is not waited for.
        if (!is_added) kafka.put("_errors", 0, {.key = "late", .value = "x"});
        is_added = true;
        read[message.partition].push_back(*kafka::copy_of(message).key);
      }});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(read[0],
            (std::vector<std::string>{"0", "2", "4", "6", "8", "10", "12", "14", "16", "18"}));
  EXPECT_EQ(read[1],
            (std::vector<std::string>{"1", "3", "5", "7", "9", "11", "13", "15", "17", "19"}));
  EXPECT_EQ(read.size(), 2U);
}

TEST(TopicReader, ReadsTheLastOnesOfSomePartitions) {
  MockKafka kafka;
  kafka.create("events", 3);
  for (int i = 0; i < 30; ++i) kafka.put("events", i % 3, {.key = std::to_string(i), .value = "x"});
  std::map<std::int32_t, std::vector<std::string>> read;
  const auto result =
      kafka::read_topic(kafka.config(), "events",
                        {.message =
                             [&](const rd_kafka_message_t& message) {
                               read[message.partition].push_back(*kafka::copy_of(message).key);
                             },
                         .partitions = {0, 2},
                         .last = 4});
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(read, (std::map<std::int32_t, std::vector<std::string>>{{0, {"24", "27"}},
                                                                    {2, {"26", "29"}}}));
}

TEST(TopicReader, TakesAboutAsManyOfEachPartition) {
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(kafka::last_of_each({{0, 100}, {50, 150}}, 10), (Counts{5, 5}));
  EXPECT_EQ(kafka::last_of_each({{0, 100}, {7, 9}, {4, 4}}, 10), (Counts{8, 2, 0}));
  EXPECT_EQ(kafka::last_of_each({{0, 3}, {0, 3}}, 100), (Counts{3, 3}));
  EXPECT_EQ(kafka::last_of_each({{0, 9}, {0, 9}, {0, 9}}, 1), (Counts{0, 0, 1}));
  EXPECT_EQ(kafka::last_of_each({}, 5), Counts{});
}

TEST(TopicReader, EndsAtOnceWhereNothingIs) {
  MockKafka kafka;
  kafka.create("_errors", 3);
  const auto result = kafka::read_topic(kafka.config(), "_errors",
                                        {.message = [](const auto&) { FAIL() << "a message"; }});
  EXPECT_TRUE(result);
}

TEST(TopicReader, SaysThatTheTopicIsNotThere) {
  MockKafka kafka;
  rd_kafka_mock_topic_set_error(kafka.cluster(), "none", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const auto result = kafka::read_topic(kafka.config(), "none", {.message = [](const auto&) {}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message,
            "there is no topic `none` on the brokers, or this user may not see it");
}

TEST(TopicReader, GivesUpWhenBrokersFallSilent) {
  MockKafka kafka;
  kafka.create("_errors", 1);
  for (int i = 0; i < 3; ++i) kafka.put("_errors", 0, {.value = "x"});
  rd_kafka_mock_push_request_errors(kafka.cluster(), 1 /*Fetch*/, 1, RD_KAFKA_RESP_ERR__TRANSPORT);
  int read = 0;
  const auto patient =
      kafka::read_topic(kafka.config(), "_errors", {.message = [&](const auto&) { ++read; }});
  EXPECT_TRUE(patient) << patient.error().message;
  EXPECT_EQ(read, 3);

  const std::vector<rd_kafka_resp_err_t> for_long(1000, RD_KAFKA_RESP_ERR__TRANSPORT);
  rd_kafka_mock_push_request_errors_array(kafka.cluster(), 1 /*Fetch*/, for_long.size(),
                                          for_long.data());
  const auto result = kafka::read_topic(
      kafka.config(), "_errors",
      {.message = [](const auto&) { FAIL() << "a message"; }, .patience = milliseconds{1500}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::environment);
}

}  // namespace
}  // namespace pawl
