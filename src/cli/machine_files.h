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

// Whether it is a machine.
bool is_good(const MachineFile& file);

// Adds a finding for every machine that effects create and none of the files describes.
void find_unknown_machines(std::vector<MachineFile>& files, Diagnostic::Severity severity);

// At most one byte more than a machine file may have: the reader then says so.
Result<std::string> read_text_file(const std::string& path);

// Writes `path:line:column: error: message [id]` for each finding, on a terminal with its line and
// a caret.
void report_findings(const MachineFile& file, const Surroundings& surroundings);
void report_findings(const std::string& path, const std::string& text,
                     const std::vector<Diagnostic>& findings, const Surroundings& surroundings);

// For verbs that need one good machine: loads it, says what is wrong, and sets `code` when there
// is none.
std::shared_ptr<const Machine> load_one_machine(const std::string& path,
                                                const Surroundings& surroundings, ExitCode& code);

}  // namespace pawl::cli
