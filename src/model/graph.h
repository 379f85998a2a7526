// Pictures of a machine: happy path, events, clock and failures told apart.
#pragma once

#include <string>

#include "pawl/machine.h"

namespace pawl {

// A Mermaid flowchart, as code hosts and wikis render it.
std::string to_mermaid(const Machine& machine);

// Graphviz.
std::string to_dot(const Machine& machine);

// For a terminal: each state with its ways out.
std::string to_text_graph(const Machine& machine);

}  // namespace pawl
