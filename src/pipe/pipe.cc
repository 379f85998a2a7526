// How partitions are read (librdkafka before 2.10 loses messages with pause, resume, seek and with
// cooperative rebalancing): each partition has a queue of its own that is not forwarded to the
// consumer's, and what a worker does not take fills it until librdkafka stops fetching. Where to
// begin is found by this thread and said with the assignment; to begin somewhere else the whole
// assignment is made anew, with the offsets at which the others are, while no worker takes
// anything.
#include "pipe/pipe.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <mutex>
#include <set>
#include <thread>

#include "pipe/beginnings.h"
#include "pipe/errors_topic.h"
#include "pipe/kafka.h"
#include "pipe/kafka_source.h"
#include "pipe/missing_topics.h"
#include "pipe/offset_commits.h"
#include "pipe/pipe_codes.h"
#include "pipe/pipe_plan.h"
#include "pipe/progress_watch.h"

namespace pawl {
namespace {

using kafka::PartitionId;
using std::chrono::milliseconds;

constexpr milliseconds kTurn{50};
constexpr milliseconds kPartitionsWithin{3'000};
constexpr milliseconds kProbeAtMost{500};
// For the last commit of partitions that are given away: Kafka may not answer at all.
constexpr milliseconds kCommitAtMost{5'000};
constexpr milliseconds kCloseAtMost{5'000};
constexpr milliseconds kRenewEvery{1'000};
constexpr std::uint64_t kCommitMessages = 50'000;
constexpr std::size_t kFetchAtOnce = 2U << 20U;

Instant now() { return PipeWorker::clock_now(); }

// Under which name it commits: for people who look at the group.
std::string instance_of(const KafkaConfig& config) {
  if (!config.instance.empty()) return config.instance;
  std::array<char, HOST_NAME_MAX + 1> host{};
  return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "";
}

}  // namespace

class Pipe::Control {
 public:
  explicit Control(PipeLog log) : log_(std::move(log)) {}

  Result<void> open(PipeConfig config, std::shared_ptr<const PipeMachine> machine);
  ~Control();

  void stop(Duration at_most);
  PipeView view() const;
  const PipeConfig& config() const { return parts_.config; }
  Result<void> order(const PartitionId& id,
                     const std::function<std::string(Partition&, Instant)>& what);
  // Remembered for as long as the process runs, wherever the partition is meanwhile; none: goes on.
  void set_pause(const PartitionId& id, std::optional<PartitionView::Pause> pause);
  void log(bool is_problem, std::string_view event,
           std::vector<std::pair<std::string, std::string>> fields) const;

 private:
  struct Assigned {
    PipeWorker* worker = nullptr;
    int epoch = 0;  // when it was given to us
    std::int64_t committed = -1;
  };

  Result<void> open_consumer();
  std::size_t count_partitions() const;
  static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t error,
                           rd_kafka_topic_partition_list_t* partitions, void* self);
  static void on_error(rd_kafka_t*, int error, const char* reason, void* self);

  // On the thread of the control.
  void run();
  void turn();
  void renew_consumer();
  void leave_group();
  void rebalance(rd_kafka_resp_err_t error, const std::vector<PartitionId>& ids);
  void subscribe();
  void find_partitions();
  void serve_errors(milliseconds at_most);
  void serve_consumer();
  void add(const std::vector<PartitionId>& ids);
  void give_away(const std::vector<PartitionId>& ids, bool is_lost);
  void share_memory();
  void serve_requests();
  void not_located(const BeginningWanted& wanted, const std::string& code,
                   const std::string& message);
  void assign(const std::map<PartitionId, Beginning>& located);
  void not_assigned(const std::map<PartitionId, Beginning>& located, rd_kafka_resp_err_t error);
  void begin_partition(const PartitionId& id, kafka::Queue queue, const Beginning& beginning);
  void go_on(const PartitionId& id, kafka::Queue queue, int epoch);
  static std::shared_ptr<std::unique_ptr<MessageSource>> source_of(kafka::Queue queue);
  struct Parked {
    std::int64_t offset = 0;
    int epoch = 0;
  };
  std::map<PartitionId, Parked> park();
  void drain(const std::vector<PartitionId>& ids);
  void commit();
  void commit_and_wait();
  std::vector<CommitOffset> to_commit() const;
  void committed(const OffsetCommits::Ended& ended);
  std::vector<PartitionView> partition_views() const;
  void set_kafka_fault(std::string_view code, const std::string& message);
  bool is_kafka_away() const;
  bool is_paused(const PartitionId& id) const;
  void probe();
  void watch();
  void shut_down();
  std::vector<PartitionId> all_assigned() const;
  void topic_fault(const std::string& topic, std::string_view code, const std::string& message);
  // Everything is begun anew, from what is committed. From any thread.
  void begin_anew(const std::string& why);

  PipeLog log_;
  PipeParts parts_;
  std::shared_ptr<rd_kafka_t> consumer_;  // changed with the mutex, by the thread of the control
  std::vector<std::unique_ptr<PipeWorker>> workers_;

  // Of the thread of the control.
  std::map<PartitionId, Assigned> assigned_;
  std::map<PartitionId, int> epochs_;
  std::optional<MissingTopics> missing_;
  std::optional<OffsetCommits> commits_;
  Instant committed_at_ = {};
  std::uint64_t committed_messages_ = 0;
  Instant found_at_ = {};
  Instant probed_at_ = {};
  Instant renewed_at_ = {};
  std::size_t fetch_bytes_ = 0;  // of each partition, ahead
  std::size_t most_assigned_ = 0;

  mutable std::mutex mutex_;  // guards what follows
  std::vector<BeginningWanted> requests_;
  std::map<PartitionId, Assigned> published_;
  std::vector<PartitionView> published_missing_;
  std::string kafka_fault_;
  std::map<PartitionId, PartitionView::Pause> pauses_;
  std::set<PartitionId> alarmed_;
  ProgressWatch progress_;
  std::uint64_t rebalances_ = 0;
  std::uint64_t commits_done_ = 0;
  std::uint64_t commits_failed_ = 0;
  RequestTimes commit_times_;

  std::atomic<Duration> drain_at_most_{Duration::max()};
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> is_dying_{false};
  std::atomic<bool> is_begun_anew_{false};
  std::thread thread_;
};

// --- Opening and closing ---

Result<void> Pipe::Control::open(PipeConfig config, std::shared_ptr<const PipeMachine> machine) {
  parts_.config = std::move(config);
  parts_.machine = std::move(machine);
  PAWL_TRY(parts_.transform, Transform::make(parts_.config.transform));
  PAWL_TRY(parts_.search, SearchCluster::make(parts_.config.search));
  PAWL_TRY(parts_.errors, ErrorsTopic::open(parts_.config));
  missing_.emplace(parts_.machine);
  commits_.emplace(instance_of(parts_.config.kafka),
                   [this](const OffsetCommits::Ended& ended) { committed(ended); });
  PAWL_CHECK(open_consumer());
  const std::size_t workers =
      plan_of(parts_.config, 0, std::thread::hardware_concurrency()).workers;
  for (std::size_t i = 0; i < workers; ++i) {
    auto locate = [this](const Partition& partition, bool is_reset, std::int64_t lost) {
      const std::lock_guard lock(mutex_);
      requests_.push_back({partition.id(), partition.epoch(), is_reset, lost});
    };
    auto failed = [this](const PartitionId& id, const Record& record) {
      log(true, "failed",
          {{"partition", to_text(id)},
           {"state", record.failed_from},
           {"code", record.error ? record.error->code : ""},
           {"error", record.error ? record.error->message : ""},
           {"attempt", std::to_string(record.attempt)},
           {"failures", std::to_string(record.failures)},
           {"next_at", record.next_at() ? to_text(*record.next_at()) : ""},
           {"hold", record.hold ? record.hold->text : ""}});
    };
    auto broken = [this](const std::string& why) { begin_anew(why); };
    workers_.push_back(std::make_unique<PipeWorker>(parts_, i, std::move(locate), std::move(failed),
                                                    std::move(broken)));
  }
  thread_ = std::thread([this] { run(); });
  return {};
}

Result<void> Pipe::Control::open_consumer() {
  const KafkaConfig& config = parts_.config.kafka;
  fetch_bytes_ =
      plan_of(parts_.config, std::max(count_partitions(), most_assigned_), 1).fetch_bytes;
  std::vector<kafka::Setting> settings = {
      {"group.id", config.group},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"partition.assignment.strategy", "range,roundrobin"},
      {"enable.partition.eof", "true"},
      {"queued.min.messages", "10000"},
      {"queued.max.messages.kbytes", std::to_string(fetch_bytes_ / 1024)},
      {"fetch.message.max.bytes",
       std::to_string(std::min<std::size_t>(fetch_bytes_, kFetchAtOnce / 2))},
      // What is fetched at once is let go at once, with its last message: so much of several
      // partitions, of which one is slow, would be kept for it.
      {"fetch.max.bytes", std::to_string(kFetchAtOnce)},
      // The most there can be: of a longer answer the client says no more than that it is one, and
      // asks for it again, for ever.
      {"receive.message.max.bytes", "2147483647"},
      {"fetch.wait.max.ms", "200"},
      {"session.timeout.ms", "30000"},
      {"reconnect.backoff.max.ms", "1000"},
      {"topic.metadata.refresh.interval.ms",
       std::to_string(std::max<std::int64_t>(
           1'000, std::chrono::ceil<milliseconds>(config.find_every).count()))},
      {"allow.auto.create.topics", "false"}};
  if (!config.instance.empty()) settings.push_back({"group.instance.id", config.instance});
  PAWL_TRY(kafka::Conf conf, kafka::make_conf(config, settings));
  rd_kafka_conf_set_opaque(conf.get(), this);
  rd_kafka_conf_set_rebalance_cb(conf.get(), on_rebalance);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  PAWL_TRY(kafka::Client client, kafka::make_client(RD_KAFKA_CONSUMER, std::move(conf)));
  rd_kafka_poll_set_consumer(client.get());
  commits_->use(client.get());
  // Whoever wants to leave the group does so before.
  std::shared_ptr<rd_kafka_t> before(client.release(), [](rd_kafka_t* ended) {
    rd_kafka_destroy_flags(ended, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  });
  {
    const std::lock_guard lock(mutex_);
    before.swap(consumer_);
  }
  return {};  // the one before ends here, without the mutex: it may call back
}

// What is fetched ahead is bounded for each partition when the client is made: so their number is
// asked for before.
std::size_t Pipe::Control::count_partitions() const {
  std::size_t count = 0;
  auto conf = kafka::make_conf(parts_.config.kafka, {});
  if (!conf) return kPartitionsGuess;
  const auto client = kafka::make_client(RD_KAFKA_PRODUCER, *std::move(conf));
  if (!client) return kPartitionsGuess;
  for (const TopicChoice& topic : parts_.config.kafka.topics) {
    const auto partitions = kafka::partitions_of(client->get(), topic.name, kPartitionsWithin);
    if (!partitions) return kPartitionsGuess;
    count += topic.partitions.empty() ? partitions->size() : topic.partitions.size();
  }
  return count;
}

// The queues and messages of partitions go before the client they are of.
Pipe::Control::~Control() {
  is_dying_ = true;
  if (thread_.joinable()) thread_.join();
  for (const auto& worker : workers_) worker->join();
  assigned_.clear();
  if (commits_) commits_->use(nullptr);
  consumer_.reset();
  workers_.clear();
}

void Pipe::Control::stop(Duration at_most) {
  drain_at_most_ = at_most;
  is_stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void Pipe::Control::shut_down() {
  give_away(all_assigned(), false);
  leave_group();
  log(false, "stopped", {});
}

void Pipe::Control::log(bool is_problem, std::string_view event,
                        std::vector<std::pair<std::string, std::string>> fields) const {
  if (!log_) return;
  fields.insert(fields.begin(), {"pipe", parts_.config.name});
  std::erase_if(fields, [](const auto& field) { return field.second.empty(); });
  log_(is_problem, event, fields);
}

// --- The thread ---

void Pipe::Control::run() {
  bool is_subscribed = false;
  while (!is_stopping_ && !is_dying_) {
    try {
      if (!std::exchange(is_subscribed, true)) subscribe();
      if (is_begun_anew_) renew_consumer();
      turn();
    } catch (const std::exception& thrown) {
      begin_anew(thrown.what());
      std::this_thread::sleep_for(kTurn);
    }
  }
  if (is_dying_) return;
  try {
    shut_down();
  } catch (const std::exception& thrown) {
    log(true, "stopped", {{"error", thrown.what()}});
  }
}

void Pipe::Control::turn() {
  serve_errors(milliseconds{0});
  serve_consumer();
  if (parts_.config.kafka.assignment == KafkaConfig::Assignment::fixed) find_partitions();
  serve_requests();
  commit();
  probe();
  {
    const std::lock_guard lock(mutex_);
    published_ = assigned_;
  }
  watch();
}

// Where something went wrong that has no name, nobody knows what was left half done.
void Pipe::Control::begin_anew(const std::string& why) {
  log(true, "begin_anew", {{"error", why}});
  is_begun_anew_ = true;
}

// Also: a member that was fenced off (another has its `instance`) hears nothing any more.
void Pipe::Control::renew_consumer() {
  if (now() - renewed_at_ < kRenewEvery) return;
  renewed_at_ = now();
  give_away(all_assigned(), true);
  leave_group();
  is_begun_anew_ = false;
  if (const auto opened = open_consumer(); !opened) {
    begin_anew(opened.error().message);
    set_kafka_fault(pipe_code::kKafkaUnavailable, opened.error().message);
    return;
  }
  set_kafka_fault("", "");
  subscribe();
  found_at_ = {};
}

// librdkafka would wait for brokers that do not answer for as long as its requests may take.
void Pipe::Control::leave_group() {
  const kafka::Queue queue(rd_kafka_queue_new(consumer_.get()));
  const kafka::KafkaError refused(rd_kafka_consumer_close_queue(consumer_.get(), queue.get()));
  const Instant begun = now();
  while (refused == nullptr && rd_kafka_consumer_closed(consumer_.get()) == 0 &&
         now() - begun < kCloseAtMost && !is_dying_)
    rd_kafka_queue_poll_callback(queue.get(), static_cast<int>(kTurn.count()));
}

std::vector<PartitionId> Pipe::Control::all_assigned() const {
  std::vector<PartitionId> all;
  for (const auto& [id, assigned] : assigned_) all.push_back(id);
  return all;
}

void Pipe::Control::subscribe() {
  if (parts_.config.kafka.assignment == KafkaConfig::Assignment::fixed) return;
  std::vector<PartitionId> topics;
  for (const TopicChoice& topic : parts_.config.kafka.topics)
    topics.push_back({topic.name, RD_KAFKA_PARTITION_UA});
  const auto error = rd_kafka_subscribe(consumer_.get(), kafka::list_of(topics).get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    log(true, "subscribe", {{"error", kafka::to_text(error)}});
}

void Pipe::Control::serve_errors(milliseconds at_most) {
  parts_.errors->poll(
      at_most, [this](std::uint64_t ticket, const std::optional<ErrorsTopic::Failed>& failed) {
        workers_[PipeWorker::worker_of(ticket)]->error_settled(
            ticket, failed ? std::string(failed->code) : "", failed ? failed->message : "");
      });
}

// Rebalances, commits and errors are told by callbacks in here; messages never come this way.
void Pipe::Control::serve_consumer() {
  const kafka::Message message(
      rd_kafka_consumer_poll(consumer_.get(), static_cast<int>(kTurn.count())));
  if (!message || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) return;
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    log(true, "stray_message",
        {{"topic", rd_kafka_topic_name(message->rkt)},
         {"offset", std::to_string(message->offset)}});
    return;
  }
  const char* text = rd_kafka_message_errstr(message.get());
  if (message->err == RD_KAFKA_RESP_ERR__FATAL) begin_anew(text != nullptr ? text : "");
  const std::string topic = message->rkt != nullptr ? rd_kafka_topic_name(message->rkt) : "";
  if (!topic.empty()) topic_fault(topic, kafka::code_of(message->err), text != nullptr ? text : "");
  log(true, "kafka",
      {{"error", kafka::to_text(message->err)},
       {"topic", topic},
       {"text", text != nullptr ? text : ""}});
}

void Pipe::Control::topic_fault(const std::string& topic, std::string_view code,
                                const std::string& message) {
  const bool is_there = std::any_of(assigned_.begin(), assigned_.end(),
                                    [&](const auto& one) { return one.first.topic == topic; });
  if (is_there) return;
  missing_->failed(topic, code, message, now());
  const std::lock_guard lock(mutex_);
  published_missing_ = missing_->views();
}

// --- Which partitions ---

// librdkafka is C: nothing may be thrown through it.
void Pipe::Control::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t error,
                                 rd_kafka_topic_partition_list_t* partitions, void* self) {
  auto& control = *static_cast<Control*>(self);
  const bool is_given = error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;
  // Where they begin is said later, by an assignment of our own.
  if (is_given && !control.is_dying_) {
    const kafka::Partitions none(rd_kafka_topic_partition_list_new(0));
    rd_kafka_assign(client, none.get());
  }
  try {
    if (!control.is_dying_) control.rebalance(error, kafka::ids_of(partitions));
  } catch (const std::exception& thrown) {
    control.begin_anew(thrown.what());
  }
  if (!is_given || control.is_dying_) rd_kafka_assign(client, nullptr);
}

void Pipe::Control::rebalance(rd_kafka_resp_err_t error, const std::vector<PartitionId>& ids) {
  {
    const std::lock_guard lock(mutex_);
    ++rebalances_;
  }
  if (error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    add(ids);
  } else {
    give_away(ids, rd_kafka_assignment_lost(consumer_.get()) != 0);
  }
}

void Pipe::Control::add(const std::vector<PartitionId>& ids) {
  for (const PartitionId& id : ids) {
    if (assigned_.contains(id)) continue;
    const std::size_t place =
        std::hash<std::string>{}(id.topic) + static_cast<std::size_t>(id.partition);
    PipeWorker& worker = *workers_[place % workers_.size()];
    const int epoch = ++epochs_[id];
    assigned_[id] = {.worker = &worker, .epoch = epoch};
    worker.post([id, epoch, bytes = parts_.config.batch.bytes,
                 paused = is_paused(id)](PipeWorker& w) { w.add(id, epoch, bytes, paused); });
    missing_->found(id.topic);
  }
  most_assigned_ = std::max(most_assigned_, assigned_.size());
  share_memory();
  if (plan_of(parts_.config, most_assigned_, 1).fetch_bytes < fetch_bytes_ / 2)
    begin_anew(
        "there are more partitions than at the start, too many for the memory that each may fetch "
        "ahead");
  {
    const std::lock_guard lock(mutex_);
    published_missing_ = missing_->views();
  }
  log(false, "assigned", {{"partitions", std::to_string(assigned_.size())}});
}

// What batches on their way may hold is shared out evenly, so that none can keep others waiting.
void Pipe::Control::share_memory() {
  const std::size_t bytes = plan_of(parts_.config, assigned_.size(), 1).batch_bytes;
  for (const auto& worker : workers_)
    worker->post([bytes](PipeWorker& w) {
      w.each([bytes](Partition& partition) { partition.set_batch_bytes(bytes); });
    });
}

void Pipe::Control::give_away(const std::vector<PartitionId>& ids, bool is_lost) {
  if (!is_lost) {
    drain(ids);
    commit_and_wait();
  }
  for (const PartitionId& id : ids) {
    const auto found = assigned_.find(id);
    if (found == assigned_.end()) continue;
    found->second.worker->call([&](PipeWorker& worker) { worker.remove(id); });
    assigned_.erase(found);
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [&](const BeginningWanted& wanted) { return wanted.id == id; });
  }
  share_memory();
  log(is_lost, is_lost ? "lost" : "revoked", {{"partitions", std::to_string(ids.size())}});
}

// Batches on their way end, for as long as the file allows; meanwhile errors are acknowledged.
void Pipe::Control::drain(const std::vector<PartitionId>& ids) {
  for (const PartitionId& id : ids)
    if (const auto found = assigned_.find(id); found != assigned_.end())
      found->second.worker->post([id](PipeWorker& worker) {
        worker.with(id, [](Partition& partition) { partition.drain(PipeWorker::clock_now()); });
      });
  const Instant begun = now();
  const Duration timeout = parts_.config.kafka.drain_timeout;
  while (now() - begun < std::min(timeout, drain_at_most_.load()) && !is_dying_) {
    serve_errors(kTurn);
    bool is_drained = true;
    for (const auto& worker : workers_)
      worker->call([&](PipeWorker& w) {
        for (const PartitionId& id : ids)
          if (const Partition* partition = w.find(id); partition != nullptr)
            is_drained = is_drained && partition->is_drained();
      });
    if (is_drained) return;
  }
}

// With a fixed assignment: those of the file, and those that have come.
void Pipe::Control::find_partitions() {
  if (missing_->is_due(now())) found_at_ = {};
  if (now() - found_at_ < parts_.config.kafka.find_every) return;
  found_at_ = now();
  std::vector<PartitionId> ids;
  for (const TopicChoice& topic : parts_.config.kafka.topics) {
    for (const std::int32_t partition : topic.partitions) ids.push_back({topic.name, partition});
    if (!topic.partitions.empty()) continue;
    std::string_view code;
    const auto partitions =
        kafka::partitions_of(consumer_.get(), topic.name, kPartitionsWithin, &code);
    if (!partitions) {
      topic_fault(topic.name, code, partitions.error().message);
      continue;
    }
    for (const std::int32_t partition : *partitions) ids.push_back({topic.name, partition});
  }
  std::erase_if(ids, [this](const PartitionId& id) { return assigned_.contains(id); });
  if (!ids.empty()) add(ids);
}

// --- Where they begin ---

void Pipe::Control::serve_requests() {
  std::vector<BeginningWanted> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
  }
  std::erase_if(requests,
                [this](const BeginningWanted& wanted) { return !assigned_.contains(wanted.id); });
  if (requests.empty()) return;
  std::map<PartitionId, Beginning> located;
  for (Beginning& beginning :
       find_beginnings(consumer_.get(), requests, parts_.config.kafka.start)) {
    if (beginning.choice) {
      located[beginning.wanted.id] = std::move(beginning);
    } else {
      not_located(beginning.wanted, beginning.code, beginning.message);
    }
  }
  if (!located.empty()) assign(located);
}

void Pipe::Control::not_located(const BeginningWanted& wanted, const std::string& code,
                                const std::string& message) {
  assigned_.at(wanted.id).worker->post([wanted, code, message](PipeWorker& worker) {
    worker.with(wanted.id, [&](Partition& partition) {
      if (partition.epoch() == wanted.epoch)
        partition.not_located(code, message, PipeWorker::clock_now());
    });
  });
}

// The offsets at which all others are, while nobody takes anything.
std::map<PartitionId, Pipe::Control::Parked> Pipe::Control::park() {
  std::map<PartitionId, Parked> parked;
  for (const auto& worker : workers_)
    worker->call([&](PipeWorker& w) {
      w.each([&](Partition& partition) {
        if (partition.is_located()) parked[partition.id()] = {partition.park(), partition.epoch()};
      });
    });
  return parked;
}

void Pipe::Control::assign(const std::map<PartitionId, Beginning>& located) {
  std::map<PartitionId, Parked> places = park();
  for (const auto& [id, beginning] : located)
    places[id] = {beginning.choice->offset, beginning.wanted.epoch};
  std::erase_if(places, [this](const auto& one) { return !assigned_.contains(one.first); });
  std::vector<PartitionId> ids;
  for (const auto& [id, place] : places) ids.push_back(id);
  const kafka::Partitions list = kafka::list_of(ids);
  static constexpr std::uint64_t kOne = 1;
  std::map<PartitionId, kafka::Queue> queues;
  for (int i = 0; i < list->cnt; ++i) {
    rd_kafka_topic_partition_t& one = list->elems[i];
    const PartitionId id{one.topic, one.partition};
    one.offset = places.at(id).offset;
    // Before it is assigned: what comes must not go to the consumer's own queue.
    kafka::Queue queue(rd_kafka_queue_get_partition(consumer_.get(), one.topic, one.partition));
    rd_kafka_queue_forward(queue.get(), nullptr);
    rd_kafka_queue_io_event_enable(queue.get(), assigned_.at(id).worker->descriptor(), &kOne,
                                   sizeof kOne);
    queues[id] = std::move(queue);
  }
  const auto error = rd_kafka_assign(consumer_.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    not_assigned(located, error);
    return;
  }
  // Until it has been carried out: librdkafka takes another one in between badly.
  for (int turn = 0; turn < 2; ++turn) {
    rd_kafka_topic_partition_list_t* seen = nullptr;
    if (rd_kafka_assignment(consumer_.get(), &seen) == RD_KAFKA_RESP_ERR_NO_ERROR)
      rd_kafka_topic_partition_list_destroy(seen);
  }
  for (auto& [id, queue] : queues) {
    const auto found = located.find(id);
    if (found != located.end()) {
      begin_partition(id, std::move(queue), found->second);
    } else {
      go_on(id, std::move(queue), places.at(id).epoch);
    }
  }
}

// A source can be handed to a thread only in what can be copied.
std::shared_ptr<std::unique_ptr<MessageSource>> Pipe::Control::source_of(kafka::Queue queue) {
  return std::make_shared<std::unique_ptr<MessageSource>>(
      std::make_unique<KafkaSource>(std::move(queue)));
}

// Where it was, from another queue. One that has begun again in between is elsewhere, and asks.
void Pipe::Control::go_on(const PartitionId& id, kafka::Queue queue, int epoch) {
  assigned_.at(id).worker->post([id, epoch, source = source_of(std::move(queue))](PipeWorker& w) {
    w.with(id, [&](Partition& partition) {
      if (partition.epoch() == epoch) partition.new_source(std::move(*source));
      partition.unpark();
    });
  });
}

void Pipe::Control::begin_partition(const PartitionId& id, kafka::Queue queue,
                                    const Beginning& beginning) {
  Assigned& assigned = assigned_.at(id);
  const OffsetChoice& choice = *beginning.choice;
  // One beyond the end of what is there says nothing of what comes: a lower one replaces it.
  assigned.committed = beginning.committed > choice.offset ? -1 : beginning.committed;
  if (choice.gap)
    log(true, "gap",
        {{"partition", to_text(id)},
         {"first", std::to_string(choice.gap->first)},
         {"last", std::to_string(choice.gap->last)}});
  assigned.worker->post([id, choice, source = source_of(std::move(queue)),
                         epoch = beginning.wanted.epoch](PipeWorker& worker) {
    worker.with(id, [&](Partition& partition) {
      if (partition.epoch() != epoch) return;  // it has begun again, and asks again
      partition.located(choice.offset, std::move(*source), choice.gap, PipeWorker::clock_now());
      partition.unpark();
    });
  });
}

// The assignment is what it was: the others go on, and those who asked ask again.
void Pipe::Control::not_assigned(const std::map<PartitionId, Beginning>& located,
                                 rd_kafka_resp_err_t error) {
  log(true, "assign", {{"error", kafka::to_text(error)}});
  for (const auto& [id, beginning] : located)
    if (assigned_.contains(id))
      not_located(beginning.wanted, std::string(kafka::code_of(error)),
                  "assigning partitions: " + kafka::to_text(error));
  for (const auto& worker : workers_)
    worker->post([](PipeWorker& w) { w.each([](Partition& partition) { partition.unpark(); }); });
}

// --- Commits ---

std::vector<CommitOffset> Pipe::Control::to_commit() const {
  std::vector<CommitOffset> offsets;
  for (const auto& worker : workers_)
    worker->call([&](PipeWorker& w) {
      w.each([&](Partition& partition) {
        const auto found = assigned_.find(partition.id());
        if (!partition.is_located() || found == assigned_.end()) return;
        if (partition.watermark() < 0 || partition.watermark() == found->second.committed) return;
        offsets.push_back({.id = partition.id(),
                           .epoch = found->second.epoch,
                           .offset = partition.watermark(),
                           .errors = partition.outcomes().errors});
      });
    });
  return offsets;
}

void Pipe::Control::commit() {
  commits_->serve(milliseconds{0});
  if (commits_->is_under_way() || is_kafka_away()) return;
  if (now() - committed_at_ < parts_.config.kafka.commit_every) {
    std::uint64_t finished = 0;
    for (const auto& worker : workers_) finished += worker->finished();
    if (finished < committed_messages_ + kCommitMessages) return;
    committed_messages_ = finished;
  }
  committed_at_ = now();
  commits_->begin(to_commit());
}

void Pipe::Control::commit_and_wait() {
  const Instant begun = now();
  if (!is_kafka_away()) commits_->begin(to_commit());
  while (commits_->is_under_way() && now() - begun < kCommitAtMost && !is_dying_)
    commits_->serve(kTurn);
}

// What was not committed stays as it was; the next commit says it again.
void Pipe::Control::committed(const OffsetCommits::Ended& ended) {
  for (const CommitOffset& offset : ended.committed) {
    const auto found = assigned_.find(offset.id);
    if (found != assigned_.end() && found->second.epoch == offset.epoch)
      found->second.committed = offset.offset;
  }
  {
    const std::lock_guard lock(mutex_);
    ++(ended.error.empty() ? commits_done_ : commits_failed_);
    commit_times_.add(std::chrono::duration<double>(ended.took).count());
  }
  if (!ended.error.empty()) log(true, "commit", {{"error", ended.error}});
}

// --- Kafka is away ---

void Pipe::Control::on_error(rd_kafka_t*, int error, const char* reason, void* self) {
  auto& control = *static_cast<Control*>(self);
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  control.log(true, "kafka", {{"error", kafka::to_text(code)}, {"text", reason}});
  if (code == RD_KAFKA_RESP_ERR__FATAL) control.begin_anew(reason);
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__RESOLVE ||
      code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL)
    control.set_kafka_fault(kafka::code_of(code), kafka::to_text(code) + ": " + reason);
}

void Pipe::Control::set_kafka_fault(std::string_view code, const std::string& message) {
  {
    const std::lock_guard lock(mutex_);
    if (kafka_fault_ == message) return;
    kafka_fault_ = message;
  }
  for (const auto& worker : workers_)
    worker->post([code = std::string(code), message](PipeWorker& w) {
      w.each([&](Partition& partition) {
        partition.kafka_fault(code, message, PipeWorker::clock_now());
      });
    });
}

// What is committed then waits inside of librdkafka for as long as a session lasts, and holds up
// its end.
bool Pipe::Control::is_kafka_away() const {
  const std::lock_guard lock(mutex_);
  return !kafka_fault_.empty();
}

bool Pipe::Control::is_paused(const PartitionId& id) const {
  const std::lock_guard lock(mutex_);
  return pauses_.contains(id);
}

void Pipe::Control::set_pause(const PartitionId& id, std::optional<PartitionView::Pause> pause) {
  const std::lock_guard lock(mutex_);
  if (pause) {
    pauses_[id] = *std::move(pause);
  } else {
    pauses_.erase(id);
  }
}

// librdkafka goes on trying by itself; this finds out that it has succeeded.
void Pipe::Control::probe() {
  if (!is_kafka_away()) return;
  if (now() - probed_at_ < kProbeAtMost) return;
  const rd_kafka_metadata_t* metadata = nullptr;
  const auto error = rd_kafka_metadata(consumer_.get(), 0, nullptr, &metadata,
                                       static_cast<int>(kProbeAtMost.count()));
  if (metadata != nullptr) rd_kafka_metadata_destroy(metadata);
  probed_at_ = now();
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) set_kafka_fault("", "");
}

// --- Whether it goes on ---

void Pipe::Control::watch() {
  std::vector<PartitionId> stalled;
  std::vector<PartitionView> alarming;
  const auto is_due = [this] {
    const std::lock_guard lock(mutex_);
    return progress_.is_due(now());
  };
  if (!is_due()) return;
  std::vector<PartitionView> views = partition_views();
  {
    const std::lock_guard lock(mutex_);
    stalled = progress_.look(views, now());
    views.insert(views.end(), published_missing_.begin(), published_missing_.end());
    std::set<PartitionId> before = std::exchange(alarmed_, {});
    for (const PartitionView& view : views)
      if (view.is_alarming(now())) {
        alarmed_.insert(view.id);
        if (!before.contains(view.id)) alarming.push_back(view);
      }
  }
  for (const PartitionView& view : alarming)
    log(true, "alarm",
        {{"partition", to_text(view.id)},
         {"code", view.code},
         {"error", view.error},
         {"failing_since", view.failing_since ? to_text(*view.failing_since) : ""}});
  for (const PartitionId& id : stalled)
    log(true, "stalled",
        {{"partition", to_text(id)}, {"for", to_text(ProgressWatch::kStalledAfter)}});
}

// --- From outside ---

// Of those that are read here: what their workers publish, and what only this thread and Kafka's
// client know.
std::vector<PartitionView> Pipe::Control::partition_views() const {
  std::vector<PartitionView> views;
  for (const auto& worker : workers_)
    for (PartitionView& view : worker->views()) views.push_back(std::move(view));
  const std::lock_guard lock(mutex_);
  for (PartitionView& view : views) {
    if (const auto found = published_.find(view.id); found != published_.end())
      view.committed = std::max<std::int64_t>(-1, found->second.committed);
    if (const auto found = pauses_.find(view.id); found != pauses_.end())
      view.pause = found->second;
    std::int64_t low = 0;
    const auto error = rd_kafka_get_watermark_offsets(consumer_.get(), view.id.topic.c_str(),
                                                      view.id.partition, &low, &view.high);
    // Not known before something was fetched. What was read from there was there.
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR || view.high < 0) view.high = -1;
    if (view.high >= 0) view.high = std::max(view.high, view.next);
    progress_.tell(view);
  }
  return views;
}

PipeView Pipe::Control::view() const {
  PipeView view{.name = parts_.config.name, .partitions = partition_views()};
  {
    const std::lock_guard lock(mutex_);
    view.partitions.insert(view.partitions.end(), published_missing_.begin(),
                           published_missing_.end());
    view.kafka = kafka_fault_;
    view.rebalances = rebalances_;
    view.commits = commits_done_;
    view.commit_failures = commits_failed_;
    view.commit_times = commit_times_;
  }
  for (const auto& worker : workers_) {
    const RequestTimes times = worker->bulk_times();
    for (std::size_t i = 0; i < times.counts.size(); ++i)
      view.bulk_times.counts[i] += times.counts[i];
    view.bulk_times.sum += times.sum;
    for (const auto& [status, count] : worker->items_by_status())
      view.items_by_status[status] += count;
    view.late_answers += worker->late_answers();
  }
  for (PartitionView& partition : view.partitions)
    partition.is_alarm = partition.is_alarming(now());
  std::sort(view.partitions.begin(), view.partitions.end(),
            [](const PartitionView& a, const PartitionView& b) { return a.id < b.id; });
  view.nodes = parts_.search->nodes();
  view.window = parts_.search->window().size();
  view.bulks = parts_.search->window().under_way();
  return view;
}

Result<void> Pipe::Control::order(const PartitionId& id,
                                  const std::function<std::string(Partition&, Instant)>& what) {
  PipeWorker* worker = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = published_.find(id);
    if (found != published_.end()) worker = found->second.worker;
  }
  std::string problem = "this process does not read partition " + to_text(id) + " now";
  if (worker != nullptr)
    worker->call([&](PipeWorker& w) {
      w.with(id, [&](Partition& partition) { problem = what(partition, PipeWorker::clock_now()); });
      w.publish();
    });
  if (!problem.empty()) return Error{ErrorCode::bad_input, problem};
  return {};
}

Pipe::Pipe(std::unique_ptr<Control> control) : control_(std::move(control)) {}
Pipe::~Pipe() = default;

Result<std::unique_ptr<Pipe>> Pipe::open(PipeConfig config,
                                         std::shared_ptr<const PipeMachine> machine, PipeLog log) {
  auto control = std::make_unique<Control>(std::move(log));
  PAWL_CHECK(control->open(std::move(config), std::move(machine)));
  return std::unique_ptr<Pipe>(new Pipe(std::move(control)));
}

void Pipe::stop(Duration at_most) { control_->stop(at_most); }
const PipeConfig& Pipe::config() const { return control_->config(); }
PipeView Pipe::view() const { return control_->view(); }

Result<void> Pipe::pause(const PartitionId& id, const Actor& actor, const std::string& reason) {
  PAWL_CHECK(control_->order(id, [](Partition& partition, Instant) {
    partition.pause(true);
    return std::string();
  }));
  control_->set_pause(id, PartitionView::Pause{actor.name, reason, now()});
  control_->log(true, "pause",
                {{"partition", to_text(id)}, {"actor", actor.name}, {"reason", reason}});
  return {};
}

Result<void> Pipe::resume(const PartitionId& id, const Actor& actor, const std::string& reason) {
  PAWL_CHECK(control_->order(
      id, [&](Partition& partition, Instant now) { return partition.resume(actor, reason, now); }));
  control_->set_pause(id, std::nullopt);
  control_->log(true, "resume",
                {{"partition", to_text(id)}, {"actor", actor.name}, {"reason", reason}});
  return {};
}

Result<void> Pipe::skip(const PartitionId& id, std::int64_t offset, const Actor& actor,
                        const std::string& reason) {
  PAWL_CHECK(control_->order(id, [&](Partition& partition, Instant now) {
    return partition.skip(offset, actor, reason, now);
  }));
  control_->log(true, "skip",
                {{"partition", to_text(id)},
                 {"offset", std::to_string(offset)},
                 {"actor", actor.name},
                 {"reason", reason}});
  return {};
}

}  // namespace pawl
