// A process dies, or a call fails, while it makes a backup, or a store from a backup or an export:
// what it makes is there as a whole or not at all, stays once that was said, and what it is made
// from is unharmed.
#include <gtest/gtest.h>

#include <functional>
#include <iostream>
#include <sstream>

#include "host.h"
#include "store/sqlite/transfer.h"
#include "tests/store_sqlite/stored.h"

namespace pawl {
namespace {

constexpr int kWalPages = 1'000;
constexpr std::uint64_t kRecords = 12;

// What is to be made, and from what.
struct Task {
  std::string name;
  Disk before;
  std::string result;  // the name of it, beside the store
  std::function<Result<void>(Host&)> make;
  std::function<Contents(Host&)> read_result;
  std::function<Contents(Host&)> read_source;
};

struct CountedTransferCrashes {
  std::size_t runs = 0;  // in which it died, or a call failed
  int images = 0;        // of the disk afterwards
  int complete = 0;
  int absent = 0;
  int made_again = 0;
  int said = 0;  // it was said that it is there, before the end
};

// --- what is made ------------------------------------------------------------------------------

Contents read_clean(Result<std::unique_ptr<SqliteStore>> store) {
  EXPECT_TRUE(store) << store.error().message;
  if (!store) return {};
  const auto verified = verify(**store);
  EXPECT_TRUE(verified) << verified.error().message;
  if (!verified) return {};
  EXPECT_EQ(verified->violations, std::vector<Violation>{});
  return read_all(**store);
}

Contents read_store(Host& host, const std::filesystem::path& directory) {
  host.set_clock(kLater);
  SqliteOptions options = host.options(directory);
  options.creates = false;
  return read_clean(open_sqlite_store(options));
}

Contents read_backup(Host& host, const std::string& file) {
  Host other(kWalPages);
  Disk disk;
  disk.put(other.path("tables.db"), host.vfs().disk().seen()[file]);
  other.restart(disk);
  other.set_clock(kLater);
  return read_clean(other.open());
}

Unit large_unit(std::uint64_t id) {
  Unit unit = new_unit(id, "large" + std::to_string(id));
  unit.record.record.data = R"({"n":")" + std::string(id * 400, 'x') + "\"}";
  Entry& entry = unit.record.entries[0];
  entry.changes = {};
  append_changes(entry.changes, unit.record.record, kCoreAll);
  return unit;
}

enum class Attempts { none, running };

// The disk of a process that was killed: a part of the store is in its log.
Disk disk_with_store(Host& host, Attempts attempts) {
  host.restart({});
  const auto store = host.open();
  EXPECT_TRUE(store) << store.error().message;
  if (attempts == Attempts::running) {
    fill(**store);
  } else {
    EXPECT_TRUE(*(*store)->put_machine({"order", 1, "machine: order\n"}));
  }
  std::vector<Unit> units;
  for (std::uint64_t id = 3; id < 3 + kRecords; ++id) units.push_back(large_unit(id));
  EXPECT_TRUE((*(*store)->begin())->commit(units));
  return host.vfs().disk();
}

Result<void> back_up_in_steps(Host& host) {
  PAWL_TRY(const auto store, host.open());
  PAWL_TRY(const auto backup, store->backup(host.beside("made")));
  for (;;) {
    PAWL_TRY(const Backup::Progress progress, backup->step(5));
    if (progress.is_complete) return {};
  }
}

Task backup_task(Host& host) {
  return {.name = "backup",
          .before = disk_with_store(host, Attempts::running),
          .result = "made",
          .make = back_up_in_steps,
          .read_result = [](Host& on) { return read_backup(on, on.beside("made")); },
          .read_source = [](Host& on) { return read_store(on, on.beside("store")); }};
}

std::string backup_of_store(Host& host, Attempts attempts) {
  host.restart(disk_with_store(host, attempts));
  EXPECT_TRUE(back_up_in_steps(host));
  return host.vfs().disk().seen()[host.beside("made")];
}

// A page that cannot be read is a finding of SQLite's check: then too nothing was made.
Result<void> check_clean(const Restored& restored) {
  if (restored.verified.violations.empty()) return {};
  return Error{ErrorCode::environment, restored.verified.violations.front().what};
}

Task restore_task(Host& host, Attempts attempts) {
  Disk before;
  before.put(host.beside("backup"), backup_of_store(host, attempts));
  const auto make = [](Host& on) -> Result<void> {
    PAWL_TRY(const Restored restored,
             restore(on.beside("backup"), on.options(on.beside("made")), {}));
    return check_clean(restored);
  };
  return {.name = attempts == Attempts::none ? "restore" : "restore that voids leases",
          .before = before,
          .result = "made",
          .make = make,
          .read_result = [](Host& on) { return read_store(on, on.beside("made")); },
          .read_source = [](Host& on) { return read_backup(on, on.beside("backup")); }};
}

Task import_task(Host& host) {
  host.restart(disk_with_store(host, Attempts::running));
  std::ostringstream lines;
  EXPECT_TRUE(export_lines(**host.open(), lines, {}));
  const auto make = [text = lines.str()](Host& on) -> Result<void> {
    std::istringstream in(text);
    PAWL_TRY(const Restored restored, import_lines(in, on.options(on.beside("made")), {}));
    return check_clean(restored);
  };
  Disk before;
  before.put(host.beside("something else"), "mine");
  return {.name = "import",
          .before = before,
          .result = "made",
          .make = make,
          .read_result = [](Host& on) { return read_store(on, on.beside("made")); },
          .read_source =
              [](Host& on) {
                return Contents{{"else", on.vfs().disk().seen()[on.beside("something else")]}};
              }};
}

// --- trying ------------------------------------------------------------------------------------

class Trial {
 public:
  Trial(Host& host, const Task& task, CountedTransferCrashes& counted)
      : host_(host), task_(task), counted_(counted) {
    host_.restart(task_.before);
    source_ = task_.read_source(host_);
    host_.restart(task_.before);
    const auto made = task_.make(host_);
    EXPECT_TRUE(made) << made.error().message;
    expected_ = task_.read_result(host_);
    EXPECT_GT(expected_.size(), 2 * kRecords);
  }

