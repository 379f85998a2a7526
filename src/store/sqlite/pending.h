// Pending: what a batch has read and what it will write. A record touched five times is written
// once.
#pragma once

#include <cstdint>
#include <map>
#include <memory_resource>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/sqlite/tables.h"
#include "store/store.h"

namespace pawl::sqlite {

class Pending {
 public:
  explicit Pending(Tables& tables) : tables_(tables) {}

  // As stored, into records that are new; left as they are where there is none. What was found,
  // and what was not, is not looked for again.
  Result<void> load(RecordId id, Record& record);
  Result<void> load(std::span<const RecordName> names, std::span<Record> records);

  // Carries the units out, in order. Their changes have to live until all is written and cached.
  Result<std::vector<UnitOutcome>> apply(std::span<const Unit> units, Counter& counter);

  // Writes what the records have become.
  Result<void> write();
  Result<void> write_messages();  // the part of it that a mutant leaves for later
  // Puts what was written into the cache, once it is committed.
  void cache_written();

 private:
  // A record: as it stands in the tables, and as the units so far have left it.
  struct Touched {
    bool existed = false;
    Beside before = {};
    bool exists = false;
    std::int64_t writes = 0;
    std::int64_t fence = 0;
    const RecordChange* change = nullptr;  // the last one
    Named named = {};                      // by that, once it is written
  };

  // For an inbox, until a later unit takes it.
  struct NewMessage {
    std::int64_t id = 0;
    const Message* message = nullptr;  // null: there is none any more
  };

  Touched& keep(const Record& record, Kept& kept);
  Result<Touched*> touched(RecordId id);
  Result<bool> is_taken(const Record& record);
  // The name as one text, until it is called again.
  const std::string& text_of(const std::string& machine, const std::string& key);
  Result<bool> exists(RecordId id);

  Result<UnitOutcome> apply(const Unit& unit, Counter& counter);
  Result<UnitOutcome::Kind> possible(const Unit& unit);
  NewMessage& message_of(const SentHere& sent);
  Result<void> apply(const RecordChange& change, Counter& counter);
  Result<void> write(RecordId id, Touched& touched);
  Result<void> write_beside(RecordId id, const Beside& before, const Beside& after);
  void count(const Beside& beside, int by);

  Tables& tables_;
  std::pmr::monotonic_buffer_resource memory_;  // of what goes with the batch
  std::pmr::unordered_map<std::uint64_t, Touched> records_{&memory_};
  std::pmr::unordered_map<std::string, bool> taken_{
      &memory_};  // names that were looked for, given or freed
  std::string name_text_;
  std::vector<bool> carried_out_;        // by unit
  std::vector<std::size_t> first_sent_;  // by unit, into messages_added_
  std::vector<NewMessage> messages_added_;
  std::vector<NewRecord> records_added_;
  std::vector<Due> dues_removed_;
  std::vector<Due> dues_added_;
  std::map<std::string, int> slots_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::pair<int, int>> counts_;
};

}  // namespace pawl::sqlite
