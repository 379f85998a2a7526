#include "pipe/partition.h"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <stdexcept>

#include "decide/test_world.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

// A partition, with everything around it in the hands of the test: what Kafka has, what the search
// engine says, what the topic of errors does, and the time.
class PartitionTest : public testing::Test, public PartitionHost {
 protected:
  class Source final : public MessageSource {
   public:
    explicit Source(PartitionTest& test) : test_(test) {}
    std::optional<SourceFault> take(std::size_t most, std::vector<TakenMessage>& into) override {
      for (std::size_t i = 0; i < most && test_.position_ < test_.log_.size(); ++i) {
        if (const auto fault = test_.faults_.find(test_.position_); fault != test_.faults_.end()) {
          const SourceFault given = fault->second;
          test_.faults_.erase(fault);
          return given;
        }
        const std::string& value = test_.log_[test_.position_];
        into.push_back({.owner = nullptr,
                        .offset = static_cast<std::int64_t>(test_.position_),
                        .key = std::nullopt,
                        .value = value});
        ++test_.position_;
      }
      return std::nullopt;
    }
    std::int64_t end() const override { return test_.end_; }

   private:
    PartitionTest& test_;
  };

  void begin(const std::function<std::string(std::string)>& edit = {}) {
    std::string text(PipeMachine::built_in());
    if (edit) text = edit(text);
    machine_ = *PipeMachine::read(text, test_zones());
    partition_ = std::make_unique<Partition>(kafka::PartitionId{"events", 3}, 1, options_, machine_,
                                             *this, now_);
    step();
    ASSERT_EQ(located_, 1);
    locate();
  }

  void locate(std::int64_t offset = 0, std::optional<OffsetGap> gap = {}) {
    position_ = static_cast<std::size_t>(offset);
    partition_->located(offset, std::make_unique<Source>(*this), std::move(gap), now_);
    step();
  }

  void produce(int count) {
    for (int i = 0; i < count; ++i) log_.push_back("doc" + std::to_string(log_.size()));
  }

  void step(Duration later = {}) {
    now_ += later;
    partition_->step(now_);
  }

  // Lets the next bulk be answered; items are good unless `answers` says otherwise, by text.
  void answer() {
    ASSERT_FALSE(ready_.empty());
    const LaneRef ref = ready_.front();
    ready_.erase(ready_.begin());
    ASSERT_TRUE(partition_->wants_load(ref.lane));
    if (!partition_->load_begins(ref.lane, now_)) return step();
    const std::string text(partition_->load_text(ref.lane));
    sent_.push_back(text);
    if (const auto failure = whole_ ? whole_(text) : std::nullopt) {
      partition_->load_failed(ref.lane, *failure, false, now_);
      return step();
    }
    const std::size_t items = partition_->load_items(ref.lane);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < items; ++i) {
      const std::size_t end = text.find('\n', begin);
      const std::string item = text.substr(begin, end - begin);
      begin = end + 1;
      ItemAnswer given{.status = 201};
      if (const auto found = answers_.find(item); found != answers_.end()) given = found->second;
      partition_->item_answered(ref.lane, i, given);
      if (given.kind == ItemAnswer::Kind::indexed) ++indexed_[item];
    }
    ++answered_;
    partition_->load_answered(ref.lane, now_);
    step();
  }

  void settle_errors(std::string_view code = {}, const std::string& message = {}) {
    auto errors = std::exchange(errors_, {});
    for (const auto& [ticket, record] : errors) {
      if (code.empty()) kept_.push_back(record);
      partition_->error_settled(ticket.first, ticket.second, code, message, now_);
    }
    step();
  }

  // A document that each request with it fails on is found while others go through.
  void expect_found(const BulkFailure& failure, const std::string& code) {
    begin();
    produce(8);
    step();
    whole_ = [&](const std::string& text) -> std::optional<BulkFailure> {
      if (text.find("doc1\n") == std::string::npos) return std::nullopt;
      return failure;
    };
    for (int i = 0; i < 60 && errors_.empty(); ++i) {
      if (ready_.empty()) step(2min);
      if (!ready_.empty()) answer();
    }
    settle_errors();
    ASSERT_EQ(kept_.size(), 1U);
    EXPECT_EQ(kept_[0].offset, 1);
    EXPECT_EQ(kept_[0].code, code);
    EXPECT_EQ(view().outcomes.indexed, 7U);
    EXPECT_EQ(partition_->watermark(), 8);
  }

  PartitionView view() const {
    const PartitionView seen = partition_->view();
    EXPECT_EQ(seen.unaccounted(), 0);
    return seen;
  }

  // PartitionHost
  Transform::Outcome transform(const SourceMessage& source, std::uint32_t message,
                               BulkBody& body) override {
    const std::string value(*source.value);
    if (value == throws_) throw std::runtime_error("out of luck");
    if (const auto found = bad_.find(value); found != bad_.end())
      return {Transform::Outcome::Kind::failed, found->second, "not good"};
    if (value == dropped_) return {Transform::Outcome::Kind::skipped};
    const auto begin = static_cast<std::uint32_t>(body.text.size());
    body.text += value + "\n";
    body.items.push_back({begin, static_cast<std::uint32_t>(body.text.size()), message});
    return {};
  }
  void ready_to_load(LaneRef lane) override { ready_.push_back(lane); }
  void send_error(std::uint64_t batch, std::uint32_t failed, const ErrorRecord& record) override {
    errors_.push_back({{batch, failed}, record});
  }
  void locate(Partition&, bool is_reset, std::int64_t lost) override {
    ++located_;
    is_reset_ = is_reset;
    lost_ = lost;
  }
  void failed(const Partition&, const Record&) override { ++failures_; }
  std::uint64_t next_batch() override { return ++batches_; }
  std::uint64_t bulks_answered() const override { return answered_; }

  PartitionOptions options_{.pipe = "p", .batch = {.messages = 4, .in_flight = 2}};
  std::shared_ptr<const PipeMachine> machine_;
  std::unique_ptr<Partition> partition_;
  Instant now_ = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};
  std::deque<std::string> log_;  // what was taken points into it
  std::map<std::size_t, SourceFault> faults_;
  std::size_t position_ = 0;
  std::vector<LaneRef> ready_;
  std::vector<std::string> sent_;
  std::map<std::string, ItemAnswer> answers_;
  std::function<std::optional<BulkFailure>(const std::string&)> whole_;
  std::map<std::string, int> indexed_;
  std::vector<std::pair<std::pair<std::uint64_t, std::uint32_t>, ErrorRecord>> errors_;
  std::vector<ErrorRecord> kept_;
  std::map<std::string, std::string_view> bad_;
  std::string throws_;
  std::string dropped_;
  int located_ = 0;
  bool is_reset_ = false;
  std::int64_t lost_ = -1;
  std::int64_t end_ = -1;
  int failures_ = 0;
  std::uint64_t batches_ = 0;
  std::uint64_t answered_ = 0;
};

