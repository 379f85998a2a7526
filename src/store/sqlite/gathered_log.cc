#include "store/sqlite/gathered_log.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <new>
#include <string_view>

#include "pawl/assert.h"
#include "store/sqlite/database.h"

namespace pawl::sqlite {

struct GatheredLog::Vfs : sqlite3_vfs {
  sqlite3_vfs* over;
};

namespace {

constexpr std::size_t kPieceMax = 1U << 16U;  // SQLite's own VFS takes less than 128 KiB at once

// A log that is open. The file of the VFS below stands right behind it, in the memory that SQLite
// gives for both.
struct LogFile : sqlite3_file {
  std::string kept = {};  // not written yet
  sqlite3_int64 from = 0;

  sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }  // NOLINT

  // What could not be written is of a commit that fails, and is not tried again.
  int write_kept() {
    if (kept.empty()) return SQLITE_OK;
    const int code =
        below()->pMethods->xWrite(below(), kept.data(), static_cast<int>(kept.size()), from);
    kept.clear();
    return code;
  }
};
static_assert(sizeof(LogFile) % alignof(std::max_align_t) == 0);

LogFile& log_of(sqlite3_file* file) { return *static_cast<LogFile*>(file); }

int close_log(sqlite3_file* file) {
  LogFile& log = log_of(file);
  const int code = log.below()->pMethods->xClose(log.below());  // what is kept was never synced
  log.~LogFile();
  return code;
}

int write_log(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 to) {
  LogFile& log = log_of(file);
  const std::string_view given(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  const bool follows = to == log.from + std::ssize(log.kept);
  if (!follows || log.kept.size() + given.size() > kPieceMax) {
    if (const int code = log.write_kept(); code != SQLITE_OK) return code;
  }
  if (given.size() > kPieceMax) return log.below()->pMethods->xWrite(log.below(), bytes, size, to);
  if (log.kept.empty()) log.from = to;
  log.kept += given;
  return SQLITE_OK;
}

// Everything else sees the file as if all of it had been written.
template <auto method, class... Arguments>
int after_writing(sqlite3_file* file, Arguments... arguments) {
  LogFile& log = log_of(file);
  if (const int code = log.write_kept(); code != SQLITE_OK) return code;
  return (log.below()->pMethods->*method)(log.below(), arguments...);
}

template <auto method, class... Arguments>
int at_once(sqlite3_file* file, Arguments... arguments) {
  sqlite3_file* const below = log_of(file).below();
  return (below->pMethods->*method)(below, arguments...);
}

using Methods = sqlite3_io_methods;
constexpr Methods kLogMethods = {
    .iVersion = 1,
    .xClose = close_log,
    .xRead = after_writing<&Methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = write_log,
    .xTruncate = after_writing<&Methods::xTruncate, sqlite3_int64>,
    .xSync = after_writing<&Methods::xSync, int>,
    .xFileSize = after_writing<&Methods::xFileSize, sqlite3_int64*>,
    .xLock = at_once<&Methods::xLock, int>,
    .xUnlock = at_once<&Methods::xUnlock, int>,
    .xCheckReservedLock = at_once<&Methods::xCheckReservedLock, int*>,
    .xFileControl = at_once<&Methods::xFileControl, int, void*>,
    .xSectorSize = at_once<&Methods::xSectorSize>,
    .xDeviceCharacteristics = at_once<&Methods::xDeviceCharacteristics>,
};

int open_file(sqlite3_vfs* over, const char* name, sqlite3_file* file, int flags, int* given) {
  if ((flags & SQLITE_OPEN_WAL) == 0) return over->xOpen(over, name, file, flags, given);
  auto* const log = new (file) LogFile;
  log->pMethods = nullptr;
  log->below()->pMethods = nullptr;
  const int code = over->xOpen(over, name, log->below(), flags, given);
  if (log->below()->pMethods != nullptr) {  // then SQLite closes it, even after an error
    log->pMethods = &kLogMethods;
  } else {
    log->~LogFile();
  }
  return code;
}

}  // namespace

// The methods of the VFS below find what is theirs in `pAppData`, whose copy is as good.
GatheredLog::GatheredLog(const std::string& over) {
  static std::atomic<std::uint64_t> made = 0;
  prepare_library();
  sqlite3_vfs* const below = sqlite3_vfs_find(over.empty() ? nullptr : over.c_str());
  PAWL_ASSERT(below != nullptr, "a VFS is registered before it is named");
  name_ = "pawl-log-" + std::to_string(++made);
  vfs_ = std::make_unique<Vfs>(Vfs{*below, below});
  vfs_->pNext = nullptr;
  vfs_->zName = name_.c_str();
  vfs_->szOsFile = static_cast<int>(sizeof(LogFile)) + below->szOsFile;
  vfs_->xOpen = [](sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given) {
    return open_file(static_cast<Vfs*>(vfs)->over, name, file, flags, given);
  };
  const int registered = sqlite3_vfs_register(vfs_.get(), 0);
  PAWL_ASSERT(registered == SQLITE_OK, "a VFS of a new name can be registered");
}

GatheredLog::~GatheredLog() { sqlite3_vfs_unregister(vfs_.get()); }

}  // namespace pawl::sqlite
