#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"
#ifdef PAWL_MIMALLOC
#include <mimalloc.h>
#endif

int main(int argc, char** argv) {
#ifdef PAWL_MIMALLOC
  // A batch takes memory that the next one takes again: to give it back to the system in between
  // costs more than all that is done with it.
  constexpr long kKeptMs = 2'000;
  mi_option_set(mi_option_decommit_delay, kKeptMs);
  mi_option_set(mi_option_segment_decommit_delay, kKeptMs);
#endif
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto now = [] {
    return std::chrono::floor<pawl::Duration>(std::chrono::system_clock::now());
  };
  const auto code =
      pawl::cli::run(arguments, {std::cout, std::cerr, now, isatty(STDERR_FILENO) == 1,
                                 isatty(STDOUT_FILENO) == 1, std::getenv});
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "pawl: error: cannot write the output\n";
    return static_cast<int>(pawl::cli::ExitCode::environment);
  }
  return static_cast<int>(code);
}
