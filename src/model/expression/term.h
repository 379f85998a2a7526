// Term: one operation of an expression, with the terms it works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/expression/operand.h"

namespace pawl {

// The names that every other name begins with.
enum class Root : std::uint8_t { data, now, record, children, event, actor, result, error, item };

// What is known of a record, an actor or an error.
enum class Place : std::uint8_t {
  record_id,
  record_key,
  record_machine,
  record_version,
  record_state,
  record_revision,
  record_epoch,
  record_attempt,
  record_failures,
  record_failing_since,
  record_failed_from,
  record_running,
  record_held,
  record_parent,
  record_parent_machine,
  record_parent_key,
  record_result,
  record_created_at,
  record_entered_at,
  record_planned_at,
  actor_name,
  actor_roles,
  error_code,
  error_message,
  error_detail,
  error_retry_after,
  error_transient,
  error_at,
};

struct Term {
  enum class Kind : std::uint8_t {
    literal,
    list,
    name,  // parsed only: the checker makes a root of it, or an error
    call,  // parsed only: the checker makes size, min or max of it, or an error
    root,
    place,        // made by the checker: `record.key`
    child_count,  // made by the checker: `children.parcel.open`
    field,
    index,
    size,
    min,
    max,
    negate,
    add,
    subtract,
    multiply,
    divide,
    remainder,
    equal,
    unequal,
    less,
    less_or_equal,
    greater,
    greater_or_equal,
    in,
    not_,
    and_,
    or_,
  };

  // How a text is read before it is used.
  enum class ReadAs : std::uint8_t { itself, time, duration };

  Kind kind = Kind::literal;
  std::size_t begin = 0;  // its part of the expression
  std::size_t end = 0;
  std::size_t at = 0;  // where its operator or name stands
  std::vector<Term> operands = {};

  Operand value = {};        // of a literal; the text of one stands in `name`
  std::string name = {};     // of a name, call, field; the state or word of a child count
  std::string machine = {};  // of a child count
  Root root = Root::data;
  Place place = Place::record_id;
  ReadAs read_as = ReadAs::itself;
  bool by_order = false;  // `<` and the like compare states

  bool is_text_literal() const {
    return kind == Kind::literal && value.kind == Operand::Kind::text;
  }
};

}  // namespace pawl
