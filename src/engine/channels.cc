#include "engine/channels.h"

#include <utility>

#include "decide/json_edit.h"
#include "engine/queue_name.h"
#include "model/built_in_names.h"
#include "model/expression/json_view.h"

namespace pawl {

Channel log_channel(std::function<void(const std::string& line)> write) {
  return [write = std::move(write)](const Delivered& delivered) -> std::optional<Failure> {
    std::string line;
    {
      JsonMap map(line);
      map.text("id", delivered.id);
      map.text("channel", delivered.channel);
      map.json("payload", delivered.payload);
    }
    write(line);
    return std::nullopt;
  };
}

// A task may name a channel as well: its payload is what the task says.
Functions functions_of(const Channels& channels) {
  Functions functions;
  for (const auto& [name, channel] : channels)
    functions[std::string(kChannelQueue) + name] = [name = name, channel = channel](TaskRun& run) {
      const Answer& given = run.given();
      Delivered delivered{
          .id = given.outside_key, .channel = name, .attempt = given.attempt, .may_go_on = [&run] {
            return !run.is_cancelled();
          }};
      if (given.machine == kDeliveryMachine) {
        delivered.id = given.key;
        delivered.payload = std::string(JsonView(given.payload).member("with").json());
      } else {
        delivered.payload = given.payload;
      }
      auto failure = channel(delivered);
      if (failure && run.is_cancelled()) failure = Failure{.code = "returned"};
      return TaskResult{.failure = std::move(failure)};
    };
  return functions;
}

}  // namespace pawl
