// Where: the place in a file that something was read from. Not part of what it says, so that two
// definitions are equal wherever they were written.
#pragma once

#include <string_view>

#include "pawl/result.h"

namespace pawl {

struct Where {
  Position position{0, 0};  // line 0: not from a file
  int text_column = 0;      // where the characters of a text begin; 0: not one by one on that line
  bool block = false;       // its lines stand one by one below that line, from text_column on

  // The place of a byte of the text (counted from 1), as near as it can be told.
  Position inside(std::string_view text, int byte) const;

  friend bool operator==(const Where&, const Where&) { return true; }
};

}  // namespace pawl