TEST_F(PartitionTest, MovesBatchesThroughItsStates) {  // S1-21, S1-24, S1-26, S1-28
  begin();
  produce(4);
  step();
  EXPECT_EQ(view().state, "load");
  EXPECT_EQ(partition_->watermark(), 0);
  answer();
  EXPECT_EQ(sent_, std::vector<std::string>{"doc0\ndoc1\ndoc2\ndoc3\n"});
  EXPECT_EQ(view().state, "extract");
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 4U);
  produce(1);
  step();
  EXPECT_EQ(view().next, 5);
}

TEST_F(PartitionTest, WaitsForMoreUntilTheLingerIsOver) {
  begin();
  produce(2);
  step();
  EXPECT_EQ(view().state, "extract");
  ASSERT_TRUE(partition_->next_at());
  step(*partition_->next_at() - now_);
  EXPECT_EQ(view().state, "load");
}

TEST_F(PartitionTest, DoesNothingWhereThereIsNothingToRead) {  // S1-20
  begin();
  const PartitionView before = view();
  step(1h);
  EXPECT_EQ(view().state, "extract");
  EXPECT_EQ(view().since, before.since);
  EXPECT_EQ(view().attempt, 0);
  EXPECT_FALSE(partition_->next_at());
}

TEST_F(PartitionTest, CommitsOnlyWhatIsFinishedWithoutAGap) {  // P6
  begin();
  produce(8);
  step();
  ASSERT_EQ(ready_.size(), 2U);
  std::swap(ready_[0], ready_[1]);  // the later batch is answered first
  answer();
  EXPECT_EQ(partition_->watermark(), 0);
  EXPECT_EQ(view().outcomes.indexed, 4U);
  EXPECT_EQ(view().state, "load");
  answer();
  EXPECT_EQ(partition_->watermark(), 8);
}

TEST_F(PartitionTest, DoesNotRunAwayFromABatchThatIsStuck) {
  begin();
  produce(400);
  whole_ = [](const std::string& text) -> std::optional<BulkFailure> {
    if (text.find("doc0\n") == std::string::npos) return std::nullopt;
    return BulkFailure{.code = pipe_code::kEs4xx, .message = "401", .status = 401};
  };
  step();
  for (int i = 0; i < 200 && !ready_.empty(); ++i) answer();
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().of, "load");
  EXPECT_EQ(partition_->watermark(), 0);
  EXPECT_LE(view().next, 4 * 17);
}

