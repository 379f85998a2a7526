#include "pipe/offset_commits.h"

#include <gtest/gtest.h>

#include "pipe/mock_kafka.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;

constexpr std::int16_t kOffsetCommit = 8;  // as Kafka numbers its requests

class OffsetCommitsTest : public testing::Test {
 protected:
  OffsetCommitsTest() {
    kafka_.create("events", 2);
    consumer_ = *kafka::make_client(
        RD_KAFKA_CONSUMER,
        *kafka::make_conf(kafka_.config(), {{"group.id", "test"}, {"log_level", "0"}}));
    commits_.use(consumer_.get());
  }
  ~OffsetCommitsTest() override { commits_.use(nullptr); }

  void wait_for_all() {
    for (int i = 0; i < 200 && commits_.is_under_way(); ++i) commits_.serve(milliseconds{100});
  }
  // `OFFSET METADATA` of each partition.
  std::vector<std::string> kept() {
    const kafka::Partitions list = kafka::list_of({{"events", 0}, {"events", 1}});
    EXPECT_EQ(rd_kafka_committed(consumer_.get(), list.get(), 10'000), RD_KAFKA_RESP_ERR_NO_ERROR);
    std::vector<std::string> found;
    for (int i = 0; i < list->cnt; ++i) {
      const rd_kafka_topic_partition_t& one = list->elems[i];
      found.push_back(std::to_string(one.offset) + " " +
                      (one.metadata != nullptr
                           ? std::string(static_cast<const char*>(one.metadata), one.metadata_size)
                           : ""));
    }
    return found;
  }

  MockKafka kafka_;
  kafka::Client consumer_;
  std::vector<OffsetCommits::Ended> ended_;
  OffsetCommits commits_{"host-1",
                         [this](const OffsetCommits::Ended& ended) { ended_.push_back(ended); }};
};

TEST_F(OffsetCommitsTest, KeepWhoCommittedAndHowManyErrorsThereWere) {
  commits_.begin({{.id = {"events", 0}, .epoch = 3, .offset = 17, .errors = 2},
                  {.id = {"events", 1}, .epoch = 4, .offset = 5}});
  EXPECT_TRUE(commits_.is_under_way());
  wait_for_all();
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].error, "");
  ASSERT_EQ(ended_[0].committed.size(), 2U);
  EXPECT_EQ(ended_[0].committed[0].offset, 17);
  EXPECT_EQ(ended_[0].committed[0].epoch, 3);
  EXPECT_EQ(kept(), (std::vector<std::string>{"17 pawl:host-1:2", "5 pawl:host-1:0"}));
}

TEST_F(OffsetCommitsTest, OneThatIsRefusedCommitsNothingAndSaysWhy) {
  rd_kafka_mock_push_request_errors(kafka_.cluster(), kOffsetCommit, 1,
                                    RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
  commits_.begin({{.id = {"events", 0}, .offset = 17}});
  wait_for_all();
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_TRUE(ended_[0].committed.empty());
  EXPECT_NE(ended_[0].error.find("ILLEGAL_GENERATION"), std::string::npos) << ended_[0].error;
}

TEST_F(OffsetCommitsTest, NothingToCommitIsNoCommit) {
  commits_.begin({});
  EXPECT_FALSE(commits_.is_under_way());
  EXPECT_TRUE(ended_.empty());
}

TEST_F(OffsetCommitsTest, AreWaitedForNoLongerThanAllowed) {
  rd_kafka_mock_broker_set_down(kafka_.cluster(), 1);
  commits_.begin({{.id = {"events", 0}, .offset = 17}});
  const auto began = std::chrono::steady_clock::now();
  commits_.serve(milliseconds{50});
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds{5});
  EXPECT_TRUE(commits_.is_under_way());
  EXPECT_TRUE(ended_.empty());
  rd_kafka_mock_broker_set_up(kafka_.cluster(), 1);
  wait_for_all();
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_[0].error, "");
}

}  // namespace
}  // namespace pawl
