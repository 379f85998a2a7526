// A store in a directory of one machine: tables.db (SQLite), acknowledged, lock. A batch is one
// transaction. docs/internals/storage.md describes the files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "pawl/result.h"
#include "pawl/time.h"
#include "store/sqlite/claim_window.h"
#include "store/sqlite/directories.h"
#include "store/store.h"

namespace pawl {

namespace sqlite {
class Database;
}

struct SqliteOptions {
  std::filesystem::path directory;
  std::function<Instant()> clock = {};  // empty: the machine's
  bool creates = true;                  // the directory and the tables, when they are not there
  int cache_mib = 64;
  int record_cache_mib = 64;                        // 0: none
  std::size_t record_cache_bytes = 0;               // above 0: instead of record_cache_mib
  std::size_t claim_window = sqlite::kClaimWindow;  // entries of each queue and priority in memory
  int wal_mib = 256;     // of the write-ahead log, before it goes into the tables
  int wal_pages = 0;     // above 0: instead of wal_mib
  std::string vfs = {};  // name of one that was registered with SQLite; empty: its own
  sqlite::Directories* directories = &sqlite::system_directories();
};

// A copy that is being made while the store goes on. On the thread of the batches, between them.
class Backup {
 public:
  struct Progress {
    std::int64_t pages = 0;
    std::int64_t done = 0;
    bool is_complete = false;
  };

  virtual ~Backup() = default;  // before it is complete: takes what there is away

  // Copies some more pages. When it is complete, and not before, there is a file of that name: it
  // is durable and holds the store as it is now.
  virtual Result<Progress> step(int pages) = 0;
};

class SqliteStore : public Store {
 public:
  // When the last batch of the time before was committed: no batch was ever later.
  virtual Instant last_used() const = 0;

  // Fails when the file is there.
  virtual Result<std::unique_ptr<Backup>> backup(const std::filesystem::path& file) = 0;

  // Of attempts that run: their workers can settle nothing any more, and they are over at once. For
  // a store that has gone back in time. Says how many there were.
  virtual Result<std::size_t> void_leases() = 0;

  // All rows as they are at one time, for an export.
  virtual Result<void> read_tables(const std::function<Result<void>(sqlite::Database&)>& read) = 0;
};

// Fails, and touches nothing, when another process has the directory, when it cannot be written,
// when what is in it is not a store or one of a later version, or when it has lost batches that
// were acknowledged.
Result<std::unique_ptr<SqliteStore>> open_sqlite_store(SqliteOptions options);

}  // namespace pawl
