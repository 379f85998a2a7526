#include "model/expression/expression_parser.h"

#include <array>
#include <span>
#include <utility>

#include "base/text.h"
#include "model/expression/expression_lexer.h"

namespace pawl {
namespace {

using TokenKind = ExpressionToken::Kind;

struct Operator {
  std::string_view source;
  Term::Kind kind;
};

constexpr std::array<Operator, 7> kComparisons = {{{"==", Term::Kind::equal},
                                                   {"!=", Term::Kind::unequal},
                                                   {"<", Term::Kind::less},
                                                   {"<=", Term::Kind::less_or_equal},
                                                   {">", Term::Kind::greater},
                                                   {">=", Term::Kind::greater_or_equal},
                                                   {"in", Term::Kind::in}}};
constexpr std::array<Operator, 2> kSums = {{{"+", Term::Kind::add}, {"-", Term::Kind::subtract}}};
constexpr std::array<Operator, 3> kProducts = {
    {{"*", Term::Kind::multiply}, {"/", Term::Kind::divide}, {"%", Term::Kind::remainder}}};
constexpr std::array<Operator, 1> kAnd = {{{"and", Term::Kind::and_}}};
constexpr std::array<Operator, 1> kOr = {{{"or", Term::Kind::or_}}};

class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : text_(text), lexer_(text) {}

  Result<Term> parse() {
    PAWL_CHECK(advance());
    if (token_.kind == TokenKind::end)
      return error("an expression is missing; write for example data.amount > 0");
    PAWL_TRY(Term term, parse_or());
    if (token_.kind != TokenKind::end) return unexpected_after(term);
    return term;
  }

 private:
  using Level = Result<Term> (ExpressionParser::*)();

  Result<Term> parse_or() { return parse_chain(kOr, &ExpressionParser::parse_and); }
  Result<Term> parse_and() { return parse_chain(kAnd, &ExpressionParser::parse_not); }

  Result<Term> parse_not() {
    if (!token_.is(TokenKind::word, "not")) return parse_comparison();
    return parse_prefix(Term::Kind::not_, &ExpressionParser::parse_not);
  }

  Result<Term> parse_comparison() {
    PAWL_TRY(Term left, parse_sum());
    const Operator* op = find(kComparisons);
    if (!op) return left;
    const std::size_t at = token_.begin;
    PAWL_CHECK(advance());
    PAWL_TRY(Term right, parse_sum());
    if (find(kComparisons)) {
      return error(
          "comparisons are not chained; write a < b and b < c, or put one of them in parentheses");
    }
    return join(op->kind, at, std::move(left), std::move(right));
  }

  Result<Term> parse_sum() { return parse_chain(kSums, &ExpressionParser::parse_product); }
  Result<Term> parse_product() { return parse_chain(kProducts, &ExpressionParser::parse_sign); }

  Result<Term> parse_sign() {
    if (!token_.is(TokenKind::mark, "-")) return parse_path();
    PAWL_TRY(Term term, parse_prefix(Term::Kind::negate, &ExpressionParser::parse_sign));
    Term& operand = term.operands.front();
    if (operand.kind != Term::Kind::literal || operand.value.kind != Operand::Kind::number)
      return term;
    term.kind = Term::Kind::literal;
    term.value = Operand::of(-operand.value.number);
    term.operands.clear();
    return term;
  }

  Result<Term> parse_path() {
    PAWL_TRY(Term term, parse_primary());
    for (;;) {
      if (token_.is(TokenKind::mark, ".")) {
        PAWL_TRY(term, parse_field(std::move(term)));
      } else if (token_.is(TokenKind::mark, "[")) {
        PAWL_TRY(term, parse_index(std::move(term)));
      } else {
        return term;
      }
    }
  }

