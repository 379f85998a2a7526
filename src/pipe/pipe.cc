// How partitions are read (librdkafka before 2.10 loses messages with pause, resume, seek and with
// cooperative rebalancing): each partition has a queue of its own that is not forwarded to the
// consumer's, and what a worker does not take fills it until librdkafka stops fetching. Where to
// begin is found by this thread and said with the assignment; to begin somewhere else the whole
// assignment is made anew, with the offsets at which the others are, while no worker takes
// anything.
#include "pipe/pipe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "base/text.h"
#include "pipe/errors_topic.h"
#include "pipe/kafka.h"
#include "pipe/kafka_source.h"
#include "pipe/lane.h"
#include "pipe/offset_choice.h"
#include "pipe/pipe_codes.h"
#include "pipe/pipe_plan.h"
#include "pipe/progress_watch.h"

namespace pawl {
namespace {

using kafka::PartitionId;
using std::chrono::milliseconds;

constexpr milliseconds kTurn{20};
constexpr milliseconds kAskAtMost{3'000};
constexpr milliseconds kProbeAtMost{500};
constexpr std::uint64_t kCommitMessages = 50'000;

Instant now() { return PipeWorker::clock_now(); }

kafka::Partitions list_of(const std::vector<PartitionId>& ids) {
  kafka::Partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(ids.size())));
  for (const PartitionId& id : ids)
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition);
  return list;
}

std::vector<PartitionId> ids_of(const rd_kafka_topic_partition_list_t* list) {
  std::vector<PartitionId> ids;
  for (int i = 0; list != nullptr && i < list->cnt; ++i)
    ids.push_back({list->elems[i].topic, list->elems[i].partition});
  return ids;
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
  void log(bool is_problem, std::string_view event,
           std::vector<std::pair<std::string, std::string>> fields) const;

 private:
  struct Request {  // of a worker: where does this partition begin
    PartitionId id;
    int epoch = 0;
    bool is_reset = false;
    std::int64_t lost = -1;
  };
  struct Assigned {
    PipeWorker* worker = nullptr;
    std::int64_t committed = -1;
  };
  struct Located {
    OffsetChoice choice;
    int epoch = 0;  // of who asked
    std::int64_t committed = -1;
  };

  Result<void> open_consumer();
  std::size_t count_partitions() const;
  static void on_rebalance(rd_kafka_t*, rd_kafka_resp_err_t error,
                           rd_kafka_topic_partition_list_t* partitions, void* self);
  static void on_committed(rd_kafka_t*, rd_kafka_resp_err_t error,
                           rd_kafka_topic_partition_list_t* partitions, void* self);
  static void on_error(rd_kafka_t*, int error, const char* reason, void* self);

  // On the thread of the control.
  void run();
  void renew_consumer();
  void subscribe();
  void find_partitions();
  void serve_errors(milliseconds at_most);
  void serve_consumer();
  void add(const std::vector<PartitionId>& ids);
  void give_away(const std::vector<PartitionId>& ids, bool is_lost);
  void share_memory();
  void serve_requests();
  void not_located(const std::vector<Request>& requests, std::string_view code,
                   const std::string& message);
  std::vector<Request> those_there(const std::vector<Request>& requests);
  Result<std::map<PartitionId, Located>> locate(const std::vector<Request>& requests,
                                                std::string_view& code);
  void assign(const std::map<PartitionId, Located>& located);
  void not_assigned(const std::map<PartitionId, Located>& located, rd_kafka_resp_err_t error);
  std::map<PartitionId, std::int64_t> park();
  void drain(const std::vector<PartitionId>& ids);
  void commit(bool waits);
  std::map<PartitionId, std::int64_t> watermarks() const;
  std::vector<PartitionView> partition_views() const;
  void set_kafka_fault(std::string_view code, const std::string& message);
  void probe();
  void watch();
  void shut_down();
  void topic_fault(const std::string& topic, std::string_view code, const std::string& message);

  PipeLog log_;
  PipeParts parts_;
  std::shared_ptr<rd_kafka_t> consumer_;  // changed with the mutex, by the thread of the control
  std::vector<std::unique_ptr<PipeWorker>> workers_;

  // Of the thread of the control.
  std::map<PartitionId, Assigned> assigned_;
  std::map<PartitionId, int> epochs_;
  std::map<std::string, Lane> missing_;  // topics that are not there
  bool is_commit_under_way_ = false;
  bool is_commit_waited_for_ = false;
  Instant committed_at_ = {};
  std::uint64_t committed_messages_ = 0;
  Instant found_at_ = {};
  Instant probed_at_ = {};

  mutable std::mutex mutex_;  // guards what follows
  std::vector<Request> requests_;
  std::map<PartitionId, Assigned> published_;
  std::vector<PartitionView> published_missing_;
  std::string kafka_fault_;
  ProgressWatch progress_;
  std::uint64_t rebalances_ = 0;
  std::uint64_t commits_ = 0;
  std::uint64_t commit_failures_ = 0;

  std::atomic<Duration> drain_at_most_{Duration::max()};
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> is_dying_{false};
  std::atomic<bool> is_fatal_{false};
  std::thread thread_;
};

