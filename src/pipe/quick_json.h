// QuickJson: says of most JSON that it is JSON, in a fraction of the time that a parser takes.
//
// A parser builds a tree of what it reads, and a pipe needs but a few fields of it. So only the
// first stage of simdjson is run, which checks the UTF-8 and finds where things begin; the grammar
// is checked by going from one of these places to the next.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "pipe/map_members.h"

namespace pawl {

class QuickJson {
 public:
  enum class Verdict {
    json,    // a map, which the parser would take
    unsure,  // the parser has to say: no JSON, no map, or just unusual
  };

  // Fills `members` with those of the map; they are worth something only where it is `json`. Of
  // `parser` the room is used, no document.
  static Verdict read(std::string_view text, simdjson::dom::parser& parser, MapMembers& members);
};

}  // namespace pawl
