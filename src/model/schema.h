// The JSON Schema (2020-12) of machine files, for editors.
#pragma once

#include "pawl/json.h"

namespace pawl {

// Made from the keys the reader goes by. It knows the form of a file, not what its names mean.
Json machine_schema();

}  // namespace pawl
