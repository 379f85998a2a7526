// Batches: what is committed is there, all of it or none.
#include <algorithm>

#include "opened_store.h"

namespace pawl {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Keys = std::vector<std::string>;
using Outcome = UnitOutcome::Kind;

class BatchTest : public StoreTest {
 protected:
  // A record that waits in a queue from an instant on.
  void ready(const std::string& key, const std::string& queue, Instant at, int priority = 5) {
    Unit unit = created(key);
    unit.record.record.ready_at = at;
    unit.record.record.priority = priority;
    unit.record.queue = queue;
    EXPECT_EQ(commit(unit).kind, Outcome::committed);
  }
  void wakes(const std::string& key, Instant at) {
    Unit unit = created(key);
    unit.record.record.wake_at = at;
    EXPECT_EQ(commit(unit).kind, Outcome::committed);
  }
  std::optional<Instant> next_due(const Keys& queues) { return *store->next_due(queues); }
  Slot slot(const std::string& name) {
    return (*(*store->begin())->slots(std::vector{name})).front();
  }
  std::optional<Remembered> remembered(const std::string& key, const std::string& request) {
    const std::vector<RequestName> names{{{"order", key}, request}};
    return (*(*store->begin())->remembered(names)).front();
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, BatchTest, testing::ValuesIn(store_kinds()), name_of);

TEST_P(BatchTest, WhatIsCommittedIsThereByNameAndById) {
  const Unit unit = created("k");
  EXPECT_EQ(commit(unit).kind, Outcome::committed);
  EXPECT_EQ(stored("k"), unit.record.record);
  EXPECT_EQ(stored(unit.record.record.id), unit.record.record);
  EXPECT_EQ(log_of("k"), unit.record.entries);
}

TEST_P(BatchTest, WhatIsNotThereHasNoId) {
  EXPECT_EQ(stored("k").id.value, 0U);
  EXPECT_EQ(stored(RecordId{7}).id.value, 0U);
}

TEST_P(BatchTest, WithoutCommitNothingHappens) {
  ready("k", "q", now);
  {
    const auto batch = *store->begin();
    EXPECT_EQ(batch->claim(std::vector{Claim{.queue = "q"}})->size(), 1U);
  }
  EXPECT_EQ(keys_claimed({{.queue = "q"}}), Keys{"k"});
}

TEST_P(BatchTest, TheClockStandsStillInABatchAndNeverGoesBack) {
  {
    const auto batch = *store->begin();
    now += minutes{1};
    EXPECT_EQ(batch->now(), kEight);
  }
  EXPECT_EQ((*store->begin())->now(), kEight + minutes{1});
  now -= minutes{1};
  EXPECT_EQ((*store->begin())->now(), kEight + minutes{1});
}

TEST_P(BatchTest, AUnitThatLostARaceFailsAlone) {
  commit(created("k"));
  commit(created("other"));
  const Unit first = changed("k", "b");
  Unit second = changed("k", "c");
  second.sent = {{stored("other").id, "{}"}};
  const auto outcomes = commit({first, second, changed("other", "b")});
  EXPECT_EQ(outcomes[0].kind, Outcome::committed);
  EXPECT_EQ(outcomes[1].kind, Outcome::lost_race);
  EXPECT_EQ(outcomes[2].kind, Outcome::committed);
  EXPECT_EQ(stored("k").state, "b");
  EXPECT_EQ(log_of("k").size(), 2U);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
}

TEST_P(BatchTest, AFenceThatRoseIsALostRaceToo) {
  commit(created("k"));
  Unit unit = changed("k", "b");
  --unit.record.fence_before;
  EXPECT_EQ(commit(unit).kind, Outcome::lost_race);
}

TEST_P(BatchTest, UnitsOfABatchSeeEachOther) {
  Unit first = created("k");
  Unit second = first;
  second.record.writes_before = 1;
  second.record.record.state = "b";
  second.record.record.writes = 2;
  second.record.record.revision = 2;
  second.record.entries[0].seq = 2;
  const auto outcomes = commit({first, second});
  EXPECT_EQ(outcomes[1].kind, Outcome::committed);
  EXPECT_EQ(stored("k"), second.record.record);
  EXPECT_EQ(log_of("k").size(), 2U);
}

TEST_P(BatchTest, ANameThatIsTakenIsNotTakenTwice) {
  commit(created("k"));
  EXPECT_EQ(commit(created("k", "b")).kind, Outcome::key_taken);
  EXPECT_EQ(stored("k").state, "a");
}

TEST_P(BatchTest, CreatedBesideOthersAndFoundIsFine) {
  commit(created("there"));
  Unit unit = created("k");
  unit.created = {created("there", "b").record, created("new").record};
  const UnitOutcome outcome = commit(unit);
  EXPECT_EQ(outcome.kind, Outcome::committed);
  EXPECT_EQ(outcome.found, (std::vector<std::size_t>{0}));
  EXPECT_EQ(stored("there").state, "a");
  EXPECT_EQ(stored("new").state, "a");
}

// More than a store writes or looks for at once, with some that are not there in between.
TEST_P(BatchTest, ManyAtOnce) {
  std::vector<Unit> units;
  for (int i = 0; i < 50; ++i) units.push_back(created("k" + std::to_string(i)));
  EXPECT_EQ(commit(units).size(), 50U);
  std::vector<RecordName> names;
  for (int i = 0; i < 100; ++i)
    names.push_back({i % 7 == 3 ? "none" : "order", "k" + std::to_string(99 - i)});
  const std::vector<Record> found = *(*store->begin())->load(names);
  ASSERT_EQ(found.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    const bool is_there = names[i].machine == "order" && i >= 50;
    EXPECT_EQ(found[i].key, is_there ? names[i].key : "") << i;
  }
  for (int i = 0; i < 50; ++i) EXPECT_EQ(log_of("k" + std::to_string(i)).size(), 1U);
  EXPECT_EQ(store->feed({}, kPageMax)->items.size(), 50U);
}

// Entries that were added in the same batch are erased, compacted and purged like others.
TEST_P(BatchTest, WhatABatchAddsItCanTakeAway) {
  Unit first = created("k");
  Unit second = first;
  second.record.writes_before = 1;
  second.record.record.writes = 2;
  second.record.record.revision = 2;
  second.record.entries[0].seq = 2;
  second.record.erases = true;
  commit({first, second});
  EXPECT_EQ(log_of("k")[0].input, "");
  EXPECT_NE(log_of("k")[1].input, "");

  Unit compacts = changed("k", "c");
  compacts.record.compacted = compacts.record.entries[0];
  commit(compacts);
  EXPECT_EQ(log_of("k").size(), 1U);

  Unit other = created("other");
  Unit purges = other;
  purges.record.writes_before = 1;
  purges.record.purges = true;
  commit({other, purges});
  EXPECT_EQ(stored("other").id.value, 0U);
  EXPECT_EQ(store->feed({}, kPageMax)->items.size(), 1U);
}

TEST_P(BatchTest, AskingForANameForgetsNothingOfItsRecord) {
  commit(created("k"));
  const Unit first = changed("k", "b");
  const Unit late = changed("k", "c");
  Unit asks = created("other");
  asks.created = {created("k").record};
  const auto outcomes = commit({first, asks, late});
  EXPECT_EQ(outcomes[1].found.size(), 1U);
  EXPECT_EQ(outcomes[2].kind, Outcome::lost_race);
  EXPECT_EQ(stored("k").state, "b");
}

TEST_P(BatchTest, ReadyOnesComeByPriorityThenInstantThenId) {
  ready("late", "q", now + seconds{1});
  ready("early", "q", now - seconds{1});
  ready("b", "q", now);
  ready("c", "q", now);
  ready("urgent", "q", now, 0);
  ready("urgent later", "q", now + minutes{1}, 0);
  ready("other", "p", now);
  EXPECT_EQ(keys_claimed({{.queue = "q", .max = 9}}), (Keys{"urgent", "early", "b", "c"}));
  EXPECT_EQ(keys_claimed({{.queue = "q", .max = 2}}), (Keys{"urgent", "early"}));
  now += minutes{1};
  EXPECT_EQ(keys_claimed({{.queue = "q", .max = 3}}), (Keys{"urgent", "urgent later", "early"}));
}

TEST_P(BatchTest, WhatOneClaimGotNoOtherGets) {
  ready("a", "q", now);
  ready("b", "q", now);
  EXPECT_EQ(keys_claimed({{.queue = "q"}, {.queue = "p"}, {.queue = "q", .max = 9}}),
            (Keys{"a", "b"}));
}

TEST_P(BatchTest, AMovedRecordWaitsWhereItIsNow) {
  ready("k", "q", now);
  Unit unit = changed("k", "b");
  unit.record.record.ready_at.reset();
  unit.record.record.wake_at = now + minutes{1};
  commit(unit);
  EXPECT_TRUE(keys_claimed({{.queue = "q"}}).empty());
  EXPECT_TRUE(keys_claimed({{.kind = Claim::Kind::due}}).empty());
  now += minutes{1};
  EXPECT_EQ(keys_claimed({{.kind = Claim::Kind::due}}), Keys{"k"});
}

TEST_P(BatchTest, DueOnesComeByInstant) {
  wakes("b", now);
  wakes("a", now - seconds{1});
  wakes("c", now + seconds{1});
  EXPECT_EQ(keys_claimed({{.kind = Claim::Kind::due, .max = 9}}), (Keys{"a", "b"}));
  EXPECT_EQ(keys_claimed({{.kind = Claim::Kind::due, .max = 1}}), Keys{"a"});
}

// No batch in between is given up: what a store knows of what is not there, it has to know itself.
TEST_P(BatchTest, WhatWasNotThereIsClaimedOnceItIs) {
  commit(created("k"));
  Unit wakes = created("w");
  wakes.record.record.wake_at = now + minutes{1};
  Unit goes = created("r");
  goes.record.record.remove_at = now + minutes{1};
  Unit sends = created("s");
  sends.sent = {{stored("k").id, "1"}};
  Unit postpones = changed("k", "b");
  Unit opens = postpones;
  opens.opens_inbox = true;
  opens.record.entries.clear();
  opens.record.writes_before = opens.record.record.writes++;
  const auto claim_and_commit = [&](const Unit& unit) {
    const std::vector<Claim> claims{{.kind = Claim::Kind::inbox, .max = 9},
                                    {.kind = Claim::Kind::due, .max = 9},
                                    {.kind = Claim::Kind::over, .max = 9}};
    const auto batch = *store->begin();
    auto claimed = *batch->claim(claims);
    EXPECT_EQ((*batch->commit({&unit, 1}))[0].kind, Outcome::committed);
    return claimed;
  };
  EXPECT_TRUE(claim_and_commit(wakes).empty());
  EXPECT_TRUE(claim_and_commit(goes).empty());
  EXPECT_TRUE(claim_and_commit(sends).empty());
  now += minutes{1};
  const auto all = claim_and_commit(created("x"));
  ASSERT_EQ(all.size(), 3U);
  postpones.postponed = {all[0].messages[0].id};
  EXPECT_EQ(claim_and_commit(postpones).size(), 3U);
  EXPECT_EQ(claim_and_commit(opens).size(), 2U);
  EXPECT_EQ(claim_and_commit(created("y")).size(), 3U);
}

TEST_P(BatchTest, TheNextInstantIsThatOfTheseQueuesOrTheClock) {
  EXPECT_EQ(next_due({"q"}), std::nullopt);
  ready("p", "p", now + seconds{5});
  EXPECT_EQ(next_due({"q"}), std::nullopt);
  ready("low", "q", now + seconds{20}, 9);
  ready("high", "q", now + seconds{30}, 1);
  EXPECT_EQ(next_due({"q"}), now + seconds{20});
  EXPECT_EQ(next_due({"q", "p"}), now + seconds{5});
  wakes("w", now + seconds{10});
  EXPECT_EQ(next_due({"q"}), now + seconds{10});
  EXPECT_EQ(next_due({}), now + seconds{10});
}

TEST_P(BatchTest, QueuesAreThoseInWhichARecordWaits) {
  EXPECT_TRUE(store->queues()->empty());
  ready("a", "q", now);
  ready("b", "p", now + minutes{1}, 9);
  ready("c", "q", now + minutes{2}, 0);
  wakes("d", now);
  EXPECT_EQ(*store->queues(), (Keys{"p", "q"}));
  Unit moves = changed("b", "b");
  moves.record.queue = "slot:z";
  commit(moves);
  Unit leaves = changed("a", "b");
  leaves.record.record.ready_at.reset();
  leaves.record.queue = "q";
  commit(leaves);
  EXPECT_EQ(*store->queues(), (Keys{"q", "slot:z"}));
  Unit purges = changed("c", "b");
  purges.record.purges = true;
  commit(purges);
  EXPECT_EQ(*store->queues(), Keys{"slot:z"});
}

// --- messages ----------------------------------------------------------------------------------

TEST_P(BatchTest, MessagesComeInOrderWithTheirRecord) {
  commit(created("a"));
  commit(created("b"));
  Unit unit = created("k");
  unit.sent = {{stored("b").id, "1"}, {stored("a").id, "2"}, {stored("b").id, "3"}};
  commit(unit);
  EXPECT_LE(next_due({}), now);
  const auto all = claimed({.kind = Claim::Kind::inbox, .max = 9});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].record, stored("b"));
  ASSERT_EQ(all[0].messages.size(), 2U);
  EXPECT_EQ(all[0].messages[0].body, "1");
  EXPECT_EQ(all[0].messages[1].body, "3");
  EXPECT_LT(all[0].messages[0].id, all[1].messages[0].id);
  EXPECT_LT(all[1].messages[0].id, all[0].messages[1].id);
  EXPECT_EQ(claimed({.kind = Claim::Kind::inbox, .max = 2})[0].messages.size(), 1U);
}

