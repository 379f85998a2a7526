#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "cli/cli.h"

int main(int argc, char** argv) {
  // A batch takes memory that the next one takes again: to give it back to the system in between
  // costs more than all that is done with it.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 16 << 20);
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
