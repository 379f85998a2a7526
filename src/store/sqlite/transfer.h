// A store out of and into files: backups, and exports as lines of JSON.
//
// What is read is verified before the directory is put in place; where it is not right nothing is
// left behind. The new store has gone back in time: attempts that ran in it are over.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>

#include "store/sqlite/sqlite_store.h"
#include "store/verify.h"

namespace pawl {

// Told how far it is, of how much; 0 where that is not known.
using TransferProgress = std::function<void(std::int64_t done, std::int64_t all)>;

struct Restored {
  Verified verified = {};       // with violations: nothing was restored
  std::size_t void_leases = 0;  // attempts that ran: their workers have lost them
  Instant last_used = {};       // of the last batch in it
};

// Makes a backup of a store, from the beginning to the end.
Result<void> back_up(SqliteStore& store, const std::filesystem::path& file,
                     const TransferProgress& progress);

// Makes a store from a backup. `options.directory` must be new.
Result<Restored> restore(const std::filesystem::path& file, const SqliteOptions& options,
                         const TransferProgress& progress);

// Everything in the store, one row a line, as docs/reference/cli.md says.
Result<void> export_lines(SqliteStore& store, std::ostream& out, const TransferProgress& progress);

// Makes a store from an export. `options.directory` must be new.
Result<Restored> import_lines(std::istream& in, const SqliteOptions& options,
                              const TransferProgress& progress);

}  // namespace pawl
