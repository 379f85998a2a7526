// ScenarioClock: what the times of a scenario mean, in its zone.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "calendar/zone.h"
#include "pawl/json.h"
#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl {

class ScenarioClock {
 public:
  explicit ScenarioClock(Zone zone) : zone_(std::move(zone)) {}

  const Zone& zone() const { return zone_; }

  // `at` of a step: an instant, the next `HH:MM[:SS]` from `now` on, or `+duration`. Empty: now.
  Result<Instant> step_at(std::string_view text, Instant now) const;

  // What an expected time means, and whether `got` is it. `HH:MM[:SS]` is the next such time from
  // `now` on, or that time of the same day; of `[from, to]` the second follows the first.
  struct Compared {
    bool same = false;
    Json expected = {};  // as instants; of a time of day the next one
  };
  Result<Compared> compare(const Json& expected, std::optional<Instant> got, Instant now) const;

 private:
  // The earliest or the latest meaning of a time, none when it has but one.
  struct Meanings {
    Instant next;
    std::optional<Instant> same_day;
  };
  Result<Meanings> meanings(const Json& expected, Instant now) const;
  Result<Compared> compare_range(const Json& from, const Json& to, std::optional<Instant> got,
                                 Instant now) const;
  Json text_of(Instant at) const;

  Zone zone_;
};

}  // namespace pawl
