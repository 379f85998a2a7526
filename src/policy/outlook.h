// Outlook: what becomes of a state in which every attempt fails.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pawl/machine.h"
#include "policy/course.h"

namespace pawl {

inline constexpr int kOutlookRowsMax = 10;  // of one run

// Durations are counted from the first start; where there is no task, from the first failure. What
// is not in them: waits for a worker, planned times, the way through other states.
struct Outlook {
  // A failure that is answered with a delay.
  struct Failed {
    std::int64_t failure = 1;
    Between wait = {};
    std::string wait_text = {};  // of one that depends on the record: as it is written
    Between next_start = {};
  };

  // Failures that are answered alike, one after another.
  struct Run {
    std::vector<std::string> codes = {};     // `default`: any other error
    std::string condition = {};              // the `if` of the row that answers so
    bool own_delays = false;                 // counted by the code alone
    bool later = false;                      // they are no failures: it is asked again
    bool transient = false;                  // nobody is alerted
    std::vector<Failed> failed = {};         // the first of them; only what tells something new
    bool goes_on = false;                    // there are more
    std::optional<Between> then_every = {};  // all of those wait so long; none: longer each time
    std::optional<std::int64_t> last = {};   // the failure that gives up; none: it never does
    Between gives_up_after = {};
  };

  // A row on giving up.
  struct End {
    std::string condition = {};
    std::string elapsed = {};                   // as written; empty: when no delay is left
    std::optional<std::int64_t> failures = {};  // of `elapsed`: how many they are at the least
    bool comes_late = false;   // of `elapsed`: no run is that long, the delays are used up before
    bool over_rounds = false;  // of `elapsed`: it gives up to go on, and that stops no clock
    std::string to = {};
    bool hold = false;
    std::string alert = {};
    bool server_alert = false;               // to the channel that the server has for it
    std::vector<std::string> notifies = {};  // channels, by its effects
  };

  bool works = true;                        // it has a task, so attempts have a timeout
  std::optional<Policy::Align> align = {};  // none: there is no plan
  std::vector<Run> runs = {};
  std::vector<End> ends = {};             // in the order they are tried; the last always holds
  bool can_give_up = false;               // else no row of `ends` is ever taken
  std::vector<std::string> unknown = {};  // the templates that durations depend on
  std::vector<std::string> through = {};  // other states that it comes back to
  std::optional<Duration> stay = {};      // the longest, by `after`; retries do not prolong it
};

// Of a state that can fail. That of a `started` state is its owner's.
Outlook outlook_of(const Machine& machine, StateId state);

}  // namespace pawl
