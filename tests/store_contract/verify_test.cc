// verify: what it finds, and that it finds nothing where nothing is wrong.
#include "store/verify.h"

#include "model/codec.h"
#include "opened_store.h"

namespace pawl {
namespace {

using std::chrono::seconds;

class VerifyTest : public StoreTest {
 protected:
  VerifyTest() {
    EXPECT_TRUE(*store->put_machine({.name = "order", .version = 1, .text = "machine: order\n"}));
  }

  // As the engine would write it: the changes of the entry are those of the core.
  Unit true_created(const std::string& key) {
    Unit unit = created(key);
    write_changes(unit, kCoreAll);
    return unit;
  }
  Unit true_changed(const std::string& key, const std::string& state) {
    Unit unit = changed(key, state);
    write_changes(unit, kCoreState);
    return unit;
  }
  static void write_changes(Unit& unit, std::uint32_t fields) {
    unit.record.entries[0].changes.clear();
    append_changes(unit.record.entries[0].changes, unit.record.record, fields);
  }

  std::vector<std::string> found() {
    std::vector<std::string> invariants;
    const Verified verified = *verify(*store);
    for (const Violation& violation : verified.violations)
      invariants.push_back(violation.invariant);
    return invariants;
  }
  // Of a record whose entry was spoiled.
  template <class Spoil>
  std::vector<std::string> found_after(Spoil spoil) {
    commit(true_created("k"));
    Unit unit = true_changed("k", "b");
    spoil(unit.record.record, unit.record.entries[0]);
    commit(unit);
    return found();
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, VerifyTest, testing::ValuesIn(store_kinds()), name_of);

using Invariants = std::vector<std::string>;

TEST_P(VerifyTest, FindsNothingWhereNothingIsWrong) {
  EXPECT_EQ(found(), Invariants{});
  Unit unit = true_created("a");
  Record& record = unit.record.record;
  record.labels = {{"region", R"("eu")"}};
  record.error = Failure{.code = "broken"};
  record.hold = Hold{.code = "checked"};
  record.ready_at = now;
  record.wake_at = now + seconds{9};
  record.timers = {{.at = now + seconds{9}}};
  unit.record.queue = "q";
  unit.record.slots = {"pay"};
  unit.sent = {{record.id, "{}"}};
  write_changes(unit, kCoreAll);
  commit(unit);
  commit(true_created("b"));
  commit(true_changed("b", "c"));
  const Verified verified = *verify(*store);
  EXPECT_EQ(verified.violations, std::vector<Violation>{});
  EXPECT_EQ(verified.records, 2U);
  EXPECT_EQ(verified.entries, 3U);
}

TEST_P(VerifyTest, I1GapsAndRevisions) {
  EXPECT_EQ(found_after([](Record&, Entry& entry) { ++entry.seq; }), (Invariants{"I1", "I1"}));
}
TEST_P(VerifyTest, I1ARevisionAboveTheLog) {
  EXPECT_EQ(found_after([](Record& record, Entry&) { ++record.revision; }), Invariants{"I1"});
}
TEST_P(VerifyTest, I2WhereEntriesBegin) {
  EXPECT_EQ(found_after([](Record&, Entry& entry) { entry.from = "x"; }), Invariants{"I2"});
}
TEST_P(VerifyTest, I2WhereTheRecordIs) {
  EXPECT_EQ(found_after([](Record&, Entry& entry) { entry.to = "x"; }), Invariants{"I2"});
}
TEST_P(VerifyTest, I3TheLogMakesUpTheCore) {
  EXPECT_EQ(found_after([](Record& record, Entry&) { record.data = R"({"n":2})"; }),
            Invariants{"I3"});
}
TEST_P(VerifyTest, I4OneKeyOneRequest) {
  Unit first = true_created("k");
  first.record.entries[0].idempotency_key = "one";
  commit(first);
  commit(true_changed("k", "b"));
  Unit again = true_changed("k", "c");
  again.record.entries[0].idempotency_key = "one";
  commit(again);
  EXPECT_EQ(found(), Invariants{"I4"});
}
TEST_P(VerifyTest, I6NoTaskWaitsWhileItRuns) {
  Unit unit = true_created("k");
  Record& record = unit.record.record;
  record.fence = 1;
  record.running = Attempt{.deadline_at = now + seconds{9}};
  record.wake_at = now + seconds{9};
  record.ready_at = now;
  unit.record.queue = "q";
  commit(unit);
  EXPECT_EQ(found(), Invariants{"I6"});
}
TEST_P(VerifyTest, I7FencesOnlyRise) {
  Unit unit = true_created("k");
  unit.record.record.fence = 7;
  unit.record.entries[0].fence = 8;
  commit(unit);
  EXPECT_EQ(found(), Invariants{"I7"});
}
TEST_P(VerifyTest, I8NothingIsStranded) {
  Unit attempt = true_created("attempt");
  attempt.record.record.running = Attempt{.deadline_at = now + seconds{9}};
  Unit timer = true_created("timer");
  timer.record.record.timers = {{.at = now + seconds{9}}};
  timer.record.record.wake_at = now + seconds{10};
  Unit plan = true_created("plan");
  plan.record.record.plan.next = now;
  Unit task = true_created("task");
  task.record.record.task_at = now;
  commit({attempt, timer, plan, task});
  EXPECT_EQ(found(), (Invariants{"I8", "I8", "I8", "I8"}));
}
TEST_P(VerifyTest, I12InstantsNeverGoBack) {
  EXPECT_EQ(found_after([](Record&, Entry& entry) { entry.at -= seconds{1}; }), Invariants{"I12"});
}
TEST_P(VerifyTest, I16TheMachineIsThere) {
  Unit unit = true_created("k");
  unit.record.record.version = 2;
  write_changes(unit, kCoreAll);
  commit(unit);
  EXPECT_EQ(found(), Invariants{"I16"});
}
TEST_P(VerifyTest, I18EveryEntryNamesItsActor) {
  EXPECT_EQ(found_after([](Record&, Entry& entry) { entry.actor = {}; }), Invariants{"I18"});
}

// What was erased cannot be compared; from a compacted entry on it can.
TEST_P(VerifyTest, ErasedAndCompactedLogsAreNoViolation) {
  commit(true_created("k"));
  Unit erases = true_changed("k", "a");
  erases.record.erases = true;
  commit(erases);
  EXPECT_EQ(found(), Invariants{});
  Unit compacts = true_changed("k", "b");
  Entry compacted = erases.record.entries[0];
  compacted.kind = Entry::Kind::compacted;
  compacted.changes.clear();
  append_changes(compacted.changes, erases.record.record, kCoreAll);
  compacts.record.compacted = compacted;
  commit(compacts);
  EXPECT_EQ(found(), Invariants{});
}

}  // namespace
}  // namespace pawl
