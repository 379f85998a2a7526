// Diagnostics: everything that is wrong or doubtful in a machine file, each with its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

// One finding. Its id is stable: docs/reference/errors.md has a line for each.
struct Diagnostic {
  enum class Severity { error, warning };

  Severity severity = Severity::error;
  std::string_view id;  // a literal
  Position position;
  std::string message;  // what is wrong and what to write instead
};

// Collects findings while a file is read, so that a person sees all of them at once.
class Diagnostics {
 public:
  void error(std::string_view id, Position position, std::string message);
  void warning(std::string_view id, Position position, std::string message);

  bool has_errors() const { return errors_ > 0; }

  // All findings in the order of the file.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> findings_;
  int errors_ = 0;
};

}  // namespace pawl
