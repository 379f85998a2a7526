// Error codes: the ways in which work of a state can fail, as far as its policy tells them apart.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pawl/machine.h"

namespace pawl {

// One code for each list of rows that may answer a failure in the state: those its tables name, a
// code that begins so for each prefix, and one that nobody mentions. With `read` rows look at the
// code itself, so every one that is named counts, and so do these words that it is compared with.
// Without `returned` where only the built-in table has it: a worker that shuts down hands back its
// attempt and is no failure.
std::vector<std::string> codes_of(const Machine& machine, StateId state,
                                  const std::optional<std::set<std::string>>& read);

}  // namespace pawl
