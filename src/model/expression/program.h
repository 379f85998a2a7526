// Program: a checked expression, ready to be evaluated again and again.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/expression/evaluator.h"
#include "model/expression/expression_names.h"
#include "model/expression/expression_parser.h"
#include "model/expression/operand.h"
#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "model/expression/term.h"
#include "pawl/result.h"

namespace pawl {

// Immutable: threads may evaluate it at once, each with a scratch of its own.
//
// What the language leaves open is decided so:
// - A path that leads nowhere is absent, also through null or a value that has no fields.
// - Texts are ordered by their bytes. A text opposite a time or duration is read as one, when the
//   expression is checked if it is a literal, else when it is evaluated.
// - `and` and `or` are decided by one side that decides, even where the other has no value.
// - Numbers of a document are rounded to 18 decimals where they have more; one of more than 38
//   digits has no value.
class Program {
 public:
  // Reads and checks an expression. Errors carry the column in the text.
  static Result<std::shared_ptr<const Program>> compile(std::string_view text, const Scope& scope);

  Type type() const { return type_; }

  // The name of a C++ guard, when the whole expression is one lone name; else empty.
  std::string_view guard() const { return guard_; }

  // Whether it counts children: only their messages can then make it true.
  bool reads_children() const;

  // Total: ends within the number of nodes, on any data. Not for a guard. What the result points at
  // lives as long as the sight, the program and what the scratch keeps.
  Operand evaluate(const Sight& sight, Scratch& scratch) const;

  // As a condition: whether it is true. One that has no value is false, and `scratch.why` says so.
  bool holds(const Sight& sight, Scratch& scratch) const;

  // What it reads, each once, as `data.amount = 0`: for whoever asks why it does not hold.
  std::vector<std::string> values(const Sight& sight, Scratch& scratch) const;

 private:
  Program() = default;

  void add_values(const Term& term, const Sight& sight, Scratch& scratch,
                  std::vector<std::string>& values) const;

  std::string text_;
  std::string guard_;
  Type type_ = Type::any;
  Term term_;
  StateOrder order_;  // only where states are compared by it
};

}  // namespace pawl
