#include "store/sqlite/reading.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "pawl/assert.h"
#include "store/query.h"
#include "store/sqlite/tables.h"

namespace pawl::sqlite {
namespace {

std::int64_t page_size(std::size_t max) {
  return static_cast<std::int64_t>(std::clamp<std::size_t>(max, 1, kPageMax));
}

std::string select(const char* from) {
  return std::string("SELECT key") + Tables::kColumnsAfterKey + " FROM " + from;
}

// The mark that leaves the fewest records to look at.
std::optional<Label> mark_of(const Query& query) {
  if (query.label) return query.label;
  if (query.parent) return Label{kParentMark, std::to_string(query.parent->value)};
  if (query.held == true) return Label{kHeldMark, ""};
  if (!query.error_code.empty()) return Label{kErrorMark, query.error_code};
  return std::nullopt;
}

// Every row becomes an item.
template <class T, class Make>
Result<std::vector<T>> all(Rows rows, Make make) {
  std::vector<T> items;
  for (;;) {
    PAWL_TRY(const bool found, rows.next());
    if (!found) return items;
    items.push_back(make(rows));
  }
}

}  // namespace

// --- records -----------------------------------------------------------------------------------

Result<Rows> Reading::rows(const Query& query, const std::optional<Label>& mark,
                           const Cursor& from) {
  switch (order_of(query)) {
    case ListOrder::by_key: {
      static const std::string first =
          select("record WHERE machine = ?1 AND key >= ?2 ORDER BY key");
      static const std::string further =
          select("record WHERE machine = ?1 AND key > ?2 ORDER BY key");
      PAWL_TRY(const std::int64_t machine, words_.number(query.machine));
      if (from.empty()) return db_.query(first.c_str(), machine, query.key_prefix);
      return db_.query(further.c_str(), machine, from);
    }
    case ListOrder::by_creation: {
      static const std::string sql = select(
          "record INDEXED BY record_created WHERE (created_at, id) > (?1, ?2) AND "
          "created_at < ?3 ORDER BY created_at, id");
      PAWL_TRY(CreationPlace after, read_creation(from));
      if (query.created_from && after.at < *query.created_from) after = {*query.created_from, 0};
      return db_.query(sql.c_str(), after.at, after.id, query.created_before.value_or(kInstantMax));
    }
    case ListOrder::by_id:
      break;
  }
  PAWL_TRY(const std::int64_t after, read_number(from));
  if (mark) {
    static const std::string sql = select(
        "mark JOIN record ON record.id = mark.record WHERE name = ?1 AND value = ?2 AND "
        "mark.record > ?3 ORDER BY mark.record");
    return db_.query(sql.c_str(), mark->name, mark->value, after);
  }
  static const std::string sql = select("record WHERE id > ?1 ORDER BY id");
  return db_.query(sql.c_str(), after);
}

Result<Page<Record>> Reading::list(const Query& query, const Cursor& from) {
  const std::lock_guard lock(mutex_);
  const std::optional<Label> mark = mark_of(query);
  PAWL_TRY(Rows found, rows(query, mark, from));
  Record record;
  return fill_page(query, [&]() -> Result<const Record*> {
    PAWL_TRY(const bool more, found.next());
    if (!more) return nullptr;
    record = {};
    Kept kept;
    PAWL_CHECK(Tables::read(found, words_, record, kept));
    if (!record.key.starts_with(query.key_prefix)) return nullptr;  // beyond the prefix
    return &record;
  });
}

// --- the log -----------------------------------------------------------------------------------

Result<Page<Entry>> Reading::log(RecordId record, const Cursor& from, std::size_t max) {
  PAWL_TRY(const std::int64_t after, read_number(from));
  const std::lock_guard lock(mutex_);
  static const std::string sql = std::string("SELECT ") + Tables::kEntryColumns +
                                 " FROM log WHERE record = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
  PAWL_TRY(Rows found, db_.query(sql.c_str(), record.value, after, page_size(max) + 1));
  Page<Entry> page;
  for (;;) {
    PAWL_TRY(const bool more, found.next());
    if (!more) return page;
    if (std::ssize(page.items) == page_size(max)) {
      page.next = std::to_string(page.items.back().seq);
      return page;
    }
    PAWL_TRY(Entry entry, Tables::entry_of(found));
    page.items.push_back(std::move(entry));
  }
}

// The end of the feed is a place as well: what comes later is read from there. Names come from
// records that are read as a whole: only so their checksum says whether they are right.
Result<Page<LoggedEntry>> Reading::feed(const Cursor& from, std::size_t max) {
  if (from == kFeedEnd) return feed_end();
  PAWL_TRY(std::int64_t last, read_number(from));
  const std::lock_guard lock(mutex_);
  static const std::string sql = std::string("SELECT ") + Tables::kEntryColumns +
                                 " FROM log WHERE position > ?1 ORDER BY position LIMIT ?2";
  PAWL_TRY(Rows found, db_.query(sql.c_str(), last, page_size(max)));
  std::unordered_map<std::uint64_t, RecordName> names;
  Page<LoggedEntry> page;
  for (;;) {
    PAWL_TRY(const bool more, found.next());
    if (!more) break;
    PAWL_TRY(Entry entry, Tables::entry_of(found));
    const RecordId record{static_cast<std::uint64_t>(found.integer(2))};
    auto [name, is_new] = names.try_emplace(record.value);
    if (is_new) {
      PAWL_TRY(name->second, name_of(record));
    }
    page.items.push_back({record, name->second, std::move(entry)});
    last = found.integer(3);
  }
  if (page.items.empty()) {
    PAWL_TRY(const std::int64_t end, last_position());
    PAWL_CHECK(check_feed_place(last, end));
  }
  page.next = std::to_string(last);
  return page;
}

Result<Page<LoggedEntry>> Reading::feed_end() {
  const std::lock_guard lock(mutex_);
  PAWL_TRY(const std::int64_t end, last_position());
  return Page<LoggedEntry>{.next = std::to_string(end)};
}

// What was removed is not in the log any more; places behind it stay good.
Result<std::int64_t> Reading::last_position() {
  return db_.integer("SELECT position FROM counter");
}

Result<RecordName> Reading::name_of(RecordId record) {
  Record found;
  Kept kept;
  PAWL_TRY(const bool is_there, Tables(db_).find(record, found, kept));
  if (!is_there)
    return Error{
        ErrorCode::damaged,
        "record " + std::to_string(record.value) +
            " has log entries but does not exist: run `pawl verify`, then restore a backup"};
  return RecordName{std::move(found.machine), std::move(found.key)};
}

// --- the rest ----------------------------------------------------------------------------------

Result<Counts> Reading::counts() {
  const std::lock_guard lock(mutex_);
  Counts counts;
  PAWL_TRY(Rows states, db_.query("SELECT machine, state, records, held FROM state_count "
                                  "WHERE records > 0 ORDER BY machine, state"));
  PAWL_TRY(counts.states, all<StateCount>(std::move(states), [](const Rows& row) {
             return StateCount{std::string(row.text(0)), std::string(row.text(1)), row.integer(2),
                               row.integer(3)};
           }));
  // As unsigned numbers, which SQLite does not know: those with the first bit come last.
  PAWL_TRY(
      Rows errors,
      db_.query("SELECT machine, state, code, fingerprint, count, first_at, last_at, message "
                "FROM error_count ORDER BY machine, state, code, fingerprint < 0, fingerprint"));
  PAWL_TRY(counts.errors, all<ErrorCount>(std::move(errors), [](const Rows& row) {
             return ErrorCount{std::string(row.text(0)), std::string(row.text(1)),
                               std::string(row.text(2)), static_cast<std::uint64_t>(row.integer(3)),
                               row.integer(4),           row.instant(5),
                               row.instant(6),           std::string(row.text(7))};
           }));
  return counts;
}

Result<RecordId> Reading::last_id() {
  const std::lock_guard lock(mutex_);
  PAWL_TRY(const std::int64_t id, db_.integer("SELECT record FROM counter"));
  return RecordId{static_cast<std::uint64_t>(id)};
}

Result<std::optional<StoredMachine>> Reading::machine(const std::string& name, int version) {
  const std::lock_guard lock(mutex_);
  PAWL_TRY(Rows rows, db_.query("SELECT text, applied_at, applied_by FROM machine "
                                "WHERE name = ?1 AND version = ?2",
                                name, version));
  PAWL_TRY(const bool found, rows.next());
  if (!found) return std::optional<StoredMachine>();
  return std::optional(StoredMachine{name, version, std::string(rows.text(0)),
                                     Instant{Duration{rows.integer(1)}},
                                     std::string(rows.text(2))});
}

Result<std::vector<StoredMachine>> Reading::machines() {
  const std::lock_guard lock(mutex_);
  PAWL_TRY(Rows rows, db_.query("SELECT name, version, applied_at, applied_by FROM machine "
                                "ORDER BY name, version"));
  return all<StoredMachine>(std::move(rows), [](const Rows& row) {
    return StoredMachine{std::string(row.text(0)), static_cast<int>(row.integer(1)), "",
                         Instant{Duration{row.integer(2)}}, std::string(row.text(3))};
  });
}

// From one queue to the next, whatever waits in them.
Result<std::vector<std::string>> Reading::queues() {
  const std::lock_guard lock(mutex_);
  PAWL_TRY(
      Rows rows,
      db_.query("WITH RECURSIVE next(queue) AS (SELECT min(queue) FROM due WHERE queue > 0 "
                "UNION ALL SELECT (SELECT min(queue) FROM due WHERE queue > next.queue) FROM "
                "next WHERE queue IS NOT NULL) SELECT queue FROM next WHERE queue IS NOT NULL"));
  std::vector<std::string> names;
  for (;;) {
    PAWL_TRY(const bool found, rows.next());
    if (!found) break;
    PAWL_TRY(const std::string_view name, words_.text(rows.integer(0)));
    names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<Setting>> Reading::settings(const std::string& prefix) {
  const std::lock_guard lock(mutex_);
  PAWL_TRY(Rows rows, db_.query("SELECT name, value, revision FROM setting "
                                "WHERE substr(name, 1, length(?1)) = ?1 AND value <> '' "
                                "ORDER BY name",
                                prefix));
  return all<Setting>(std::move(rows), [](const Rows& row) {
    return Setting{std::string(row.text(0)), std::string(row.text(1)), row.integer(2)};
  });
}

}  // namespace pawl::sqlite
