// Partition: one partition of a topic on its way into the search engine: its lanes, the batches on
// them, and the offset up to which everything is done with.
//
// For one thread. It never waits: `step` does what can be done now, everything else comes as a
// call.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/record.h"
#include "pawl/time.h"
#include "pipe/batch.h"
#include "pipe/bulk_answer.h"
#include "pipe/error_record.h"
#include "pipe/kafka.h"
#include "pipe/lane.h"
#include "pipe/pipe_config.h"
#include "pipe/pipe_machine.h"
#include "pipe/transform.h"

namespace pawl {

struct SourceFault {
  std::string_view code;  // of pipe_code
  std::string message;
  std::int64_t offset = -1;  // of what could not be had, where it is known
};

// Where messages come from.
class MessageSource {
 public:
  virtual ~MessageSource() = default;
  // Appends at most so many of those that are there now. A fault ends it; what stood before the
  // fault was taken.
  virtual std::optional<SourceFault> take(std::size_t most, std::vector<TakenMessage>& into) = 0;
  // An offset before which nothing more comes than what was taken; -1: not known.
  virtual std::int64_t end() const { return -1; }
};

class Partition;

// One lane of a partition that has something to be loaded.
struct LaneRef {
  Partition* partition = nullptr;
  std::size_t lane = 0;
};

// What a partition asks of whoever runs it.
class PartitionHost {
 public:
  virtual ~PartitionHost() = default;

  // May throw: that is a failure of no known kind.
  virtual Transform::Outcome transform(const SourceMessage& source, std::uint32_t message,
                                       BulkBody& body) = 0;
  // The batch on that lane waits to be sent; `load_begins` when it is.
  virtual void ready_to_load(LaneRef lane) = 0;
  // Settled by `error_settled`, later.
  virtual void send_error(std::uint64_t batch, std::uint32_t failed, const ErrorRecord& record) = 0;
  // Wants to know where to begin: `located` or `not_located`, of the same epoch. With `lost`, the
  // offset that could not be had, -1 where there was none.
  virtual void locate(Partition& partition, bool is_reset, std::int64_t lost) = 0;
  // A lane of it failed, and this is what its machine made of that.
  virtual void failed(const Partition& partition, const Record& record) = 0;
  // A number that no batch had before.
  virtual std::uint64_t next_batch() = 0;
  // Bulks that the search engine has answered, ever.
  virtual std::uint64_t bulks_answered() const = 0;
};

// Offsets that nobody can have any more.
struct OffsetGap {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::string reason;
};

// What is seen of a partition from outside.
struct PartitionView {
  kafka::PartitionId id;
  int epoch = 0;
  std::string state;  // of the oldest batch that is not finished
  std::string of;     // of `retrying`: the state that failed
  Instant since = {};
  std::string code;  // of the last failure, while it matters
  std::string error;
  int attempt = 0;
  int failures = 0;
  std::optional<Instant> failing_since = {};
  std::optional<Instant> next_at = {};
  std::string hold;
  bool is_paused = false;
  struct Pause {
    std::string by;
    std::string reason;
    Instant since = {};
  };
  std::optional<Pause> pause = {};
  bool is_draining = false;
  std::int64_t committed = -1;  // -1: not known
  std::int64_t watermark = -1;
  std::int64_t next = -1;
  std::int64_t high = -1;
  std::size_t batches = 0;
  std::uint64_t on_its_way = 0;
  std::uint64_t bytes = 0;
  std::uint64_t consumed = 0;
  Outcomes outcomes = {};
  std::uint64_t retried = 0;  // items that were sent again
  std::uint64_t resets = 0;
  std::uint64_t gaps = 0;  // messages that were lost before they could be read
  // The most that each of the outcomes ever was: what is read once more is not counted twice.
  Outcomes counted = {};
  double in_per_second = 0;                          // consumed, lately
  double out_per_second = 0;                         // finished, lately
  std::map<std::string, double> state_seconds = {};  // spent in each, since it was given to us
  // There is something to do and nothing is done, for no reason that is shown.
  bool is_stalled = false;
  bool is_alarm = false;

