// A pipe whose brokers fail as they are told: each error of Kafka's that the table of codes knows,
// and after each of them that nothing is lost, nothing is committed too early and the books balance
// (I1 to I5 of the pipe). The brokers are librdkafka's own, over sockets.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <set>
#include <thread>

#include "decide/test_world.h"
#include "pipe/local_search.h"
#include "pipe/mock_kafka.h"
#include "pipe/pipe.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// What a Kafka request is called on the wire.
constexpr std::int16_t kFetch = 1;
constexpr std::int16_t kProduce = 0;
constexpr std::int16_t kListOffsets = 2;
constexpr std::int16_t kMetadata = 3;
constexpr std::int16_t kOffsetCommit = 8;
constexpr std::int16_t kOffsetFetch = 9;
constexpr std::int16_t kFindCoordinator = 10;
constexpr std::int16_t kHeartbeat = 12;

class BrokerErrors : public testing::Test {
 protected:
  static constexpr int kPartitions = 2;

  BrokerErrors() {
    kafka_.create("events", kPartitions);
    kafka_.create("_errors", 1);
  }

  void open(KafkaConfig::Assignment assignment = KafkaConfig::Assignment::fixed) {
    PipeConfig config{.name = "test", .kafka = kafka_.config()};
    config.kafka.topics = {{.name = "events"}};
    config.kafka.assignment = assignment;
    config.kafka.commit_every = milliseconds{20};
    if (assignment == KafkaConfig::Assignment::group) config.kafka.instance = "one";
    config.kafka.options = options_;
    config.transform.index = "events";
    config.search.urls = {search_.url()};
    config.batch.linger = milliseconds{1};
    config.workers = 2;
    const auto log = [this](bool, std::string_view event,
                            const std::vector<std::pair<std::string, std::string>>& fields) {
      const std::lock_guard lock(mutex_);
      std::string line(event);
      for (const auto& [name, value] : fields) line += " " + name + "=" + value;
      log_.push_back(line);
    };
    auto machine = PipeMachine::read(PipeMachine::built_in(), test_zones());
    ASSERT_TRUE(machine) << machine.error().message;
    auto opened = Pipe::open(std::move(config), *std::move(machine), log);
    ASSERT_TRUE(opened) << opened.error().message;
    pipe_ = *std::move(opened);
  }

  void put(int count, const std::string& value = R"({"a":1})") {
    for (int i = 0; i < count; ++i) {
      for (int partition = 0; partition < kPartitions; ++partition)
        kafka_.put("events", partition, {.value = value});
      ++put_;
    }
  }

  void inject(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& errors) {
    rd_kafka_mock_push_request_errors_array(kafka_.cluster(), request, errors.size(),
                                            errors.data());
  }

  // A view in which the books balance.
  PipeView look() const {
    PipeView view = pipe_->view();
    for (const PartitionView& partition : view.partitions) {
      if (partition.id.partition < 0) continue;
      EXPECT_EQ(partition.unaccounted(), 0) << to_text(partition.id);
    }
    return view;
  }

