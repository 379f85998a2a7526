// Json as text for people: YAML as machine files are written, and indented JSON.
#pragma once

#include <string>

#include "pawl/json.h"

namespace pawl {

// The value as YAML of the strict subset that read_tree reads back as the same value. A map is laid
// out as a machine file: sections, then a line for each part, `{rows: in one line}` where they fit.
// Bytes that are not UTF-8 become U+FFFD.
std::string to_yaml(const Json& json);

// The value as JSON with a line for every member and item. read_tree reads it back as well, unless
// a key is longer than the 1,024 characters that YAML allows in this style.
std::string to_pretty_json(const Json& json);

}  // namespace pawl
