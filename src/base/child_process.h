// A program that is run to its end: its input given, its output caught, killed when it is to stop.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "pawl/result.h"

namespace pawl {

struct ChildProgram {
  std::vector<std::string> arguments;         // the first is the program; no shell looks at them
  std::vector<std::string> environment = {};  // `NAME=value`, beside those of this process
  std::string input = {};                     // for its standard input
  std::size_t output_max = 256U << 10U;       // of its standard output; the rest is counted only
  std::size_t error_max = 4U << 10U;          // the end of its standard error
  // Asked that often while it runs; false: it is to be killed.
  std::chrono::milliseconds asked_every{1'000};
  std::function<bool()> may_go_on = {};
};

struct ChildEnd {
  int exit_code = 0;       // when it ended by itself
  int signal = 0;          // that ended it, or 0
  bool is_killed = false;  // by us
  std::string output = {};
  bool is_cut = false;  // there was more output
  std::string error = {};
};

// Runs it in a process group of its own, so that what it starts in turn is killed with it. Fails
// when it cannot be started. From any thread.
Result<ChildEnd> run_child(const ChildProgram& program);

}  // namespace pawl
