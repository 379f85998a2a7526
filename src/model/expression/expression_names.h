// The names that expressions may use, and what stands behind them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/expression/term.h"

namespace pawl {

// What an expression is known to yield when it is checked.
enum class Type { any, null, boolean, integer, decimal, text, state, time, duration, list, map };

// In a message: `a number`, `a text`.
std::string_view to_text(Type type);

std::string_view to_text(Root root);
std::optional<Root> find_root(std::string_view name);
const std::vector<std::string>& root_names();

struct NamedPlace {
  std::string_view name;
  Place place;
  Type type;
};

// The fields of `record`, `actor` and `error`; of the other roots none.
std::span<const NamedPlace> places_of(Root root);

// The fields of `record.parent`.
std::span<const NamedPlace> places_of_parent();

}  // namespace pawl
