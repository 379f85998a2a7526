// The exit codes of every verb of `pawl`.
#pragma once

#include <array>
#include <string_view>

#include "pawl/result.h"

namespace pawl::cli {

enum class ExitCode {
  ok = 0,
  wrong = 1,        // the thing asked about is wrong: a rule, a file, a record
  usage = 2,        // the command itself is: an unknown option, a missing value
  environment = 3,  // the machine cannot: no time zone data, no permission, disk full
  undecided = 4,    // there is no answer within the limits of the search
};

// The one table: the help is made from it, and a test compares the docs with it.
struct ExitCodeMeaning {
  ExitCode code;
  std::string_view meaning;
};
inline constexpr std::array<ExitCodeMeaning, 5> kExitCodes = {{
    {ExitCode::ok, "success"},
    {ExitCode::wrong, "invalid input, a refused call, or a failed check"},
    {ExitCode::usage, "invalid command line"},
    {ExitCode::environment, "the environment failed: disk, network, permissions, a store in use"},
    {ExitCode::undecided, "no answer within the limits"},
}};

constexpr ExitCode exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input:
      return ExitCode::wrong;
    case ErrorCode::environment:
    case ErrorCode::damaged:
    case ErrorCode::outcome_unknown:
      return ExitCode::environment;
  }
  return ExitCode::wrong;
}

}  // namespace pawl::cli
