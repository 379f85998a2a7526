// Timeline: a played scenario as lines that a person can follow.
#pragma once

#include <string>
#include <string_view>

#include "simulate/played.h"

namespace pawl {

// A line for each moment: when, which record, what came, from where to where it went, what comes
// next; below it what was asked of the world.
std::string to_timeline(const Played& played);

// One line for each problem, those of lists followed by the lines that differ: `-` was expected,
// `+` is there. `file` is where the scenario was read from.
std::string to_text(const Problem& problem, std::string_view file, const Zone& zone);

}  // namespace pawl
