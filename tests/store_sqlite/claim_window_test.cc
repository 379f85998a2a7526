#include "store/sqlite/claim_window.h"

#include <array>
#include <random>
#include <set>

#include "store/sqlite/tables.h"
#include "stored.h"

namespace pawl::sqlite {
namespace {

using std::chrono::seconds;

class ClaimWindowTest : public testing::Test {
 protected:
  ClaimWindowTest() {
    EXPECT_TRUE(
        db.run("CREATE TABLE due(queue, priority, at, record, "
               "PRIMARY KEY(queue, priority, at, record)) WITHOUT ROWID"));
  }

  static Due due(std::uint64_t record, int priority = 0, int second = 0) {
    return {1, priority, kEight + seconds{second}, record};
  }
  // Behind the window's back.
  void insert(const Due& due) {
    ASSERT_TRUE(db.run("INSERT INTO due VALUES(?1, ?2, ?3, ?4)", due.queue, due.priority, due.at,
                       due.record));
  }
  void remove(const Due& due) {
    ASSERT_TRUE(
        db.run("DELETE FROM due WHERE queue = ?1 AND priority = ?2 AND at = ?3 AND "
               "record = ?4",
               due.queue, due.priority, due.at, due.record));
  }

  // All that a claim of the queue would meet.
  static std::vector<Due> all(ClaimWindow& window, std::int64_t queue = 1) {
    std::vector<Due> found;
    int above = kRemovals - 1;
    while (const auto priority = *window.next_priority(queue, above)) {
      above = *priority;
      DuePlace place;
      while (const auto next = *window.next(queue, above, place)) {
        place = *next;
        found.push_back({queue, above, place.at, place.record});
      }
    }
    return found;
  }

  Database db = *Database::open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "");
};

TEST_F(ClaimWindowTest, WhatIsInItIsNotReadAgain) {
  ClaimWindow window(db, 10);
  insert(due(2));
  EXPECT_EQ(all(window), std::vector{due(2)});
  insert(due(1));
  EXPECT_EQ(all(window), std::vector{due(2)});
  window.forget();
  EXPECT_EQ(all(window), (std::vector{due(1), due(2)}));
}

TEST_F(ClaimWindowTest, WhatLiesBehindItIsReadWhenItIsPassed) {
  ClaimWindow window(db, 2);
  for (const std::uint64_t record : {1U, 2U, 3U, 4U, 5U}) insert(due(record));
  EXPECT_EQ(window.next(1, 0)->value().record, 1U);  // has read two
  insert(due(6));
  remove(due(3));
  EXPECT_EQ(all(window), (std::vector{due(1), due(2), due(4), due(5), due(6)}));
}

TEST_F(ClaimWindowTest, WhatIsAddedBehindItIsLeftToTheTable) {
  ClaimWindow window(db, 2);
  for (const std::uint64_t record : {1U, 2U, 9U}) {
    insert(due(record));
    window.added(due(record));
  }
  EXPECT_EQ(window.next(1, 0)->value().record, 1U);
  insert(due(5));
  window.added(due(5));
  EXPECT_EQ(all(window), (std::vector{due(1), due(2), due(5), due(9)}));
}

// Against the table itself, whatever happens to it.
TEST_F(ClaimWindowTest, SaysWhatTheTableSays) {
  std::mt19937 random(7);
  for (const std::size_t most : {1U, 2U, 3U, 20U, 10'000U}) {
    ClaimWindow window(db, most);
    ASSERT_TRUE(db.run("DELETE FROM due"));
    std::set<Due> table;
    for (int step = 0; step < 4'000; ++step) {
      const Due one{static_cast<std::int64_t>(random() % 3), static_cast<int>(random() % 4) - 2,
                    kEight + seconds{random() % 8}, 1 + random() % 6};
      if (table.insert(one).second) {
        insert(one);
        window.added(one);
      } else {
        table.erase(one);
        remove(one);
        window.removed(one);
      }
      if (random() % 50 == 0) window.forget();
      if (random() % 3 == 0) continue;
      const std::int64_t queue = static_cast<std::int64_t>(random() % 3);
      if (random() % 2 == 0) {  // only the first, so that windows are left half read
        const auto first = table.lower_bound({queue, 1, kInstantMin, 0});
        const bool is_there = first != table.end() && first->queue == queue && first->priority == 1;
        const auto next = *window.next(queue, 1);
        ASSERT_EQ(next.has_value(), is_there);
        if (next) {
          ASSERT_EQ(*next, (DuePlace{first->at, first->record}));
        }
        continue;
      }
      const std::vector<Due> expected(table.lower_bound({queue, kRemovals, kInstantMin, 0}),
                                      table.lower_bound({queue + 1, kRemovals, kInstantMin, 0}));
      ASSERT_EQ(all(window, queue), expected) << "window of " << most << ", step " << step;
    }
  }
}

TEST_F(ClaimWindowTest, ManyQueuesAreForgottenAgain) {
  ClaimWindow window(db, 10);
  for (std::int64_t queue = 1; queue <= 600; ++queue) {
    insert({queue, 0, kEight, 1});
    ASSERT_EQ(all(window, queue).size(), 1U);
  }
  EXPECT_LE(window.queues(), 256U);
}

// --- in a store --------------------------------------------------------------------------------

class ClaimsTest : public StoredTest {
 protected:
  std::vector<std::uint64_t> due_now(Store& store) {
    const auto batch = *store.begin();
    const Claim claim{.kind = Claim::Kind::due, .max = 10};
    std::vector<std::uint64_t> ids;
    for (const Claimed& one : *batch->claim({&claim, 1})) ids.push_back(one.record.id.value);
    return ids;
  }
};

// A batch that has come to nothing leaves no trace in the window.
TEST_F(ClaimsTest, WhatIsNotCommittedIsNotClaimed) {
  SqliteOptions options = options_for(directory);
  const auto store = *open_sqlite_store(std::move(options));
  EXPECT_EQ(due_now(*store), std::vector<std::uint64_t>());
  Unit unit = new_unit(store->last_id()->value + 1, "three");
  unit.record.record.wake_at = kEight;
  tamper(directory,
         "CREATE TRIGGER t BEFORE UPDATE ON counter BEGIN SELECT RAISE(ABORT, 'no'); END");
  EXPECT_FALSE((*store->begin())->commit({&unit, 1}));
  tamper(directory, "DROP TRIGGER t");
  EXPECT_EQ(due_now(*store), std::vector<std::uint64_t>());
  EXPECT_TRUE((*store->begin())->commit({&unit, 1}));
  EXPECT_EQ(due_now(*store), std::vector{unit.record.record.id.value});
}

}  // namespace
}  // namespace pawl::sqlite
