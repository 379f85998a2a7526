// Expressions and values of a machine file: what is written, and once checked, how it is computed.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "pawl/json.h"
#include "pawl/time.h"
#include "pawl/where.h"

namespace pawl {

class Program;       // src/model/program.h: a compiled expression
class ValueProgram;  // src/model/value_program.h: a compiled value

// A condition, or the list of an `each`: `data.amount > 0 and not record.running`.
struct Expression {
  std::string text;
  Where at;
  std::shared_ptr<const Program> program;  // set by Machine::make

  Expression() = default;
  Expression(const char* given) : text(given) {}             // NOLINT: implicit by design
  Expression(std::string given) : text(std::move(given)) {}  // NOLINT
  Expression(std::string given, Where where) : text(std::move(given)), at(where) {}

  friend bool operator==(const Expression& a, const Expression& b) { return a.text == b.text; }
};

// A JSON literal in which text may contain `{expression}`. A text that is exactly one placeholder
// keeps the type of its value.
struct Value {
  Json json;
  std::shared_ptr<const ValueProgram> program;  // set by Machine::make

  Value() = default;
  Value(std::nullptr_t) {}                              // NOLINT: implicit by design
  Value(Json given) : json(std::move(given)) {}         // NOLINT
  Value(const char* given) : json(given) {}             // NOLINT
  Value(std::string given) : json(std::move(given)) {}  // NOLINT
  Value(int given) : json(given) {}                     // NOLINT

  friend bool operator==(const Value& a, const Value& b) { return a.json == b.json; }
};

// A duration, fixed or from a value: `30s`, `"{data.timeout}"`.
struct DurationValue {
  Duration fixed{};
  Value value;  // null: `fixed` holds
  Where at;

  DurationValue() = default;
  template <class Rep, class Period>
  DurationValue(std::chrono::duration<Rep, Period> given) : fixed(given) {}  // NOLINT
  DurationValue(const char* given) : value(given) {}                         // NOLINT
  DurationValue(Duration given, Where where) : fixed(given), at(where) {}

  bool is_fixed() const { return value.json.kind == Json::Kind::null; }

  friend bool operator==(const DurationValue&, const DurationValue&) = default;
};

}  // namespace pawl
