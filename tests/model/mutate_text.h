// A text with one small mistake, as people make them.
#pragma once

#include <string>

#include "draw.h"

namespace pawl {

std::string mutated(Draw& draw, const std::string& text);

}  // namespace pawl
