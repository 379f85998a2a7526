// Which error rows of a policy can answer an error.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "pawl/machine.h"

namespace pawl {

// In the order they are tried, without those that an earlier one always answers for.
std::vector<const ErrorRows*> reachable_errors(const ResolvedPolicy& policy);

// The rows up to the first one that always holds.
std::span<const Row> reachable_rows(std::span<const Row> rows);

// Whether rows of that code are looked at for an error with this one: `default` for every one,
// `http_5*` for those that begin so.
bool answers_code(std::string_view pattern, std::string_view code);

// Whether it is not written in the machine, but holds where nothing else is said.
bool is_built_in(const ErrorRows& error);

}  // namespace pawl