TEST_F(PartitionTest, SendsWhatCannotBeTransformedToErrors) {  // S1-8, S1-9, S1-10, S1-25, S1-30
  begin();
  bad_ = {{"doc0", pipe_code::kInvalidFormat},
          {"doc1", pipe_code::kInvalidEvent},
          {"doc3", pipe_code::kTransformationError}};
  produce(4);
  step();
  answer();
  EXPECT_EQ(view().state, "send_errors");
  EXPECT_EQ(partition_->watermark(), 0);  // R1-7: until Kafka has them
  ASSERT_EQ(errors_.size(), 3U);
  settle_errors();
  ASSERT_EQ(kept_.size(), 3U);
  EXPECT_EQ(kept_[0].code, "invalid_format");
  EXPECT_EQ(kept_[0].state, "transform");
  EXPECT_EQ(kept_[0].original.value, "doc0");
  EXPECT_EQ(kept_[2].offset, 3);
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.errors, 3U);
  EXPECT_EQ(view().outcomes.indexed, 1U);
}

TEST_F(PartitionTest, MovesOnWhenAllMessagesAreBad) {  // S1-25, R1-8
  begin();
  for (int i = 0; i < 4; ++i) bad_["doc" + std::to_string(i)] = pipe_code::kInvalidFormat;
  produce(4);
  step();
  EXPECT_TRUE(ready_.empty());
  settle_errors();
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(kept_.size(), 4U);
}

TEST_F(PartitionTest, SendsAgainOnlyTheErrorsThatKafkaDidNotTake) {  // S1-22, S1-30
  begin();
  bad_ = {{"doc0", pipe_code::kInvalidFormat}, {"doc1", pipe_code::kInvalidFormat}};
  produce(4);
  step();
  answer();
  ASSERT_EQ(errors_.size(), 2U);
  const auto second = errors_.back();
  errors_.pop_back();
  settle_errors();
  partition_->error_settled(second.first.first, second.first.second, pipe_code::kKafkaUnavailable,
                            "away", now_);
  step();
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().of, "send_errors");
  EXPECT_EQ(view().code, "kafka_unavailable");
  EXPECT_EQ(partition_->watermark(), 0);
  step(1s);
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(errors_[0].second.offset, 1);
  settle_errors();
  EXPECT_EQ(partition_->watermark(), 4);
}

TEST_F(PartitionTest, SendsItemsThatAreRefusedToErrors) {  // S1-13, code 12
  begin();
  answers_["doc2"] = {.kind = ItemAnswer::Kind::refused,
                      .status = 400,
                      .type = "mapper_parsing_exception",
                      .reason = "failed to parse"};
  produce(4);
  step();
  answer();
  settle_errors();
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].code, "bulk_item");
  EXPECT_EQ(kept_[0].es_status, 400);
  EXPECT_EQ(kept_[0].es_type, "mapper_parsing_exception");
  EXPECT_NE(kept_[0].reason.find("failed to parse"), std::string::npos);
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 3U);
}

TEST_F(PartitionTest, SendsAgainOnlyTheItemsThatWereBusy) {  // P4, P16
  begin();
  answers_["doc1"] = {.kind = ItemAnswer::Kind::busy, .status = 429};
  produce(4);
  step();
  answer();
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().code, "bulk_item_busy");
  answers_.clear();
  step(1s);
  answer();
  EXPECT_EQ(sent_.back(), "doc1\n");
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().retried, 1U);
  for (const auto& [doc, times] : indexed_) EXPECT_EQ(times, 1) << doc;
}

TEST_F(PartitionTest, CountsWhatIsThereAlready) {
  begin();
  answers_["doc1"] = {.kind = ItemAnswer::Kind::duplicate, .status = 409};
  produce(4);
  step();
  answer();
  EXPECT_EQ(view().outcomes.duplicate, 1U);
  EXPECT_EQ(partition_->watermark(), 4);
}

TEST_F(PartitionTest, GivesUpOnAnIndexThatStaysBlocked) {
  begin();
  answers_["doc1"] = {.kind = ItemAnswer::Kind::blocked, .status = 403};
  produce(4);
  step();
  answer();
  EXPECT_EQ(view().code, "bulk_item_blocked");
  for (int i = 0; i < 60 && errors_.empty(); ++i) {
    step(3min);
    if (!ready_.empty()) answer();
  }
  ASSERT_EQ(errors_.size(), 1U);
  settle_errors();
  EXPECT_EQ(kept_[0].code, "bulk_item_blocked");
  EXPECT_EQ(kept_[0].es_status, 403);
  EXPECT_TRUE(kept_[0].retryable);
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 3U);
}

