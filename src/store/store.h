// Store: what is durable. It knows records, logs, messages and instants, and nothing of decisions.
//
// memory, sqlite and (later) postgres stand behind this contract and pass the same tests,
// tests/store_contract.
//
// Threads: batches, extend, next_due, violations, put_… and forget_… are for one thread at a time,
// whichever it is. What else only reads (list, log, feed, counts, machine…) may be called from any
// thread at any time and sees what was committed.
//
// Failures: a Result holds an error only when the store could not do its work. Its code says what
// follows:
//   environment      the disk is full, a file cannot be read: nothing was changed; try again later
//   damaged          what is stored is not what was written: the message names it and what to do
//   outcome_unknown  of commit, extend, put_…, forget_…: it may be durable or not. The store has
//                    stopped: every further call fails so. Open it again and look.
// A lost race, a key that is taken and a record that is not there are answers, not errors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pawl/query.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "pawl/stimulus.h"
#include "pawl/time.h"

namespace pawl {

inline constexpr std::size_t kUnitsMax = 1'024;  // of a batch

// --- what a batch reads ------------------------------------------------------------------------

// In the inbox of a record. Given by the store, rising in the order of commits.
struct MessageId {
  std::int64_t value = 0;

  friend auto operator<=>(const MessageId&, const MessageId&) = default;
};

struct Message {
  RecordId to = {};
  std::string body = {};  // JSON; the store does not look into it
  MessageId id = {};      // of one that is read
};

// What is to be worked on. What one claim of a batch got no other claim of it gets.
struct Claim {
  enum class Kind {
    ready,  // records of the queue whose `ready_at` has come: by priority, then `ready_at`, then id
    due,    // records whose `wake_at` has come: the earliest first
    inbox,  // messages that do not wait, in the order they came
    over,   // records whose `remove_at` has come: the earliest first
  };

  Kind kind = Kind::ready;
  std::string queue = {};  // of `ready`
  std::size_t max = 1;     // records; of `inbox` messages
};

struct Claimed {
  Record record = {};
  std::vector<Message> messages = {};  // of `inbox`: of this record, in order
};

// An idempotency key is a record's own.
struct RequestName {
  RecordName record;
  std::string idempotency_key;

  friend auto operator<=>(const RequestName&, const RequestName&) = default;
};

// How often tasks under a limit of `rate` have started in the window that begins at an instant.
struct RateWindow {
  std::string slot;
  Instant window = {};
  int started = 0;

  friend bool operator==(const RateWindow&, const RateWindow&) = default;
};

struct Slot {
  int taken = 0;  // by records whose attempt runs
  RateWindow rate = {};
};

// --- what a batch writes -----------------------------------------------------------------------

// The new values of a record, and what they were decided on.
struct RecordChange {
  Record record;
  std::string queue = {};               // where it waits while `ready_at` is set
  std::vector<std::string> slots = {};  // that its attempt takes, by name
  std::vector<Entry> entries = {};      // new ones
  std::int64_t writes_before = 0;       // 0: there was no record
  std::int64_t fence_before = 0;
  bool erases = false;                  // of older entries everything but the skeleton goes
  std::optional<Entry> compacted = {};  // takes the place of the entries up to its seq
  bool purges = false;                  // the record and all that is its own goes
};

// A message that an earlier unit of the same batch sends: the place of that unit, and of the
// message in its `sent`.
struct SentHere {
  std::size_t unit = 0;
  std::size_t message = 0;
};

// One decision's durable consequences: all of it or none of it.
struct Unit {
  RecordChange record;
  std::vector<RecordChange> created = {};  // a key that is taken is reported, not an error
  std::vector<Message> sent = {};          // dropped where there is no such record
  std::vector<MessageId> taken = {};       // messages that this decision answers
  std::vector<SentHere> taken_here = {};   // of this batch; where it was not sent, this one is lost
  std::vector<MessageId> postponed = {};   // that wait until their record opens its inbox
  std::vector<std::size_t> after = {};     // earlier units; where one is lost, this one is as well
  bool opens_inbox = false;                // of its own record: nothing waits any longer
  std::vector<RateWindow> rates = {};
  std::string idempotency_key = {};  // of the request, or empty; with the answer given to it:
  Remembered remembered = {};
};

struct UnitOutcome {
  enum class Kind {
    committed,
    lost_race,  // the record is not as it was decided on; load it and decide again
    key_taken,  // a record of that name has come into being since
  };

