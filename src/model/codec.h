// Records, entries and what entries keep (what was decided on, and which fields of the core
// changed) as texts.
//
// JSON without blanks; what is empty, zero or null is left out. Instants and durations are whole
// microseconds, an instant since 1970. docs/internals/log.md has every member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"

namespace pawl {

// The fields of a record that change only with an entry.
enum Core : std::uint32_t {
  kCoreIdentity = 1U << 0U,  // id, machine, key, created_at, parent: set once
  kCoreVersion = 1U << 1U,
  kCoreState = 1U << 2U,  // and entered_at
  kCoreEpoch = 1U << 3U,
  kCoreFailures = 1U << 4U,  // and failing_since, failed_from
  kCoreError = 1U << 5U,
  kCoreHold = 1U << 6U,
  kCoreData = 1U << 7U,
  kCoreResult = 1U << 8U,
  kCoreLabels = 1U << 9U,
  kCorePriority = 1U << 10U,
  kCoreAll = (1U << 11U) - 1,
};

// The stimulus with the quiet part of the record as it was.
void append_input(std::string& out, const Stimulus& stimulus, const Record& before);

struct Input {
  Stimulus stimulus;
  Record quiet;  // its core is empty
};
Input read_input(std::string_view input);

// The quiet part of one record put onto the core of another.
Record joined(const Record& core, const Record& quiet);

// The core fields named by the bits of `Core`.
void append_changes(std::string& out, const Record& record, std::uint32_t fields);

// Folds the changes of the next entry into a record: its core is then as it was after that entry.
void fold(Record& core, std::string_view changes);

// The core as one text, to compare byte for byte.
std::string core_text(const Record& record);

// The fields of a record that are mostly empty or as they were at first: all but id, machine, key,
// state, data, priority, the instants beside created_at, revision, fence and writes.
void append_sparse(std::string& out, const Record& record);
void read_sparse(std::string_view text, Record& record);

// An entry of a log.
void append_entry(std::string& out, const Entry& entry);
Entry read_entry(std::string_view text);

// What an idempotency key remembers.
std::string answer_text(const Answer& answer);
Answer read_answer(std::string_view text);

}  // namespace pawl
