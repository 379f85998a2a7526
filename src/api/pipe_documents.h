// What callers are shown of pipes, as JSON, with instants as text. What is empty or not known is
// left out. docs/reference/api.md has every member.
#pragma once

#include <string>

#include "pipe/pipe.h"

namespace pawl {

std::string to_json(const PipeView& pipe);
std::string to_json(const PartitionView& partition);

}  // namespace pawl
