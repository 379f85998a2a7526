// Counting failures: which run of failures a record is in, and when it is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pawl/definition.h"
#include "pawl/record.h"

namespace pawl {

// Where a failure was met.
struct FailedIn {
  std::string_view state;           // whose work failed
  bool is_on_the_way_back = false;  // in the failure state or at the checkpoint of the run before
  Instant since = {};               // start of the attempt; of a row that fails: now
  bool was_attempt = true;
};

// Counts one failure with that code: `failures`, `failing_since`, and the run of equal codes.
void count_failure(Record& record, const FailedIn& failed, std::string_view code,
                   Policy::Count count);

// The state was left by anything but failing: when the run belongs to it, counters are zero. True
// when a field of the core changed.
bool count_leaving(Record& record, std::string_view left);

// Gave up and goes on elsewhere: counters are zero, but since when nothing has worked is kept, with
// the state it belongs to.
void count_giving_up(Record& record);

// The outside key of work that a record may come back to is kept by the name of its state.
void remember_task(Record& record, std::string_view state);
void forget_task(Record& record, std::string_view state);
std::optional<std::int64_t> remembered_task(const Record& record, std::string_view state);

}  // namespace pawl
