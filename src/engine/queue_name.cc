#include "engine/queue_name.h"

#include "decide/built_in.h"
#include "decide/consequences.h"

namespace pawl {

std::string queue_of(const Machine& machine, const Record& record) {
  if (record.machine == kSendMachine) return std::string(kSendQueue);
  if (record.machine == kDeliveryMachine)
    return std::string(kChannelQueue) + to_deliver_of(record).channel;
  const auto id = machine.find_state(record.state);
  if (!id) return {};
  const State& state = machine.state(machine.owner_of(*id).value_or(*id));
  if (!state.task) return {};
  const Task& task = machine.task(state.task->id);
  switch (task.kind) {
    case Task::Kind::queue:
      return task.target;
    case Task::Kind::http:
      return std::string(kHttpQueue);
    case Task::Kind::channel:
      return std::string(kChannelQueue) + task.target;
    case Task::Kind::function:
      break;
  }
  return std::string(kFunctionQueue) + task.target;
}

}  // namespace pawl
