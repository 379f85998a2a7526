// Reading: lists, logs, the feed and counts, from any thread, on a connection of its own.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/database.h"
#include "store/sqlite/tables.h"
#include "store/store.h"

namespace pawl::sqlite {

class Reading {
 public:
  explicit Reading(Database opened) : db_(std::move(opened)) {}

  Result<Page<Record>> list(const Query& query, const Cursor& from);
  Result<Page<Entry>> log(RecordId record, const Cursor& from, std::size_t max);
  Result<Page<LoggedEntry>> feed(const Cursor& from, std::size_t max);
  Result<Counts> counts();
  Result<RecordId> last_id();
  Result<std::optional<StoredMachine>> machine(const std::string& name, int version);
  Result<std::vector<StoredMachine>> machines();
  Result<std::vector<std::string>> queues();
  Result<std::vector<Setting>> settings(const std::string& prefix);

 private:
  Result<Page<LoggedEntry>> feed_end();
  Result<std::int64_t> last_position();
  // The query and the mark have to live until the rows are gone.
  Result<Rows> rows(const Query& query, const std::optional<Label>& mark, const Cursor& from);

  Result<RecordName> name_of(RecordId record);

  std::mutex mutex_;
  Database db_;
  Words words_{db_};
};

}  // namespace pawl::sqlite