// One that was busy is sent for as long as it takes, also beside one that is given up.
TEST_F(PartitionTest, GivesUpNoItemThatIsOnlyBusy) {  // P4, code 12
  begin();
  answers_["doc1"] = {.kind = ItemAnswer::Kind::blocked, .status = 403, .reason = "read-only"};
  answers_["doc2"] = {.kind = ItemAnswer::Kind::busy, .status = 429};
  produce(4);
  step();
  for (int i = 0; i < 60 && errors_.empty(); ++i) {
    if (!ready_.empty()) answer();
    step(3min);
  }
  settle_errors();
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].offset, 1);
  EXPECT_NE(kept_[0].reason.find("read-only"), std::string::npos);
  EXPECT_EQ(partition_->watermark(), 0);
  answers_.erase("doc2");
  for (int i = 0; i < 10 && partition_->watermark() < 4; ++i) {
    if (!ready_.empty()) answer();
    step(3min);
  }
  EXPECT_EQ(sent_.back(), "doc2\n");
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 3U);
  EXPECT_EQ(view().outcomes.errors, 1U);
  EXPECT_EQ(kept_.size(), 1U);
  for (const auto& [doc, times] : indexed_) EXPECT_EQ(times, 1) << doc;
}

// What was said of the whole before, by another cause, is not held against a document.
TEST_F(PartitionTest, BlamesNoDocumentForAnOutage) {  // code 11
  options_.batch.messages = 1;
  begin();
  produce(1);
  step();
  whole_ = [this](const std::string&) {
    const bool is_late = sent_.size() > 5;
    return std::optional(BulkFailure{.code = is_late ? pipe_code::kEs5xx : pipe_code::kNetwork,
                                     .message = "away",
                                     .status = is_late ? 500 : 0});
  };
  for (int i = 0; i < 6; ++i) {
    answer();
    ++answered_;  // of others
    step(2min);
  }
  EXPECT_TRUE(errors_.empty());
  whole_ = nullptr;
  answer();
  EXPECT_EQ(view().outcomes.indexed, 1U);
}

TEST_F(PartitionTest, RetriesTheSameBatchWhenTheSearchEngineIsAway) {  // S1-7, S1-11, S1-12, S1-14
  begin();
  produce(4);
  step();
  const std::pair<std::string_view, int> failures[] = {{pipe_code::kNetwork, 0},
                                                       {pipe_code::kEsUnavailable, 0},
                                                       {pipe_code::kEs5xx, 503},
                                                       {pipe_code::kEs4xx, 401},
                                                       {pipe_code::kEsBusy, 429}};
  int expected = 0;
  for (const auto& [code, status] : failures) {
    whole_ = [code = code, status = status](const std::string&) {
      return std::optional(BulkFailure{.code = code, .message = "no", .status = status});
    };
    answer();
    EXPECT_EQ(view().state, "retrying");
    EXPECT_EQ(view().of, "load");
    EXPECT_EQ(view().code, code);
    EXPECT_EQ(view().failures, ++expected);
    EXPECT_EQ(partition_->watermark(), 0);
    step(2min);
  }
  whole_ = nullptr;
  answer();
  EXPECT_EQ(partition_->watermark(), 4);
  for (const std::string& text : sent_) EXPECT_EQ(text, "doc0\ndoc1\ndoc2\ndoc3\n");
}

TEST_F(PartitionTest, FindsTheDocumentThatFailsTheWholeRequest) {  // P3, code 13
  options_.batch.messages = 64;
  begin();
  produce(64);
  step(50ms);
  whole_ = [](const std::string& text) -> std::optional<BulkFailure> {
    if (text.find("doc17\n") == std::string::npos) return std::nullopt;
    return BulkFailure{.code = pipe_code::kEs4xx, .message = "400", .bisect = true, .status = 400};
  };
  while (!ready_.empty()) answer();
  settle_errors();
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].offset, 17);
  EXPECT_EQ(kept_[0].code, "bulk_item");
  EXPECT_EQ(view().outcomes.indexed, 63U);
  EXPECT_EQ(partition_->watermark(), 64);
  EXPECT_LE(sent_.size(), 14U);
  for (const auto& [doc, times] : indexed_) EXPECT_EQ(times, 1) << doc;
}

TEST_F(PartitionTest, FindsTheDocumentThatIsTooLarge) {  // S1-5, code 4
  begin();
  produce(4);
  step();
  whole_ = [](const std::string& text) -> std::optional<BulkFailure> {
    if (text.find("doc3\n") == std::string::npos) return std::nullopt;
    return BulkFailure{.code = pipe_code::kEs4xx, .message = "413", .bisect = true, .status = 413};
  };
  while (!ready_.empty()) answer();
  settle_errors();
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].code, "message_too_big");
}

