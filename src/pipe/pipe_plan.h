// PipePlan: what a pipe takes of its machine: threads, memory, and how large its requests are.
#pragma once

#include <cstddef>

#include "pipe/pipe_config.h"

namespace pawl {

inline constexpr std::size_t kPartitionsGuess = 16;  // while Kafka cannot be asked

struct PipePlan {
  std::size_t workers = 0;
  std::size_t partitions = 0;
  std::size_t fetch_bytes = 0;  // ahead, of one partition
  std::size_t batch_bytes = 0;  // of one batch at most
  std::size_t batches = 0;      // on their way at most, over all partitions

  std::size_t fetch_memory() const { return fetch_bytes * partitions; }
  std::size_t batch_memory() const { return batch_bytes * batches; }
};

// What the file allows is shared out evenly, so that no partition can keep others waiting; but each
// has so much that it gets on: with very many partitions it is more than the file allows.
PipePlan plan_of(const PipeConfig& config, std::size_t partitions, unsigned cores);

}  // namespace pawl