  // It is tried again for ever, and only a person can let it succeed.
  bool is_alarming(Instant now) const;

  // Messages that are in the topic and not finished; none: not known.
  std::optional<std::int64_t> lag() const {
    if (high < 0 || watermark < 0) return std::nullopt;
    return std::max<std::int64_t>(0, high - watermark);
  }
  // What the books do not explain; must be 0.
  std::int64_t unaccounted() const {
    return static_cast<std::int64_t>(consumed - outcomes.all() - on_its_way);
  }
};

struct PartitionOptions {
  std::string pipe;
  BatchConfig batch = {};
  KafkaConfig::Start start = KafkaConfig::Start::earliest;
};

class Partition {
 public:
  Partition(kafka::PartitionId id, int epoch, const PartitionOptions& options,
            std::shared_ptr<const PipeMachine> machine, PartitionHost& host, Instant now);

  const kafka::PartitionId& id() const { return id_; }
  int epoch() const { return epoch_; }

  // Begins to read there; the source gives what comes from that offset on.
  void located(std::int64_t offset, std::unique_ptr<MessageSource> source,
               std::optional<OffsetGap> gap, Instant now);
  void not_located(std::string_view code, std::string message, Instant now);
  // Another way to what comes next: after an assignment that concerned others.
  void new_source(std::unique_ptr<MessageSource> source) { source_ = std::move(source); }
  bool is_located() const { return is_begun_; }

  // Kafka is away, or back (`code` empty).
  void kafka_fault(std::string_view code, std::string message, Instant now);

  // At most so many bytes in one batch.
  void set_batch_bytes(std::size_t bytes) { bytes_max_ = bytes; }
  void pause(bool is_paused) { is_paused_ = is_paused; }
  // Everything that waits for a delay or a person goes on now. Says what does not, or nothing.
  std::string resume(const Actor& actor, const std::string& reason, Instant now);
  // The message is not loaded, and noted in the topic of errors. Says why it cannot be, or nothing.
  std::string skip(std::int64_t offset, const Actor& actor, const std::string& reason, Instant now);

  // Takes nothing more.
  void drain(Instant now);
  bool is_drained() const;
  // Takes nothing until `unpark`; the offset of what comes next.
  std::int64_t park();
  void unpark() { is_parked_ = false; }

  void step(Instant now);
  // Something went wrong in here that has no name: forgets what is on its way, and reads it again.
  void begin_again(const std::string& reason, Instant now);
  // When `step` may have something to do without anything else happening.
  std::optional<Instant> next_at() const;

  // Loading. The text lives as long as the batch.
  std::shared_ptr<MessageBatch> batch(std::size_t lane) const { return lanes_[lane].batch; }
  std::string_view load_text(std::size_t lane);
  bool wants_load(std::size_t lane) const { return lanes_[lane].is_offered; }
  std::size_t load_items(std::size_t lane) { return lanes_[lane].batch->plan.next().size(); }
  // False: the machine has given up on it, there is nothing to send.
  bool load_begins(std::size_t lane, Instant now);
  void item_answered(std::size_t lane, std::size_t item, const ItemAnswer& answer);
  void load_answered(std::size_t lane, Instant now);  // after all of its items
  void load_failed(std::size_t lane, const BulkFailure& failure, bool was_mixed, Instant now);

  // Of code and message none when Kafka has it.
  void error_settled(std::uint64_t batch, std::uint32_t failed, std::string_view code,
                     const std::string& message, Instant now);

  bool waits_for_errors(std::uint64_t batch) const;

  std::int64_t watermark() const { return watermark_; }
  const Outcomes& outcomes() const { return outcomes_; }
  PartitionView view() const;

