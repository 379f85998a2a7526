// Directories that are no store of ours, or not ours alone: a clear error, and nothing is touched.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stored.h"

namespace pawl {
namespace {

class BadStoreTest : public StoredTest {
 protected:
  // Fails with a message that has these words, and leaves every file as it was.
  void refuses(ErrorCode code, const std::string& words) {
    auto before = contents(directory);
    const auto store = open_sqlite_store(options_for(directory));
    ASSERT_FALSE(store);
    EXPECT_EQ(store.error().code, code);
    EXPECT_NE(store.error().message.find(words), std::string::npos) << store.error().message;
    auto after = contents(directory);
    if (!before.contains("pawl.lock")) after.erase("pawl.lock");
    // SQLite has looked whether there is a log.
    if (after["tables.db-wal"].empty()) after.erase("tables.db-wal");
    after.erase("tables.db-shm");
    EXPECT_TRUE(after == before) << "a file was touched";
  }
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(directory / name, std::ios::binary) << bytes;
  }
};

TEST_F(BadStoreTest, OfALaterVersion) {
  tamper(directory, "PRAGMA user_version = 99");
  refuses(ErrorCode::bad_input,
          "was written by a later version of Pawl (schema version 99; this program knows 2): "
          "use that version");
}

TEST_F(BadStoreTest, ADatabaseOfAnotherProgram) {
  tamper(directory, "PRAGMA application_id = 7");
  refuses(ErrorCode::bad_input, "is a database of another program: use a separate directory");
}

TEST_F(BadStoreTest, NoDatabaseAtAll) {
  write("tables.db", std::string(5'000, 'x'));
  refuses(ErrorCode::damaged, "is not a database; if it was one, restore a backup");
  write("tables.db", "short");
  refuses(ErrorCode::damaged, "is not a database");
}

TEST_F(BadStoreTest, AcknowledgedBatchesAreLost) {
  must_open(directory);
  const auto early = contents(directory)["tables.db"];
  const auto store = must_open(directory);
  ASSERT_TRUE((*store->begin())->commit(std::vector{new_unit(3, "three")}));
  const std::string acknowledged = contents(directory)["acknowledged"];
  const TemporaryDirectory other;
  directory = other.path();
  write("tables.db", early);
  write("acknowledged", acknowledged);
  refuses(ErrorCode::damaged, "has lost acknowledged batches: it has 3 of 4");
  std::filesystem::remove(directory / "acknowledged");
  EXPECT_TRUE(open_sqlite_store(options_for(directory)));
}

// A power cut may leave it empty or torn: then it says nothing.
TEST_F(BadStoreTest, AnUnreadableAcknowledgementIsNone) {
  write("acknowledged", "");
  must_open(directory);
  write("acknowledged", std::string(48, '\0'));
  must_open(directory);
  write("acknowledged", "batch 00000000000000000099 00000000000000000000\n");
  must_open(directory);
}

TEST_F(BadStoreTest, AProcessHasItAlready) {
  const auto store = must_open(directory);
  const auto before = contents(directory);
  const auto second = open_sqlite_store(options_for(directory));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            directory.string() + " is in use by process " + std::to_string(getpid()) +
                ": stop it first, or, if it is a server, use it through PAWL_URL and PAWL_TOKEN");
  EXPECT_TRUE(contents(directory) == before);
}

// What is in the way of a store that does not exist yet.
TEST_F(BadStoreTest, AForeignDirectory) {
  const TemporaryDirectory foreign;
  directory = foreign.path();
  write("tables.db", "SQLite format 3" + std::string(1, '\0') + std::string(4'080, 'x'));
  write("notes.txt", "mine");
  refuses(ErrorCode::bad_input, "is a database of another program: use a separate directory");
  EXPECT_FALSE(std::filesystem::exists(directory / "pawl.lock"));
  EXPECT_FALSE(std::filesystem::exists(directory / "acknowledged"));
  const std::filesystem::path file = directory / "notes.txt";
  const auto store = open_sqlite_store(options_for(file));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, ErrorCode::environment);
  EXPECT_NE(store.error().message.find(file.string()), std::string::npos) << store.error().message;
  EXPECT_EQ(contents(directory)["notes.txt"], "mine");
}

// SQLite keeps others off the file by a lock of the process, which ends when the process closes the
// file, wherever it had opened it.
TEST_F(BadStoreTest, ARefusedStartLeavesTheLocksOfTheFirst) {
  const auto store = must_open(directory);
  EXPECT_FALSE(open_sqlite_store(options_for(directory)));
  const pid_t child = fork();
  if (child == 0) {
    const int file = open((directory / "tables.db").c_str(), O_RDWR);
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 0x40000002;  // where SQLite has its shared lock
    lock.l_len = 510;
    const bool is_locked = fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_RDLCK;
    _exit(is_locked ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(BadStoreTest, AnotherProcessHasIt) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto store = open_sqlite_store(options_for(directory));
    const char said = store ? 'y' : 'n';
    [[maybe_unused]] const auto written = ::write(ready[1], &said, 1);
    pause();
    _exit(0);
  }
  char said = 0;
  ASSERT_EQ(read(ready[0], &said, 1), 1);
  ASSERT_EQ(said, 'y');
  const auto before = contents(directory);
  const auto store = open_sqlite_store(options_for(directory));
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().message,
            directory.string() + " is in use by process " + std::to_string(child) +
                ": stop it first, or, if it is a server, use it through PAWL_URL and PAWL_TOKEN");
  EXPECT_TRUE(contents(directory) == before);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  must_open(directory);  // a lock goes with its process
}

// As a user who may read it at best. Root may write everywhere, so this is another process's user.
TEST_F(BadStoreTest, NoPermission) {
  namespace fs = std::filesystem;
  fs::permissions(temporary.path(),
                  fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  fs::permissions(directory, fs::perms::owner_read | fs::perms::owner_exec |
                                 fs::perms::others_read | fs::perms::others_exec);
  const auto before = contents(directory);
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (getuid() == 0 && (setgid(kNobody) != 0 || setuid(kNobody) != 0)) _exit(2);
    const auto store = open_sqlite_store(options_for(directory));
    const bool is_right = !store && store.error().code == ErrorCode::environment &&
                          store.error().message ==
                              "cannot write in " + directory.string() +
                                  ": Permission denied; make the directory writable for this user";
    if (!is_right && !store) std::fprintf(stderr, "%s\n", store.error().message.c_str());
    _exit(is_right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(contents(directory) == before);
  fs::permissions(directory, fs::perms::owner_all);
}

TEST_F(BadStoreTest, NoStoreThere) {
  SqliteOptions options = options_for(temporary.path() / "none");
  options.creates = false;
  EXPECT_EQ(open_sqlite_store(options).error().message,
            "there is no directory " + options.directory.string());
  std::filesystem::create_directory(options.directory);
  EXPECT_EQ(open_sqlite_store(options).error().message,
            "there is no store in " + options.directory.string());
}

}  // namespace
}  // namespace pawl
