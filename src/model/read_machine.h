// From the text of a machine file to its definition.
#pragma once

#include <optional>
#include <string_view>

#include "pawl/definition.h"
#include "pawl/diagnostic.h"

namespace pawl {

// Reads a machine file, YAML or JSON. Findings of form go to `diagnostics`; what the names in it
// mean is checked by Machine::make. None only when the text cannot be read to its end.
std::optional<Definition> read_definition(std::string_view text, Diagnostics& diagnostics);

}  // namespace pawl
