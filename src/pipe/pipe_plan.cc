#include "pipe/pipe_plan.h"

#include <algorithm>

namespace pawl {
namespace {

constexpr std::size_t kWorkersMax = 64;  // as in a file, and as fits into a ticket
constexpr std::size_t kFetchMin = 512U << 10U;
constexpr std::size_t kFetchMax = 16U << 20U;
constexpr std::size_t kBatchMin = 64U << 10U;

}  // namespace

PipePlan plan_of(const PipeConfig& config, std::size_t partitions, unsigned cores) {
  PipePlan plan{.workers = config.workers > 0 ? static_cast<std::size_t>(config.workers)
                                              : std::clamp<std::size_t>(cores, 1, kWorkersMax),
                .partitions = partitions};
  plan.fetch_bytes = std::clamp<std::size_t>(
      config.kafka.fetch_bytes / std::max<std::size_t>(1, partitions), kFetchMin, kFetchMax);
  plan.batches = partitions * static_cast<std::size_t>(config.batch.in_flight);
  plan.batch_bytes = std::clamp<std::size_t>(
      config.batch.memory / std::max<std::size_t>(1, plan.batches), kBatchMin, config.batch.bytes);
  return plan;
}

}  // namespace pawl
