// Pipe: messages of Kafka's topics into a search engine, never losing one and never stuck.
//
// One thread talks to Kafka's group and commits; workers, one a core, run the partitions. Kafka's
// committed offset is the truth: it never passes a message that is neither in the search engine nor
// in the topic of errors.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/time.h"
#include "pipe/partition.h"
#include "pipe/pipe_config.h"
#include "pipe/pipe_machine.h"
#include "pipe/pipe_worker.h"
#include "pipe/search_cluster.h"

namespace pawl {

// What a pipe has to say, for a log: an event and its fields.
using PipeLog = std::function<void(bool is_problem, std::string_view event,
                                   const std::vector<std::pair<std::string, std::string>>& fields)>;

// What is seen of a pipe from outside, at one moment.
struct PipeView {
  std::string name;
  std::vector<PartitionView> partitions;  // sorted; a topic that is not there has partition -1
  std::vector<SearchCluster::NodeView> nodes;
  int window = 0;
  int bulks = 0;  // under way
  RequestTimes bulk_times;
  std::map<int, std::uint64_t> items_by_status;  // 0: there was no answer
  std::uint64_t late_answers = 0;                // to batches of partitions that were given away
  std::uint64_t rebalances = 0;
  std::uint64_t commits = 0;
  std::uint64_t commit_failures = 0;
  RequestTimes commit_times;
  std::string kafka;  // why it cannot be reached; empty: it can
};

class Pipe {
 public:
  // Fails on what is wrong with the file, its secrets or its machine; not because a server is away.
  static Result<std::unique_ptr<Pipe>> open(PipeConfig config,
                                            std::shared_ptr<const PipeMachine> machine,
                                            PipeLog log);
  // Without stop: as if the process had died.
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Takes nothing more, lets batches on their way end for as long as the file allows and at most so
  // long, commits, leaves the group. From any thread, once.
  void stop(Duration at_most = Duration::max());

  const PipeConfig& config() const;
  PipeView view() const;

  // Orders, from any thread; they have taken effect when they return. They fail where there is no
  // such partition here.
  Result<void> pause(const kafka::PartitionId& id, const Actor& actor, const std::string& reason);
  Result<void> resume(const kafka::PartitionId& id, const Actor& actor, const std::string& reason);
  Result<void> skip(const kafka::PartitionId& id, std::int64_t offset, const Actor& actor,
                    const std::string& reason);

 private:
  class Control;
  explicit Pipe(std::unique_ptr<Control> control);
  std::unique_ptr<Control> control_;
};

}  // namespace pawl
