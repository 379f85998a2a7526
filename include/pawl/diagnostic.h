// Diagnostics: everything that is wrong or doubtful in a machine file, each with its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"
#include "pawl/where.h"

namespace pawl {

// One finding. Its id is stable: docs/reference/errors.md has a line for each.
struct Diagnostic {
  enum class Severity { error, warning };

  Severity severity = Severity::error;
  std::string_view id;  // a literal
  Position position;
  std::string message;  // what is wrong and what to write instead
};

// Findings beyond this many errors, or warnings, are counted only: nobody reads them, and a hostile
// file must not make work.
inline constexpr std::size_t kFindingsMax = 100;

// Collects findings while a file is read, so that a person sees all of them at once.
class Diagnostics {
 public:
  void error(std::string_view id, Position position, std::string message);
  void warning(std::string_view id, Position position, std::string message);

  // An error of what a text means: not said where the text itself could not be read.
  void error_at(std::string_view id, const Where& at, std::string message);

  bool has_errors() const { return errors_ > 0; }

  // Whether further errors are counted only, so that no time need be spent on what they say.
  bool is_full() const { return errors_ >= kFindingsMax; }

  // Whether something in [from, to) could not be read.
  bool has_form_error_between(Position from, Position to) const;

  // The same of what begins there.
  bool has_form_error_at(Position at) const;

  // A part of the file that others refer to could not be read: what they name may be in it.
  void miss_section() { misses_section_ = true; }
  bool misses_section() const { return misses_section_; }

  // All findings in the order of the file; when there were too many, the last one says so.
  std::vector<Diagnostic> sorted() const;

 private:
  void add(Diagnostic::Severity severity, std::size_t& count, std::string_view id,
           Position position, std::string message);

  std::vector<Diagnostic> findings_;
  std::vector<Position> form_errors_;  // where something could not be read
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
  bool misses_section_ = false;
};

}  // namespace pawl
