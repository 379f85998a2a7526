// What every answer of the reader must be, whatever was read; for tests and fuzzing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/machine_file.h"

namespace pawl {

// The findings as people see them, one a line.
std::string findings_text(const std::vector<Diagnostic>& findings);

// The first thing that is not as it must be: a finding without a place in the text, a known id or a
// message of one line, findings out of order, or a machine in spite of errors. Empty when all is
// well.
std::string what_is_malformed(std::string_view text, const ReadMachine& read);

}  // namespace pawl
