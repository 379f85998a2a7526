// OffsetCommits: the commits of a consumer that are under way, and how they ended.
//
// For one thread. Nothing is tried again in here: what was not committed stays so, and the next
// commit says it again. A commit is a statement about a partition as it was given to us: what
// comes back for one that was given away, or begun anew, since is nobody's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "pawl/time.h"
#include "pipe/kafka.h"

namespace pawl {

struct CommitOffset {
  kafka::PartitionId id;
  int epoch = 0;             // of the partition's assignment
  std::int64_t offset = 0;   // everything before it is finished
  std::uint64_t errors = 0;  // of those how many are in the topic of errors, in this assignment
};

class OffsetCommits {
 public:
  // How one ended: what was committed of it, and what went wrong (empty: nothing).
  struct Ended {
    std::vector<CommitOffset> committed = {};
    std::string error = {};
    Duration took = {};
  };
  using Told = std::function<void(const Ended&)>;

  // The instance is kept with each offset: `pawl:INSTANCE:ERRORS`.
  OffsetCommits(std::string instance, Told told)
      : instance_(std::move(instance)), told_(std::move(told)) {}

  // Those of the client before are forgotten. The client outlives this, or the next call.
  void use(rd_kafka_t* client);

  void begin(std::vector<CommitOffset> offsets);
  bool is_under_way() const { return !under_way_.empty(); }
  // Tells of those that have ended, waiting at most so long for one to.
  void serve(std::chrono::milliseconds at_most);

 private:
  struct Commit {
    std::vector<CommitOffset> offsets;
    std::chrono::steady_clock::time_point begun_at = {};
  };

  std::string instance_;
  Told told_;
  rd_kafka_t* client_ = nullptr;
  kafka::Queue answers_;
  std::map<std::uintptr_t, Commit> under_way_;
  std::uintptr_t last_ = 0;
};

}  // namespace pawl
