// Circles: the parts of a walk in which failures can go round for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "check/walk.h"

namespace pawl {

using PassageId = std::uint32_t;

// Knots that can all be reached from one another, and the passages between them.
struct Component {
  std::vector<std::uint32_t> knots;
  std::vector<PassageId> passages;
};

// By these passages alone; a component that leads to another one comes after it.
std::vector<Component> components_of(const Walked& walked, const std::vector<PassageId>& passages);

struct Circles {
  // Each with a failure in it. One may go round in them as often as one likes.
  std::vector<Component> endless;

  // Of others the clocks that end them, by knot.
  std::map<std::uint32_t, ClockSet> bounds;
};

// All parts of these passages in which one can go round. Time goes on in an endless run, so none
// goes round where a clock is pending that never starts anew, and none looks at a limit of
// `elapsed` again and again while failures go on since the same instant.
Circles circles_in(const Walked& walked, std::vector<PassageId> passages);

// A run of failures without end: the way to a circle, and once round.
struct EndlessRun {
  std::vector<PassageId> lead_in = {};
  std::vector<PassageId> circle = {};  // has a failure in it, and no clock that ends it

  std::size_t length() const { return lead_in.size() + circle.size(); }
};

// A short one, from a knot that leads to one of these parts.
EndlessRun run_into(const Walked& walked, const std::vector<Component>& endless,
                    std::uint32_t begin);

}  // namespace pawl
