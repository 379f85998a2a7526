// ExpressionLexer: an expression, word by word.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/cursor.h"
#include "pawl/result.h"

namespace pawl {

struct ExpressionToken {
  enum class Kind { end, number, text, word, mark };

  Kind kind = Kind::end;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string_view source;  // as it is written
  std::string text = {};    // of a text literal: what it says

  bool is(Kind wanted, std::string_view written) const {
    return kind == wanted && source == written;
  }
};

// Marks of other languages (`&&`, `=`, `<>`) are errors that name the right word.
class ExpressionLexer : Cursor {
 public:
  using Cursor::Cursor;

  // The next token; again and again the end once it is reached.
  Result<ExpressionToken> next();

 private:
  ExpressionToken token(ExpressionToken::Kind kind, std::size_t begin) const;
  Result<ExpressionToken> read_number();
  Result<ExpressionToken> read_text();
  Result<char> read_escape();
  Result<ExpressionToken> read_mark();
};

}  // namespace pawl