// Whoever it is that fails on one document, without saying so.
TEST_F(PartitionTest, FindsTheDocumentThatTheSearchEngineBreaksOn) {  // code 11
  expect_found(BulkFailure{.code = pipe_code::kEs5xx, .message = "500", .status = 500}, "es_5xx");
}
TEST_F(PartitionTest, FindsTheDocumentThatAProxyRefuses) {  // P3, code 13
  expect_found(BulkFailure{.code = pipe_code::kEs4xx, .message = "400", .status = 400},
               "bulk_item");
}

TEST_F(PartitionTest, KeepsEverythingWhileTheSearchEngineIsBrokenForAll) {  // code 11
  begin();
  produce(4);
  step();
  whole_ = [](const std::string&) {
    return std::optional(BulkFailure{.code = pipe_code::kEs5xx, .message = "503", .status = 503});
  };
  for (int i = 0; i < 60; ++i) {
    if (ready_.empty()) step(2min);
    if (!ready_.empty()) answer();
  }
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(partition_->watermark(), 0);
  whole_ = nullptr;
  for (int i = 0; i < 10; ++i) {
    if (ready_.empty()) step(2min);
    if (!ready_.empty()) answer();
  }
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 4U);
}

TEST_F(PartitionTest, ReadsAgainFromTheCommittedOffsetAfterAFailureOfNoKnownKind) {  // S1-1, code 0
  begin();
  produce(4);
  throws_ = "doc2";
  step();
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().code, "uncategorised");
  throws_.clear();
  step(1s);
  EXPECT_EQ(view().state, "assign");
  EXPECT_EQ(located_, 2);
  EXPECT_EQ(view().resets, 1U);
  EXPECT_EQ(view().consumed, 0U);
  locate(0);
  answer();
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 4U);
}

TEST_F(PartitionTest, IsolatesTheMessageThatBreaksIt) {  // code 0
  begin();
  produce(8);
  throws_ = "doc2";
  for (int i = 0; i < 100 && kept_.empty(); ++i) {
    step(2min);
    if (view().state == "assign") locate(partition_->watermark());
    while (!ready_.empty()) answer();
    settle_errors();
  }
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].offset, 2);
  EXPECT_EQ(kept_[0].code, "uncategorised");
  EXPECT_NE(kept_[0].reason.find("out of luck"), std::string::npos);
  for (int i = 0; i < 20; ++i) {
    step(1s);
    while (!ready_.empty()) answer();
  }
  EXPECT_EQ(partition_->watermark(), 8);
  EXPECT_EQ(view().outcomes.indexed, 7U);
}

// What failed was to read, not what was read after it.
TEST_F(PartitionTest, SuspectsNoMessageWhenKafkaFailsInAnUnknownWay) {  // code 0
  options_.batch.in_flight = 1;
  begin();
  produce(4);
  for (int i = 0; i < 8; ++i) {
    faults_[0] = {.code = pipe_code::kUncategorised, .message = "unknown server error"};
    view().state == "assign" ? locate(partition_->watermark()) : step();
    EXPECT_EQ(view().state, "retrying");
    step(2min);
  }
  EXPECT_GE(view().resets, 5U);
  faults_.clear();
  for (int i = 0; i < 20 && partition_->watermark() < 4; ++i) {
    step(2min);
    if (view().state == "assign") locate(partition_->watermark());
    while (!ready_.empty()) answer();
  }
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(view().outcomes.indexed, 4U);
}

// The other lane has a message on its way meanwhile.
TEST_F(PartitionTest, IsolatesOneMessageAtATime) {  // code 0
  options_.batch.in_flight = 2;
  options_.batch.messages = 1;
  begin();
  produce(2);
  throws_ = "doc1";
  for (int i = 0; i < 100 && kept_.empty(); ++i) {
    step(2min);  // the first waits for its answer while the second fails
    if (view().state == "assign") locate(partition_->watermark());
    std::erase_if(ready_, [&](const LaneRef& ref) { return !partition_->wants_load(ref.lane); });
    if (i > 40 && !ready_.empty()) answer();
    settle_errors();
  }
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].offset, 1);
  EXPECT_EQ(view().outcomes.indexed, 1U);
}

TEST_F(PartitionTest, ShowsThatKafkaIsAwayAndGoesOnAtOnceWhenItIsBack) {  // S1-2, S1-19
  begin();
  partition_->kafka_fault(pipe_code::kKafkaUnavailable, "all brokers are down", now_);
  step();
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().of, "extract");
  EXPECT_EQ(view().failures, 1);
  ASSERT_TRUE(view().next_at);
  for (int i = 0; i < 10; ++i) step(2min);
  EXPECT_EQ(view().failures, 11);
  partition_->kafka_fault("", "", now_);
  step();
  EXPECT_EQ(view().state, "extract");
  produce(4);
  step();
  EXPECT_EQ(view().state, "load");
}

