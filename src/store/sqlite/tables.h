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
  Record record;
  std::string queue = {};
  std::vector<std::string> slots = {};
};

// Who is claimed first. What waits for the clock stands in no queue, before every priority.
struct Due {
  std::string queue;
  int priority = 0;
  Instant at = {};
  std::uint64_t record = 0;

  friend auto operator<=>(const Due&, const Due&) = default;
};
inline constexpr int kWakes = -1;

// What the rows beside a record say about it.
struct Beside {
  std::string machine = {};
  std::string state = {};
  bool held = false;
  std::vector<Label> marks = {};  // its labels, and what else it is found by
  std::vector<std::string> slots = {};
  std::optional<Due> ready = {};
  std::optional<Due> wake = {};
};
inline constexpr const char* kParentMark = ".parent";  // its id
inline constexpr const char* kHeldMark = ".held";
inline constexpr const char* kErrorMark = ".error";  // its code
Beside beside(const Record& record, std::string queue, std::vector<std::string> slots);

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

  // False: there is none.
  Result<bool> find(RecordId id, Kept& kept);
  Result<bool> find(const RecordName& name, Kept& kept);
  Result<bool> has_record(RecordId id);
  Result<bool> has_record(const RecordName& name);

  // The row of a record. What stands beside it is for the caller.
  Result<void> insert(const Record& record, std::string_view queue,
                      const std::vector<std::string>& slots);
  Result<void> update(const Record& record, std::string_view queue,
                      const std::vector<std::string>& slots);
  Result<void> remove(RecordId id);
  // Entries, messages and remembered answers of a record that goes.
  Result<void> remove_belongings(RecordId id, const RecordName& name);

  Result<bool> has_due(const Due& due);
  Result<bool> has_mark(RecordId id, const Label& mark);
  Result<void> add_due(const Due& due);
  Result<void> remove_due(const Due& due);
  Result<void> add_mark(RecordId id, const Label& mark);
  Result<void> remove_mark(RecordId id, const Label& mark);
  Result<void> add_to_slot(const std::string& slot, int by);
  Result<void> add_to_count(const std::string& machine, const std::string& state, int records,
                            int held);

  Result<void> add_entry(std::int64_t position, RecordId record, const Entry& entry);
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
  static Result<void> read(const Rows& rows, Kept& kept);
  static constexpr const char* kEntryColumns = "log.body, log.sum, log.record, position";
  static Result<Entry> entry_of(const Rows& rows);

 private:
  Database& db_;
};

}  // namespace pawl::sqlite