TEST_P(BatchTest, AMessageIsTakenOnce) {
  commit(created("k"));
  Unit sends = created("other");
  sends.sent = {{stored("k").id, "1"}};
  commit(sends);
  Unit unit = changed("k", "b");
  unit.taken = {claimed({.kind = Claim::Kind::inbox})[0].messages[0].id};
  EXPECT_EQ(commit(unit).kind, Outcome::committed);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
  Unit again = changed("k", "c");
  again.taken = unit.taken;
  EXPECT_EQ(commit(again).kind, Outcome::lost_race);
}

TEST_P(BatchTest, AMessageThatWaitsWaitsForItsRecordOnly) {
  commit(created("k"));
  commit(created("other"));
  Unit sends = created("sender");
  sends.sent = {{stored("k").id, "1"}, {stored("k").id, "2"}};
  commit(sends);
  Unit postpones = changed("k", "b");
  postpones.postponed = {claimed({.kind = Claim::Kind::inbox})[0].messages[0].id};
  commit(postpones);
  EXPECT_EQ(claimed({.kind = Claim::Kind::inbox, .max = 9})[0].messages.size(), 1U);
  Unit elsewhere = changed("other", "b");
  elsewhere.opens_inbox = true;
  commit(elsewhere);
  EXPECT_EQ(claimed({.kind = Claim::Kind::inbox, .max = 9})[0].messages.size(), 1U);
  Unit opens = changed("k", "c");
  opens.opens_inbox = true;
  commit(opens);
  EXPECT_EQ(claimed({.kind = Claim::Kind::inbox, .max = 9})[0].messages[0].body, "1");
}

