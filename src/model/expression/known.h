// Known: what is known of a term when it is checked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "model/expression/expression_names.h"
#include "model/expression/term.h"
#include "pawl/definition.h"
#include "pawl/result.h"

namespace pawl {

struct Known {
  Type type = Type::any;
  const Fields* fields = nullptr;           // of a map that declares them
  std::span<const std::string> words = {};  // of a field that is one of some words
};

Known known_of(const FieldType& type);

// The type that stands for all that compare with each other: `decimal` for numbers, `text` for
// texts and states.
Type family(Type type);

// Whether a value of the first type may turn out to be of the second.
bool may_be(Type type, Type wanted);

bool may_be_equal(Type a, Type b);
bool has_order(Type type);
bool is_temporal(Type type);

// The part of the expression that a term was read from, for a message.
std::string source_of(const Term& term, std::string_view text);

// `data.amount is a number`.
std::string what_it_is(const Term& term, std::string_view text, Type type);

// `; did you mean a?`, else `; <intro> a, b and c` when they are few.
std::string nearest_or_all(std::string_view word, std::span<const std::string> known,
                           std::string_view intro);

// An error at a byte of the expression.
Error error_at(std::size_t at, std::string message);

}  // namespace pawl
