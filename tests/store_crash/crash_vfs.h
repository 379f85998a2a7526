// CrashVfs: the operating system that SQLite sees, on a disk in memory, with faults on demand.
//
// The process that uses it can die at any call that changes the disk: this call and all later ones
// fail, and nothing more reaches the disk. Or single calls fail. Locks and shared memory work
// between connections of one process, as they do on Linux; so do sector size and device
// characteristics. For one thread.
#pragma once

#include <sqlite3.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "disk.h"

namespace pawl {

enum class Call { open, write, sync, truncate, remove, read, make, rename, sync_names };
inline constexpr std::size_t kCallKinds = 9;
std::string_view to_text(Call call);

// The n-th call of a kind fails; further ones do too, or not.
struct Fault {
  enum class Why {
    io_error,  // EIO
    no_space,  // ENOSPC; of a write a part is there
  };

  Call call = Call::write;
  std::int64_t at = 1;
  bool for_good = false;
  Why why = Why::io_error;
};

class CrashVfs {
 public:
  CrashVfs();  // registered with SQLite until it goes
  ~CrashVfs();
  CrashVfs(const CrashVfs&) = delete;
  CrashVfs& operator=(const CrashVfs&) = delete;

  const std::string& name() const { return name_; }
  Disk& disk() { return disk_; }

  // A new process on this disk; no file is open. Faults and limits are gone, counting begins again.
  void restart(Disk disk);
  // Every handle that is still open is a leak once the store is gone.
  std::size_t files_open() const { return handles_.size(); }

  // Dies at the n-th call from now on that changes the disk or opens a file.
  void die_at(std::int64_t call) { dies_at_ = calls_ + call; }
  // Not after all.
  void spare() { dies_at_ = std::numeric_limits<std::int64_t>::max(); }
  bool is_dead() const { return calls_ >= dies_at_; }
  Call died_in() const { return died_in_; }

  void set(const Fault& fault) { fault_ = fault; }
  void clear_faults();
  const std::optional<Fault>& fault() const { return fault_; }
  std::int64_t faults_fired() const { return faults_fired_; }

  // SQLITE_OK, or what the call is to answer. Here for what a VFS does not do: see
  // CrashDirectories.
  int before(Call call);

  // Writes that make files larger than this together fail for lack of space.
  void limit_space(std::size_t bytes) { space_ = bytes; }

 private:
  struct Handle;
  struct Methods;

  // Memory shared by the connections to one file, with its locks.
  struct Shared {
    std::vector<std::unique_ptr<std::vector<std::uint64_t>>> regions = {};
    std::array<int, SQLITE_SHM_NLOCK> readers = {};
    std::array<const Handle*, SQLITE_SHM_NLOCK> writer = {};
    int handles = 0;
  };

  std::string name_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  Disk disk_;
  std::vector<Handle*> handles_;
  std::map<std::string, Shared> shared_;
  std::int64_t calls_ = 0;
  std::int64_t dies_at_ = std::numeric_limits<std::int64_t>::max();
  Call died_in_ = Call::open;
  std::optional<Fault> fault_;
  std::array<std::int64_t, kCallKinds> calls_of_ = {};
  std::int64_t faults_fired_ = 0;
  std::size_t space_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace pawl
