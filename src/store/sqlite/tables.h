// Tables: the rows of a store, read and written one kind at a time, within a transaction of the
// caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/database.h"
#include "store/store.h"

namespace pawl::sqlite {

// A record as it is stored, with what stands beside it.
struct Kept {
  Record record;  // id 0: there is none
  std::string queue = {};
  std::vector<std::string> slots = {};

  bool exists() const { return record.id.value != 0; }
};

// What the columns of a record and the rows beside it say about it.
struct Derived {
  std::string machine;
  std::string key;
  std::string state;
  bool held = false;
  std::string error = {};  // its code, or empty
  std::uint64_t fingerprint = 0;
  std::vector<Label> labels = {};
  int priority = 5;
  std::optional<Instant> ready_at = {};
  std::optional<Instant> wake_at = {};
  std::string queue = {};
  std::vector<std::string> slots = {};

  friend bool operator==(const Derived&, const Derived&) = default;
};
Derived derived_of(const Record& record, std::string queue, std::vector<std::string> slots);

// Who is claimed first. What waits for the clock stands in no queue, before every priority.
struct Due {
  std::string queue;
  int priority = 0;
  Instant at = {};
  std::uint64_t record = 0;

  friend auto operator<=>(const Due&, const Due&) = default;
};
inline constexpr int kWakes = -1;
void append_dues(std::vector<Due>& dues, RecordId id, const Derived& derived);

// The highest numbers given so far, and when.
struct Counter {
  std::int64_t batch = 0;
  std::uint64_t record = 0;
  std::int64_t position = 0;
  std::int64_t message = 0;
  Instant at = {};  // of the last batch
};

class Tables {
 public:
  explicit Tables(Database& db) : db_(db) {}

  Result<Kept> find(RecordId id);
  Result<Kept> find(const RecordName& name);
  Result<bool> has_record(RecordId id);

  Result<void> insert(const Record& record, const Derived& derived);
  Result<void> update(const Record& record, const Derived& derived, const Derived& before);
  Result<void> remove(RecordId id);
  // Entries, messages and remembered answers of a record that goes.
  Result<void> remove_belongings(RecordId id, const RecordName& name);

  Result<void> add_due(const Due& due);
  Result<void> remove_due(const Due& due);
  Result<void> add_label(RecordId id, const Label& label);
  Result<void> remove_label(RecordId id, const Label& label);
  Result<void> add_to_slot(const std::string& slot, int by);
  Result<void> add_to_count(const std::string& machine, const std::string& state, int records,
                            int held);

  Result<void> put_entry(std::int64_t position, RecordId record, const Entry& entry);
  Result<void> count_error(const Record& record, const Entry& entry);
  Result<void> erase_texts(RecordId record);
  Result<void> compact(RecordId record, const Entry& compacted);

  Result<bool> has_message(MessageId id);
  Result<void> add_message(std::int64_t id, const Message& message);
  Result<void> take_message(MessageId id);
  Result<void> postpone_message(MessageId id);
  Result<void> open_inbox(RecordId record);

  Result<std::optional<Remembered>> remembered(const RequestName& request);
  Result<void> remember(const RequestName& request, const Remembered& remembered, Instant now);
  Result<Slot> slot(const std::string& name);
  Result<void> put_rate(const Rate& rate);

  Result<Counter> counter();
  Result<void> put_counter(const Counter& counter);

  // Of a row that was asked for by these columns.
  static constexpr const char* kRecordColumns =
      "id, machine, key, state, created_at, entered_at, changed_at, revision, writes, fence, "
      "priority, ready_at, wake_at, queue, slots, data, more, record.sum";
  static Result<Kept> kept_of(const Rows& rows);
  static constexpr const char* kEntryColumns = "log.body, log.sum, log.record, position";
  static Result<Entry> entry_of(const Rows& rows);

 private:
  Result<void> put_trouble(RecordId id, const Derived& derived, const Derived& before);

  Database& db_;
};

}  // namespace pawl::sqlite
