// Backups and exports: what comes back is what was there, or nothing does.
#include "store/sqlite/transfer.h"

#include <iterator>
#include <sstream>

#include "base/checksum.h"
#include "stored.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

class TransferTest : public StoredTest {
 protected:
  std::string exported(const fs::path& from) {
    std::ostringstream out;
    EXPECT_TRUE(export_lines(*must_open(from), out, {}));
    return out.str();
  }
  Result<Restored> imported(const std::string& lines) {
    std::istringstream in(lines);
    return import_lines(in, options_for(copy), {});
  }
  // As if it had been exported so.
  static std::string resealed(const std::string& lines) {
    std::istringstream in(lines);
    std::string all;
    std::uint64_t sum = 0;
    int count = 0;
    for (std::string line; std::getline(in, line) && !line.starts_with("{\"end\"");) {
      all += line + "\n";
      sum = checksum(line, sum);
      ++count;
    }
    return all + "{\"end\":{\"lines\":" + std::to_string(count) + ",\"sum\":\"" +
           std::to_string(sum) + "\"}}\n";
  }
  // What stands beside the store.
  std::ptrdiff_t neighbours() const {
    return std::distance(fs::directory_iterator(temporary.path()), {});
  }
  void leaves_nothing() {
    EXPECT_FALSE(fs::exists(copy));
    for (const auto& one : fs::directory_iterator(temporary.path()))
      EXPECT_FALSE(one.path().filename().string().starts_with("copy.")) << one.path();
  }

  fs::path copy = temporary.path() / "copy";
  fs::path file = temporary.path() / "backup.db";
};

TEST_F(TransferTest, ABackupComesBackWithItsLeasesVoid) {
  ASSERT_TRUE(back_up(*must_open(directory), file, {}));
  const auto restored = restore(file, options_for(copy), {});
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->verified.violations, std::vector<Violation>{});
  EXPECT_EQ(restored->verified.records, 2U);
  EXPECT_EQ(restored->void_leases, 1U);
  EXPECT_EQ(restored->last_used, kEight);
  const auto store = must_open(copy);
  const auto was = must_open(directory);
  Record expected = (*(*was->begin())->load(std::vector<RecordId>{{1}}))[0];
  const Record found = (*(*store->begin())->load(std::vector<RecordId>{{1}}))[0];
  EXPECT_EQ(found.running->token_hash, TokenHash{});
  EXPECT_EQ(found.wake_at, kEight);
  expected.running->token_hash = {};
  expected.running->lease_until = expected.wake_at = kEight;
  EXPECT_EQ(found, expected);
}

// With a clock that moves, and an attempt whose time is up.
TEST_F(TransferTest, ARestoredStoreCanBeBackedUpAndRestoredAgain) {
  ASSERT_TRUE(back_up(*must_open(directory), file, {}));
  SqliteOptions options = options_for(copy);
  Instant now = kEight + std::chrono::hours{1};
  options.clock = [&] { return now += std::chrono::microseconds{1}; };
  const auto restored = restore(file, options, {});
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->verified.violations, std::vector<Violation>{});
  EXPECT_EQ(restored->void_leases, 1U);
  EXPECT_EQ(verify(*must_open(copy))->violations, std::vector<Violation>{});
}

// Whatever has a name like that of a file in the making is left alone.
TEST_F(TransferTest, NeighboursAreLeftAlone) {
  std::ofstream(file.string() + ".new") << "mine";
  fs::create_directory(copy.string() + ".new");
  ASSERT_TRUE(back_up(*must_open(directory), file, {}));
  ASSERT_TRUE(restore(file, options_for(copy), {}));
  EXPECT_EQ(fs::file_size(file.string() + ".new"), 4U);
  EXPECT_TRUE(fs::exists(copy.string() + ".new"));
}

// A file that was copied from a store in use lacks what is in its log.
TEST_F(TransferTest, AStoreInUseIsNoBackup) {
  const auto store = must_open(directory);
  ASSERT_TRUE((*store->begin())->commit(std::vector{new_unit(3, "three")}));
  for (const char* name : {"", "-wal"})
    fs::copy_file(directory / (std::string("tables.db") + name), file.string() + name);
  const auto restored = restore(file, options_for(copy), {});
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find("is not a backup but a store that was not closed"),
            std::string::npos)
      << restored.error().message;
  leaves_nothing();
}

TEST_F(TransferTest, ABackupSaysHowFarItIs) {
  std::int64_t last = 0;
  std::int64_t all = 0;
  ASSERT_TRUE(back_up(*must_open(directory), file, [&](std::int64_t done, std::int64_t pages) {
    last = done;
    all = pages;
  }));
  EXPECT_GT(all, 0);
  EXPECT_EQ(last, all);
}

