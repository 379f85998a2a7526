#include "base/piece.h"

#include <algorithm>

namespace pawl {

std::vector<Piece> split(Piece piece, char separator) {
  std::vector<Piece> pieces;
  for (std::size_t begin = 0; begin <= piece.text.size();) {
    const std::size_t end = std::min(piece.text.find(separator, begin), piece.text.size());
    pieces.push_back(piece.from(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::vector<Piece> split_words(Piece piece) {
  constexpr std::string_view kBlanks = " \t";
  std::vector<Piece> words;
  std::size_t begin = piece.text.find_first_not_of(kBlanks);
  while (begin < piece.text.size()) {
    const std::size_t end = std::min(piece.text.find_first_of(kBlanks, begin), piece.text.size());
    words.push_back(piece.from(begin, end - begin));
    begin = piece.text.find_first_not_of(kBlanks, end);
  }
  return words;
}

}  // namespace pawl
