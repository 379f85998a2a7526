// Data of records and payloads, held against the fields that are declared.
#pragma once

#include <string>
#include <string_view>

#include "model/expression/json_view.h"
#include "pawl/definition.h"
#include "pawl/result.h"
#include "pawl/zones.h"

namespace pawl {

// Whether fields beside the declared ones are an error.
enum class Others { refused, allowed };

// The map with defaults for the fields it lacks. An error names the field that does not fit, is
// missing, or is not declared.
Result<std::string> completed(std::string_view map, const Fields& fields, Others others,
                              const Zones& zones);

// An error unless the value may stand in that field of the data; null `fields`: any field may.
Result<void> check_member(const std::optional<Fields>& fields, std::string_view name,
                          JsonView value, const Zones& zones);

}  // namespace pawl
