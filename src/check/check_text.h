// What was found by a check, for people and as JSON.
#pragma once

#include <string>

#include "check/check.h"
#include "pawl/json.h"

namespace pawl {

// `ends`, `repeats`, `never_ends`, `undecided`.
std::string_view to_text(StateVerdict::Kind kind);

// A line for each state; below one that never ends, its scenario.
std::string to_text(const CheckedMachine& checked);

// `2 states end, 1 repeats for ever, visibly`.
std::string summary_text(const CheckedMachine& checked);

Json to_json(const CheckedMachine& checked);

// The scenario as a file that `pawl simulate --script` plays.
std::string script_text(const CounterExample& example);

}  // namespace pawl
