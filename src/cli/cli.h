// The command line as a function, so that tests can run it in memory.
#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>

#include "cli/exit_code.h"
#include "pawl/time.h"

namespace pawl::cli {

// The world a verb sees: where it writes, and the clock.
struct Surroundings {
  std::ostream& out;
  std::ostream& err;
  std::function<Instant()> now;
  bool terminal = false;  // whether a person reads `err` as it comes
  bool screen = false;    // whether a person sees `out`
  std::function<const char*(const char*)> environment = {};  // variables; none: there are none
};

// Runs one command; `arguments` without the program's name. Errors are written to `err`.
ExitCode run(std::span<const std::string> arguments, const Surroundings& surroundings);

}  // namespace pawl::cli
