// Where a text stops being JSON. The parser that refuses it is quick because it does not know.
#pragma once

#include <optional>
#include <string_view>

#include "pawl/result.h"

namespace pawl {

// The first byte that cannot stand where it does, or the end when something is missing. None when
// the form is right: what was refused is then a number out of range, or too deep a nesting.
std::optional<Position> find_json_fault(std::string_view text);

}  // namespace pawl
