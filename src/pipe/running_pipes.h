// RunningPipes: the pipes that this process runs.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pipe/pipe_board.h"

namespace pawl {

class RunningPipes final : public PipeBoard {
 public:
  // Fails as Pipe::open does. The name is none of those that run.
  Result<void> open(PipeConfig config, std::shared_ptr<const PipeMachine> machine, PipeLog log);

  // Stops all of them, at the same time. Once; they are seen until this object goes.
  void stop(Duration at_most = Duration::max());

  std::size_t size() const;
  std::vector<PipeView> views() const override;
  Result<void> give(const PipeOrder& order) override;

 private:
  std::vector<Pipe*> all() const;

  mutable std::mutex mutex_;                  // guards what follows; pipes stay where they are
  std::vector<std::unique_ptr<Pipe>> pipes_;  // by name
};

}  // namespace pawl
