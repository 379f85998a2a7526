// An outlook as a table for people.
#pragma once

#include <string>
#include <vector>

#include "policy/outlook.h"

namespace pawl {

// Lines without indentation: for each run of failures what is assumed and a table, then what else
// there is to know.
std::vector<std::string> to_lines(const Outlook& outlook);

// `1h51m`, `38.4s`, `300ms`: as people say it, to the millisecond.
std::string short_text(Duration duration);

// `8s to 12s`, `10s`; `?` where it is not known.
std::string short_text(const Between& between);

}  // namespace pawl
