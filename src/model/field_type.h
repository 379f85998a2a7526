// Field types: what may be written into a field.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/expression/program.h"
#include "pawl/definition.h"
#include "pawl/zones.h"

namespace pawl {

const Field* find_field(const Fields& fields, std::string_view name);

// `string!`, `[card, invoice]`: as it is written.
std::string to_text(const FieldType& type);

// Why the value does not fit, or none when it does. For literals and for JSON that arrives.
std::optional<std::string> misfit(const FieldType& type, const Json& value, const Zones& zones);

// Whether a value of that known type may fit; what only its content tells is checked when it is
// written.
bool may_fit(const FieldType& field, Type type);

}  // namespace pawl
