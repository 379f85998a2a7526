// Machine files on the command line: loaded, checked, and what was found said to a person.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/exit_code.h"
#include "pawl/machine_file.h"
#include "pawl/result.h"

namespace pawl::cli {

struct MachineFile {
  std::string path;
  std::string text;
  ReadMachine read;
  std::optional<Error> unreadable = std::nullopt;
};

// Reads and checks the files. Fails when this machine has no time zones; what is wrong with a file
// is in it.
Result<std::vector<MachineFile>> load_machine_files(const std::vector<std::string>& paths);

// Writes `path:line:column: error: message [id]` for each finding, on a terminal with its line and
// a caret.
void report_findings(const MachineFile& file, const Surroundings& surroundings);

// For verbs that need one good machine: loads it, says what is wrong, and sets `code` when there
// is none.
std::shared_ptr<const Machine> load_one_machine(const std::string& path,
                                                const Surroundings& surroundings, ExitCode& code);

}  // namespace pawl::cli
