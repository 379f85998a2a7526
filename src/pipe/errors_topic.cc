// A record goes through up to four stages, each smaller than the one before:
//
//   together  with others in one batch, which is what makes it fast
//   alone     in a batch of its own: a broker refuses a batch as a whole, and says of each record
//   in
//             it that it is too large, also of those that are not
//   omitted   without the payload
//   bare      without the key and the headers of the message, too
//
// Batches of one record need a producer of their own, which is made when the first record needs it.
//
// A producer with a fatal error (librdkafka 2.0.2 has one after some timeouts) does nothing any
// more: every ticket fails, and a new one is made.
#include "pipe/errors_topic.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/text.h"
#include "pipe/kafka.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using std::chrono::milliseconds;

// While batches of one are on their way nothing wakes who waits for the others.
constexpr milliseconds kAloneEvery{10};

enum class Stage { together, alone, omitted, bare };

Stage after(Stage stage) { return static_cast<Stage>(static_cast<int>(stage) + 1); }

struct Pending {
  std::uint64_t ticket = 0;
  Stage stage = Stage::together;
  ErrorRecord record = {};  // without its payload
};

ErrorRecord without_payload(ErrorRecord record) {
  if (record.original.value)
    record.payload_bytes = static_cast<std::int64_t>(record.original.value->size());
  record.original.value.reset();
  return record;
}

// As it is written at a stage behind `alone`.
ErrorRecord smaller(const ErrorRecord& record, Stage stage) {
  ErrorRecord small = record;
  small.payload_omitted = true;
  if (stage == Stage::bare) {
    small.original = {};
    small.reason = "(key and headers left out: too large) " + small.reason;
  }
  return small;
}

std::vector<kafka::Setting> settings_of(const ErrorsTopic::Limits& limits) {
  return {{"acks", "all"},
          {"enable.idempotence", "true"},
          {"message.timeout.ms", std::to_string(limits.timeout.count())},
          {"message.max.bytes", "50000000"},  // the topic decides; brokers take requests of 100 MB
          {"batch.size", "500000"},           // half of what a topic takes unless told otherwise
          // One after the other: a batch that is refused leaves no gap before those behind it.
          {"max.in.flight.requests.per.connection", "1"},
          {"linger.ms", "5"},
          {"queue.buffering.max.messages", std::to_string(limits.records_max)},
          {"queue.buffering.max.kbytes", "65536"},
          {"partitioner", "murmur2_random"},  // Java's: one key stays in one partition
          // A topic that is not there is an error soon, and found soon after it was made.
          {"topic.metadata.propagation.max.ms", std::to_string(limits.topic_wait.count())},
          {"topic.metadata.refresh.interval.ms", std::to_string(limits.topic_wait.count())},
          {"reconnect.backoff.max.ms", "1000"}};
}

}  // namespace

class ErrorsTopic::Inside {
 public:
  Inside(const PipeConfig& config, const Limits& limits)
      : kafka_(config.kafka), errors_(config.errors), limits_(limits) {}

  ~Inside() {
    forget(std::move(together_));
    forget(std::move(alone_));
  }

  Result<void> make_together() {
    PAWL_TRY(together_, make({}));
    queue_.reset(rd_kafka_queue_get_main(together_.get()));
    return {};
  }

  void send(std::uint64_t ticket, const ErrorRecord& record) {
    Pending pending{.ticket = ticket, .record = without_payload(record)};
    const KafkaMessage message = write_error(record, errors_);
    const std::scoped_lock lock(mutex_);
    start(std::move(pending), message);
    const bool is_for_poll = !ended_.empty() || alone_outstanding_ > 0;
    if (is_for_poll && queue_ != nullptr) rd_kafka_queue_yield(queue_.get());
  }

  void poll(milliseconds at_most, const Settled& settled) {
    serve(at_most);
    renew_if_fatal();
    std::vector<std::pair<std::uint64_t, std::optional<Failed>>> ended;
    {
      const std::scoped_lock lock(mutex_);
      ended.swap(ended_);
    }
    for (const auto& [ticket, failed] : ended) settled(ticket, failed);
  }

