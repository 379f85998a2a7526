// Sample data: small values that fit, for records nobody has created.
#pragma once

#include <string>
#include <string_view>

#include "pawl/definition.h"
#include "pawl/machine.h"
#include "pawl/result.h"

namespace pawl {

// The data of a sample record, as JSON: what `given` has, and a small value for each required field
// that it lacks and that has no default. Fails when `given` is no JSON map.
Result<std::string> sample_data(const Machine& machine, std::string_view given = "{}");

// The payload of an event that reports a failure: every text in it is the error code.
std::string sample_payload(const EventDefinition* declared, const std::string& code);

}  // namespace pawl
