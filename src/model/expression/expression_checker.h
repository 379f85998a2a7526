// Checks the terms of an expression: names are resolved, types agree, literals are converted.
#pragma once

#include <string_view>

#include "model/expression/expression_names.h"
#include "model/expression/sight.h"
#include "model/expression/term.h"
#include "pawl/result.h"

namespace pawl {

// What the expression is known to yield. Changes the terms in place: names become roots, places and
// counts; a text literal opposite a time or duration becomes one.
Result<Type> check_expression(Term& term, std::string_view text, const Scope& scope);

}  // namespace pawl
