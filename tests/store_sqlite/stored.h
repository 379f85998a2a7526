// A store in a directory of its own, filled with a little of everything.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/codec.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/temporary_directory.h"

namespace pawl {

inline constexpr Instant kEight =
    std::chrono::sys_days{std::chrono::year{2026} / 3 / 2} + std::chrono::hours{8};

inline SqliteOptions options_for(const std::filesystem::path& directory) {
  return {.directory = directory, .clock = [] { return kEight; }};
}

inline std::unique_ptr<SqliteStore> must_open(const std::filesystem::path& directory) {
  auto store = open_sqlite_store(options_for(directory));
  EXPECT_TRUE(store) << (store ? "" : store.error().message);
  return *std::move(store);
}

// One record as the engine would write it: its log makes up its core.
inline Unit new_unit(std::uint64_t id, const std::string& key) {
  Unit unit;
  Record& record = unit.record.record;
  record = {.id = {id},
            .machine = "order",
            .key = key,
            .created_at = kEight,
            .state = "a",
            .entered_at = kEight,
            .revision = 1,
            .changed_at = kEight,
            .data = R"({"n":1})",
            .labels = {{"region", R"("eu")"}},
            .wake_at = kEight + std::chrono::minutes{1},
            .writes = 1};
  Entry entry{.seq = 1, .at = kEight, .kind = Entry::Kind::created, .to = "a", .actor = {"eve"}};
  append_changes(entry.changes, record, kCoreAll);
  unit.record.entries = {entry};
  return unit;
}

// Records 1 (whose attempt runs and takes a slot, with a message in its inbox) and 2.
inline void fill(Store& store) {
  EXPECT_TRUE(*store.put_machine({"order", 1, "machine: order\n"}));
  EXPECT_TRUE(store.put_setting({"paused", "true", 0}));
  Unit first = new_unit(1, "one");
  first.record.record.fence = 7;
  first.record.record.running = Attempt{.token_hash = {std::byte{1}},
                                        .lease_until = kEight + std::chrono::minutes{1},
                                        .deadline_at = kEight + std::chrono::minutes{5}};
  first.record.slots = {"pay"};
  first.sent = {{{1}, R"({"event":"go"})"}};
  first.idempotency_key = "r1";
  first.remembered = {.content = 5, .answer = "{}"};
  EXPECT_TRUE((*store.begin())->commit(std::vector{first, new_unit(2, "two \"quoted\" ü")}));
}

// What every file in a directory holds.
inline std::map<std::string, std::string> contents(const std::filesystem::path& directory) {
  std::map<std::string, std::string> all;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::ifstream in(file.path(), std::ios::binary);
    all[file.path().filename()] = {std::istreambuf_iterator<char>(in), {}};
  }
  return all;
}

// Statements by someone who should not.
inline void tamper(const std::filesystem::path& directory, const std::string& sql) {
  sqlite3* db = nullptr;
  EXPECT_EQ(sqlite3_open((directory / "tables.db").c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << sql << ": " << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(db);
}

class StoredTest : public testing::Test {
 protected:
  StoredTest() { fill(*must_open(directory)); }

  TemporaryDirectory temporary;
  std::filesystem::path directory = temporary.path() / "store";
};

}  // namespace pawl
