// Process: an engine on a SQLite store, on a disk in memory that fails, with a clock of its own. It
// ends in every way there is, and another one is started.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/stepper.h"
#include "faults.h"
#include "hits.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/decide/tape.h"
#include "tests/store_crash/crash_directories.h"
#include "tests/store_crash/crash_vfs.h"
#include "tests/support/contested_store.h"

namespace pawl::sim {

class Process {
 public:
  Process(Tape& tape, Swarm& swarm, Hits& hits, Rival& rival);

  Stepper& engine() { return *engine_; }
  // Without the rival.
  Store& store() { return *store_; }
  Instant now() const { return now_; }
  void advance_to(Instant now) { now_ = std::max(now_, now); }

  // Draws what is to go wrong with the disk in the next calls.
  void trouble();
  // Whether something is about to.
  bool is_in_trouble() const { return vfs_.fault().has_value() || is_doomed_; }
  // The disk is sound again.
  void heal();

  Result<Stepper::Stepped> step(bool passed);

  // The process cannot go on: it was killed by a fault, or the store has stopped.
  bool has_ended() const { return vfs_.is_dead() || engine_->stopped(); }
  // It ends, if it has not yet, and another one takes over; perhaps not at the first try.
  // `is_kind`: it is stopped as people stop it, and nothing goes wrong.
  void restart(bool is_kind = false);

 private:
  SqliteOptions options();
  bool open(bool may_fail);
  void close();
  void try_a_second_start();

  Tape& tape_;
  Swarm& swarm_;
  Hits& hits_;
  Rival& rival_;
  std::filesystem::path root_;  // for the lock; all other files are on the disk of the VFS
  std::filesystem::path directory_ = root_ / "store";
  CrashVfs vfs_;
  CrashDirectories directories_{vfs_, root_};
  Instant now_;
  std::size_t batch_max_;
  int wal_pages_;
  std::size_t record_cache_bytes_;
  std::uint64_t tokens_ = 0;
  std::int64_t faults_fired_ = 0;  // of the fault that is set, as far as counted
  bool is_doomed_ = false;         // it will die at a call
  std::unique_ptr<SqliteStore> store_;
  std::unique_ptr<Store> contested_;
  std::unique_ptr<Stepper> engine_;
};

}  // namespace pawl::sim
