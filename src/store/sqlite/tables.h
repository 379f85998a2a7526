// Tables: the rows of a store, read and written one kind at a time, within a transaction of the
// caller.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/sqlite/claim_window.h"
#include "store/sqlite/database.h"
#include "store/sqlite/record_cache.h"
#include "store/store.h"

namespace pawl::sqlite {

// Names of machines, states and queues as the numbers that stand for them in the other tables:
// shorter rows, and keys that are quickly compared. 0 is the empty text. What was looked up is
// remembered.
inline constexpr std::int64_t kNoWord = -1;  // stands nowhere
class Words {
 public:
  explicit Words(Database& db) : db_(db) {}

  Result<std::int64_t> number(const std::string& text);  // kNoWord: it has none
  Result<std::int64_t> give_number(const std::string& text);
  Result<std::string_view> text(std::int64_t number);

  // After a rollback: numbers that were given in it are not given.
  void forget();

 private:
  Database& db_;
  std::unordered_map<std::string, std::int64_t> numbers_;
  std::unordered_map<std::int64_t, std::string> texts_;
};

inline Due wake_of(const Record& record) { return {0, kWakes, *record.wake_at, record.id.value}; }

struct NewRecord {
  const Record* record;
  Named named;
  std::string slots;  // one a line
  std::string more;
  std::uint64_t sum;
};

// What the rows beside a record say about it.
struct Beside {
  Named named = {};
  bool held = false;
  std::vector<Label> marks = {};  // its labels, and what else it is found by
  std::vector<std::string> slots = {};
  std::optional<Due> ready = {};
  std::optional<Due> wake = {};
  std::optional<Due> removal = {};
};
inline constexpr auto kDues = {&Beside::ready, &Beside::wake, &Beside::removal};
inline constexpr const char* kParentMark = ".parent";  // its id
inline constexpr const char* kHeldMark = ".held";
inline constexpr const char* kErrorMark = ".error";  // its code
Beside beside(const Record& record, const Named& named, std::vector<std::string> slots);

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
  struct Limits {
    std::size_t record_cache_bytes = 0;
    std::size_t claim_window = kClaimWindow;  // entries of each queue and priority
  };
  explicit Tables(Database& db) : Tables(db, Limits()) {}
  Tables(Database& db, const Limits& limits)
      : db_(db),
        words_(db),
        cache_(limits.record_cache_bytes),
        claim_window_(db, limits.claim_window) {}

  Words& words() { return words_; }
  // find() takes records out of it. Whoever has committed what became of them puts them in.
  RecordCache& cache() { return cache_; }
  ClaimWindow& claim_window() { return claim_window_; }
  // After a rollback of what was written.
  void forget();
  // Entries that wait to be written.
  void forget_entries() { entries_waiting_ = 0; }

  // It was seen to be so, and nothing has been added since: a batch need not look again.
  bool is_inbox_empty() const { return is_inbox_empty_; }
  void saw_inbox_empty() { is_inbox_empty_ = true; }

  // Those that have no number yet get one.
  Result<Named> named(const Record& record, const std::string& queue);

  // Into a record that is new. False: there is none.
  Result<bool> find(RecordId id, Record& record, Kept& kept);
  // The same of each name. Where there is none, the record keeps its id of 0.
  Result<void> find(std::span<const RecordName> names, std::span<Record> records,
                    std::span<Kept> kept);
  Result<bool> has_record(RecordId id);
  Result<bool> has_record(const RecordName& name);

  // The row of a record, which was found before. What stands beside it is for the caller.
  Result<void> insert(std::span<const NewRecord> records);
  static NewRecord new_record(const Record& record, const Named& named,
                              const std::vector<std::string>& slots);
  Result<void> update(const Record& record, const Named& named,
                      const std::vector<std::string>& slots);
  Result<void> remove(RecordId id);
  // Entries, messages and remembered answers of a record that goes.
  Result<void> remove_belongings(RecordId id, const RecordName& name);

  Result<bool> has_due(const Due& due);
  Result<bool> has_mark(RecordId id, const Label& mark);
  Result<void> add_dues(std::span<const Due> dues);
  Result<void> remove_due(const Due& due);
  Result<void> add_mark(RecordId id, const Label& mark);
  Result<void> remove_mark(RecordId id, const Label& mark);
  Result<void> add_to_slot(const std::string& slot, int by);
  Result<void> add_to_count(const Named& named, int records, int held);

  // It is written with others, at the latest by write_entries().
  Result<void> add_entry(std::int64_t position, RecordId record, const Entry& entry);
  Result<void> write_entries();
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
  Result<void> put_rate(const RateWindow& rate);

  Result<Counter> counter();
  Result<void> put_counter(const Counter& counter);

  // Of a row that was asked for by a key and these columns.
  static constexpr const char* kColumnsAfterKey =
      ", record.id, machine, state, created_at, entered_at, changed_at, revision, writes, fence, "
      "priority, ready_at, wake_at, queue, slots, data, more, record.sum";
  static Result<void> read(const Rows& rows, Words& words, Record& record, Kept& kept);
  static constexpr const char* kEntryColumns = "log.body, log.sum, log.record, position";
  static Result<Entry> entry_of(const Rows& rows);

 private:
  // A name that is looked for, and its place among all that are.
  struct Wanted {
    std::string_view key;
    std::int64_t machine = 0;
    std::size_t place = 0;
  };
  Result<void> find_several(std::span<const Wanted> wanted, std::span<Record> records,
                            std::span<Kept> kept);
  Result<void> find_one(const Wanted& wanted, Record& record, Kept& kept);

  struct NewEntry {
    std::int64_t position = 0;
    std::uint64_t record = 0;
    std::int64_t seq = 0;
    std::string body = {};
    std::uint64_t sum = 0;
  };

  Database& db_;
  Words words_;
  RecordCache cache_;
  ClaimWindow claim_window_;
  bool is_inbox_empty_ = false;
  std::array<NewEntry, Insert::kRowsAtOnce> entries_;  // used again and again
  std::size_t entries_waiting_ = 0;
};

}  // namespace pawl::sqlite
