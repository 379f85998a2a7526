// BoundSchedule: the machine's schedule for one record, with its templates filled in.
#pragma once

#include <optional>
#include <string>

#include "calendar/recurrence.h"
#include "model/expression/scratch.h"
#include "model/expression/sight.h"
#include "pawl/definition.h"
#include "pawl/result.h"
#include "pawl/zones.h"

namespace pawl {

class BoundSchedule {
 public:
  // An error says which part has no value, or what is wrong with it.
  static Result<BoundSchedule> bind(const Schedule& schedule, const Sight& sight,
                                    const Zones& zones, Scratch& scratch);

  // The first occurrence after that instant.
  std::optional<Instant> next(Instant after) const;

  // The last occurrence from `first`, which is one, until `until`.
  Instant latest(Instant first, Instant until) const;

  const std::string& anchor() const { return anchor_; }
  const std::string& zone() const { return zone_; }

 private:
  BoundSchedule() = default;

  std::string anchor_;
  std::string zone_;
  std::optional<Recurrence> recurrence_;  // none: `every`
  Instant start_ = {};
  Duration every_ = {};
};

// The zone of the schedule, in which times without offset are read; none without a schedule.
std::optional<Zone> zone_in_force(const std::optional<Schedule>& schedule, const Sight& sight,
                                  const Zones& zones, Scratch& scratch);

}  // namespace pawl
