// Holds what Pawl says against what the oracle says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "calendar/recurrence.h"
#include "oracle.h"
#include "pawl/result.h"
#include "pawl/zones.h"
#include "random_rule.h"

namespace pawl {

// Reads the plan's rule from its text and binds it, as a program that uses Pawl would.
Result<Recurrence> recurrence_of(const OraclePlan& plan, const Zones& zones);

struct Comparison {
  bool refused = false;
  bool too_silent =
      false;  // refused, though it fires: because of a long silence, which the oracle saw too
  std::string difference;  // empty where there is none
  std::int64_t instants = 0;
  double binding = 0;  // seconds it took to read and bind the rule
};

// Walks through the window from one `next` to the next, and asks `next` at some instants of its
// own. A rule that Pawl refuses must have no occurrence in the window and some time around it, or a
// silence that is longer than Pawl searches.
Comparison compare(const OraclePlan& plan, const OracleWindow& window, const OracleResult& expected,
                   const Zones& zones, Draw& draw);

// Everything that makes a case, one thing a line.
std::string describe(const OraclePlan& plan, const OracleWindow& window);

}  // namespace pawl