  Kind kind = Kind::committed;
  std::vector<std::size_t> found = {};  // of `created`: those that were there already
};

// Everything loaded or claimed through a batch is its own until commit. Destroyed without commit,
// it has done nothing.
class Batch {
 public:
  virtual ~Batch() = default;

  // The clock that decides. It does not move within the batch, and never goes back while the store
  // is open.
  virtual Instant now() const = 0;

  // In the order asked; a record that is not there has id 0.
  virtual Result<std::vector<Record>> load(std::span<const RecordId> ids) = 0;
  virtual Result<std::vector<Record>> load(std::span<const RecordName> names) = 0;

  virtual Result<std::vector<Claimed>> claim(std::span<const Claim> claims) = 0;

  virtual Result<std::vector<std::optional<Remembered>>> remembered(
      std::span<const RequestName> requests) = 0;
  virtual Result<std::vector<Slot>> slots(std::span<const std::string> names) = 0;

  // Durable when it returns. Units are carried out in their order and see each other; one that
  // lost a race fails alone. The batch is over, whatever comes of it.
  virtual Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) = 0;
};

// --- what is not of a record -------------------------------------------------------------------

struct StoredMachine {
  std::string name;
  int version = 1;
  std::string text;         // the file
  Instant applied_at = {};  // 0: before this was kept
  std::string applied_by = {};

  friend bool operator==(const StoredMachine&, const StoredMachine&) = default;
};

// A worker has shown that it is alive: what was decided on that.
struct Beat {
  RecordId record = {};
  std::int64_t fence = 0;
  std::optional<Instant> lease_until = {};
  std::optional<Instant> wake_at = {};
  std::string progress = {};  // JSON, or empty
};

// A rule that does not hold, with the rows that break it.
struct Violation {
  std::string invariant;  // its number, `I1`, or what else was looked at
  RecordId record = {};   // 0: it is not of one record
  std::string what;

  friend bool operator==(const Violation&, const Violation&) = default;
};

class Store {
 public:
  virtual ~Store() = default;

  // One batch at a time: the one before is committed or destroyed.
  virtual Result<std::unique_ptr<Batch>> begin() = 0;

  // True where an attempt with that fence runs: its lease and progress are then durable.
  virtual Result<std::vector<bool>> extend(std::span<const Beat> beats) = 0;

  // The earliest instant at which a claim of these queues, or of any other kind, gets something; it
  // may have passed. None: not before something is committed.
  virtual Result<std::optional<Instant>> next_due(std::span<const std::string> queues) = 0;

  // By id; with a prefix, which is of a machine, by key; else with an instant by creation, then id.
  virtual Result<Page<Record>> list(const Query& query, const Cursor& from) = 0;
  virtual Result<Page<Entry>> log(RecordId record, const Cursor& from, std::size_t max) = 0;

  // All entries in the order of commits. A cursor stays good; one beyond the end is an error.
  virtual Result<Page<LoggedEntry>> feed(const Cursor& from, std::size_t max) = 0;

  virtual Result<Counts> counts() = 0;

  // Ids of new records are above this one; none was ever used twice.
  virtual Result<RecordId> last_id() = 0;

  // The queues in which a record waits, by name.
  virtual Result<std::vector<std::string>> queues() = 0;

  // All or none. False when a version is there with another text, which it keeps; one that is there
  // with this text is still who applied it first.
  virtual Result<bool> put_machines(std::span<const StoredMachine> machines) = 0;
  Result<bool> put_machine(const StoredMachine& machine) { return put_machines({&machine, 1}); }
  virtual Result<std::optional<StoredMachine>> machine(const std::string& name, int version) = 0;
  virtual Result<std::vector<StoredMachine>> machines() = 0;  // by name and version, without texts

  // The setting as it is afterwards: as given with the next revision, or, when `revision` was not
  // that of the stored one, as it was.
  virtual Result<Setting> put_setting(const Setting& setting) = 0;
  virtual Result<std::vector<Setting>> settings(const std::string& prefix) = 0;  // by name

  // Where what stands beside the records (who waits, what they are found by, slots) is not what the
  // records say. Reads everything.
  virtual Result<std::vector<Violation>> violations() = 0;

  // Forgets answers that were remembered before the instant, at most so many; says how many.
  virtual Result<std::size_t> forget_requests(Instant before, std::size_t max) = 0;
};

}  // namespace pawl
