#include <utility>

#include "base/child_process.h"
#include "outside/channels.h"

namespace pawl {

Channel exec_channel(ExecSettings settings) {
  return [settings = std::move(settings)](const Delivered& delivered) -> std::optional<Failure> {
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + settings.timeout;
    const auto end = run_child(
        {.arguments = settings.arguments,
         .environment = {"PAWL_DELIVERY=" + delivered.id, "PAWL_CHANNEL=" + delivered.channel},
         .input = delivery_json(delivered),
         .asked_every = std::chrono::milliseconds{100},
         .may_go_on = [&] {
           return Clock::now() < until && (!delivered.may_go_on || delivered.may_go_on());
         }});
    if (!end) return Failure{.code = "bad_channel", .message = end.error().message};
    if (end->is_killed)
      return Failure{.code = "timeout", .message = "the program took too long and was killed"};
    if (end->signal != 0)
      return Failure{.code = "signal_" + std::to_string(end->signal), .message = end->error};
    if (end->exit_code != 0)
      return Failure{.code = "exit_" + std::to_string(end->exit_code), .message = end->error};
    return std::nullopt;
  };
}

}  // namespace pawl
