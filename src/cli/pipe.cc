// pawl pipe: from Kafka to a search engine.
#include "cli/pipe_verbs.h"
#include "cli/verb.h"

namespace pawl::cli {

void add_pipe(Command& app, Action& action) {
  Command* pipe = app.add_subcommand("pipe", "Load messages from Kafka into a search engine");
  pipe->require_subcommand(0, 1);
  add_pipe_run(*pipe, action);
  add_pipe_check(*pipe, action);
  add_pipe_errors(*pipe, action);
  add_pipe_top(*pipe, action);
}

}  // namespace pawl::cli
