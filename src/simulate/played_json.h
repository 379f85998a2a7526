// A played scenario as JSON.
#pragma once

#include <string>

#include "pawl/json.h"
#include "simulate/played.h"

namespace pawl {

// Instants are RFC 3339 in the zone of the scenario.
Json to_json(const Played& played);

}  // namespace pawl
