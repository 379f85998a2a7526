// PathChecker: finds out what the names of an expression stand for.
#pragma once

#include <optional>
#include <string_view>

#include "model/expression/known.h"
#include "model/expression/sight.h"
#include "model/expression/term.h"
#include "pawl/result.h"

namespace pawl {

class PathChecker {
 public:
  PathChecker(std::string_view text, const Scope& scope) : text_(text), scope_(scope) {}

  // A name that is a value by itself: `data`, `now`.
  Result<Known> check_name(Term& term) const;

  // A field of `record`, `actor` or `error`, or a count of `children`: they are resolved as a
  // whole. None when it is a field of a value, which is then checked first.
  Result<std::optional<Known>> resolve(Term& term) const;

  // A field of a value of which that is known; an index `by` into a value `of`.
  Result<Known> check_field(Term& term, const Known& known) const;
  Result<Known> check_index(const Term& term, const Known& of, const Known& by) const;

 private:
  Result<Root> visible_root(const Term& name) const;
  const Fields* data_fields() const;
  Result<Known> check_declared(Term& term, const Fields& fields) const;

  std::string_view text_;
  const Scope& scope_;
};

// That nothing of this name is seen, and what is.
Error unknown_name(const Term& name);

}  // namespace pawl
