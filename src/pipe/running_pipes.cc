#include "pipe/running_pipes.h"

#include <algorithm>
#include <thread>

#include "base/text.h"

namespace pawl {

Result<void> RunningPipes::open(PipeConfig config, std::shared_ptr<const PipeMachine> machine,
                                PipeLog log) {
  PAWL_TRY(auto opened, Pipe::open(std::move(config), std::move(machine), std::move(log)));
  const std::lock_guard lock(mutex_);
  const auto behind = std::find_if(pipes_.begin(), pipes_.end(), [&](const auto& pipe) {
    return pipe->config().name > opened->config().name;
  });
  pipes_.insert(behind, std::move(opened));
  return {};
}

std::vector<Pipe*> RunningPipes::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<Pipe*> all;
  for (const auto& pipe : pipes_) all.push_back(pipe.get());
  return all;
}

void RunningPipes::stop(Duration at_most) {
  std::vector<std::thread> stopping;
  for (Pipe* pipe : all()) stopping.emplace_back([pipe, at_most] { pipe->stop(at_most); });
  for (std::thread& one : stopping) one.join();
}

std::size_t RunningPipes::size() const { return all().size(); }

std::vector<PipeView> RunningPipes::views() const {
  std::vector<PipeView> views;
  for (const Pipe* pipe : all()) views.push_back(pipe->view());
  return views;
}

Result<void> RunningPipes::give(const PipeOrder& order) {
  for (Pipe* pipe : all()) {
    if (pipe->config().name != order.pipe) continue;
    switch (order.kind) {
      case PipeOrder::Kind::pause:
        return pipe->pause(order.partition, order.actor, order.reason);
      case PipeOrder::Kind::resume:
        return pipe->resume(order.partition, order.actor, order.reason);
      case PipeOrder::Kind::skip:
        return pipe->skip(order.partition, order.offset, order.actor, order.reason);
    }
  }
  return Error{ErrorCode::bad_input, "no pipe here has the name " + in_quotes(order.pipe)};
}

}  // namespace pawl
