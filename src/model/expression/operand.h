// Operand: what an expression yields while it is evaluated.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "model/expression/decimal.h"
#include "model/expression/json_view.h"
#include "model/expression/scratch.h"
#include "pawl/time.h"

namespace pawl {

class Zone;

// Lists and maps are JSON text. Texts and JSON point into the sight, the program or the scratch of
// the evaluation.
struct Operand {
  enum class Kind {
    none,    // no value: arithmetic on null, a state without order, …
    absent,  // a path that leads nowhere
    null,
    boolean,
    number,
    text,
    time,
    duration,
    list,
    map
  };

  Kind kind = Kind::none;
  bool boolean = false;
  Decimal number = {};
  // Of a text; JSON of a list or map. Of a number, time or duration that was read and not computed:
  // as it was written, so that copying a value does not change it.
  std::string_view text = {};
  Instant time = {};
  Duration duration = {};

  static Operand of(Kind kind) { return {.kind = kind}; }
  static Operand of(bool value) { return {.kind = Kind::boolean, .boolean = value}; }
  static Operand of(Decimal value) { return {.kind = Kind::number, .number = value}; }
  static Operand of(std::string_view value) { return {.kind = Kind::text, .text = value}; }
  static Operand of(const char*) = delete;
  static Operand of(Instant value) { return {.kind = Kind::time, .time = value}; }
  static Operand of(Duration value) { return {.kind = Kind::duration, .duration = value}; }

  // A value of a document; none when it is a number that is too large to compute with.
  static Operand of(JsonView json, Scratch& scratch);

  bool is_nothing() const { return kind == Kind::null || kind == Kind::absent; }
};

// Appends the value as JSON; absent, null and no value as `null`. Times and durations are texts; a
// negative duration is written with a minus before it.
void append_json(std::string& out, const Operand& operand);

// The same without the quotes of a text, time or duration.
void append_plain(std::string& out, const Operand& operand);

// A text as a time or duration, none when it is not one; any other operand as it is.
Operand as_time(const Operand& operand, const Zone* zone);
Operand as_duration(const Operand& operand);

// Absent is null; different kinds are not equal, except that a text opposite a time or duration is
// read as one. Neither may be `none`.
bool same_value(const Operand& a, const Operand& b, const Zone* zone);

// None when the two have no order: null, different kinds, booleans, lists, maps.
std::optional<std::strong_ordering> order(const Operand& a, const Operand& b, const Zone* zone);

enum class Arithmetic { add, subtract, multiply, divide, remainder };

// `none` where there is no result. A text opposite a time or duration is read as one of them.
Operand compute(Arithmetic op, const Operand& a, const Operand& b, const Zone* zone);

}  // namespace pawl
