// The tables of a store, and the settings every connection has. docs/internals/storage.md describes
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "store/sqlite/database.h"

namespace pawl::sqlite {

inline constexpr std::int64_t kApplicationId = 0x5061776c;  // `Pawl`
inline constexpr std::int64_t kSchemaVersion = 2;

struct ConnectionOptions {
  int cache_mib = 64;
  bool writes = true;
};

// Sets what reliability rests on, and reads it back.
Result<void> configure(Database& db, const ConnectionOptions& options);

// Fails when a file that begins so is not ours, or of a later version. Empty: it is new.
Result<void> check_header(const std::string& path, const std::string& header);

// Makes the tables of a new file; migrates those of an older one.
Result<void> bring_up_to_date(Database& db, const std::string& path);

// From a version of the tables on: the first step leads from version 1 to 2. All steps or none.
Result<void> migrate(Database& db, std::int64_t version, std::span<const char* const> steps);

}  // namespace pawl::sqlite
