// Record: one durable thing moving through a machine; Entry: one line of its log.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/time.h"

namespace pawl {

// Ours, given by the engine, never used twice; 0 is no record.
struct RecordId {
  std::uint64_t value = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 of a comparison for a pointer
  friend auto operator<=>(const RecordId&, const RecordId&) = default;
};

// The hash of an attempt token: what is stored, so that a copy of the store lets nobody settle.
using TokenHash = std::array<std::byte, 32>;

// The last failure of a record.
struct Failure {
  std::string code;
  std::string message = {};
  std::string detail = {};  // JSON, or empty
  std::optional<Duration> retry_after = {};
  bool transient = false;
  Instant at = {};
  std::uint64_t fingerprint = 0;  // of code and message without numbers, ids and quoted text

  friend bool operator==(const Failure&, const Failure&) = default;
};

// Parked for a person: nothing moves by itself.
struct Hold {
  enum class By { policy, machine, operator_, engine };

  std::string code;
  std::string text = {};
  Instant since = {};
  By by = By::machine;

  friend bool operator==(const Hold&, const Hold&) = default;
};

// The run of failures a record is in. Belongs to the state that is failing.
struct Streak {
  std::string state = {};
  std::string code = {};        // of the last failure
  int code_failures = 0;        // in a row with that code
  int laters = 0;               // `later` answers in a row
  std::string checkpoint = {};  // where to come back to
  bool gave_up = false;         // and a person has to look, whatever hold came since

  friend bool operator==(const Streak&, const Streak&) = default;
};

// An instant at which the engine acts on a record that stays where it is.
struct Timer {
  enum class Kind { come_back, after, every };

  Kind kind = Kind::after;
  std::uint16_t index = 0;  // of the state's `after` or `every`, in the order of the file
  Instant at = {};

  friend bool operator==(const Timer&, const Timer&) = default;
};

// The record's place in its schedule.
struct Plan {
  std::string anchor = {};  // DTSTART, as given
  std::string zone = {};
  std::optional<Instant> serving = {};  // the slot being served, or served last
  std::optional<Instant> next = {};

  friend bool operator==(const Plan&, const Plan&) = default;
};

// An attempt that runs.
struct Attempt {
  TokenHash token_hash = {};
  std::string worker = {};
  Instant started_at = {};
  std::optional<Instant> lease_until = {};
  Instant deadline_at = {};
  std::string progress = {};            // JSON, or empty
  std::vector<std::string> slots = {};  // that it takes while it runs, by name

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

// The attempt that was settled last, so that a repeated `done` or `fail` gets the same answer.
struct Settled {
  enum class Verb { done, fail };

  std::int64_t fence = 0;
  TokenHash token_hash = {};
  Verb verb = Verb::done;
  std::string state = {};  // what the answer said, and the revision with it
  std::int64_t seq = 0;

  friend bool operator==(const Settled&, const Settled&) = default;
};

// The task of a checkpoint that was left: coming back to it is not a new task for the world.
struct TaskSeq {
  std::string state;
  std::int64_t seq = 0;

  friend bool operator==(const TaskSeq&, const TaskSeq&) = default;
};

struct Parent {
  RecordId id = {};
  std::string machine = {};
  std::string key = {};

  friend bool operator==(const Parent&, const Parent&) = default;
};

// Children of one machine, counted by state.
struct ChildCounts {
  struct InState {
    std::string state;
    std::int64_t count = 0;

    friend bool operator==(const InState&, const InState&) = default;
  };

  std::string machine;
  std::int64_t all = 0;
  std::int64_t open = 0;
  std::int64_t final = 0;
  std::int64_t hold = 0;  // part of `open`
  std::vector<InState> states = {};

  friend bool operator==(const ChildCounts&, const ChildCounts&) = default;
};

struct Label {
  std::string name;
  std::string value;  // JSON

  friend bool operator==(const Label&, const Label&) = default;
};

// The core changes only with entries of the log; the quiet part also with starts, beats, `later`
// and messages of children.
struct Record {
  // What it is.
  RecordId id = {};
  std::string machine = {};
  int version = 1;
  std::string key = {};  // the user's own id, unique per machine while the record exists
  Instant created_at = {};
  std::optional<Parent> parent = {};

  // Core: where it is.
  std::string state = {};
  Instant entered_at = {};
  std::int64_t revision = 0;  // seq of the last entry
  Instant changed_at = {};    // of the last entry; no later one is before it
  int epoch = 1;
  int failures = 0;
  std::optional<Instant> failing_since = {};
  std::string failed_from = {};
  std::optional<Failure> error = {};
  std::optional<Hold> hold = {};
  std::string data = "{}";  // JSON
  std::string result = {};  // JSON of the last task's result, or empty
  std::vector<Label> labels = {};
  int priority = 5;  // 0 is first

  // Quiet part.
  std::optional<Instant> ready_at = {};   // from when its task may be claimed
  std::optional<Instant> wake_at = {};    // when the engine must act
  std::optional<Instant> task_at = {};    // as ready_at, but kept while on hold
  std::optional<Instant> remove_at = {};  // when a record that is over goes, by `keep`
  std::vector<Timer> timers = {};
  Plan plan = {};
  Streak streak = {};
  bool spent = false;                    // the task of this state is done
  std::int64_t task_seq = 0;             // n of the task's outside key
  std::vector<TaskSeq> left_tasks = {};  // the same of checkpoints that were left, by state
  std::vector<ChildCounts> children = {};
  int attempt = 0;            // starts so far; returns to zero
  std::string progress = {};  // JSON: what attempts at this task that are over said last, or empty
  std::int64_t fence = 0;
  std::optional<Attempt> running = {};
  std::optional<Settled> settled = {};
  std::int64_t writes = 0;  // rises with every commit of the record except beats

  // What people are shown: the earlier of `ready_at` and `wake_at`.
  std::optional<Instant> next_at() const {
    if (!ready_at) return wake_at;
    return wake_at && *wake_at < *ready_at ? wake_at : ready_at;
  }

  friend bool operator==(const Record&, const Record&) = default;
};

// Who asks.
struct Actor {
  std::string name = {};
  std::vector<std::string> roles = {};
  std::string via = {};  // who called in this name, where it is somebody else: an access token

  friend bool operator==(const Actor&, const Actor&) = default;
};

// One line of a record's log: a hop, or a stay that changed something.
struct Entry {
  enum class Kind {
    created,
    event,
    started,
    done,
    failed,
    timed_out,
    gave_up,
    rewound,
    resumed,
    timer,
    schedule,
    when,
    operator_,
    migrated,
    compacted,
    erased
  };

  std::int64_t seq = 0;  // 1, 2, … without gaps
  Instant at = {};
  Kind kind = Kind::event;
  std::string event = {};  // or the order
  std::string from = {};
  std::string to = {};
  int epoch = 1;
  int attempt = 0;
  std::int64_t fence = 0;
  std::optional<Failure> error = {};
  std::string cause = {};  // the place that chose the event
  Actor actor = {};
  std::string idempotency_key = {};
  std::string input = {};    // JSON: the stimulus, with the quiet part as it was
  std::string changes = {};  // JSON: the core fields that changed

  // Of a failure.
  std::optional<Instant> next_at = {};
  std::optional<int> delays_left = {};
  std::string row = {};  // where the row stands that answered it

  friend bool operator==(const Entry&, const Entry&) = default;
};

// The name of the kind in logs and JSON.
std::string_view to_text(Entry::Kind kind);

}  // namespace pawl
