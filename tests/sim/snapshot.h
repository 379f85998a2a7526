// Snapshot: all that a store shows, to be looked at from several sides.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pawl/record.h"
#include "store/store.h"

namespace pawl::sim {

struct Snapshot {
  std::map<RecordName, Record> records;
  std::map<RecordName, std::vector<Entry>> logs;

  const Record* find(const RecordName& name) const {
    const auto found = records.find(name);
    return found == records.end() ? nullptr : &found->second;
  }
};

std::map<RecordName, Record> read_records(Store& store);
Snapshot read_all(Store& store);

// The same for the same content.
std::uint64_t hash_of(const Snapshot& snapshot, std::uint64_t seed);

}  // namespace pawl::sim