TEST_F(PartitionTest, FindsAnotherOffsetWhenItsOwnIsNotThere) {  // S1-6, S1-16, code 5
  begin();
  produce(4);
  step();
  answer();
  produce(8);
  faults_[4] = {.code = pipe_code::kOffsetNotAvailable, .message = "out of range", .offset = 4};
  step();
  EXPECT_EQ(view().state, "reset_offset");
  EXPECT_TRUE(is_reset_);
  EXPECT_EQ(lost_, 4);
  locate(8, OffsetGap{.first = 4, .last = 7, .reason = "retention"});
  EXPECT_EQ(partition_->watermark(), 4);  // until it is noted
  ASSERT_EQ(errors_.size(), 0U);
  step(1s);
  while (!ready_.empty()) answer();
  ASSERT_EQ(errors_.size(), 1U);
  EXPECT_EQ(partition_->watermark(), 4);
  settle_errors();
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].code, "offset_not_available");
  EXPECT_EQ(kept_[0].offset, 4);
  EXPECT_EQ(kept_[0].last_offset, 7);
  EXPECT_EQ(view().gaps, 4U);
  EXPECT_EQ(view().outcomes.indexed, 8U);
  EXPECT_EQ(partition_->watermark(), 12);
}

TEST_F(PartitionTest, NotesAMessageThatCannotBeHadAndGoesOn) {  // S1-5, R1-3, code 4
  begin();
  produce(4);
  const SourceFault fault{.code = pipe_code::kMessageTooBig, .message = "9 MB", .offset = 2};
  faults_[2] = fault;
  step();
  while (!ready_.empty()) answer();
  EXPECT_EQ(lost_, 2);  // once more: it may have been the broker
  faults_[2] = fault;
  locate(2);
  step(1s);
  while (!ready_.empty()) answer();
  settle_errors();
  EXPECT_EQ(lost_, 3);  // the client would ask for the same one again
  locate(3);
  step(1s);
  while (!ready_.empty()) answer();
  EXPECT_EQ(partition_->watermark(), 4);
  EXPECT_EQ(view().outcomes.indexed, 3U);
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].code, "message_too_big");
  EXPECT_EQ(kept_[0].offset, 2);
  EXPECT_FALSE(kept_[0].original.value);
}

TEST_F(PartitionTest, ReadsAMessageThatCouldNotBeHadOnlyOnce) {
  begin();
  produce(4);
  faults_[2] = {.code = pipe_code::kInvalidFormat, .message = "bad checksum", .offset = 2};
  step();
  while (!ready_.empty()) answer();
  locate(2);
  step(1s);
  while (!ready_.empty()) answer();
  EXPECT_EQ(view().outcomes.indexed, 4U);
  EXPECT_EQ(view().gaps, 0U);
  partition_->begin_again("no memory", now_);  // and what was had counts for nothing the next time
  step(2min);
  faults_[2] = {.code = pipe_code::kInvalidFormat, .message = "bad checksum", .offset = 2};
  locate(0);
  step(1s);
  while (!ready_.empty()) answer();
  EXPECT_EQ(lost_, 2);
  EXPECT_TRUE(errors_.empty());
}

// The rows of `extract` for single messages are those of the file.
TEST_F(PartitionTest, DropsOrAsksAgainForWhatCannotBeHadAsTheFileSays) {  // code 4, code 7
  options_.batch.in_flight = 1;
  begin([](std::string text) {
    for (const auto& [from, to] :
         {std::pair<std::string, std::string>{
              "message_too_big: give_up                  # 4, item: its",
              "message_too_big: done                     # 4, item: its"},
          {"invalid_format: give_up                   # 7, item: it could",
           "invalid_format: retry                     # 7, item: it could"}})
      text.replace(text.find(from), from.size(), to);
    return text;
  });
  produce(4);
  const auto fail_at = [&](std::size_t offset, std::string_view code) {
    faults_[offset] = {.code = code, .message = "no", .offset = static_cast<std::int64_t>(offset)};
  };
  fail_at(1, pipe_code::kMessageTooBig);
  step();
  answer();
  EXPECT_EQ(lost_, 1);
  fail_at(1, pipe_code::kMessageTooBig);
  locate(1);
  EXPECT_EQ(lost_, 2);
  for (int i = 0; i < 3; ++i) {
    fail_at(2, pipe_code::kInvalidFormat);
    locate(2);
    EXPECT_EQ(view().failures, 1);
    EXPECT_EQ(view().code, "invalid_format");
    step(2min);
    EXPECT_EQ(lost_, 2);
  }
  locate(2);
  step(1s);
  answer();
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(view().outcomes.indexed, 3U);
  EXPECT_EQ(partition_->watermark(), 4);
}

