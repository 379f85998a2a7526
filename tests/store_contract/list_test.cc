// Lists, logs, the feed and counts.
#include <atomic>
#include <thread>

#include "opened_store.h"

namespace pawl {
namespace {

using std::chrono::minutes;
using Keys = std::vector<std::string>;

class ListTest : public StoreTest {
 protected:
  Failure broken(std::uint64_t fingerprint, std::string message = "it broke") {
    return {.code = "broken", .message = std::move(message), .at = now, .fingerprint = fingerprint};
  }
  void fails(const std::string& key, const Failure& error) {
    Unit unit = changed(key, "a");
    unit.record.record.error = error;
    unit.record.entries[0].error = error;
    commit(unit);
  }
  Counts counts() { return *store->counts(); }
};
INSTANTIATE_TEST_SUITE_P(Stores, ListTest, testing::ValuesIn(store_kinds()), name_of);

TEST_P(ListTest, FiltersAloneAndTogether) {
  commit(created("x1"));
  commit(created("x2", "b"));
  now += minutes{1};
  Unit child = created("child");
  child.record.record.parent = Parent{.id = stored("x1").id, .machine = "order", .key = "x1"};
  child.record.record.labels = {{"region", R"("eu")"}};
  commit(child);
  Unit held = created("held");
  held.record.record.hold = Hold{.code = "checked"};
  held.record.record.labels = {{"region", R"("us")"}, {"size", "3"}};
  commit(held);
  Unit other = created("x3");
  other.record.record.machine = "parcel";
  commit(other);
  fails("x2", broken(7));

  EXPECT_EQ(keys_listed({}), (Keys{"x1", "x2", "child", "held", "x3"}));
  EXPECT_EQ(keys_listed({.machine = "parcel"}), Keys{"x3"});
  EXPECT_EQ(keys_listed({.machine = "order", .state = "a"}), (Keys{"x1", "x2", "child", "held"}));
  EXPECT_EQ(keys_listed({.machine = "order", .key_prefix = "x"}), (Keys{"x1", "x2"}));
  EXPECT_EQ(keys_listed({.label = Label{"region", R"("eu")"}}), Keys{"child"});
  EXPECT_EQ(keys_listed({.label = Label{"size", "3"}}), Keys{"held"});
  EXPECT_EQ(keys_listed({.parent = stored("x1").id}), Keys{"child"});
  EXPECT_EQ(keys_listed({.held = true}), Keys{"held"});
  EXPECT_EQ(keys_listed({.machine = "order", .held = false}), (Keys{"x1", "x2", "child"}));
  EXPECT_EQ(keys_listed({.error_code = "broken"}), Keys{"x2"});
  EXPECT_EQ(keys_listed({.fingerprint = 7}), Keys{"x2"});
  EXPECT_EQ(keys_listed({.created_from = now}), (Keys{"child", "held", "x3"}));
  EXPECT_EQ(keys_listed({.created_before = now}), (Keys{"x1", "x2"}));
  EXPECT_EQ(keys_listed({.label = Label{"size", "4"}}), Keys{});
}

TEST_P(ListTest, APrefixListsByKey) {
  for (const char* key : {"b2", "a", "b1", "c", "b", "b%", "b_", "B"}) commit(created(key));
  EXPECT_EQ(keys_listed({.machine = "order", .key_prefix = "b"}),
            (Keys{"b", "b%", "b1", "b2", "b_"}));
  EXPECT_EQ(keys_listed({.machine = "order", .key_prefix = "b", .max = 2}),
            (Keys{"b", "b%", "b1", "b2", "b_"}));
}

TEST_P(ListTest, ACursorStaysGoodWhileRecordsComeAndMove) {
  for (int i = 0; i < 10; ++i) commit(created("k" + std::to_string(i)));
  const Query query{.state = "a", .max = 4};
  const Page<Record> first = *store->list(query, {});
  ASSERT_EQ(first.items.size(), 4U);
  commit(changed("k5", "b"));
  commit(created("k10"));
  const Page<Record> second = *store->list(query, first.next);
  ASSERT_EQ(second.items.size(), 4U);
  EXPECT_EQ(second.items[0].key, "k4");
  EXPECT_EQ(second.items[1].key, "k6");
}

TEST_P(ListTest, ACursorOfSomethingElseIsAnError) {
  EXPECT_FALSE(store->list({}, "no cursor"));
  EXPECT_FALSE(store->feed("no cursor", 1));
  EXPECT_FALSE(store->log({1}, "no cursor", 1));
}

TEST_P(ListTest, APageHasAtLeastOne) {
  commit(created("k"));
  commit(created("l"));
  commit(changed("k", "b"));
  EXPECT_EQ(store->log(stored("k").id, {}, 0)->items.size(), 1U);
  EXPECT_EQ(store->feed({}, 0)->items.size(), 1U);
  const Page<Record> page = *store->list({.max = 0}, {});
  EXPECT_EQ(page.items.size(), 1U);
  EXPECT_NE(page.next, "");
}

TEST_P(ListTest, ALogHasPages) {
  commit(created("k"));
  for (int i = 0; i < 4; ++i) commit(changed("k", "s" + std::to_string(i)));
  const Page<Entry> first = *store->log(stored("k").id, {}, 3);
  ASSERT_EQ(first.items.size(), 3U);
  EXPECT_EQ(first.items[2].seq, 3);
  const Page<Entry> second = *store->log(stored("k").id, first.next, 3);
  ASSERT_EQ(second.items.size(), 2U);
  EXPECT_EQ(second.items[1].to, "s3");
  EXPECT_EQ(second.next, "");
}

TEST_P(ListTest, TheFeedIsInTheOrderOfCommitsAndGoesOnWhereItStopped) {
  commit(created("b"));
  commit(created("a"));
  commit(changed("b", "c"));
  const Page<LoggedEntry> first = *store->feed({}, 2);
  ASSERT_EQ(first.items.size(), 2U);
  EXPECT_EQ(first.items[0].name, (RecordName{"order", "b"}));
  EXPECT_EQ(first.items[1].record, stored("a").id);
  const Page<LoggedEntry> second = *store->feed(first.next, 9);
  ASSERT_EQ(second.items.size(), 1U);
  EXPECT_EQ(second.items[0].entry, log_of("b")[1]);
  const Page<LoggedEntry> nothing = *store->feed(second.next, 9);
  EXPECT_TRUE(nothing.items.empty());
  commit(changed("a", "z"));
  EXPECT_EQ(store->feed(nothing.next, 9)->items.size(), 1U);
}

TEST_P(ListTest, TheEndOfTheFeedIsFoundWithoutReadingIt) {
  const Cursor start = store->feed("end", 9)->next;
  commit(created("a"));
  commit(created("b"));
  EXPECT_EQ(store->feed(start, 9)->items.size(), 2U);
  const Page<LoggedEntry> end = *store->feed("end", 9);
  EXPECT_TRUE(end.items.empty());
  EXPECT_TRUE(store->feed(end.next, 9)->items.empty());
  commit(changed("a", "z"));
  const Page<LoggedEntry> later = *store->feed(end.next, 9);
  ASSERT_EQ(later.items.size(), 1U);
  EXPECT_EQ(later.items[0].entry.to, "z");
}

// What was committed there since has other places: going on in silence would leave entries out.
TEST_P(ListTest, APlaceBeyondTheEndOfTheFeedIsAnError) {
  EXPECT_TRUE(store->feed("0", 9));
  EXPECT_FALSE(store->feed("1", 9));
  commit(created("a"));
  commit(changed("a", "z"));
  const Cursor end = store->feed("end", 9)->next;
  EXPECT_TRUE(store->feed(end, 9));
  const auto beyond = store->feed(std::to_string(std::stoll(end) + 1), 9);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::bad_input);
  EXPECT_EQ(
      beyond.error().message,
      "the position 3 is beyond the end of the feed, 2: it comes from another store, or from this "
      "one before an older backup was restored; start again without a position, or continue from "
      "`end`");
}

// The place behind entries that were removed is none beyond the end.
TEST_P(ListTest, APlaceStaysGoodWhenItsEntriesAreRemoved) {
  commit(created("a"));
  commit(created("b"));
  const Cursor end = store->feed({}, 9)->next;
  Unit purges = changed("b", "a");
  purges.record.entries.clear();
  purges.record.purges = true;
  commit(purges);
  EXPECT_EQ(store->feed("end", 9)->next, end);
  EXPECT_TRUE(store->feed(end, 9)->items.empty());
  commit(created("c"));
  EXPECT_EQ(store->feed(end, 9)->items.size(), 1U);
}

// Lists, logs, the feed and counts are for any thread, whatever is committed meanwhile.
TEST_P(ListTest, AnyThreadReadsWhatWasCommitted) {
  commit(created("k"));
  const RecordId id = stored("k").id;
  std::atomic<bool> is_over = false;
  std::atomic<int> rounds = 0;
  const auto read = [&] {
    std::size_t last = 0;
    while (!is_over || rounds < 2) {
      const std::size_t entries = store->log(id, {}, kPageMax)->items.size();
      EXPECT_GE(entries, last);
      last = entries;
      EXPECT_EQ(store->list({}, {})->items.size(), 1U);
      EXPECT_GE(store->feed({}, kPageMax)->items.size(), entries);
      EXPECT_EQ(store->counts()->states.size(), 1U);
      EXPECT_TRUE(store->settings("")->empty());
      ++rounds;
    }
  };
  std::thread one(read);
  std::thread other(read);
  for (int i = 0; i < 100; ++i) commit(changed("k", i % 2 == 0 ? "b" : "a"));
  is_over = true;
  one.join();
  other.join();
  EXPECT_EQ(log_of("k").size(), 101U);
}

TEST_P(ListTest, CountsFollowEveryMove) {
  commit({created("x"), created("y"), created("z", "b")});
  EXPECT_EQ(counts().states, (std::vector<StateCount>{{"order", "a", 2, 0}, {"order", "b", 1, 0}}));
  Unit held = changed("x", "b");
  held.record.record.hold = Hold{.code = "checked"};
  commit({held, changed("y", "b")});
  EXPECT_EQ(counts().states, (std::vector<StateCount>{{"order", "b", 3, 1}}));
}

TEST_P(ListTest, ErrorsAreCountedByFingerprint) {
  commit(created("x"));
  fails("x", broken(7, "one"));
  now += minutes{1};
  fails("x", broken(7, "two"));
  fails("x", broken(8));
  const auto errors = counts().errors;
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0], (ErrorCount{"order", "a", "broken", 7, 2, kEight, now, "two"}));
  EXPECT_EQ(errors[1].count, 1);
}

}  // namespace
}  // namespace pawl