TEST_P(BatchTest, AMessageToNobodyIsDropped) {
  Unit unit = created("k");
  unit.sent = {{RecordId{99}, "1"}, {unit.record.record.id, "2"}};
  commit(unit);
  const auto all = claimed({.kind = Claim::Kind::inbox, .max = 9});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].messages[0].body, "2");
}

// --- units that stand on each other ------------------------------------------------------------

TEST_P(BatchTest, WhatStandsOnALostUnitIsLostAsWell) {
  for (const char* key : {"a", "b", "c", "d"}) commit(created(key));
  Unit lost = changed("a", "b");
  --lost.record.fence_before;
  Unit second = changed("b", "b");
  second.after = {0};
  Unit third = changed("c", "b");
  third.after = {3, 1};
  third.sent = {{stored("a").id, "{}"}};
  Unit fourth = changed("d", "b");
  fourth.created = {created("e").record};
  const auto outcomes = commit({lost, second, created("other"), fourth, third});
  EXPECT_EQ(outcomes[0].kind, Outcome::lost_race);
  EXPECT_EQ(outcomes[1].kind, Outcome::lost_race);
  EXPECT_EQ(outcomes[2].kind, Outcome::committed);
  EXPECT_EQ(outcomes[3].kind, Outcome::committed);
  EXPECT_EQ(outcomes[4].kind, Outcome::lost_race);
  EXPECT_EQ(stored("b").state, "a");
  EXPECT_EQ(stored("c").state, "a");
  EXPECT_EQ(log_of("c").size(), 1U);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
}