  // False: it did not come to that call, and nothing kept it from being complete.
  bool die_at(std::int64_t call) {
    SCOPED_TRACE("died at call " + std::to_string(call));
    host_.restart(task_.before);
    host_.vfs().die_at(call);
    const auto made = task_.make(host_);
    const bool is_dead = host_.vfs().is_dead();
    EXPECT_TRUE(made || is_dead) << made.error().message;
    check_all(cuts_after_death(), made.has_value());
    return is_dead && !testing::Test::HasFailure();
  }

  // False: there were fewer calls than that.
  bool fail(const Fault& fault) {
    SCOPED_TRACE(std::string(to_text(fault.call)) + " " + std::to_string(fault.at) + " fails");
    host_.restart(task_.before);
    host_.vfs().set(fault);
    const auto made = task_.make(host_);
    if (host_.vfs().faults_fired() == 0) return false;
    EXPECT_TRUE(made || made.error().code == ErrorCode::environment) << made.error().message;
    if (fault.call != Call::remove) check_nothing_left();
    check_all({Cut::kill, Cut::nothing}, made.has_value());
    return !testing::Test::HasFailure();
  }

 private:
  // Some at each call, others at the next; all where most is in doubt, and where nothing may be.
  std::vector<Cut> cuts_after_death() {
    const bool is_decisive = !host_.vfs().is_dead() || host_.vfs().died_in() == Call::sync ||
                             host_.vfs().died_in() == Call::rename ||
                             host_.vfs().died_in() == Call::sync_names;
    std::vector<Cut> cuts;
    for (const Cut cut : kCuts) {
      const std::size_t turn = (static_cast<std::size_t>(cut) + counted_.runs) % kCuts.size();
      for (std::size_t i = 0; i < scaled(is_decisive ? 3 : 1); ++i)
        if (is_decisive || turn < 2) cuts.push_back(cut);
    }
    return cuts;
  }