// Batches go on between its steps, and are in it.
TEST_F(TransferTest, ABackupHoldsWhatWasCommittedMeanwhile) {
  const auto store = must_open(directory);
  {
    const auto backup = *store->backup(file);
    ASSERT_FALSE(backup->step(1)->is_complete);
    ASSERT_TRUE((*store->begin())->commit(std::vector{new_unit(3, "three")}));
    while (!backup->step(1)->is_complete) continue;
  }
  EXPECT_EQ(restore(file, options_for(copy), {})->verified.records, 3U);
}

TEST_F(TransferTest, ABackupThatIsNotCompletedLeavesNoFile) {
  const auto store = must_open(directory);
  {
    const auto backup = *store->backup(file);
    ASSERT_FALSE(backup->step(1)->is_complete);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(neighbours(), 1);
  std::ofstream(file) << "mine";
  EXPECT_FALSE(store->backup(file));
  EXPECT_EQ(fs::file_size(file), 4U);
}

TEST_F(TransferTest, ABadBackupLeavesNothing) {
  ASSERT_TRUE(back_up(*must_open(directory), file, {}));
  {
    sqlite3* db = nullptr;
    sqlite3_open(file.c_str(), &db);
    sqlite3_exec(db, "UPDATE state_count SET records = 9", nullptr, nullptr, nullptr);
    sqlite3_close(db);
  }
  const auto restored = restore(file, options_for(copy), {});
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->verified.violations.size(), 1U);
  leaves_nothing();
  std::ofstream(file) << "no database";
  EXPECT_EQ(restore(file, options_for(copy), {}).error().code, ErrorCode::damaged);
  leaves_nothing();
  EXPECT_FALSE(restore(temporary.path() / "none.db", options_for(copy), {}));
  leaves_nothing();
}

TEST_F(TransferTest, AStoreIsNotOverwritten) {
  ASSERT_TRUE(back_up(*must_open(directory), file, {}));
  const auto before = contents(directory);
  EXPECT_EQ(restore(file, options_for(directory), {}).error().code, ErrorCode::bad_input);
  EXPECT_TRUE(contents(directory) == before);
}

TEST_F(TransferTest, AnExportComesBackTheSame) {
  const std::string lines = exported(directory);
  const auto restored = imported(lines);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->verified.violations, std::vector<Violation>{});
  EXPECT_EQ(restored->verified.records, 2U);
  const auto store = must_open(copy);
  EXPECT_EQ((*(*store->begin())->load(std::vector<RecordId>{{2}}))[0],
            new_unit(2, "two \"quoted\" ü").record.record);
  EXPECT_EQ((*store->settings("")).size(), 1U);
  EXPECT_EQ((*store->machine("order", 1))->text, "machine: order\n");
}

TEST_F(TransferTest, AnExportOfTheFirstVersionComesBackToo) {
  std::string lines = exported(directory);
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = lines.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    lines.replace(at, from.size(), to);
  };
  replace("\"schema\":2}", "\"schema\":1}");
  replace(",\"applied_at\",\"applied_by\"]", "]");
  replace("\\n\",0,\"\"]", "\\n\"]");
  const auto restored = imported(resealed(lines));
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(restored->verified.violations, std::vector<Violation>{});
  EXPECT_EQ(*must_open(copy)->machine("order", 1), (StoredMachine{"order", 1, "machine: order\n"}));
}

// A line that was lost, changed, doubled or put elsewhere, and an end that is missing.
TEST_F(TransferTest, AChangedExportLeavesNothing) {
  const std::string lines = exported(directory);
  const auto refuses = [&](const std::string& changed, const std::string& words) {
    const auto result = imported(changed);
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
    leaves_nothing();
  };
  refuses("", "the end is missing");
  std::string counter = lines;  // a store without it would lose count
  const std::size_t row_of_counter = counter.find("\n[", counter.find("{\"table\":\"counter\""));
  counter.erase(row_of_counter, counter.find('\n', row_of_counter + 1) - row_of_counter);
  refuses(resealed(counter), "the table `counter` is damaged");
  refuses("hello\n", "line 1: ");
  refuses("{}\n", "line 1: this is not an export of Pawl");
  refuses("{\"pawl_export\":1,\"schema\":9}\n", "line 1: it was exported by a later version");
  refuses(lines.substr(0, lines.find("{\"end\"")), "the end is missing");
  std::string changed = lines;
  changed.replace(changed.find("machine: order"), 14, "machine: other");
  refuses(changed, "the end is missing, or lines were changed");
  changed = lines;
  changed.replace(changed.find("{\"table\":\"inbox\""), 16, "{\"table\":\"zebra\"");
  refuses(changed, "there is no table zebra");
  const std::size_t row = lines.find("\n[") + 1;
  changed = lines;
  changed.insert(row, "[1]\n");
  refuses(changed, "the row does not have as many values");
  changed = lines;
  changed.insert(lines.find('\n') + 1, "[1]\n");
  refuses(changed, "line 2: a row before its table");
}

}  // namespace
}  // namespace pawl