TEST_P(BatchTest, WhatStandsOnUnitsThatAreCarriedOutIsCarriedOut) {
  commit(created("k"));
  Unit unit = changed("k", "b");
  unit.after = {0, 1};
  const auto outcomes = commit({created("a"), created("b"), unit});
  EXPECT_EQ(outcomes[2].kind, Outcome::committed);
  EXPECT_EQ(stored("k").state, "b");
}

TEST_P(BatchTest, ANameThatIsTakenTakesWhatStandsOnItAlong) {
  commit(created("k"));
  Unit after = created("new");
  after.after = {0};
  const auto outcomes = commit({created("k", "b"), after});
  EXPECT_EQ(outcomes[0].kind, Outcome::key_taken);
  EXPECT_EQ(outcomes[1].kind, Outcome::lost_race);
  EXPECT_EQ(stored("new").id.value, 0U);
}

TEST_P(BatchTest, AMessageSentAndTakenInOneBatchIsNeverStored) {
  commit(created("k"));
  Unit sends = created("sender");
  sends.sent = {{stored("k").id, "1"}, {stored("k").id, "2"}, {stored("k").id, "3"}};
  Unit takes = changed("k", "b");
  takes.taken_here = {{0, 0}, {0, 2}};
  const auto outcomes = commit({sends, takes});
  EXPECT_EQ(outcomes[1].kind, Outcome::committed);
  const auto all = claimed({.kind = Claim::Kind::inbox, .max = 9});
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].messages.size(), 1U);
  EXPECT_EQ(all[0].messages[0].body, "2");
}

