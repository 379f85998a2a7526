#include "model/expression/expression_lexer.h"

#include <array>

#include "base/text.h"

namespace pawl {
namespace {

constexpr bool begins_word(char c) { return is_letter(c) || c == '_'; }
constexpr bool continues_word(char c) { return begins_word(c) || is_digit(c); }

// Longer ones first.
constexpr std::array<std::string_view, 17> kMarks = {
    "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", "[", "]", ",", "."};

struct Foreign {
  std::string_view mark;
  std::string_view remedy;
};

// What other languages write; longer ones first, and before ours.
constexpr std::array<Foreign, 21> kForeign = {{
    {"===", "write == to compare"},
    {"!==", "write != to compare"},
    {"<>", "write != for not equal"},
    {"=<", "write <= for less or equal"},
    {"=>", "write >= for greater or equal"},
    {"=~", "there are no patterns; compare with == or in"},
    {"**", "there are no powers; write a * a"},
    {"&&", "write and"},
    {"||", "write or"},
    {"&", "write and"},
    {"|", "write or"},
    {"?", "there is no ?: here; write two rows, each with its own if"},
    {":", "there are no maps or ?: here; write two rows, each with its own if"},
    {"{", "braces belong only around a placeholder in a text; write a name like data.amount"},
    {"}", "braces belong only around a placeholder in a text; write a name like data.amount"},
    {";", "an expression is one condition; join conditions with and or or"},
    {"$", "names are written without it, like data.amount"},
    {"@", "names are written without it, like data.amount"},
    {"`", "write texts in 'single quotes'"},
    {"\xE2\x80\x98", "write texts in 'straight quotes'"},
    {"\xE2\x80\x9C", "write texts in 'straight quotes'"},
}};

}  // namespace

Result<ExpressionToken> ExpressionLexer::next() {
  while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  const std::size_t begin = at_;
  if (at_end()) return token(ExpressionToken::Kind::end, begin);
  if (is_digit(peek())) return read_number();
  if (peek() == '\'' || peek() == '"') return read_text();
  if (!begins_word(peek())) return read_mark();
  while (continues_word(peek())) ++at_;
  return token(ExpressionToken::Kind::word, begin);
}

ExpressionToken ExpressionLexer::token(ExpressionToken::Kind kind, std::size_t begin) const {
  return {.kind = kind, .begin = begin, .end = at_, .source = text_.substr(begin, at_ - begin)};
}

// As in JSON: `1`, `1.50`, `2e3`.
Result<ExpressionToken> ExpressionLexer::read_number() {
  const std::size_t begin = at_;
  const auto skip_digits = [this] {
    while (is_digit(peek())) ++at_;
  };
  const auto followed_by = [this](std::size_t offset, auto&& accepts) {
    return at_ + offset < text_.size() && accepts(text_[at_ + offset]);
  };
  skip_digits();
  if (peek() == '.' && followed_by(1, is_digit)) {
    ++at_;
    skip_digits();
  }
  if (to_lower(peek()) == 'e') {
    const bool sign = followed_by(1, [](char c) { return c == '+' || c == '-'; });
    if (followed_by(sign ? 2 : 1, is_digit)) {
      at_ += sign ? 2 : 1;
      skip_digits();
    }
  }
  if (!continues_word(peek())) return token(ExpressionToken::Kind::number, begin);
  while (continues_word(peek())) ++at_;
  const std::string written(text_.substr(begin, at_ - begin));
  return error_at(begin,
                  written + " is not a number; a duration is written in quotes: '" + written + "'");
}

Result<ExpressionToken> ExpressionLexer::read_text() {
  const std::size_t begin = at_;
  const char quote = peek();
  std::string text;
  ++at_;
  while (!at_end() && peek() != quote) {
    if (peek() == '\\') {
      PAWL_TRY(const char c, read_escape());
      text += c;
    } else {
      text += peek();
      ++at_;
    }
  }
  if (at_end()) {
    return error_at(begin, "the text does not end; close it with " + std::string(1, quote));
  }
  ++at_;
  ExpressionToken result = token(ExpressionToken::Kind::text, begin);
  result.text = std::move(text);
  return result;
}

Result<char> ExpressionLexer::read_escape() {
  const std::size_t begin = at_++;
  const char c = peek();
  if (!at_end()) ++at_;
  switch (c) {
    case '\'':
    case '"':
    case '\\':
      return c;
    case 'n':
      return '\n';
    case 't':
      return '\t';
    default:
      return error_at(begin, "unknown escape " + in_quotes(text_.substr(begin, 2)) +
                                 "; the escapes are \\' \\\\ \\n and \\t");
  }
}

Result<ExpressionToken> ExpressionLexer::read_mark() {
  const std::string_view rest = text_.substr(at_);
  for (const Foreign& foreign : kForeign) {
    if (rest.starts_with(foreign.mark))
      return error(std::string(foreign.mark) + " is not known here; " +
                   std::string(foreign.remedy));
  }
  for (const std::string_view mark : kMarks) {
    if (!rest.starts_with(mark)) continue;
    at_ += mark.size();
    return token(ExpressionToken::Kind::mark, at_ - mark.size());
  }
  if (rest.front() == '=') return error("= is not known here; write == to compare");
  if (rest.front() == '!') return error("! is not known here; write not");
  return error("unexpected " + in_quotes(rest.substr(0, 1)) +
               "; write a name like data.amount, a number, or a text in 'single quotes'");
}

}  // namespace pawl
