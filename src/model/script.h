// Script: one scenario in a file of its own, to play machines that have none.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "pawl/definition.h"
#include "pawl/diagnostic.h"
#include "pawl/machine.h"
#include "pawl/zones.h"

namespace pawl {

struct ReadScript {
  std::optional<Scenario> scenario;  // none when there is an error among the findings
  std::vector<Diagnostic> findings;  // in the order of the file
};

// Reads and checks a file of the keys of a scenario, YAML or JSON. Its steps are about `machine`
// where they name no other. Never fails otherwise: all that is wrong is in the findings.
ReadScript read_script(std::string_view text, const Machine& machine, const Zones& zones);

}  // namespace pawl