TEST_P(BatchTest, ARecordOfTheSameBatchTakesWhatItWasSent) {
  Unit sends = created("sender");
  sends.created = {created("new").record};
  sends.sent = {{sends.created[0].record.id, "1"}};
  Unit takes;
  takes.record = sends.created[0];
  takes.record.writes_before = 1;
  takes.record.record.writes = 2;
  takes.record.record.revision = 2;
  takes.record.entries[0].seq = 2;
  takes.taken_here = {{0, 0}};
  EXPECT_EQ(commit({sends, takes})[1].kind, Outcome::committed);
  EXPECT_EQ(stored("new").writes, 2);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
}

TEST_P(BatchTest, WhereTheSenderIsLostSoIsTheTaker) {
  commit(created("k"));
  commit(created("sender"));
  Unit sends = changed("sender", "b");
  --sends.record.fence_before;
  sends.sent = {{stored("k").id, "1"}};
  Unit takes = changed("k", "b");
  takes.taken_here = {{0, 0}};
  const auto outcomes = commit({sends, takes});
  EXPECT_EQ(outcomes[0].kind, Outcome::lost_race);
  EXPECT_EQ(outcomes[1].kind, Outcome::lost_race);
  EXPECT_EQ(stored("k").state, "a");
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
}

TEST_P(BatchTest, WhereOnlyTheTakerIsLostTheMessageStays) {
  commit(created("k"));
  Unit sends = created("sender");
  sends.sent = {{stored("k").id, "1"}};
  Unit takes = changed("k", "b");
  takes.taken_here = {{0, 0}};
  ++takes.record.writes_before;
  const auto outcomes = commit({sends, takes});
  EXPECT_EQ(outcomes[0].kind, Outcome::committed);
  EXPECT_EQ(outcomes[1].kind, Outcome::lost_race);
  const auto all = claimed({.kind = Claim::Kind::inbox});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].messages[0].body, "1");
  Unit again = changed("k", "b");
  again.taken = {all[0].messages[0].id};
  EXPECT_EQ(commit(again).kind, Outcome::committed);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
}

