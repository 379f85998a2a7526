// Every finding a machine file, or another file of ours, can have: its stable id and what it means.
// docs/reference/errors.md has the same lines; a test compares them.
#pragma once

#include <span>
#include <string_view>

namespace pawl {

struct FindingId {
  // A file that is not of the right form is not valid by the JSON Schema either.
  enum class Kind { text, form, meaning, warning, applying, serving, piping };

  std::string_view id;
  Kind kind = Kind::meaning;
  std::string_view meaning;
};

std::span<const FindingId> finding_ids();

// None has that id: null.
const FindingId* find_finding(std::string_view id);

}  // namespace pawl