  bool wait_until(const std::function<bool(const PipeView&)>& is_so) const {
    const auto until = std::chrono::steady_clock::now() + seconds{40};
    while (!is_so(look())) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(milliseconds{5});
    }
    return true;
  }

  void expect_committed() {
    const auto is_all = [&](const PipeView& view) {
      return view.partitions.size() == kPartitions &&
             std::all_of(view.partitions.begin(), view.partitions.end(), [&](const auto& one) {
               return one.watermark == put_ && one.committed == put_;
             });
    };
    EXPECT_TRUE(wait_until(is_all)) << shown();
  }
  // Everything that was put is finished, and committed: as documents, but for so many errors.
  void expect_all(std::size_t errors = 0) {
    expect_committed();
    EXPECT_EQ(ids().size() + errors, static_cast<std::size_t>(put_) * kPartitions) << shown();
    EXPECT_EQ(kafka_.all_of("_errors").size(), errors) << shown();
  }

  std::set<std::string> ids() const {
    const std::lock_guard lock(mutex_);
    return ids_;
  }
  std::string shown() const {
    std::string text;
    for (const PartitionView& one : pipe_->view().partitions)
      text += to_text(one.id) + " " + one.state + " " + one.code + " " + one.error +
              " committed=" + std::to_string(one.committed) +
              " watermark=" + std::to_string(one.watermark) + "\n";
    const std::lock_guard lock(mutex_);
    for (const std::string& line : log_) text += line + "\n";
    return text;
  }
  bool was_logged(std::string_view what) const {
    const std::lock_guard lock(mutex_);
    return std::any_of(log_.begin(), log_.end(), [&](const std::string& line) {
      return line.find(what) != std::string::npos;
    });
  }

  // An error that shows as a failure of a partition with that code, once or more.
  void expect_failure_and_recovery(std::int16_t request, rd_kafka_resp_err_t error,
                                   const std::string& code) {
    open();
    put(10);
    expect_all();
    inject(request, {error, error});
    put(10);
    EXPECT_TRUE(wait_until([&](const PipeView&) { return was_logged("code=" + code); })) << shown();
    expect_all();
  }
  // The first messages cannot be had: of each partition that the first fetch was for.
  void expect_passed_over(rd_kafka_resp_err_t error, const std::string& number) {
    put(10);
    // Of the first two at least one is asked for twice in vain, and none behind it.
    inject(kFetch, {error, error, error});
    open();
    expect_committed();
    const auto noted = kafka_.all_of("_errors");
    ASSERT_TRUE(noted.size() == 1 || noted.size() == kPartitions) << shown();
    EXPECT_EQ(ids().size() + noted.size(), 10U * kPartitions) << shown();
    for (const MockKafka::Found& one : noted) {
      EXPECT_TRUE(one.message.key->ends_with("/0")) << *one.message.key;
      const auto code =
          std::find_if(one.message.headers.begin(), one.message.headers.end(),
                       [](const auto& header) { return header.first == "pawl.code"; });
      ASSERT_NE(code, one.message.headers.end());
      EXPECT_EQ(code->second, number);
    }
  }
  // An error that librdkafka deals with by itself.
  void expect_recovery(std::int16_t request, const std::vector<rd_kafka_resp_err_t>& errors) {
    open();
    put(5);
    expect_all();
    inject(request, errors);
    put(10);
    expect_all();
  }

 private:
  static std::string blocked_answer(std::size_t items) {
    std::string body = R"({"errors":true,"items":[)";
    for (std::size_t i = 0; i < items; ++i)
      body +=
          std::string(i > 0 ? "," : "") +
          R"({"index":{"status":403,"error":{"type":"cluster_block_exception","reason":"ro"}}})";
    return http_answer(200, body + "]}");
  }

  std::string answer(const LocalSearch::Request& request) {
    std::size_t items = 0;
    {
      const std::lock_guard lock(mutex_);
      for (std::size_t at = 0; (at = request.body.find(R"("_id":")", at)) != std::string::npos;) {
        at += 7;
        ids_.insert(request.body.substr(at, request.body.find('"', at) - at));
        ++items;
      }
    }
    if (hang_.valid()) hang_.wait();
    if (refuses_all_) return blocked_answer(items);
    return indexed_answer(items);
  }

 protected:
  mutable std::mutex mutex_;
  std::set<std::string> ids_;
  std::vector<std::string> log_;
  std::shared_future<void> hang_;  // answers wait for it
  std::atomic<bool> refuses_all_{false};
  std::vector<KafkaConfig::Option> options_{{.name = "session.timeout.ms", .value = "6000"}};
  int put_ = 0;  // to each partition
  MockKafka kafka_;
  LocalSearch search_{[this](const LocalSearch::Request& request) { return answer(request); }};
  std::unique_ptr<Pipe> pipe_;
};

TEST_F(BrokerErrors, Code0_AFetchThatFailsForNoKnownReasonIsReadAgain) {  // S1-1
  expect_failure_and_recovery(kFetch, RD_KAFKA_RESP_ERR_POLICY_VIOLATION, "uncategorised");
  EXPECT_GT(look().partitions[0].resets + look().partitions[1].resets, 0U);
}

// More often than it takes to suspect a message: none has been read that could be the cause.
TEST_F(BrokerErrors, Code0_NoMessageIsBlamedForWhatKafkaDoes) {
  put(3);
  inject(kFetch, std::vector(10, RD_KAFKA_RESP_ERR_POLICY_VIOLATION));
  open();
  expect_all();
}

TEST_F(BrokerErrors, Code1_LeadersAndCoordinatorsThatMoveAreFoundAgain) {  // S1-2
  expect_recovery(
      kFetch, {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE,
               RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR__TRANSPORT});
  inject(kOffsetCommit, {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR__TRANSPORT});
  inject(kFindCoordinator, {RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE});
  put(10);
  expect_all();
}