TEST_P(BatchTest, AMessageOfTheSameBatchIsTakenOnce) {
  commit(created("k"));
  Unit sends = created("sender");
  sends.sent = {{stored("k").id, "1"}};
  Unit takes = changed("k", "b");
  takes.taken_here = {{0, 0}};
  Unit again = created("other");
  again.taken_here = {{0, 0}};
  const auto outcomes = commit({sends, takes, again});
  EXPECT_EQ(outcomes[1].kind, Outcome::committed);
  EXPECT_EQ(outcomes[2].kind, Outcome::lost_race);
  EXPECT_EQ(stored("other").id.value, 0U);
}

TEST_P(BatchTest, AMessageToNobodyCannotBeTaken) {
  Unit sends = created("sender");
  sends.sent = {{RecordId{99}, "1"}};
  Unit takes = created("k");
  takes.taken_here = {{0, 0}};
  EXPECT_EQ(commit({sends, takes})[1].kind, Outcome::lost_race);
  EXPECT_EQ(stored("k").id.value, 0U);
}

TEST_P(BatchTest, APurgeTakesTheMessagesOfItsBatchAlong) {
  commit(created("k"));
  Unit sends = created("sender");
  sends.sent = {{stored("k").id, "1"}, {stored("k").id, "2"}};
  Unit purges = changed("k", "a");
  purges.record.entries.clear();
  purges.record.purges = true;
  purges.taken_here = {{0, 1}};
  Unit late = created("late");
  late.taken_here = {{0, 0}};
  Unit sends_again = created("again");
  sends_again.sent = {{stored("k").id, "3"}};
  const auto outcomes = commit({sends, purges, late, sends_again});
  EXPECT_EQ(outcomes[1].kind, Outcome::committed);
  EXPECT_EQ(outcomes[2].kind, Outcome::lost_race);
  EXPECT_EQ(outcomes[3].kind, Outcome::committed);
  EXPECT_EQ(stored("k").id.value, 0U);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
  EXPECT_EQ(next_due({}), std::nullopt);
}

// --- attempts, slots, requests -----------------------------------------------------------------

TEST_P(BatchTest, ABeatExtendsTheLiveAttemptOnly) {
  Unit unit = created("k");
  Record& record = unit.record.record;
  record.fence = 7;
  record.wake_at = now + seconds{30};
  record.running = Attempt{.lease_until = now + seconds{30}, .deadline_at = now + minutes{5}};
  commit(unit);
  const Beat beat{.record = record.id,
                  .fence = 7,
                  .lease_until = now + seconds{50},
                  .wake_at = now + seconds{50},
                  .progress = R"({"page":1})"};
  Beat stale = beat;
  stale.fence = 6;
  Beat unknown = beat;
  unknown.record = {99};
  EXPECT_EQ(*store->extend(std::vector{beat, stale, unknown}),
            (std::vector<bool>{true, false, false}));
  const Record after = stored("k");
  EXPECT_EQ(after.running->lease_until, now + seconds{50});
  EXPECT_EQ(after.running->progress, R"({"page":1})");
  EXPECT_EQ(after.writes, record.writes);
  EXPECT_EQ(next_due({}), now + seconds{50});
  Unit ends = changed("k", "b");
  ends.record.record.running.reset();
  ends.record.record.wake_at.reset();
  EXPECT_EQ(commit(ends).kind, Outcome::committed);
  EXPECT_EQ(*store->extend(std::vector{beat}), std::vector<bool>{false});
}

TEST_P(BatchTest, SlotsAreTakenByTheRecordsThatNameThem) {
  Unit unit = created("k");
  unit.record.slots = {"pay", "pay/eu"};
  Unit other = created("other");
  other.record.slots = {"pay"};
  commit({unit, other});
  EXPECT_EQ(slot("pay").taken, 2);
  EXPECT_EQ(slot("pay/eu").taken, 1);
  EXPECT_EQ(slot("none").taken, 0);
  commit(changed("k", "b"));
  EXPECT_EQ(slot("pay").taken, 1);
  EXPECT_EQ(slot("pay/eu").taken, 0);
}

