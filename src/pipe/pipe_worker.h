// PipeWorker: a thread that runs some of a pipe's partitions: it takes their messages, transforms
// them and talks to the search engine. Nothing of a partition is touched by any other thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "pipe/errors_topic.h"
#include "pipe/partition.h"
#include "pipe/search_cluster.h"
#include "pipe/transform.h"

namespace pawl {

// What all workers of a pipe share. Outlives them.
struct PipeParts {
  PipeConfig config;
  std::shared_ptr<const PipeMachine> machine;
  std::shared_ptr<const Transform> transform;
  std::unique_ptr<SearchCluster> search;
  std::unique_ptr<ErrorsTopic> errors;
};

// How long requests took, bulks or commits: for metrics.
struct RequestTimes {
  static constexpr std::array<double, 10> kBounds = {0.005, 0.01, 0.025, 0.05, 0.1,
                                                     0.25,  0.5,  1,     2.5,  10};  // seconds
  std::array<std::uint64_t, kBounds.size() + 1> counts = {};
  double sum = 0;

  void add(double seconds);
};

class PipeWorker final : private PartitionHost {
 public:
  // A partition wants to know where to begin. On the thread of the worker.
  using Locate = std::function<void(const Partition&, bool is_reset, std::int64_t lost)>;

  // A batch failed, and its machine says how it goes on. On the thread of the worker.
  using Failed = std::function<void(const kafka::PartitionId&, const Record&)>;

  // Something went wrong that concerns no partition alone: nobody knows what was left half done.
  using Broken = std::function<void(const std::string& why)>;

  PipeWorker(const PipeParts& parts, std::uint64_t number, Locate locate, Failed failed,
             Broken broken);
  ~PipeWorker() override;
  PipeWorker(const PipeWorker&) = delete;
  PipeWorker& operator=(const PipeWorker&) = delete;

  // Ends the thread; what is on its way is forgotten. librdkafka may write to `descriptor` until
  // its client is gone, so that this comes before the end of the client, and the destructor after
  // it.
  void join();

  // The rest: from any thread.

  // Runs it on the thread of the worker, soon.
  void post(std::function<void(PipeWorker&)> what);
  // The same, and waits until it has run.
  void call(const std::function<void(PipeWorker&)>& what);
  void wake();
  // What librdkafka writes to when messages have come.
  int descriptor() const { return event_; }

  // A ticket that this worker gave to the topic of errors.
  void error_settled(std::uint64_t ticket, std::string code, std::string message);
  static std::uint64_t worker_of(std::uint64_t ticket);

  // The last that was published of each of its partitions.
  std::vector<PartitionView> views() const;
  RequestTimes bulk_times() const;
  std::map<int, std::uint64_t> items_by_status() const;
  std::uint64_t late_answers() const { return late_answers_.load(); }
  std::uint64_t finished() const { return finished_.load(); }  // messages, about

  // On the thread of the worker alone.
  void add(kafka::PartitionId id, int epoch, std::size_t batch_bytes, bool is_paused);
  Partition* find(const kafka::PartitionId& id);
  void remove(const kafka::PartitionId& id);
  // For that one, where it is here, or for each. What is thrown makes that partition begin again.
  void with(const kafka::PartitionId& id, const std::function<void(Partition&)>& what);
  void each(const std::function<void(Partition&)>& what);
  // Shows its partitions as they are now.
  void publish();
  // The time of day when the process began, and what has passed since: never goes back.
  static Instant clock_now();

 private:
  struct Part {  // of a bulk: a group of one batch
    kafka::PartitionId id;
    int epoch = 0;
    std::size_t lane = 0;
    std::size_t items = 0;
    std::shared_ptr<MessageBatch> batch;  // what is sent stays where it is
  };
  struct Bulk {
    std::vector<Part> parts;
    std::string text;  // of several batches
    std::size_t items = 0;
  };

  Transform::Outcome transform(const SourceMessage& source, std::uint32_t message,
                               BulkBody& body) override;
  void ready_to_load(LaneRef lane) override { ready_.push_back(lane); }
  void send_error(std::uint64_t batch, std::uint32_t failed, const ErrorRecord& record) override;
  void locate(Partition& partition, bool is_reset, std::int64_t lost) override;
  void failed(const Partition& partition, const Record& record) override;
  std::uint64_t next_batch() override { return ++last_batch_; }
  std::uint64_t bulks_answered() const override;

  void run();
  void run_posted();
  void step();
  void send_bulks();
  void add_part(Bulk& bulk, LaneRef ref);
  void replied(BulkReply& reply);
  void answered(Bulk& bulk, BulkReply& reply);
  void bulk_failed(const Bulk& bulk, const BulkFailure& failure);
  Partition* still_there(const Part& part);
  template <class What>
  void guarded(Partition& partition, What what);
  std::chrono::milliseconds until_next() const;

  const PipeParts& parts_;
  std::uint64_t number_;
  Locate locate_;
  Failed failed_;
  Broken broken_;
  SearchClient client_;
  Transform::Workbench workbench_;
  int event_;

  std::map<kafka::PartitionId, std::unique_ptr<Partition>> partitions_;
  std::deque<LaneRef> ready_;
  std::map<std::uint64_t, Bulk> bulks_;
  std::map<kafka::PartitionId, Outcomes> counted_;       // the most there ever was of each
  std::map<std::uint64_t, kafka::PartitionId> batches_;  // that wait for the topic of errors
  std::uint64_t last_batch_ = 0;
  std::uint64_t last_bulk_ = 0;
  Instant published_at_ = {};
  Instant step_at_ = {};

  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::function<void(PipeWorker&)>> posted_;
  std::vector<PartitionView> views_;
  RequestTimes times_;
  std::map<int, std::uint64_t> statuses_;

  std::atomic<std::uint64_t> late_answers_{0};
  std::atomic<std::uint64_t> finished_{0};
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace pawl