// Of transactions Kafka keeps records that nobody is given.
TEST_F(PartitionTest, IsDoneWithOffsetsThatHoldNoMessage) {
  begin();
  produce(4);
  step();
  end_ = 5;
  EXPECT_EQ(partition_->watermark(), 0);  // not while something is on its way
  answer();
  step();
  EXPECT_EQ(partition_->watermark(), 5);
  EXPECT_EQ(view().next, 5);
}

TEST_F(PartitionTest, RetriesWhereItCannotFindOutWhereToBegin) {  // S1-3, S1-4
  machine_ = *PipeMachine::read(PipeMachine::built_in(), test_zones());
  partition_ = std::make_unique<Partition>(kafka::PartitionId{"events", 3}, 1, options_, machine_,
                                           *this, now_);
  step();
  partition_->not_located(pipe_code::kTopicNotFound, "no topic", now_);
  step();
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().code, "topic_not_found");
  step(1s);
  EXPECT_EQ(located_, 2);
  partition_->not_located(pipe_code::kPartitionNotFound, "no partition", now_);
  step(2s);
  EXPECT_EQ(located_, 3);
  locate(0);
  EXPECT_EQ(view().state, "extract");
}

TEST_F(PartitionTest, DropsWhatTheFileSaysToDrop) {
  begin([](std::string text) {
    const std::string_view what = "transformation_error: give_up";
    return text.replace(text.find(what), what.size(), "transformation_error: done");
  });
  bad_ = {{"doc1", pipe_code::kTransformationError}};
  produce(4);
  step();
  answer();
  EXPECT_TRUE(errors_.empty());
  EXPECT_EQ(view().outcomes.skipped, 1U);
  EXPECT_EQ(partition_->watermark(), 4);
}

TEST_F(PartitionTest, WaitsAsLongAsTheFileSays) {
  begin([](std::string text) {
    const std::string_view what = "es_5xx: retry ";
    return text.replace(text.find(what), what.size(), "es_5xx: {retry: [7s, 9s]} ");
  });
  whole_ = [](const std::string&) {
    return std::optional(BulkFailure{.code = pipe_code::kEs5xx, .message = "503", .status = 503});
  };
  produce(4);
  step();
  answer();
  EXPECT_EQ(*view().next_at, now_ + 7s);
  step(7s);
  answer();
  EXPECT_EQ(*view().next_at, now_ + 9s);
  step(9s);
  answer();
  EXPECT_EQ(view().hold, "503");  // the delays are used up
  EXPECT_EQ(partition_->watermark(), 0);
  whole_ = nullptr;
  partition_->resume({.name = "eve", .roles = {"operator"}}, "it is well again", now_);
  step();
  answer();
  EXPECT_EQ(partition_->watermark(), 4);
}

TEST_F(PartitionTest, SkipsWhatAPersonSays) {
  begin();
  answers_["doc1"] = {.kind = ItemAnswer::Kind::blocked, .status = 403};
  produce(4);
  step();
  answer();
  const Actor eve{.name = "eve", .roles = {"operator"}};
  EXPECT_NE(partition_->skip(7, eve, "why not", now_), "");
  EXPECT_EQ(partition_->skip(1, eve, "not needed", now_), "");
  step();
  settle_errors();
  ASSERT_EQ(kept_.size(), 1U);
  EXPECT_EQ(kept_[0].code, "skipped");
  EXPECT_EQ(kept_[0].reason, "skipped by eve: not needed");
  EXPECT_EQ(view().outcomes.skipped, 1U);
  EXPECT_EQ(partition_->watermark(), 4);
}

TEST_F(PartitionTest, SendsNothingOfABatchWhoseLastItemWasSkipped) {
  options_.batch.in_flight = 1;
  begin();
  produce(1);
  answers_["doc0"] = {.kind = ItemAnswer::Kind::blocked, .status = 403};
  step();
  step(50ms);
  answer();
  step(2s);
  ASSERT_EQ(ready_.size(), 1U);  // offered, and the window is full
  EXPECT_EQ(partition_->skip(0, {.name = "eve", .roles = {"operator"}}, "enough", now_), "");
  step();
  EXPECT_FALSE(partition_->wants_load(0));
  EXPECT_FALSE(partition_->load_begins(0, now_));
  settle_errors();
  EXPECT_EQ(partition_->watermark(), 1);
}

