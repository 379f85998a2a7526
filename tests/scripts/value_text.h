// Values of records as the scripts write them: short, and the same on every machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calendar/zone.h"
#include "pawl/record.h"
#include "pawl/time.h"

namespace pawl {

// Times of one script: `08:00:00` on its day, else with the days between: `+1d 08:00:00`.
class DayClock {
 public:
  DayClock(Instant begin, Zone zone);

  std::string text(Instant at) const;
  std::string text(const std::optional<Instant>& at) const { return at ? text(*at) : "-"; }

  // A fence is the instant of its start where no later one was given before.
  std::string fence(std::int64_t fence) const;

 private:
  Zone zone_;
  std::chrono::local_days day_;
};

std::string text_of(const Actor& actor);
std::string text_of(const Failure& failure, const DayClock& clock);
std::string text_of(const Hold& hold, const DayClock& clock);
std::string text_of(const Attempt& attempt, const DayClock& clock);
std::string text_of(const std::vector<Timer>& timers, const DayClock& clock);
std::string text_of(const Plan& plan, const DayClock& clock);
std::string text_of(const Streak& streak);
std::string text_of(const ChildCounts& counts);
std::string text_of(const TokenHash& token);

}  // namespace pawl
