// Included before every mutated source: says which of its mutants runs, the one whose number PAWL_MUTANT gives.
#pragma once

#include <cstdlib>
#include <type_traits>

inline int pawl_chosen_mutant() {
  static const char* const number = std::getenv("PAWL_MUTANT");
  static const int chosen = number == nullptr ? 0 : std::atoi(number);
  return chosen;
}

// What the compiler computes stays as it is, so that constexpr functions can be mutated too.
constexpr bool pawl_mutant(int number) {
  return !std::is_constant_evaluated() && pawl_chosen_mutant() == number;
}