TEST_P(BatchTest, RatesAreKept) {
  Unit unit = created("k");
  unit.rates = {{"pay", now, 3}};
  commit(unit);
  EXPECT_EQ(slot("pay").rate, (RateWindow{"pay", now, 3}));
  EXPECT_EQ(slot("none").rate, RateWindow{"none"});
}

TEST_P(BatchTest, AnswersAreRememberedUntilTheyAreForgotten) {
  Unit unit = created("k");
  unit.idempotency_key = "one";
  unit.remembered = {.content = 5, .answer = R"({"kind":0})"};
  commit(unit);
  EXPECT_EQ(remembered("k", "one"), unit.remembered);
  EXPECT_EQ(remembered("k", "two"), std::nullopt);
  EXPECT_EQ(remembered("other", "one"), std::nullopt);
  now += minutes{1};
  Unit later = changed("k", "b");
  later.idempotency_key = "two";
  commit(later);
  EXPECT_EQ(*store->forget_requests(now, 9), 1U);
  EXPECT_EQ(remembered("k", "one"), std::nullopt);
  EXPECT_NE(remembered("k", "two"), std::nullopt);
}

// --- what goes ---------------------------------------------------------------------------------

TEST_P(BatchTest, ErasingLeavesTheSkeletonOfTheLog) {
  commit(created("k"));
  Unit unit = changed("k", "a");
  unit.record.erases = true;
  unit.record.record.data = "{}";
  commit(unit);
  const auto log = log_of("k");
  ASSERT_EQ(log.size(), 2U);
  EXPECT_EQ(log[0].input, "");
  EXPECT_EQ(log[0].changes, "");
  EXPECT_EQ(log[0].to, "a");
  EXPECT_EQ(log[1], unit.record.entries[0]);
}

TEST_P(BatchTest, ACompactedEntryTakesThePlaceOfOlderOnes) {
  commit(created("k"));
  commit(changed("k", "b"));
  commit(changed("k", "c"));
  Unit unit = changed("k", "d");
  const Entry compacted{.seq = 2, .kind = Entry::Kind::compacted, .to = "b", .changes = "{}"};
  unit.record.compacted = compacted;
  commit(unit);
  const auto log = log_of("k");
  ASSERT_EQ(log.size(), 3U);
  EXPECT_EQ(log[0], compacted);
  EXPECT_EQ(log[1].seq, 3);
  EXPECT_EQ(log[2].seq, 4);
}

TEST_P(BatchTest, APurgedRecordLeavesNothingAndItsNameLivesAgain) {
  Unit first = created("k");
  first.idempotency_key = "one";
  first.record.record.wake_at = now;
  first.record.slots = {"pay"};
  first.sent = {{first.record.record.id, "1"}};
  commit(first);
  Unit stale = changed("k", "a");
  stale.record.purges = true;
  --stale.record.writes_before;
  stale.record.writes_before = 9;
  EXPECT_EQ(commit(stale).kind, Outcome::lost_race);
  Unit unit = changed("k", "a");
  unit.record.entries.clear();
  unit.record.purges = true;
  EXPECT_EQ(commit(unit).kind, Outcome::committed);
  EXPECT_EQ(stored("k").id.value, 0U);
  EXPECT_EQ(slot("pay").taken, 0);
  EXPECT_EQ(remembered("k", "one"), std::nullopt);
  EXPECT_TRUE(claimed({.kind = Claim::Kind::inbox}).empty());
  EXPECT_TRUE(claimed({.kind = Claim::Kind::due}).empty());
  EXPECT_TRUE(store->log(first.record.record.id, {}, 9)->items.empty());
  EXPECT_TRUE(store->counts()->states.empty());
  const Unit again = created("k");
  EXPECT_EQ(commit(again).kind, Outcome::committed);
  EXPECT_EQ(store->last_id()->value, again.record.record.id.value);
}

TEST_P(BatchTest, TheLastIdIsKnownAfterItsRecordIsGone) {
  const Unit created_one = created("k");
  commit(created_one);
  Unit unit = changed("k", "a");
  unit.record.purges = true;
  commit(unit);
  EXPECT_EQ(*store->last_id(), created_one.record.record.id);
}

}  // namespace
}  // namespace pawl