  Result<Term> parse_field(Term of) {
    PAWL_CHECK(advance());
    if (token_.kind == TokenKind::number)
      return error("an item of a list is written in brackets: [" + std::string(token_.source) +
                   "]");
    if (token_.kind != TokenKind::word)
      return error("the name of a field is missing after the dot; write for example data.amount");
    Term term{.kind = Term::Kind::field, .at = token_.begin, .name = std::string(token_.source)};
    const std::size_t begin = of.begin;
    term.operands.push_back(std::move(of));
    return grow(std::move(term), begin);
  }

  Result<Term> parse_index(Term of) {
    Term term{.kind = Term::Kind::index, .at = token_.begin};
    const std::size_t begin = of.begin;
    term.operands.push_back(std::move(of));
    PAWL_TRY(term, parse_list(std::move(term), "]"));
    if (term.operands.size() != 2)
      return error_at(term.at, "brackets take one index, like data.items[0] or data.map['key']");
    term.begin = begin;
    return counted(std::move(term));
  }

  Result<Term> parse_primary() {
    switch (token_.kind) {
      case TokenKind::number:
        return parse_number();
      case TokenKind::text: {
        Term term{.value = Operand::of(Operand::Kind::text), .name = token_.text};
        return grow(std::move(term), token_.begin);
      }
      case TokenKind::word:
        return parse_word();
      default:
        break;
    }
    if (token_.is(TokenKind::mark, "(")) return parse_group();
    if (token_.is(TokenKind::mark, "[")) {
      Term term{.kind = Term::Kind::list, .begin = token_.begin, .at = token_.begin};
      PAWL_TRY(term, parse_list(std::move(term), "]"));
      return counted(std::move(term));
    }
    return missing_operand();
  }

  Result<Term> parse_number() {
    const auto number = Decimal::parse(token_.source);
    if (!number) {
      return error(
          "the number " + in_quotes(token_.source) +
          " cannot be used in an expression; write one without a leading 0, of at most 38 digits and 18 decimals");
    }
    return grow(Term{.value = Operand::of(*number)}, token_.begin);
  }

  Result<Term> parse_word() {
    const std::string_view word = token_.source;
    const std::size_t begin = token_.begin;
    if (word == "true") return grow(Term{.value = Operand::of(true)}, begin);
    if (word == "false") return grow(Term{.value = Operand::of(false)}, begin);
    if (word == "null") return grow(Term{.value = Operand::of(Operand::Kind::null)}, begin);
    if (word == "not")
      return error("not goes before a whole comparison; write not (a == b), not (a in b)");
    if (word == "and" || word == "or" || word == "in") return missing_operand();
    PAWL_TRY(Term term, grow(Term{.kind = Term::Kind::name, .name = std::string(word)}, begin));
    if (!token_.is(TokenKind::mark, "(")) return term;
    term.kind = Term::Kind::call;
    return parse_list(std::move(term), ")");
  }

  Result<Term> parse_group() {
    const std::size_t begin = token_.begin;
    PAWL_CHECK(enter());
    PAWL_CHECK(advance());
    PAWL_TRY(Term term, parse_or());
    if (!token_.is(TokenKind::mark, ")")) return not_closed(begin, ")");
    --depth_;
    term.begin = begin;
    term.end = token_.end;
    PAWL_CHECK(advance());
    return term;
  }

  // What stands between an opening bracket, the token now, and the one that closes it.
  Result<Term> parse_list(Term into, std::string_view close) {
    const std::size_t begin = token_.begin;
    PAWL_CHECK(enter());
    PAWL_CHECK(advance());
    while (!token_.is(TokenKind::mark, close)) {
      PAWL_TRY(Term item, parse_or());
      into.operands.push_back(std::move(item));
      if (token_.is(TokenKind::mark, close)) break;
      if (!token_.is(TokenKind::mark, ",")) return not_closed(begin, close);
      PAWL_CHECK(advance());
    }
    --depth_;
    into.end = token_.end;
    PAWL_CHECK(advance());
    return into;
  }

  Result<Term> parse_prefix(Term::Kind kind, Level operand) {
    Term term{.kind = kind, .begin = token_.begin, .at = token_.begin};
    PAWL_CHECK(enter());
    PAWL_CHECK(advance());
    PAWL_TRY(Term of, (this->*operand)());
    --depth_;
    term.end = of.end;
    term.operands.push_back(std::move(of));
    return counted(std::move(term));
  }

