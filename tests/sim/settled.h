// What has to be true when all faults have stopped and everything had its time, and what the engine
// has to say about when it is needed again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapshot.h"

namespace pawl::sim {

// I20: every record is final, on hold, or waits for something that will come. I19: parents have
// counted their children. I14: nobody failed more often than the policy lets him.
void check_settled(const Snapshot& snapshot, Store& store, Instant now);

// At any time: what no record may ever show.
void check_records(const std::map<RecordName, Record>& records);

// No more attempts run than the limit lets start.
void check_limit(const std::map<RecordName, Record>& records);

// Of an engine that has nothing more to do: it asks to be called when the first record needs it.
void check_next(const std::map<RecordName, Record>& records,
                const std::vector<std::string>& queues_waited_for, std::optional<Instant> next,
                Instant now);

}  // namespace pawl::sim