  void check_all(const std::vector<Cut>& cuts, bool was_said) {
    EXPECT_EQ(host_.vfs().files_open(), 0U);
    ++counted_.runs;
    if (was_said) ++counted_.said;
    const Disk disk = host_.vfs().disk();
    for (const Cut cut : cuts) {
      SCOPED_TRACE(to_text(cut));
      check(disk.after(cut, random_), was_said);
      if (testing::Test::HasFailure()) return;
    }
  }

  void check(const Disk& image, bool was_said) {
    ++counted_.images;
    host_.restart(image);
    if (host_.vfs().disk().find(host_.beside(task_.result)) != 0) {
      ++counted_.complete;
      EXPECT_EQ(difference(expected_, task_.read_result(host_)), "");
    } else {
      ++counted_.absent;
      EXPECT_FALSE(was_said) << "it was said to be there, and is gone";
      make_again(image);
    }
    host_.restart(image);
    EXPECT_EQ(difference(source_, task_.read_source(host_)), "") << "its source was harmed";
  }

  // What the attempt before has left is not in the way.
  void make_again(const Disk& image) {
    if (counted_.absent % 8 != 0) return;
    host_.restart(image);
    const auto made = task_.make(host_);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(difference(expected_, task_.read_result(host_)), "");
    ++counted_.made_again;
  }

  // A process that goes on takes away what it could not complete.
  void check_nothing_left() {
    const std::string unfinished = host_.beside(task_.result).string() + ".";
    for (const auto& [path, bytes] : host_.vfs().disk().seen())
      EXPECT_FALSE(path.starts_with(unfinished)) << path << " was left";
  }

  Host& host_;
  const Task& task_;
  CountedTransferCrashes& counted_;
  Contents source_;
  Contents expected_;
  std::mt19937_64 random_{1};
};

void print(const std::string& what, const CountedTransferCrashes& counted) {
  std::cout << what << " " << counted.runs << ", said to be there " << counted.said << ", images "
            << counted.images << ": complete " << counted.complete << ", absent " << counted.absent
            << " (made again " << counted.made_again << ")\n";
  EXPECT_GT(counted.runs, 0);
  EXPECT_GT(counted.complete, 0);
  EXPECT_GT(counted.absent, 0);
  EXPECT_GT(counted.made_again, 0);
}

void try_all(const std::function<Task(Host&)>& task_on) {
  Host host(kWalPages);
  const Task task = task_on(host);
  {
    CountedTransferCrashes counted;
    Trial trial(host, task, counted);
    for (std::int64_t call = 1; trial.die_at(call);) ++call;
    if (testing::Test::HasFailure()) return;
    print(task.name + ": crash points", counted);
  }
  // Writes and reads are many.
  const auto stride = static_cast<std::int64_t>(std::max<std::size_t>(1, 5 / scaled(1)));
  CountedTransferCrashes counted;
  Trial trial(host, task, counted);
  for (const Call call : {Call::open, Call::write, Call::sync, Call::truncate, Call::remove,
                          Call::read, Call::make, Call::rename, Call::sync_names})
    for (const Fault::Why why : {Fault::Why::io_error, Fault::Why::no_space}) {
      if (why == Fault::Why::no_space && call != Call::write) continue;  // says the same
      const bool is_frequent = call == Call::write || call == Call::read;
      for (Fault fault{.call = call, .why = why}; trial.fail(fault);)
        fault.at += is_frequent ? stride : 1;
    }
  if (!testing::Test::HasFailure()) print(task.name + ": failed calls", counted);
}

TEST(TransferCrash, ABackupIsCompleteOrAbsent) { try_all(backup_task); }

TEST(TransferCrash, ARestoredStoreIsCompleteOrAbsent) {
  try_all([](Host& host) { return restore_task(host, Attempts::none); });
}

TEST(TransferCrash, ARestoredStoreIsCompleteWithItsLeasesVoidOrAbsent) {
  try_all([](Host& host) { return restore_task(host, Attempts::running); });
}

TEST(TransferCrash, AnImportedStoreIsCompleteOrAbsent) { try_all(import_task); }

}  // namespace
}  // namespace pawl