TEST_F(PartitionTest, ReadsAgainWhenSomethingBreaksWithoutAName) {
  begin();
  produce(8);
  step();
  answer();
  partition_->begin_again("no memory", now_);
  EXPECT_EQ(view().state, "retrying");
  EXPECT_EQ(view().code, "uncategorised");
  EXPECT_EQ(view().consumed, 4U);  // what was finished stays
  step(1s);
  EXPECT_EQ(located_, 2);
  ready_.clear();
  locate(partition_->watermark());
  while (!ready_.empty()) answer();
  EXPECT_EQ(partition_->watermark(), 8);
  EXPECT_EQ(view().outcomes.indexed, 8U);
}

TEST_F(PartitionTest, AsksOnceWhereToBeginWhenALaterBatchBreaks) {
  begin();
  produce(8);
  throws_ = "doc6";
  step();
  throws_.clear();
  step(1s);
  EXPECT_EQ(located_, 2);
  EXPECT_EQ(view().resets, 1U);
  ready_.clear();
  locate(0);
  step(1s);
  EXPECT_EQ(located_, 2);
  EXPECT_EQ(view().resets, 1U);
  while (!ready_.empty()) answer();
  EXPECT_EQ(partition_->watermark(), 8);
}

TEST_F(PartitionTest, TakesNothingWhilePausedOrDraining) {
  begin();
  partition_->pause(true);
  produce(4);
  step();
  EXPECT_EQ(view().consumed, 0U);
  partition_->resume({.name = "eve", .roles = {"operator"}}, "go", now_);
  produce(2);
  step();
  EXPECT_EQ(view().consumed, 6U);
  partition_->drain(now_);
  EXPECT_FALSE(partition_->is_drained());
  produce(4);
  while (!ready_.empty()) answer();
  step();
  EXPECT_TRUE(partition_->is_drained());
  EXPECT_EQ(view().state, "stopped");
  EXPECT_EQ(partition_->watermark(), 6);
  EXPECT_EQ(view().consumed, 6U);
}

TEST_F(PartitionTest, DrainsThroughTheStatesOfTheFile) {
  begin([](std::string text) {
    const std::string from = "drained: stopped";
    return text.replace(text.find(from), from.size(), "drained: {hold: \"stay\"}");
  });
  EXPECT_EQ(view().state, "extract");
  partition_->drain(now_);
  EXPECT_EQ(view().state, "drain");
  EXPECT_EQ(view().hold, "stay");
}

// What was taken goes on, so that nobody waits for a linger that is over.
TEST_F(PartitionTest, SendsWhatWasTakenBeforeAPause) {
  options_.batch.linger = 1min;
  begin();
  produce(2);
  step();
  EXPECT_TRUE(ready_.empty());
  partition_->pause(true);
  produce(2);
  step();
  EXPECT_EQ(partition_->next_at(), std::nullopt);
  answer();
  EXPECT_EQ(partition_->watermark(), 2);
}

TEST_F(PartitionTest, NeedsAPersonOnlyWhereOneCanHelp) {
  PartitionView seen{.code = std::string(pipe_code::kEs4xx), .failing_since = now_};
  EXPECT_TRUE(seen.is_alarming(now_));
  seen.code = pipe_code::kEs5xx;
  EXPECT_FALSE(seen.is_alarming(now_ + 1h));
  seen.code = pipe_code::kTopicNotFound;
  EXPECT_FALSE(seen.is_alarming(now_ + 59s));
  EXPECT_TRUE(seen.is_alarming(now_ + 60s));
  seen = {.hold = "look"};
  EXPECT_TRUE(seen.is_alarming(now_));
}

TEST_F(PartitionTest, ReadsNoMessageTwice) {  // S1-31: offset and source stay from batch to batch
  begin();
  produce(4);
  step();
  answer();
  position_ = 2;  // as after an assignment: what was fetched before comes once more
  produce(2);
  step(1s);
  step(1s);
  while (!ready_.empty()) answer();
  for (const auto& [doc, times] : indexed_) EXPECT_EQ(times, 1) << doc;
  EXPECT_EQ(partition_->watermark(), 6);
  EXPECT_EQ(located_, 1);
}

// It goes back to what is committed, and not to what it had lost further on.
TEST_F(PartitionTest, ForgetsWhatItHadLostWhenItBeginsAgain) {  // I2
  options_.batch.in_flight = 1;
  begin();
  produce(4);
  faults_[2] = {.code = pipe_code::kOffsetNotAvailable, .message = "not there", .offset = 2};
  step();
  answer();
  EXPECT_EQ(lost_, 2);
  partition_->not_located("something_else", "of no known kind", now_);
  step(2min);
  EXPECT_EQ(view().state, "assign");
  EXPECT_FALSE(is_reset_);
  EXPECT_EQ(lost_, -1);
}

}  // namespace
}  // namespace pawl