TEST_F(BrokerErrors, Code1_WhereToBeginIsAskedAgain) {  // S1-2
  inject(kOffsetFetch, {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, RD_KAFKA_RESP_ERR__TRANSPORT});
  inject(kListOffsets, {RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR__TRANSPORT});
  inject(kMetadata, {RD_KAFKA_RESP_ERR__TRANSPORT});
  put(10);
  open();
  expect_all();
}

TEST_F(BrokerErrors, Code2_ATopicThatMayNotBeReadIsTriedAgain) {  // S1-3
  expect_failure_and_recovery(kFetch, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED,
                              "topic_not_found");
}

TEST_F(BrokerErrors, Code4_AMessageThatCannotBeFetchedIsNotedAndPassedOver) {  // S1-5, R1-3
  expect_passed_over(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, "4");
}

TEST_F(BrokerErrors, Code4_AMessageThatCanBeFetchedTheSecondTimeIsLoaded) {
  put(10);
  inject(kFetch, {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE});
  open();
  expect_all();
}

TEST_F(BrokerErrors, Code6_WhatTakesTooLongIsAskedAgain) {  // S1-7
  expect_recovery(kFetch, {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
  inject(kOffsetCommit, {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT});
  put(5);
  expect_all();
}

TEST_F(BrokerErrors, Code7_ABatchThatCannotBeUnpackedIsNoted) {  // S1-8
  expect_passed_over(RD_KAFKA_RESP_ERR_INVALID_MSG, "7");
}

TEST_F(BrokerErrors, ACommitThatIsRefusedIsSaidAgain) {
  open();
  put(5);
  expect_all();
  inject(kOffsetCommit, {RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION, RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID,
                         RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED});
  put(5);
  expect_all();
  EXPECT_GE(look().commit_failures, 1U) << shown();
}

TEST_F(BrokerErrors, NothingIsCommittedWhileTheTopicOfErrorsRefuses) {  // S1-22, I1, I2
  open();
  put(5);
  expect_all();
  const Actor eve{.name = "eve"};
  for (int partition = 0; partition < kPartitions; ++partition)
    ASSERT_TRUE(pipe_->pause({"events", partition}, eve, "until both are there"));
  put(1, "no JSON");
  inject(kProduce, std::vector(3, RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED));
  for (int partition = 0; partition < kPartitions; ++partition)
    ASSERT_TRUE(pipe_->resume({"events", partition}, eve, "now"));
  const auto has_failed = [&](const PipeView&) { return was_logged("state=send_errors"); };
  EXPECT_TRUE(wait_until(has_failed)) << shown();
  EXPECT_TRUE(kafka_.all_of("_errors").empty());
  for (const PartitionView& partition : look().partitions) EXPECT_EQ(partition.committed, 5);
  expect_all(kPartitions);
}

// Another process has the same `instance`: this one is told that it is out, for good, and comes
// back as a new member.
TEST_F(BrokerErrors, AMemberThatIsFencedOffComesBack) {
  open(KafkaConfig::Assignment::group);
  put(5);
  expect_all();
  inject(kHeartbeat, {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID});
  EXPECT_TRUE(wait_until([&](const PipeView&) { return was_logged("begin_anew"); })) << shown();
  put(5);
  expect_all();
}

// What it needs to begin again may be away for a while as well.
TEST_F(BrokerErrors, AMemberThatCannotComeBackTriesAgain) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() / "password";
  const auto write_password = [&] { std::ofstream(path) << "secret"; };
  write_password();
  options_.push_back(
      {.name = "sasl.password", .value = "", .secret = *Secret::parse("file:" + path)});
  open(KafkaConfig::Assignment::group);
  put(5);
  expect_all();
  std::filesystem::remove(path);
  inject(kHeartbeat, {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID});
  EXPECT_TRUE(wait_until([&](const PipeView&) { return was_logged(path); })) << shown();
  write_password();
  put(5);
  expect_all();
}

// Who paused it, and why, is known for as long as the process runs, wherever the partition is.
TEST_F(BrokerErrors, APauseIsKeptWhenThePartitionComesBack) {
  open(KafkaConfig::Assignment::group);
  put(5);
  expect_all();
  const kafka::PartitionId first{"events", 0};
  ASSERT_TRUE(pipe_->pause(first, {.name = "eve"}, "a new mapping"));
  inject(kHeartbeat, {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID});
  EXPECT_TRUE(wait_until([&](const PipeView&) { return was_logged("begin_anew"); })) << shown();
  EXPECT_TRUE(wait_until([&](const PipeView& view) {
    return view.partitions.size() == kPartitions && view.partitions[1].epoch == 2;
  })) << shown();
  put(5);
  EXPECT_TRUE(wait_until([&](const PipeView& view) {
    return view.partitions.size() == kPartitions && view.partitions[1].watermark == 10;
  })) << shown();
  const PartitionView paused = look().partitions[0];
  EXPECT_TRUE(paused.is_paused);
  EXPECT_EQ(paused.consumed, 0U);
  ASSERT_TRUE(paused.pause);
  EXPECT_EQ(paused.pause->by + ": " + paused.pause->reason, "eve: a new mapping");
  EXPECT_TRUE(was_logged("pause pipe=test partition=events/0 actor=eve reason=a new mapping"));
  ASSERT_TRUE(pipe_->resume(first, {.name = "eve", .roles = {"operator"}}, "done"));
  expect_all();
  EXPECT_FALSE(look().partitions[0].pause);
}

TEST_F(BrokerErrors, AMessageThatAPersonSkipsIsNotedAndPassed) {
  refuses_all_ = true;
  open();
  put(1);
  const auto waits = [](const PipeView& view) {
    return view.partitions.size() == kPartitions &&
           std::all_of(view.partitions.begin(), view.partitions.end(), [](const auto& one) {
             return one.code == "bulk_item_blocked" && one.is_alarm;
           });
  };
  EXPECT_TRUE(wait_until(waits)) << shown();
  EXPECT_TRUE(wait_until([&](const PipeView&) { return was_logged("alarm pipe=test"); }));
  for (int partition = 0; partition < kPartitions; ++partition)
    EXPECT_TRUE(wait_until([&](const PipeView&) {  // not while it is being sent
      return pipe_
          ->skip({"events", partition}, 0, {.name = "eve", .roles = {"operator"}}, "not needed")
          .has_value();
    })) << shown();
  EXPECT_TRUE(was_logged("skip pipe=test partition=events/1 offset=0 actor=eve reason=not needed"));
  expect_committed();
  EXPECT_EQ(kafka_.all_of("_errors").size(), 2U);
  for (const PartitionView& one : look().partitions) EXPECT_EQ(one.outcomes.skipped, 1U);
}

// It was sent for an assignment that is over: the answer changes nothing, and what is read again
// has the same ids.
TEST_F(BrokerErrors, AnAnswerThatComesTooLateIsCountedAndLeftAlone) {
  std::promise<void> end;
  hang_ = end.get_future().share();
  open(KafkaConfig::Assignment::group);
  put(5);
  EXPECT_TRUE(wait_until([&](const PipeView& view) { return view.bulks > 0; })) << shown();
  inject(kHeartbeat, {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID});
  EXPECT_TRUE(wait_until([&](const PipeView&) { return was_logged("lost"); })) << shown();
  end.set_value();
  expect_all();
  EXPECT_GT(look().late_answers, 0U) << shown();
}

// As if the process had died: nothing is waited for that does not come.
TEST_F(BrokerErrors, APipeEndsWithoutBeingStopped) {
  std::promise<void> end;
  hang_ = end.get_future().share();
  open();
  put(5);
  EXPECT_TRUE(wait_until([&](const PipeView&) { return !ids().empty(); }));
  pipe_.reset();
  end.set_value();
}

// The same while brokers do not answer: the last commit is not waited for without end.
TEST_F(BrokerErrors, StopsWhenNoBrokerAnswers) {
  open();
  put(5);
  expect_all();
  std::promise<void> end;
  hang_ = end.get_future().share();
  put(1);
  EXPECT_TRUE(wait_until([&](const PipeView&) { return ids().size() == 12; }));
  rd_kafka_mock_broker_set_down(kafka_.cluster(), 1);
  EXPECT_TRUE(wait_until([](const PipeView& view) { return !view.kafka.empty(); }));
  end.set_value();
  const auto began = std::chrono::steady_clock::now();
  pipe_->stop(seconds{5});
  pipe_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds{20});
}

}  // namespace
}  // namespace pawl
