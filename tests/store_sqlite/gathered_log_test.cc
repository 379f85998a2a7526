// A write-ahead log that is written in large pieces reads as if it were not.
#include "store/sqlite/gathered_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "store/sqlite/database.h"
#include "tests/support/temporary_directory.h"

namespace pawl::sqlite {
namespace {

class GatheredLogTest : public testing::Test {
 protected:
  static Database open(const std::string& path, const std::string& vfs) {
    auto db = Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs);
    EXPECT_TRUE(db) << db.error().message;
    must(*db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=4");
    return *std::move(db);
  }
  static void must(Database& db, const std::string& sql) {
    const auto done = db.script(sql);
    EXPECT_TRUE(done) << done.error().message;
  }
  static std::int64_t sum(Database& db) {
    const auto sum = db.integer("SELECT total(n * length(x)) FROM t");
    EXPECT_TRUE(sum) << sum.error().message;
    return *sum;
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.path() / "t.db";
  GatheredLog log_{""};
};

// With so small a cache the pages of the transaction go to the log before it ends, and come back.
TEST_F(GatheredLogTest, ATransactionReadsWhatItHasWritten) {
  Database db = open(path_, log_.name());
  must(db, "CREATE TABLE t(n INTEGER PRIMARY KEY, x BLOB)");
  must(db, "BEGIN");
  std::int64_t expected = 0;
  for (std::int64_t n = 1; n <= 300; ++n) {
    ASSERT_TRUE(db.run("INSERT INTO t VALUES(?1, zeroblob(1000))", n));
    expected += n * 1000;
  }
  EXPECT_EQ(sum(db), expected);
  must(db, "UPDATE t SET x = zeroblob(1001) WHERE n % 7 = 0; SAVEPOINT s; DELETE FROM t");
  must(db, "ROLLBACK TO s");
  expected += 7 * (42 * 43 / 2);
  EXPECT_EQ(sum(db), expected);
  must(db, "COMMIT");
  EXPECT_EQ(sum(db), expected);
}

TEST_F(GatheredLogTest, OthersReadWhatIsCommitted) {
  Database db = open(path_, log_.name());
  must(db, "CREATE TABLE t(n INTEGER PRIMARY KEY, x BLOB)");
  Database other = open(path_, "");
  for (int n = 1; n <= 50; ++n) {
    must(db, "INSERT INTO t VALUES(NULL, zeroblob(9000))");
    EXPECT_EQ(sum(other), sum(db));
  }
  must(db, "PRAGMA wal_checkpoint(TRUNCATE)");
  EXPECT_EQ(std::filesystem::file_size(path_ + "-wal"), 0U);
  EXPECT_EQ(sum(other), sum(db));
}

}  // namespace
}  // namespace pawl::sqlite
