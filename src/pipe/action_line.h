// The action line of a bulk item, read again: where its document was to go.
#pragma once

#include <string>
#include <string_view>

namespace pawl {

struct ActionLine {
  std::string index;
  std::string id;  // empty: the search engine makes one
};

// Of the lines of an item, as Transform wrote them.
ActionLine read_action_line(std::string_view lines);

}  // namespace pawl
