// Machine files: from text to a machine and back. docs/reference/machine.md is their language.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/definition.h"
#include "pawl/diagnostic.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

struct ReadMachine {
  std::shared_ptr<const Machine> machine;  // null when there is an error among the findings
  std::vector<Diagnostic> findings;        // in the order of the file
};

// Reads and checks a machine file, YAML or JSON. Never fails otherwise: all that is wrong with the
// text is in the findings, each with its place.
ReadMachine read_machine(std::string_view text, const Zones& zones);

// The canonical file of a definition: reading it gives an equal definition. Comments are not kept.
std::string print_machine(const Definition& definition);

}  // namespace pawl
