// The verbs below `pawl pipe`, each in a file of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/serve_log.h"
#include "cli/verb.h"
#include "pipe/pipe_config.h"
#include "pipe/pipe_machine.h"
#include "pipe/running_pipes.h"

namespace pawl::cli {

void add_pipe_top(Command& pipe, Action& action);
void add_pipe_run(Command& pipe, Action& action);
void add_pipe_check(Command& pipe, Action& action);
void add_pipe_errors(Command& pipe, Action& action);
void add_pipe_errors_replay(Command& errors, Action& action);

// The file of a pipe, and its machine; what is wrong is said.
ExitCode read_pipe_file(const std::string& path, PipeConfig& into,
                        const Surroundings& surroundings);
ExitCode read_pipe_machine(const std::string& pipe_path, const std::string& path,
                           std::shared_ptr<const PipeMachine>& into,
                           const Surroundings& surroundings);

// A pipe as its file says, with its machine.
struct PipeToRun {
  std::string path;
  PipeConfig config;
  std::shared_ptr<const PipeMachine> machine;
};

// All of the files, or none: what is wrong is said. Two pipes of one name are wrong.
ExitCode read_pipes(const std::vector<std::string>& paths, std::vector<PipeToRun>& into,
                    const Surroundings& surroundings);
// What they say goes to the log, which outlives them.
Result<void> start_pipes(std::vector<PipeToRun> to_run, RunningPipes& pipes, ServeLog& log);
// The environment variables in which its secrets are.
std::vector<std::string> secret_variables(const PipeConfig& config);

}  // namespace pawl::cli