 private:
  struct Place {
    Lane lane;
    std::shared_ptr<MessageBatch> batch;
    bool is_offered = false;     // to the host, for loading
    std::size_t errors_out = 0;  // sent to the topic of errors, not settled yet
    // While an answer is read: what came of the items of the group.
    std::vector<std::uint32_t> finished = {};
    std::vector<std::uint32_t> again = {};
    std::string again_code = {};
    std::string again_message = {};
  };
  struct Range {
    std::uint64_t batch;
    std::int64_t end;
    bool is_finished = false;
    Outcomes outcomes = {};  // once it is finished
  };

  void begin_lanes(Instant now);
  void fail(Place& place, std::string_view code, std::string message,
            std::optional<Duration> retry_after, Instant now);
  void fail_now(Place& place, std::string_view code, std::string message, Instant now);
  void step_lane(std::size_t index, Instant now);
  bool ask_where(Place& place, bool is_reset, Instant now);
  bool extract(std::size_t index, Instant now);
  void take(MessageBatch& batch, std::size_t index, Instant now);
  void pass_over(MessageBatch& batch, std::size_t index, const SourceFault& fault,
                 PipeMachine::ItemAction action);
  void read_again_from(std::int64_t offset, std::size_t index, std::string reason);
  bool close_batch(Place& place, Instant now);
  bool transform(Place& place, Instant now);
  bool load(std::size_t index, Instant now);
  bool send_errors(Place& place, Instant now);
  void give_up(Place& place);
  bool retire(Place& place, Instant now);
  void finish(Place& place);
  void reset(std::size_t index, Instant now);
  void suspect(const MessageBatch& failed);
  void forget(const Outcomes& outcomes, std::uint64_t messages);
  void fail_message(Place& place, std::uint32_t message, std::string_view code, std::string reason,
                    const ItemAnswer* answer, bool retryable);
  bool answer_item_failure(Place& place, std::uint32_t item, std::string_view code,
                           const std::string& reason, const ItemAnswer& answer);
  bool answer_culprit(Place& place, const BulkFailure& failure);
  void go_on_loading(std::size_t index, Instant now);
  ErrorRecord error_record(const MessageBatch& batch, const FailedMessage& failed,
                           Instant now) const;
  const Place* oldest() const;
  std::shared_ptr<MessageBatch> new_batch();

  kafka::PartitionId id_;
  int epoch_;
  PartitionOptions options_;
  std::shared_ptr<const PipeMachine> machine_;
  PartitionHost& host_;
  std::unique_ptr<MessageSource> source_;
  std::vector<Place> lanes_;
  std::vector<std::shared_ptr<MessageBatch>> spare_;
  std::deque<Range> ranges_;  // in the order of offsets
  std::optional<std::size_t> extracting_;
  std::optional<std::size_t> locating_;
  std::optional<SourceFault> fault_;
  std::vector<OffsetGap> gaps_to_note_;
  std::string kafka_code_;  // while Kafka is away
  std::string kafka_message_;
  std::optional<std::size_t> lost_lane_;  // that found out that what comes next is not there …
  std::string lost_reason_;
  std::int64_t lost_offset_ = -1;  // … at this offset
  std::int64_t doubted_ = -1;      // could not be had once
  std::size_t bytes_max_;
  std::size_t usual_bytes_ = 1'024;  // of a message
  bool is_begun_ = false;            // it is known where to read
  bool is_paused_ = false;
  bool is_draining_ = false;
  bool is_parked_ = false;
  std::int64_t next_ = -1;
  std::int64_t watermark_ = -1;
  std::int64_t reset_at_ = -1;  // the watermark of the last reset …
  int resets_there_ = 0;        // … and how many there were at it
  std::string reset_reason_;
  std::int64_t isolate_until_ = -1;  // batches of one message up to this offset
  std::int64_t culprit_ = -1;        // the message that failed alone: of errors when it comes again
  std::uint64_t consumed_ = 0;
  Outcomes outcomes_;
  std::uint64_t retried_ = 0;
  std::uint64_t resets_ = 0;
  std::uint64_t gaps_ = 0;
};

}  // namespace pawl
