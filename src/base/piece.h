// Piece: a part of a text that knows the column it begins at, so that messages can point at it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pawl/result.h"

namespace pawl {

struct Piece {
  std::string_view text;
  int column = 1;

  Error error(std::string message) const { return bad_input_at(column, std::move(message)); }
  Piece from(std::size_t begin, std::size_t length = std::string_view::npos) const {
    return {text.substr(begin, length), column + static_cast<int>(begin)};
  }
};

// The pieces between separators. `a,,b` has an empty piece in the middle and `` is one empty piece.
std::vector<Piece> split(Piece piece, char separator);

// The pieces between blanks; none of them is empty.
std::vector<Piece> split_words(Piece piece);

}  // namespace pawl
