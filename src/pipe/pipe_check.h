// PipeCheck: would this pipe run? Asks both ends and tries the last messages, without changing
// anything: no group is joined, nothing is committed, nothing is sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pawl/time.h"
#include "pipe/kafka.h"
#include "pipe/pipe_config.h"
#include "pipe/pipe_machine.h"
#include "pipe/pipe_plan.h"
#include "pipe/search_cluster.h"

namespace pawl {

struct CheckFinding {
  enum class Kind { ok, warning, problem };

  Kind kind = Kind::ok;
  std::string about;
  std::string text;
  std::string remedy = {};  // of a problem and of a warning: what to do
};
const char* to_text(CheckFinding::Kind kind);

struct PartitionFound {
  std::int32_t partition = 0;
  kafka::Ends ends = {};
  std::optional<std::int64_t> committed = {};
  std::int64_t lag = 0;  // messages that the pipe would read now
};

struct TopicFound {
  std::string name;
  std::optional<std::int64_t> message_bytes_max = {};  // as the brokers say
  std::vector<PartitionFound> partitions = {};         // those of the pipe
};

struct NodeFound {
  std::string url;
  int status = 0;  // 0: no answer
  std::string distribution = {};
  std::string version = {};
};

// What would become of the last messages of one topic.
struct DryRun {
  struct Failed {
    std::size_t messages = 0;
    PipeMachine::ItemAction action = PipeMachine::ItemAction::errors;
    std::string first = {};  // TOPIC/PARTITION/OFFSET
    std::string reason = {};
  };
  std::string topic;
  std::size_t messages = 0;
  std::size_t documents = 0;
  std::size_t skipped = 0;
  std::map<std::string, Failed> failed = {};        // by code
  std::map<std::string, std::size_t> indices = {};  // documents by index
};

struct PipeCheck {
  std::vector<CheckFinding> findings = {};
  std::vector<std::string> brokers = {};
  std::vector<TopicFound> topics = {};
  std::vector<NodeFound> nodes = {};
  std::vector<DryRun> dry_runs = {};
  PipePlan plan = {};
  bool is_plan_of_kafka = false;  // else the number of partitions is a guess

  bool is_good() const;
};

struct PipeCheckOptions {
  std::int64_t messages = 100;  // of each topic that are tried; 0: none
  std::chrono::milliseconds patience = std::chrono::seconds{10};  // with each thing that is asked
  Instant now = {};                                               // for an index by the clock
  unsigned cores = 1;
};

PipeCheck check_pipe(const PipeConfig& config, const PipeMachine& machine,
                     const PipeCheckOptions& options);

// What of the last messages would become documents, failed or were skipped.
CheckFinding about_dry_run(const DryRun& run);

// Whether a record of an error has room for a message of a topic.
CheckFinding about_errors_limit(const ErrorsConfig& errors, std::optional<std::int64_t> errors_max,
                                const std::vector<TopicFound>& topics);

// What a node says of itself; and whether the pipe can work with it. Nothing is found in what is no
// answer.
CheckFinding about_node(const SearchCluster::Asked& asked, NodeFound& found);

// `4 MiB`, `1.5 MiB`, `800 bytes`.
std::string size_text(std::size_t bytes);

}  // namespace pawl
