// An outlook as JSON.
#pragma once

#include <string>
#include <vector>

#include "policy/outlook.h"

namespace pawl::cli {

// One object. Durations are texts that machine files can have, ranges `{"least":…,"most":…}`; null
// is what is not known before there is a record.
std::string to_json(const Outlook& outlook);

// `["a","b"]`
std::string json_list(const std::vector<std::string>& texts);

}  // namespace pawl::cli
