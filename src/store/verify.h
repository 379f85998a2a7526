// verify: are the invariants of a store true? Each violation names the rows.
//
// Checked here, by their numbers: I1 seqs without gaps up to the revision; I2 each entry begins
// where the one before ended, and the last one is where the record is; I3 the changes of the log
// make up the core; I4 one idempotency key, one request; I6 no task waits while its attempt runs;
// I7 fences only rise; I8 whatever has an instant to wake at will be woken; I12 instants never go
// back; I16 the machine of a record is there; I18 every entry names its actor; I19 counts are what
// a scan finds. The store itself adds what only it can see.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "pawl/result.h"
#include "store/store.h"

namespace pawl {

struct Verified {
  std::size_t records = 0;
  std::size_t entries = 0;
  std::vector<Violation> violations = {};
};

// Reads everything. `progress` is told how many records were looked at, now and then.
Result<Verified> verify(Store& store, const std::function<void(std::size_t)>& progress = {});

}  // namespace pawl
