// Rows that are not what they should be: each is found, and named.
#include "store/verify.h"
#include "stored.h"

namespace pawl {
namespace {

class RowsTest : public StoredTest {
 protected:
  // The violations after somebody has changed the tables.
  std::vector<std::string> found_after(const std::string& sql) {
    tamper(directory, sql);
    std::vector<std::string> all;
    const auto verified = verify(*must_open(directory));
    if (!verified) return {verified.error().message};
    for (const Violation& violation : verified->violations)
      all.push_back(violation.invariant + " " + std::to_string(violation.record.value));
    return all;
  }
};

using Found = std::vector<std::string>;

TEST_F(RowsTest, NothingIsWrongAtFirst) { EXPECT_EQ(found_after(""), Found{}); }

TEST_F(RowsTest, ARecordThatNobodyWakes) {
  EXPECT_EQ(found_after("DELETE FROM due WHERE record = 2"), Found{"I8 2"});
}
TEST_F(RowsTest, AnInstantThatNoRecordAsksFor) {
  EXPECT_EQ(found_after("UPDATE due SET at = at + 1 WHERE record = 2"), (Found{"I8 2", "I8 2"}));
  EXPECT_EQ(found_after("UPDATE due SET record = 9 WHERE record = 2"), (Found{"I8 2", "I8 9"}));
}
TEST_F(RowsTest, AMarkThatIsMissingOrFalse) {
  EXPECT_EQ(found_after("UPDATE mark SET value = 'x' WHERE record = 1"),
            (Found{"mark 1", "mark 1"}));
}
TEST_F(RowsTest, ASlotThatLeaks) {
  EXPECT_EQ(found_after("UPDATE slot SET taken = 2"), Found{"I19 0"});
  EXPECT_EQ(found_after("DELETE FROM slot"), Found{"I19 0"});
}
TEST_F(RowsTest, ACountThatIsWrong) {
  EXPECT_EQ(found_after("UPDATE state_count SET held = 1"), Found{"I19 0"});
}
TEST_F(RowsTest, RowsOfNobody) {
  EXPECT_EQ(found_after("INSERT INTO inbox VALUES(1000, 9, 0, '{}')"),
            (Found{"inbox 9", "counter 0"}));
}
TEST_F(RowsTest, ARecordThatIsNotWhatWasWritten) {
  EXPECT_EQ(found_after("UPDATE record SET data = '{\"n\":2}' WHERE id = 2"),
            (Found{"checksum 0", "checksum 2"}));
}
TEST_F(RowsTest, AnEntryThatIsNotWhatWasWritten) {
  EXPECT_EQ(found_after("UPDATE log SET body = replace(body, 'eve', 'ada') WHERE record = 2"),
            (Found{"checksum 0", "checksum 2"}));
}
TEST_F(RowsTest, AnEntryThatStandsInAnotherPlace) {
  EXPECT_EQ(found_after("UPDATE log SET seq = seq + 100 WHERE record = 2"), Found{"I1 2"});
}
TEST_F(RowsTest, ACountThatCannotBe) {
  EXPECT_EQ(found_after("INSERT INTO state_count VALUES('order', 'z', -4, 0)"), Found{"I19 0"});
}
TEST_F(RowsTest, AMessageThatNobodyTakes) {
  EXPECT_EQ(found_after("UPDATE inbox SET waits = 5"), Found{"inbox 0"});
}
// One flipped bit makes word 5 a second word 4, which the search for 4 then finds.
TEST_F(RowsTest, AWordWithAnotherNumber) {
  {
    const auto store = must_open(directory);
    std::vector<Unit> units;
    for (std::uint64_t id = 3; id <= 6; ++id) {
      units.push_back(new_unit(id, "k"));
      units.back().record.record.machine = "machine" + std::to_string(id);
    }
    ASSERT_TRUE((*store->begin())->commit(units));
  }
  std::fstream file(directory / "tables.db", std::ios::in | std::ios::out | std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // Of a row: its length, its number, three bytes of types and one of their length, then the text.
  const std::string_view kind("\x05\x04\x00", 3);
  std::size_t number = std::string::npos;
  for (std::size_t at = bytes.find("machine5"); at != std::string::npos;
       at = bytes.find("machine5", at + 1))
    if (std::string_view(bytes).substr(at - 5, 3) == kind) number = at - 5;
  ASSERT_NE(number, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(number));
  file.put('\x04');
  file.close();
  const auto store = must_open(directory);
  const RecordId of_machine4{4};
  const auto loaded = (*store->begin())->load({&of_machine4, 1});
  ASSERT_FALSE(loaded) << (*loaded)[0].machine;
  EXPECT_EQ(loaded.error().code, ErrorCode::damaged);
}
TEST_F(RowsTest, NoVersionAndNoCounter) {
  tamper(directory, "DELETE FROM counter");
  EXPECT_EQ(open_sqlite_store(options_for(directory)).error().code, ErrorCode::damaged);
  tamper(directory, "PRAGMA user_version = 0");
  EXPECT_EQ(open_sqlite_store(options_for(directory)).error().code, ErrorCode::damaged);
}
TEST_F(RowsTest, ANumberThatWouldBeGivenAgain) {
  EXPECT_EQ(found_after("UPDATE counter SET record = 1, position = 1"),
            (Found{"counter 0", "counter 0"}));
}

// Neither record can be read then, nor who takes the slot.
TEST_F(RowsTest, AWordThatIsNotWhatWasWritten) {
  EXPECT_EQ(found_after("UPDATE word SET text = 'parcel' WHERE text = 'order'"),
            (Found{"checksum 0", "checksum 1", "checksum 2", "I19 0"}));
}

// Each column of a row counts, not only its texts.
TEST_F(RowsTest, EveryColumnOfARecordIsChecked) {
  for (const char* column : {"created_at", "entered_at", "changed_at", "revision", "writes",
                             "fence", "priority", "wake_at"}) {
    tamper(directory, std::string("UPDATE record SET ") + column + " = " + column + " + 1");
    const auto store = must_open(directory);
    const auto loaded = (*store->begin())->load(std::vector<RecordId>{{2}});
    ASSERT_FALSE(loaded) << column;
    EXPECT_EQ(loaded.error().code, ErrorCode::damaged) << column;
    tamper(directory, std::string("UPDATE record SET ") + column + " = " + column + " - 1");
  }
}

}  // namespace
}  // namespace pawl
