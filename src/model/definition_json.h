// The canonical form of a machine: what a definition says, written the shortest way.
#pragma once

#include "pawl/definition.h"
#include "pawl/json.h"

namespace pawl {

// The definition as the tree of its machine file: keys in one fixed order, what is not given left
// out, short forms wherever they say the same (`x` for `[{to: x}]`). Equal definitions give equal
// trees. What no file can say is lost: `required` of a list of words, jitter and attempts of delays
// that are no formula.
Json to_json(const Definition& definition);

}  // namespace pawl
