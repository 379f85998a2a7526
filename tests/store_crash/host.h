// Host: a machine on which one process at a time works with a store, and ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "crash_directories.h"
#include "crash_vfs.h"
#include "script.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/temporary_directory.h"

namespace pawl {

// How far a process came with a script.
struct Progress {
  std::size_t acknowledged = 0;     // steps that were answered
  std::optional<Error> error = {};  // of the one that was not
  bool is_step = false;             // it came from a step, not from opening
  std::string wrong_answer = {};    // other than the memory store's, for people
};

class Host {
 public:
  explicit Host(int wal_pages);

  CrashVfs& vfs() { return vfs_; }
  const CrashVfs& vfs() const { return vfs_; }
  std::string path(const std::string& file) const { return directory_ / file; }
  // Beside the directory of the store.
  std::filesystem::path beside(const std::string& name) const { return root_ / "var" / name; }

  // The real start; nothing of the process before is left.
  void restart(Disk disk);
  Result<std::unique_ptr<SqliteStore>> open();
  // Of a store on this machine, elsewhere.
  SqliteOptions options(const std::filesystem::path& directory);

  // Opens the store and carries out the steps, to the first that fails.
  Progress run(const Script& script, const Expected& expected);

  void set_clock(Instant now) { now_ = now; }

  // What an open store shows stays, even if the power fails before anything else is written.
  void check_shown_stays(const Contents& shown);

  // `ok`, or what PRAGMA integrity_check says.
  std::string integrity();

 private:
  std::filesystem::path root_;
  // Not there at first, nor is the one above it.
  std::filesystem::path directory_ = root_ / "var" / "store";
  CrashVfs vfs_;
  CrashDirectories directories_{vfs_, root_};
  int wal_pages_;
  Instant now_ = kBegin;
};

// How much is to be tried: PAWL_CRASH_SCRIPTS times the default.
inline std::size_t scaled(std::size_t count) {
  const char* const scale = std::getenv("PAWL_CRASH_SCRIPTS");
  return count * (scale == nullptr ? 1 : static_cast<std::size_t>(std::atoi(scale)));
}

}  // namespace pawl