// --- Opening and closing ---

Result<void> Pipe::Control::open(PipeConfig config, std::shared_ptr<const PipeMachine> machine) {
  parts_.config = std::move(config);
  parts_.machine = std::move(machine);
  PAWL_TRY(parts_.transform, Transform::make(parts_.config.transform));
  PAWL_TRY(parts_.search, SearchCluster::make(parts_.config.search));
  PAWL_TRY(parts_.errors, ErrorsTopic::open(parts_.config));
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
    workers_.push_back(
        std::make_unique<PipeWorker>(parts_, i, std::move(locate), std::move(failed)));
  }
  thread_ = std::thread([this] { run(); });
  return {};
}

Result<void> Pipe::Control::open_consumer() {
  const KafkaConfig& config = parts_.config.kafka;
  const std::size_t fetch_bytes = plan_of(parts_.config, count_partitions(), 1).fetch_bytes;
  std::vector<kafka::Setting> settings = {
      {"group.id", config.group},
      {"enable.auto.commit", "false"},
      {"enable.auto.offset.store", "false"},
      {"auto.offset.reset", "error"},
      {"partition.assignment.strategy", "range,roundrobin"},
      {"enable.partition.eof", "false"},
      {"queued.min.messages", "10000"},
      {"queued.max.messages.kbytes", std::to_string(fetch_bytes / 1024)},
      {"fetch.message.max.bytes", std::to_string(std::min<std::size_t>(fetch_bytes, 1U << 20U))},
      {"fetch.wait.max.ms", "50"},
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
  rd_kafka_conf_set_offset_commit_cb(conf.get(), on_committed);
  rd_kafka_conf_set_error_cb(conf.get(), on_error);
  PAWL_TRY(kafka::Client client, kafka::make_client(RD_KAFKA_CONSUMER, std::move(conf)));
  rd_kafka_poll_set_consumer(client.get());
  std::shared_ptr<rd_kafka_t> before = std::move(client);
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
    const auto partitions = kafka::partitions_of(client->get(), topic.name, kAskAtMost);
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
  consumer_.reset();
  workers_.clear();
}

void Pipe::Control::stop(Duration at_most) {
  drain_at_most_ = at_most;
  is_stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void Pipe::Control::shut_down() {
  std::vector<PartitionId> all;
  for (const auto& [id, assigned] : assigned_) all.push_back(id);
  give_away(all, false);
  rd_kafka_unsubscribe(consumer_.get());
  rd_kafka_consumer_close(consumer_.get());
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
  subscribe();
  while (!is_stopping_ && !is_dying_) {
    if (is_fatal_) renew_consumer();
    serve_errors(milliseconds{0});
    serve_consumer();
    if (parts_.config.kafka.assignment == KafkaConfig::Assignment::fixed) find_partitions();
    serve_requests();
    commit(false);
    probe();
    {
      const std::lock_guard lock(mutex_);
      published_ = assigned_;
    }
    watch();
  }
  if (!is_dying_) shut_down();
}

// A member that was fenced off (another has its `instance`) hears nothing any more.
void Pipe::Control::renew_consumer() {
  is_fatal_ = false;
  std::vector<PartitionId> all;
  for (const auto& [id, assigned] : assigned_) all.push_back(id);
  give_away(all, true);
  rd_kafka_consumer_close(consumer_.get());
  if (const auto opened = open_consumer(); !opened)
    log(true, "kafka", {{"text", opened.error().message}});
  subscribe();
  found_at_ = {};
}

void Pipe::Control::subscribe() {
  if (parts_.config.kafka.assignment == KafkaConfig::Assignment::fixed) return;
  std::vector<PartitionId> topics;
  for (const TopicChoice& topic : parts_.config.kafka.topics)
    topics.push_back({topic.name, RD_KAFKA_PARTITION_UA});
  const auto error = rd_kafka_subscribe(consumer_.get(), list_of(topics).get());
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
  const std::string topic = message->rkt != nullptr ? rd_kafka_topic_name(message->rkt) : "";
  if (!topic.empty()) topic_fault(topic, kafka::code_of(message->err), text != nullptr ? text : "");
  log(true, "kafka",
      {{"error", kafka::to_text(message->err)},
       {"topic", topic},
       {"text", text != nullptr ? text : ""}});
}

// A topic without partitions has a machine too, so that it is seen.
void Pipe::Control::topic_fault(const std::string& topic, std::string_view code,
                                const std::string& message) {
  const bool is_there = std::any_of(assigned_.begin(), assigned_.end(),
                                    [&](const auto& one) { return one.first.topic == topic; });
  if (is_there) return;
  const auto [found, is_new] =
      missing_.try_emplace(topic, parts_.machine, topic, R"({"topic":"-","partition":-1})", now());
  Lane& lane = found->second;
  if (lane.is_ready(now()) && lane.start(now())) lane.fail(code, message, std::nullopt, now());
  std::vector<PartitionView> views;
  for (const auto& [name, one] : missing_) {
    const Record& record = one.record();
    views.push_back({.id = {name, -1},
                     .state = record.state,
                     .of = record.failed_from,
                     .since = record.entered_at,
                     .code = record.error ? record.error->code : "",
                     .error = record.error ? record.error->message : "",
                     .attempt = record.attempt,
                     .failures = record.failures,
                     .next_at = record.next_at()});
  }
  const std::lock_guard lock(mutex_);
  published_missing_ = std::move(views);
}

// --- Which partitions ---

void Pipe::Control::on_rebalance(rd_kafka_t* client, rd_kafka_resp_err_t error,
                                 rd_kafka_topic_partition_list_t* partitions, void* self) {
  auto& control = *static_cast<Control*>(self);
  if (control.is_dying_) {  // there are no workers any more
    rd_kafka_assign(client, nullptr);
    return;
  }
  {
    const std::lock_guard lock(control.mutex_);
    ++control.rebalances_;
  }
  const std::vector<PartitionId> ids = ids_of(partitions);
  if (error == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS) {
    // Where they begin is said later, by an assignment of our own.
    const kafka::Partitions none = list_of({});
    rd_kafka_assign(client, none.get());
    control.add(ids);
    return;
  }
  control.give_away(ids, rd_kafka_assignment_lost(client) != 0);
  rd_kafka_assign(client, nullptr);
}

void Pipe::Control::add(const std::vector<PartitionId>& ids) {
  for (const PartitionId& id : ids) {
    if (assigned_.contains(id)) continue;
    const std::size_t place =
        std::hash<std::string>{}(id.topic) + static_cast<std::size_t>(id.partition);
    PipeWorker& worker = *workers_[place % workers_.size()];
    assigned_[id] = {.worker = &worker};
    const int epoch = ++epochs_[id];
    worker.post(
        [id, epoch, bytes = parts_.config.batch.bytes](PipeWorker& w) { w.add(id, epoch, bytes); });
    missing_.erase(id.topic);
  }
  share_memory();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(published_missing_,
                  [&](const PartitionView& view) { return !missing_.contains(view.id.topic); });
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
    commit(true);
  }
  for (const PartitionId& id : ids) {
    const auto found = assigned_.find(id);
    if (found == assigned_.end()) continue;
    found->second.worker->call([&](PipeWorker& worker) { worker.remove(id); });
    assigned_.erase(found);
    const std::lock_guard lock(mutex_);
    std::erase_if(requests_, [&](const Request& request) { return request.id == id; });
  }
  share_memory();
  log(is_lost, is_lost ? "lost" : "revoked", {{"partitions", std::to_string(ids.size())}});
}

// Batches on their way end, for as long as the file allows; meanwhile errors are acknowledged.
void Pipe::Control::drain(const std::vector<PartitionId>& ids) {
  for (const PartitionId& id : ids)
    if (const auto found = assigned_.find(id); found != assigned_.end())
      found->second.worker->post([id](PipeWorker& worker) {
        if (Partition* partition = worker.find(id)) partition->drain(PipeWorker::clock_now());
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
  for (const auto& [topic, lane] : missing_)
    if (lane.next_at() && *lane.next_at() <= now()) found_at_ = {};
  if (now() - found_at_ < parts_.config.kafka.find_every) return;
  found_at_ = now();
  std::vector<PartitionId> ids;
  for (const TopicChoice& topic : parts_.config.kafka.topics) {
    for (const std::int32_t partition : topic.partitions) ids.push_back({topic.name, partition});
    if (!topic.partitions.empty()) continue;
    std::string_view code;
    const auto partitions = kafka::partitions_of(consumer_.get(), topic.name, kAskAtMost, &code);
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
  std::vector<Request> requests;
  {
    const std::lock_guard lock(mutex_);
    requests.swap(requests_);
  }
  std::erase_if(requests,
                [this](const Request& request) { return !assigned_.contains(request.id); });
  requests = those_there(requests);
  if (requests.empty()) return;
  std::string_view code = pipe_code::kKafkaUnavailable;
  const auto located = locate(requests, code);
  if (!located) {
    not_located(requests, code, located.error().message);
    return;
  }
  assign(*located);
}

void Pipe::Control::not_located(const std::vector<Request>& requests, std::string_view code,
                                const std::string& message) {
  for (const Request& request : requests)
    assigned_.at(request.id)
        .worker->post([request, code = std::string(code), message](PipeWorker& worker) {
          Partition* partition = worker.find(request.id);
          if (partition != nullptr && partition->epoch() == request.epoch)
            partition->not_located(code, message, PipeWorker::clock_now());
        });
}

// A topic or partition that is not there holds up no other.
std::vector<Pipe::Control::Request> Pipe::Control::those_there(
    const std::vector<Request>& requests) {
  std::map<std::string, std::vector<Request>> by_topic;
  for (const Request& request : requests) by_topic[request.id.topic].push_back(request);
  std::vector<Request> found;
  for (const auto& [topic, wanted] : by_topic) {
    std::string_view code = pipe_code::kKafkaUnavailable;
    const auto there = kafka::partitions_of(consumer_.get(), topic, kAskAtMost, &code);
    if (!there) {
      not_located(wanted, code, there.error().message);
      continue;
    }
    for (const Request& request : wanted) {
      if (std::binary_search(there->begin(), there->end(), request.id.partition)) {
        found.push_back(request);
      } else {
        not_located({request}, pipe_code::kPartitionNotFound,
                    "topic " + in_quotes(topic) + " has " + std::to_string(there->size()) +
                        " partitions, and no partition " + std::to_string(request.id.partition));
      }
    }
  }
  return found;
}

Result<std::map<PartitionId, Pipe::Control::Located>> Pipe::Control::locate(
    const std::vector<Request>& requests, std::string_view& code) {
  std::vector<PartitionId> ids;
  ids.reserve(requests.size());
  for (const Request& request : requests) ids.push_back(request.id);
  PAWL_TRY(const auto ends, kafka::ends_of(consumer_.get(), ids, kAskAtMost, &code));
  const kafka::Partitions committed = list_of(ids);
  const auto error =
      rd_kafka_committed(consumer_.get(), committed.get(), static_cast<int>(kAskAtMost.count()));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    code = kafka::code_of(error);
    return Error{ErrorCode::environment,
                 "asking for the committed offsets: " + kafka::to_text(error)};
  }
  std::map<PartitionId, Located> located;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const rd_kafka_topic_partition_t& answer = committed->elems[i];
    if (answer.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      code = kafka::code_of(answer.err);
      return Error{ErrorCode::environment, "asking for the committed offset of " + to_text(ids[i]) +
                                               ": " + kafka::to_text(answer.err)};
    }
    std::optional<std::int64_t> known;
    if (answer.offset >= 0) known = answer.offset;
    // What was being read when it could not be had is further on than what was committed.
    if (requests[i].is_reset && requests[i].lost >= 0) known = requests[i].lost;
    located[ids[i]] = {.choice = choose_offset(known, ends[i], parts_.config.kafka.start),
                       .epoch = requests[i].epoch,
                       .committed = answer.offset};
  }
  return located;
}

// The offsets at which all others are, while nobody takes anything.
std::map<PartitionId, std::int64_t> Pipe::Control::park() {
  std::map<PartitionId, std::int64_t> parked;
  for (const auto& worker : workers_)
    worker->call([&](PipeWorker& w) {
      w.each([&](Partition& partition) {
        if (partition.is_located()) parked[partition.id()] = partition.park();
      });
    });
  return parked;
}

void Pipe::Control::assign(const std::map<PartitionId, Located>& located) {
  std::map<PartitionId, std::int64_t> offsets = park();
  for (const auto& [id, where] : located) offsets[id] = where.choice.offset;
  std::vector<PartitionId> ids;
  for (const auto& [id, offset] : offsets)
    if (assigned_.contains(id)) ids.push_back(id);
  const kafka::Partitions list = list_of(ids);
  static constexpr std::uint64_t kOne = 1;
  std::map<PartitionId, kafka::Queue> queues;
  for (int i = 0; i < list->cnt; ++i) {
    rd_kafka_topic_partition_t& one = list->elems[i];
    const PartitionId id{one.topic, one.partition};
    one.offset = offsets.at(id);
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
    Assigned& assigned = assigned_.at(id);
    const auto where = located.find(id);
    if (where != located.end()) {
      // One beyond the end of what is there says nothing of what comes: a lower one replaces it.
      const bool is_beyond = where->second.committed > where->second.choice.offset;
      assigned.committed = is_beyond ? -1 : where->second.committed;
    }
    auto source = std::make_shared<std::unique_ptr<MessageSource>>(
        std::make_unique<KafkaSource>(std::move(queue)));
    std::optional<OffsetChoice> choice;
    if (where != located.end()) choice = where->second.choice;
    const int epoch = where != located.end() ? where->second.epoch : 0;
    assigned.worker->post([id = id, source, choice, epoch](PipeWorker& worker) {
      Partition* partition = worker.find(id);
      if (partition == nullptr) return;
      if (choice && partition->epoch() != epoch) return;  // it has begun again, and asks again
      if (choice) {
        partition->located(choice->offset, std::move(*source), choice->gap,
                           PipeWorker::clock_now());
      } else {
        partition->new_source(std::move(*source));
      }
      partition->unpark();
    });
    if (choice && choice->gap)
      log(true, "gap",
          {{"partition", to_text(id)},
           {"first", std::to_string(choice->gap->first)},
           {"last", std::to_string(choice->gap->last)}});
  }
}

// The assignment is what it was: the others go on, and those who asked ask again.
void Pipe::Control::not_assigned(const std::map<PartitionId, Located>& located,
                                 rd_kafka_resp_err_t error) {
  log(true, "assign", {{"error", kafka::to_text(error)}});
  std::vector<Request> requests;
  for (const auto& [id, where] : located)
    if (assigned_.contains(id)) requests.push_back({.id = id, .epoch = where.epoch});
  not_located(requests, kafka::code_of(error), "assigning partitions: " + kafka::to_text(error));
  for (const auto& worker : workers_)
    worker->post([](PipeWorker& w) { w.each([](Partition& partition) { partition.unpark(); }); });
}

// --- Commits ---

std::map<PartitionId, std::int64_t> Pipe::Control::watermarks() const {
  std::map<PartitionId, std::int64_t> found;
  for (const auto& worker : workers_)
    worker->call([&](PipeWorker& w) {
      w.each([&](Partition& partition) {
        if (partition.is_located()) found[partition.id()] = partition.watermark();
      });
    });
  return found;
}

void Pipe::Control::commit(bool waits) {
  if (!waits) {
    if (is_commit_under_way_) return;
    if (now() - committed_at_ < parts_.config.kafka.commit_every) {
      std::uint64_t finished = 0;
      for (const auto& worker : workers_) finished += worker->finished();
      if (finished < committed_messages_ + kCommitMessages) return;
      committed_messages_ = finished;
    }
  }
  committed_at_ = now();
  std::vector<PartitionId> ids;
  std::vector<std::int64_t> offsets;
  for (const auto& [id, offset] : watermarks()) {
    const auto found = assigned_.find(id);
    if (found == assigned_.end() || offset < 0 || offset == found->second.committed) continue;
    ids.push_back(id);
    offsets.push_back(offset);
  }
  if (ids.empty()) return;
  const kafka::Partitions list = list_of(ids);
  for (std::size_t i = 0; i < ids.size(); ++i) list->elems[i].offset = offsets[i];
  is_commit_under_way_ = !waits;
  is_commit_waited_for_ = waits;
  const auto error = rd_kafka_commit(consumer_.get(), list.get(), waits ? 0 : 1);
  is_commit_waited_for_ = false;
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (waits)
      for (std::size_t i = 0; i < ids.size(); ++i) assigned_.at(ids[i]).committed = offsets[i];
    return;
  }
  is_commit_under_way_ = false;
  {
    const std::lock_guard lock(mutex_);
    ++commit_failures_;
  }
  log(true, "commit", {{"error", kafka::to_text(error)}});
}

void Pipe::Control::on_committed(rd_kafka_t*, rd_kafka_resp_err_t error,
                                 rd_kafka_topic_partition_list_t* partitions, void* self) {
  auto& control = *static_cast<Control*>(self);
  if (control.is_commit_waited_for_) return;  // who waits is told
  control.is_commit_under_way_ = false;
  bool is_failed = error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR__NO_OFFSET;
  for (int i = 0; partitions != nullptr && i < partitions->cnt; ++i) {
    const rd_kafka_topic_partition_t& one = partitions->elems[i];
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) is_failed = true;
    const auto found = control.assigned_.find({one.topic, one.partition});
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR || one.err != RD_KAFKA_RESP_ERR_NO_ERROR ||
        found == control.assigned_.end())
      continue;
    found->second.committed = one.offset;
  }
  {
    const std::lock_guard lock(control.mutex_);
    ++(is_failed ? control.commit_failures_ : control.commits_);
  }
  // The old value stays; the next commit says it again.
  if (is_failed) control.log(true, "commit", {{"error", kafka::to_text(error)}});
}