  // Operators of one strength, from left to right.
  Result<Term> parse_chain(std::span<const Operator> operators, Level next) {
    PAWL_TRY(Term left, (this->*next)());
    while (const Operator* op = find(operators)) {
      const std::size_t at = token_.begin;
      PAWL_CHECK(advance());
      PAWL_TRY(Term right, (this->*next)());
      PAWL_TRY(left, join(op->kind, at, std::move(left), std::move(right)));
    }
    return left;
  }

  const Operator* find(std::span<const Operator> operators) const {
    if (token_.kind != TokenKind::mark && token_.kind != TokenKind::word) return nullptr;
    for (const Operator& op : operators)
      if (token_.source == op.source) return &op;
    return nullptr;
  }

  Result<Term> join(Term::Kind kind, std::size_t at, Term left, Term right) {
    Term term{.kind = kind, .begin = left.begin, .end = right.end, .at = at};
    term.operands.reserve(2);
    term.operands.push_back(std::move(left));
    term.operands.push_back(std::move(right));
    return counted(std::move(term));
  }

  // A term that ends with the token now, which is passed.
  Result<Term> grow(Term term, std::size_t begin) {
    if (term.at == 0) term.at = begin;
    term.begin = begin;
    term.end = token_.end;
    PAWL_CHECK(advance());
    return counted(std::move(term));
  }

  Result<Term> counted(Term term) {
    if (++nodes_ <= kExpressionNodesMax) return term;
    return error_at(
        term.at,
        "the expression has more than 256 names, values and operators; split it into several rows");
  }

  // Every step that makes the parser call itself goes through here.
  Result<void> enter() {
    if (++depth_ <= kExpressionDepthMax) return {};
    return error(
        "parentheses, brackets or signs are nested more than 64 deep; split the expression into several rows");
  }

  Result<void> advance() {
    PAWL_TRY(token_, lexer_.next());
    return {};
  }

  Error not_closed(std::size_t begin, std::string_view close) const {
    if (token_.kind == TokenKind::end)
      return error_at(begin, in_quotes(text_.substr(begin, 1)) + " is not closed; write " +
                                 std::string(close) + " where it ends");
    return error("expected " + std::string(close) + " instead of " + in_quotes(token_.source));
  }

  Error missing_operand() const {
    if (token_.kind == TokenKind::end)
      return error("the expression ends too early; write a name or a value after " +
                   in_quotes(text_));
    return error("a name or a value is missing before " + in_quotes(token_.source) +
                 "; write for example data.amount");
  }

  Error unexpected_after(const Term& term) const {
    const std::string lower = to_lower(token_.source);
    const std::string shown = in_quotes(token_.source);
    if (token_.is(TokenKind::word, "not")) return error("not goes first; write not (a in b)");
    if (lower == "is") return error("is is not an operator; write == null or != null");
    if (token_.source != lower && (lower == "and" || lower == "or" || lower == "in"))
      return error(shown + " is written in lower case: " + lower);
    if (token_.is(TokenKind::mark, "("))
      return error("only size, min and max can be called; write for example size(data.items)");
    if (token_.is(TokenKind::mark, ")") || token_.is(TokenKind::mark, "]"))
      return error("unexpected " + shown + "; it closes nothing");
    return error("unexpected " + shown + " after " +
                 in_quotes(text_.substr(term.begin, term.end - term.begin)) +
                 "; join conditions with and or or");
  }

  Error error(std::string message) const { return error_at(token_.begin, std::move(message)); }
  static Error error_at(std::size_t at, std::string message) {
    return bad_input_at(static_cast<int>(at) + 1, std::move(message));
  }

  std::string_view text_;
  ExpressionLexer lexer_;
  ExpressionToken token_;
  std::size_t nodes_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Term> parse_expression(std::string_view text) { return ExpressionParser(text).parse(); }

}  // namespace pawl
