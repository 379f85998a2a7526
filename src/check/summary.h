// Summaries: what is true of all runs of failures that begin in a situation.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "check/circles.h"
#include "check/walk.h"
#include "pawl/time.h"

namespace pawl {

// Of the numbers in the sets only a few are kept: they are for people.
struct Summary {
  bool never_ends = false;              // some run goes round where the file does not say so
  bool repeats = false;                 // some run goes on because the file asks for it
  bool explored = true;                 // false: the walk ended before it was known
  std::optional<int> failures_max = 0;  // none: only the clock ends them
  std::optional<Duration> longest = Duration{0};  // none: as above
  std::set<std::uint32_t> outcomes = {};
  std::set<std::uint32_t> bounds = {};  // clocks that end what would go round
  std::set<std::uint32_t> paces = {};
};

// By knot of the walk.
std::vector<Summary> summaries_of(const Walked& walked, const Circles& hidden, const Circles& all);

}  // namespace pawl
