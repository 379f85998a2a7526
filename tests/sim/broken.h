// Broken: something that must hold does not. Ends the simulation of a seed.
#pragma once

#include <stdexcept>
#include <string>

#include "pawl/result.h"

namespace pawl::sim {

struct Broken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw Broken(what);
}

// What the simulation does on its own account has no excuse to fail.
template <class T>
T must(Result<T> result, const std::string& what) {
  if (!result) throw Broken(what + ": " + result.error().message);
  return *std::move(result);
}

}  // namespace pawl::sim
