// Random recurrences for the oracle: lawful rules of every kind, mostly near a clock change, the
// same for one seed everywhere.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "oracle.h"

namespace pawl {

// Draws of our own over the generator's raw numbers: the distributions of the standard differ
// between libraries.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : numbers_(seed) {}

  // A number in [0, end).
  std::int64_t below(std::int64_t end) {
    return static_cast<std::int64_t>(numbers_() % static_cast<std::uint64_t>(end));
  }
  // A number in [first, last].
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first + below(last - first + 1);
  }
  int between(int first, int last) {
    return static_cast<int>(between(std::int64_t{first}, std::int64_t{last}));
  }
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(choices.size())))];
  }

 private:
  std::mt19937_64 numbers_;
};

// The zones that random cases use, each read once.
class OracleZones {
 public:
  OracleZones();

  const OracleZone& utc() const { return zones_.at("UTC"); }
  const OracleZone& draw(Draw& draw) const;
  std::size_t size() const { return zones_.size(); }

 private:
  std::vector<std::string> nasty_;
  std::map<std::string, OracleZone> zones_;
};

struct RandomCase {
  OraclePlan plan;
  OracleWindow window;
  OracleResult expected;
};

// A case near a clock change of a zone of the list, or somewhere in 1990 to 2045. The window is as
// long as it takes to see some occurrences, but no longer than is cheap.
RandomCase draw_case(Draw& draw, const OracleZones& zones);

// A case in UTC without RDATE and EXDATE whose window begins at DTSTART, for comparing with
// programs that know no zones.
RandomCase draw_case_from_start(Draw& draw, const OracleZones& zones);

// What the generator never draws, for the report.
const std::vector<std::string>& classes_left_out();

}  // namespace pawl