  std::size_t outstanding() const {
    const std::scoped_lock lock(mutex_);
    return pending_.size() + ended_.size();
  }

 private:
  Result<kafka::Client> make(std::vector<kafka::Setting> more) {
    std::vector<kafka::Setting> settings = settings_of(limits_);
    settings.insert(settings.end(), more.begin(), more.end());
    PAWL_TRY(kafka::Conf conf, kafka::make_conf(kafka_, settings));
    rd_kafka_conf_set_opaque(conf.get(), this);
    rd_kafka_conf_set_dr_msg_cb(conf.get(),
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* inside) {
                                  static_cast<Inside*>(inside)->take(*message);
                                });
    return kafka::make_client(RD_KAFKA_PRODUCER, std::move(conf));
  }

  // rd_kafka_destroy waits for what is on its way unless it is purged.
  static void forget(kafka::Client client) {
    if (client == nullptr) return;
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                     RD_KAFKA_PURGE_F_NON_BLOCKING);
    client.reset();
  }

  // --- with the lock ---------------------------------------------------------------------------

  // Hands a record to the producer of its stage, at a later one when it says that it is too large.
  void start(Pending pending, const KafkaMessage& message) {
    rd_kafka_t* const client = producer_of(pending.stage);
    if (client == nullptr)
      return end(pending.ticket, Failed{pipe_code::kKafkaUnavailable, broken_});
    const std::uint64_t serial = ++serial_;
    const auto error = kafka::produce(client, errors_.topic, RD_KAFKA_PARTITION_UA, message,
                                      reinterpret_cast<void*>(serial));  // NOLINT: no pointer
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (pending.stage != Stage::together) ++alone_outstanding_;
      pending_.emplace(serial, std::move(pending));
    } else {
      end_or_shrink(std::move(pending), error, message);
    }
  }

  void end_or_shrink(Pending pending, rd_kafka_resp_err_t error, const KafkaMessage& message) {
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return end(pending.ticket, std::nullopt);
    const bool can_shrink =
        error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE && pending.stage != Stage::bare;
    if (!can_shrink) return end(pending.ticket, failed_of(error));
    pending.stage = after(pending.stage);
    if (pending.stage == Stage::alone) return start(std::move(pending), message);
    const KafkaMessage small = write_error(smaller(pending.record, pending.stage), errors_);
    start(std::move(pending), small);
  }

  void end(std::uint64_t ticket, std::optional<Failed> failed) {
    ended_.emplace_back(ticket, std::move(failed));
  }

  rd_kafka_t* producer_of(Stage stage) {
    if (stage == Stage::together) return together_.get();
    if (alone_ == nullptr) {
      auto made = make({{"batch.num.messages", "1"}});
      if (!made) broken_ = made.error().message;
      if (made) alone_ = *std::move(made);
    }
    return alone_.get();
  }

  Failed failed_of(rd_kafka_resp_err_t error) const {
    const std::string topic = in_ticks(errors_.topic);
    const std::string_view code = kafka::code_of(error);
    if (code == pipe_code::kTopicNotFound)
      return {code, "the error topic " + topic +
                        " does not exist, or this user may not write to it: create it (" +
                        kafka::to_text(error) + ")"};
    return {code, "could not write an error record to " + topic + ": " + kafka::to_text(error)};
  }

  // --- of the thread that polls ----------------------------------------------------------------

  void serve(milliseconds at_most) {
    if (queue_ == nullptr) return;
    const auto until = std::chrono::steady_clock::now() + at_most;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
      rd_kafka_t* const alone = alone_in_use();
      milliseconds wait = alone != nullptr ? std::min(left, kAloneEvery) : left;
      if (has_ended()) wait = milliseconds{0};
      const int served = rd_kafka_queue_poll_callback(
          queue_.get(), static_cast<int>(std::max(wait, milliseconds{0}).count()));
      if (alone != nullptr) rd_kafka_poll(alone, 0);
      if (served > 0 || alone == nullptr || left <= milliseconds{0} || has_ended()) return;
    }
  }

  rd_kafka_t* alone_in_use() const {
    const std::scoped_lock lock(mutex_);
    return alone_outstanding_ > 0 ? alone_.get() : nullptr;
  }
  bool has_ended() const {
    const std::scoped_lock lock(mutex_);
    return !ended_.empty();
  }

  // A delivery report.
  void take(const rd_kafka_message_t& report) {
    const auto serial = reinterpret_cast<std::uint64_t>(report._private);  // NOLINT: no pointer
    const std::scoped_lock lock(mutex_);
    auto found = pending_.extract(serial);
    if (found.empty()) return;
    Pending pending = std::move(found.mapped());
    if (pending.stage != Stage::together) --alone_outstanding_;
    const bool again_as_it_is =
        report.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE && pending.stage == Stage::together;
    end_or_shrink(std::move(pending), report.err,
                  again_as_it_is ? kafka::copy_of(report) : KafkaMessage{});
  }

  // What is fatal of a producer, if anything.
  static std::string fatal_of(rd_kafka_t* client) {
    std::array<char, 512> said{};
    const bool is_fatal =
        client != nullptr &&
        rd_kafka_fatal_error(client, said.data(), said.size()) != RD_KAFKA_RESP_ERR_NO_ERROR;
    return is_fatal ? said.data() : "";
  }

  std::string fatal() const {
    const std::scoped_lock lock(mutex_);
    const std::string of_together = fatal_of(together_.get());
    return of_together.empty() ? fatal_of(alone_.get()) : of_together;
  }

  void renew_if_fatal() {
    const std::string why = fatal();
    if (together_ != nullptr && why.empty()) return;
    auto made = make({});
    kafka::Client old_together;
    kafka::Client old_alone;
    kafka::Queue old_queue;
    {
      const std::scoped_lock lock(mutex_);
      old_together.swap(together_);
      old_alone.swap(alone_);
      old_queue.swap(queue_);
      if (old_together != nullptr)
        broken_ = "the producer for the error topic failed and was restarted: " + why;
      for (const auto& [serial, pending] : pending_)
        ended_.emplace_back(pending.ticket, Failed{pipe_code::kKafkaUnavailable, broken_});
      pending_.clear();
      alone_outstanding_ = 0;
      if (made) {
        together_ = *std::move(made);
        queue_.reset(rd_kafka_queue_get_main(together_.get()));
      } else {
        broken_ = made.error().message;
      }
    }
    old_queue.reset();
    forget(std::move(old_together));
    forget(std::move(old_alone));
  }

  const KafkaConfig kafka_;
  const ErrorsConfig errors_;
  const Limits limits_;

  mutable std::mutex mutex_;  // guards what follows; the producers are replaced by `poll` only
  kafka::Client together_;
  kafka::Client alone_;
  kafka::Queue queue_;  // of `together_`
  std::string broken_;  // why there is no producer, or was none
  std::uint64_t serial_ = 0;
  std::map<std::uint64_t, Pending> pending_;  // by serial
  std::size_t alone_outstanding_ = 0;
  std::vector<std::pair<std::uint64_t, std::optional<Failed>>> ended_;
};

ErrorsTopic::ErrorsTopic(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
ErrorsTopic::~ErrorsTopic() = default;

Result<std::unique_ptr<ErrorsTopic>> ErrorsTopic::open(const PipeConfig& config,
                                                       const Limits& limits) {
  auto inside = std::make_unique<Inside>(config, limits);
  PAWL_CHECK(inside->make_together());
  return std::unique_ptr<ErrorsTopic>(new ErrorsTopic(std::move(inside)));
}

void ErrorsTopic::send(std::uint64_t ticket, const ErrorRecord& record) {
  inside_->send(ticket, record);
}

void ErrorsTopic::poll(milliseconds at_most, const Settled& settled) {
  inside_->poll(at_most, settled);
}

std::size_t ErrorsTopic::outstanding() const { return inside_->outstanding(); }

}  // namespace pawl