// --- Kafka is away ---

void Pipe::Control::on_error(rd_kafka_t*, int error, const char* reason, void* self) {
  auto& control = *static_cast<Control*>(self);
  const auto code = static_cast<rd_kafka_resp_err_t>(error);
  control.log(true, "kafka", {{"error", kafka::to_text(code)}, {"text", reason}});
  if (code == RD_KAFKA_RESP_ERR__FATAL) control.is_fatal_ = true;
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

// librdkafka goes on trying by itself; this finds out that it has succeeded.
void Pipe::Control::probe() {
  {
    const std::lock_guard lock(mutex_);
    if (kafka_fault_.empty()) return;
  }
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
  const auto is_due = [this] {
    const std::lock_guard lock(mutex_);
    return progress_.is_due(now());
  };
  if (!is_due()) return;
  const std::vector<PartitionView> views = partition_views();
  {
    const std::lock_guard lock(mutex_);
    stalled = progress_.look(views, now());
  }
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
    view.commits = commits_;
    view.commit_failures = commit_failures_;
  }
  for (const auto& worker : workers_) {
    const BulkTimes times = worker->bulk_times();
    for (std::size_t i = 0; i < times.counts.size(); ++i)
      view.bulk_times.counts[i] += times.counts[i];
    view.bulk_times.sum += times.sum;
    for (const auto& [status, count] : worker->items_by_status())
      view.items_by_status[status] += count;
    view.late_answers += worker->late_answers();
  }
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
      if (Partition* partition = w.find(id)) problem = what(*partition, PipeWorker::clock_now());
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
  control_->log(false, "pause",
                {{"partition", to_text(id)}, {"actor", actor.name}, {"reason", reason}});
  return {};
}

Result<void> Pipe::resume(const PartitionId& id, const Actor& actor, const std::string& reason) {
  PAWL_CHECK(control_->order(id, [&](Partition& partition, Instant now) {
    partition.resume(actor, reason, now);
    return std::string();
  }));
  control_->log(false, "resume",
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
