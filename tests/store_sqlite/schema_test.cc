// Versions of the tables.
#include "store/sqlite/schema.h"

#include <array>

#include "stored.h"

namespace pawl::sqlite {
namespace {

class SchemaTest : public StoredTest {
 protected:
  std::string path = (directory / "tables.db").string();
  Database db = *Database::open(path, SQLITE_OPEN_READWRITE, "");

  std::int64_t version() { return *db.integer("PRAGMA user_version"); }
};

TEST_F(SchemaTest, AStoreHasTheVersionOfItsTables) { EXPECT_EQ(version(), kSchemaVersion); }

TEST_F(SchemaTest, StepsLeadFromAnyVersionToTheLast) {
  constexpr std::array<const char*, 2> kSteps{"ALTER TABLE setting ADD COLUMN note TEXT",
                                              "UPDATE setting SET note = 'old'"};
  ASSERT_TRUE(migrate(db, 1, kSteps));
  EXPECT_EQ(version(), 3);
  EXPECT_EQ(*db.integer("SELECT count(*) FROM setting WHERE note = 'old'"), 1);
  ASSERT_TRUE(migrate(db, 3, kSteps));  // nothing is left to do
  EXPECT_EQ(version(), 3);
}

TEST_F(SchemaTest, AStepThatFailsTakesTheOthersBack) {
  constexpr std::array<const char*, 2> kSteps{"ALTER TABLE setting ADD COLUMN note TEXT",
                                              "UPDATE nothing SET note = 1"};
  ASSERT_FALSE(migrate(db, 1, kSteps));
  EXPECT_EQ(version(), kSchemaVersion);
  EXPECT_FALSE(db.integer("SELECT note FROM setting"));
  EXPECT_EQ(*db.integer("SELECT count(*) FROM setting"), 1);
}

// Version 1 did not keep who applied a machine.
TEST_F(SchemaTest, AStoreOfTheFirstVersionIsReadAndGoesOn) {
  ASSERT_TRUE(
      db.script("ALTER TABLE machine DROP COLUMN applied_at;"
                "ALTER TABLE machine DROP COLUMN applied_by; PRAGMA user_version = 1"));
  const auto store = must_open(directory);
  EXPECT_EQ(version(), kSchemaVersion);
  const Instant at{std::chrono::seconds{1'000'000}};
  ASSERT_TRUE(*store->put_machine({"order", 2, "machine: order # 2", at, "ann"}));
  EXPECT_EQ(*store->machine("order", 1), (StoredMachine{"order", 1, "machine: order\n"}));
  EXPECT_EQ(*store->machine("order", 2),
            (StoredMachine{"order", 2, "machine: order # 2", at, "ann"}));
}

// As people read it in a shell.
TEST_F(SchemaTest, TheTablesCanBeRead) {
  auto rows = db.query("SELECT machine, key, state, wake_at FROM readable_record ORDER BY id");
  ASSERT_TRUE(rows);
  ASSERT_TRUE(*rows->next());
  EXPECT_EQ(rows->text(0), "order");
  EXPECT_EQ(rows->text(1), "one");
  EXPECT_EQ(rows->text(2), "a");
  EXPECT_EQ(rows->text(3), "2026-03-02 08:01:00");
  EXPECT_EQ(*db.integer("SELECT count(*) FROM readable_due"), 2);
}

}  // namespace
}  // namespace pawl::sqlite
