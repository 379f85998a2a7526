// Reads an expression into terms; nothing is looked up yet.
//
//   or         = and { "or" and }
//   and        = not { "and" not }
//   not        = "not" not | comparison
//   comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" | "in" ) sum ]
//   sum        = product { ( "+" | "-" ) product }
//   product    = sign { ( "*" | "/" | "%" ) sign }
//   sign       = "-" sign | path
//   path       = primary { "." name | "[" or "]" }
//   primary    = number | text | "true" | "false" | "null" | list | name [ "(" list ")" ] | "(" or
//   ")"
#pragma once

#include <cstddef>
#include <string_view>

#include "model/expression/term.h"
#include "pawl/result.h"

namespace pawl {

inline constexpr std::size_t kExpressionNodesMax = 256;
inline constexpr int kExpressionDepthMax = 64;  // of parentheses, brackets and signs

Result<Term> parse_expression(std::string_view text);

}  // namespace pawl
