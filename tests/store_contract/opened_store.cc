#include "opened_store.h"

#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

template <class T>
T must(Result<T> result) {
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return *std::move(result);
}

Entry next_entry(const Record& record, const std::string& to, Instant at) {
  return {.seq = record.revision + 1,
          .at = at,
          .kind = record.revision == 0 ? Entry::Kind::created : Entry::Kind::event,
          .from = record.state,
          .to = to,
          .actor = {.name = "eve"},
          .input = R"({"fire":{}})",
          .changes = R"({"state":")" + to + "\"}"};
}

void move(Unit& unit, const std::string& to, Instant now) {
  Record& record = unit.record.record;
  unit.record.entries = {next_entry(record, to, now)};
  record.state = to;
  record.entered_at = now;
  record.changed_at = now;
  ++record.revision;
  ++record.writes;
}

std::unique_ptr<Store> open_in_temporary_directory(std::function<Instant()> clock) {
  static const TemporaryDirectory directory;
  static int count = 0;
  return must(open_sqlite_store({.directory = directory.path() / std::to_string(++count),
                                 .clock = std::move(clock),
                                 .claim_window = 3}));  // so that there is something behind it
}

}  // namespace

std::vector<StoreKind> store_kinds() {
  return {{"memory", open_memory_store}, {"sqlite", open_in_temporary_directory}};
}

Unit StoreTest::created(const std::string& key, const std::string& state) {
  Unit unit;
  unit.record.record = {
      .id = {++last_id_}, .machine = "order", .key = key, .created_at = now, .data = R"({"n":1})"};
  move(unit, state, now);
  return unit;
}

Unit StoreTest::changed(const std::string& key, const std::string& state) {
  Unit unit;
  Record& record = unit.record.record;
  record = stored(key);
  EXPECT_NE(record.id.value, 0U) << key;
  unit.record.writes_before = record.writes;
  unit.record.fence_before = record.fence;
  move(unit, state, now);
  return unit;
}

UnitOutcome StoreTest::commit(const Unit& unit) { return commit(std::vector{unit}).front(); }

std::vector<UnitOutcome> StoreTest::commit(const std::vector<Unit>& units) {
  return must(must(store->begin())->commit(units));
}

Record StoreTest::stored(const std::string& key) {
  const std::vector<RecordName> names{{"order", key}};
  return must(must(store->begin())->load(names)).front();
}

Record StoreTest::stored(RecordId id) {
  const std::vector<RecordId> ids{id};
  return must(must(store->begin())->load(ids)).front();
}

std::vector<std::string> StoreTest::keys_claimed(const std::vector<Claim>& claims) {
  std::vector<std::string> keys;
  for (const Claimed& one : must(must(store->begin())->claim(claims)))
    keys.push_back(one.record.key);
  return keys;
}

std::vector<Claimed> StoreTest::claimed(const Claim& claim) {
  return must(must(store->begin())->claim(std::vector{claim}));
}

// By pages, to the end.
std::vector<std::string> StoreTest::keys_listed(Query query) {
  std::vector<std::string> keys;
  Cursor from;
  do {
    const Page<Record> page = must(store->list(query, from));
    EXPECT_LE(page.items.size(), query.max);
    for (const Record& record : page.items) keys.push_back(record.key);
    from = page.next;
  } while (!from.empty());
  return keys;
}

std::vector<Entry> StoreTest::log_of(const std::string& key) {
  return must(store->log(stored(key).id, {}, kPageMax)).items;
}

}  // namespace pawl
