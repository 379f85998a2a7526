#include "host.h"

#include <gtest/gtest.h>

#include <utility>

namespace pawl {

namespace {

// Every start writes the lock: on a disk that would take longer than all else.
const std::filesystem::path& directory_in_memory() {
  static const TemporaryDirectory directory = [] {
    if (std::filesystem::is_directory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
    return TemporaryDirectory();
  }();
  return directory.path();
}

std::filesystem::path new_root() {
  static int count = 0;
  const std::filesystem::path root = directory_in_memory() / std::to_string(++count);
  std::filesystem::create_directory(root);
  return root;
}

}  // namespace

Host::Host(int wal_pages) : root_(new_root()), wal_pages_(wal_pages) {}

// SQLite draws random numbers: the same in each process, so that the calls are the same.
void Host::restart(Disk disk) {
  sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, 1, static_cast<sqlite3*>(nullptr));
  vfs_.restart(std::move(disk));
  directories_.restart();
  now_ = kBegin;
}

Result<std::unique_ptr<SqliteStore>> Host::open() { return open_sqlite_store(options(directory_)); }

SqliteOptions Host::options(const std::filesystem::path& directory) {
  return {.directory = directory,
          .clock = [this] { return now_; },
          .cache_mib = 1,
          .wal_pages = wal_pages_,
          .vfs = vfs_.name(),
          .directories = &directories_};
}

Progress Host::run(const Script& script, const Expected& expected) {
  Progress progress;
  auto store = open();
  for (const Step& step : script.steps) {
    if (!store) break;
    set_clock(step.now);
    if (step.kind == Step::Kind::restart) {
      { const auto closed = *std::move(store); }
      store = open();
    }
    if (!store) break;
    const auto answer = apply(**store, step);
    if (!answer) {
      progress.error = answer.error();
      progress.is_step = true;
      return progress;
    }
    const std::string& right = expected.answers[progress.acknowledged];
    if (*answer != right) progress.wrong_answer = *answer + " instead of " + right;
    ++progress.acknowledged;
  }
  if (!store) progress.error = store.error();
  return progress;
}

void Host::check_shown_stays(const Contents& shown) {
  std::mt19937_64 random;
  Host other(wal_pages_);
  Disk disk;
  for (const auto& [path, bytes] : vfs_.disk().after(Cut::nothing, random).seen())
    disk.put(other.path(std::filesystem::path(path).filename()), bytes);
  other.restart(disk);
  other.set_clock(kLater);
  const auto store = other.open();
  ASSERT_TRUE(store) << store.error().message;
  EXPECT_EQ(difference(shown, read_all(**store)), "") << "shown, and then gone";
}

std::string Host::integrity() {
  sqlite3* db = nullptr;
  std::string said;
  int code =
      sqlite3_open_v2(path("tables.db").c_str(), &db, SQLITE_OPEN_READWRITE, vfs_.name().c_str());
  if (code == SQLITE_OK) {
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    code = sqlite3_exec(
        db, "PRAGMA integrity_check",
        [](void* to, int, char** columns, char**) {
          *static_cast<std::string*>(to) += columns[0];
          return 0;
        },
        &said, nullptr);
  }
  if (code != SQLITE_OK) said = sqlite3_errmsg(db);
  sqlite3_close(db);
  return said;
}

}  // namespace pawl
