#include "store/sqlite/record_cache.h"

#include "stored.h"

namespace pawl {
namespace {

using sqlite::Kept;
using sqlite::RecordCache;

constexpr std::size_t kPlenty = 1 << 20;
constexpr std::int64_t kMachine = 3;

Record record(std::uint64_t id, std::string key = "k") {
  return {.id = {id}, .machine = "order", .key = std::move(key), .state = "a"};
}

void put(RecordCache& cache, const Record& record) {
  cache.put(record, {.machine = kMachine}, {"slot"});
}

bool has(RecordCache& cache, std::uint64_t id) {
  Record found;
  Kept kept;
  return cache.take(RecordId{id}, found, kept);
}

TEST(RecordCache, GivesARecordOnce) {
  RecordCache cache(kPlenty);
  put(cache, record(1));
  Record found;
  Kept kept;
  ASSERT_TRUE(cache.take(RecordId{1}, found, kept));
  EXPECT_EQ(found, record(1));
  EXPECT_EQ(kept.named.machine, kMachine);
  EXPECT_EQ(kept.slots, std::vector<std::string>{"slot"});
  EXPECT_FALSE(cache.take(RecordId{1}, found, kept));
  EXPECT_FALSE(cache.take(kMachine, "k", found, kept));
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(RecordCache, KnowsNames) {
  RecordCache cache(kPlenty);
  put(cache, record(1, "one"));
  put(cache, record(2, "two"));
  Record found;
  Kept kept;
  EXPECT_FALSE(cache.take(kMachine + 1, "two", found, kept));
  ASSERT_TRUE(cache.take(kMachine, "two", found, kept));
  EXPECT_EQ(found.id.value, 2U);
  EXPECT_FALSE(has(cache, 2));
  EXPECT_TRUE(has(cache, 1));
}

TEST(RecordCache, TheOldestMakeRoom) {
  RecordCache one(kPlenty);
  put(one, record(1));
  RecordCache cache(one.bytes() * 2 + one.bytes() / 2);
  for (std::uint64_t id = 1; id <= 5; ++id) put(cache, record(id, std::to_string(id)));
  EXPECT_LE(cache.bytes(), one.bytes() * 2 + one.bytes() / 2);
  EXPECT_FALSE(has(cache, 3));
  EXPECT_TRUE(has(cache, 4));
  EXPECT_TRUE(has(cache, 5));
}

TEST(RecordCache, ALargeRecordIsNotKept) {
  RecordCache cache(100'000);
  put(cache, record(1, "one"));
  Record large = record(2, "two");
  large.data.assign(100'000, 'x');
  put(cache, large);
  EXPECT_FALSE(has(cache, 2));
  EXPECT_TRUE(has(cache, 1));
}

TEST(RecordCache, WithoutRoomItKeepsNothing) {
  RecordCache cache(0);
  put(cache, record(1));
  EXPECT_FALSE(has(cache, 1));
}

// --- in a store --------------------------------------------------------------------------------

class CachedTest : public StoredTest {
 protected:
  void open(int mib = 1) {
    SqliteOptions options = options_for(directory);
    options.record_cache_mib = mib;
    store.reset();
    auto opened = open_sqlite_store(std::move(options));
    ASSERT_TRUE(opened) << opened.error().message;
    store = *std::move(opened);
  }

  Result<Record> loaded(std::uint64_t id) {
    const RecordId wanted{id};
    PAWL_TRY(const auto batch, store->begin());
    PAWL_TRY(auto records, batch->load({&wanted, 1}));
    return std::move(records[0]);
  }
  Result<Record> loaded(const std::string& key) {
    const RecordName wanted{"order", key};
    PAWL_TRY(const auto batch, store->begin());
    PAWL_TRY(auto records, batch->load({&wanted, 1}));
    return std::move(records[0]);
  }

  // Record 2 moves on.
  Result<std::vector<UnitOutcome>> move(const std::string& state, bool purges = false) {
    PAWL_TRY(const Record record, loaded(2));
    Unit unit;
    unit.record = {.record = record,
                   .writes_before = record.writes,
                   .fence_before = record.fence,
                   .purges = purges};
    unit.record.record.state = state;
    ++unit.record.record.writes;
    PAWL_TRY(const auto batch, store->begin());
    return batch->commit({&unit, 1});
  }

  std::unique_ptr<SqliteStore> store;
};

// What is on the disk is changed by someone who should not: only who reads it notices.
TEST_F(CachedTest, WhatWasWrittenIsNotReadAgain) {
  for (const int mib : {1, 0}) {
    open(mib);
    ASSERT_TRUE(move("b"));
    tamper(directory, "UPDATE record SET fence = fence + 1 WHERE id = 2");
    const auto found = loaded(2);
    EXPECT_EQ(static_cast<bool>(found), mib > 0);
    if (found) {
      EXPECT_EQ(found->state, "b");
    }
    tamper(directory, "UPDATE record SET fence = fence - 1 WHERE id = 2");
  }
}

TEST_F(CachedTest, WhatIsNotCommittedIsNotThere) {
  open();
  ASSERT_TRUE(move("b"));
  tamper(directory,
         "CREATE TRIGGER t BEFORE UPDATE ON counter BEGIN SELECT RAISE(ABORT, 'no'); END");
  EXPECT_FALSE(move("c"));
  tamper(directory, "DROP TRIGGER t");
  EXPECT_EQ(loaded(2)->state, "b");
  EXPECT_TRUE(move("d"));
  EXPECT_EQ(loaded(2)->state, "d");
}

TEST_F(CachedTest, WhatIsPurgedIsNotThere) {
  open();
  ASSERT_TRUE(move("b"));
  const std::string key = loaded(2)->key;
  ASSERT_TRUE(move("b"));
  ASSERT_TRUE(move("c", true));
  EXPECT_EQ(loaded(2)->id.value, 0U);
  EXPECT_EQ(loaded(key)->id.value, 0U);
}

TEST_F(CachedTest, BeatsAreSeen) {
  open();
  Unit unit = new_unit(3, "three");
  unit.record.record.fence = 9;
  unit.record.record.running = Attempt{.lease_until = kEight, .deadline_at = kEight};
  ASSERT_TRUE((*store->begin())->commit({&unit, 1}));
  const Beat beat{{3}, 9, kEight + std::chrono::hours{1}, kEight + std::chrono::hours{1}, "7"};
  EXPECT_EQ(*store->extend({&beat, 1}), std::vector{true});
  EXPECT_EQ(loaded(3)->running->progress, "7");
  EXPECT_EQ(loaded("three")->wake_at, kEight + std::chrono::hours{1});
  ASSERT_TRUE(store->void_leases());
  EXPECT_EQ(loaded(3)->wake_at, kEight);
}

}  // namespace
}  // namespace pawl
