#include "store/sqlite/tables.h"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>

#include "base/checksum.h"
#include "model/codec.h"

namespace pawl::sqlite {
namespace {

// Names of slots have no line breaks.
std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append("\n");
  return text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Names that are looked for with one statement.
constexpr std::size_t kNamesAtOnce = 16;

// (key, machine, place), …
std::string numbered_names() {
  std::string rows;
  for (std::size_t i = 0; i < kNamesAtOnce; ++i)
    rows += (i == 0 ? "(?,?," : ",(?,?,") + std::to_string(i) + ")";
  return rows;
}

constexpr std::int64_t kNoInstant = std::numeric_limits<std::int64_t>::min();

std::int64_t number_of(const std::optional<Instant>& at) {
  return at ? at->time_since_epoch().count() : kNoInstant;
}

// Nothing is cheaper to keep than an empty text.
std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// Over everything that is not derived from something else.
std::uint64_t record_sum(const Record& record, const Named& named, std::string_view slots,
                         std::string_view more) {
  const std::array<std::int64_t, 15> numbers{static_cast<std::int64_t>(record.id.value),
                                             named.machine,
                                             named.state,
                                             named.queue,
                                             number_of(record.created_at),
                                             number_of(record.entered_at),
                                             number_of(record.changed_at),
                                             record.revision,
                                             record.writes,
                                             record.fence,
                                             record.priority,
                                             number_of(record.ready_at),
                                             number_of(record.wake_at),
                                             std::ssize(slots),
                                             std::ssize(more)};
  std::uint64_t sum = checksum({reinterpret_cast<const char*>(numbers.data()), sizeof numbers});
  for (const std::string_view text :
       {std::string_view(record.key), std::string_view(record.data), slots, more})
    if (!text.empty()) sum = checksum(text, sum);
  return sum;
}
std::uint64_t entry_sum(std::uint64_t record, std::int64_t position, std::string_view body) {
  return checksum(body, record ^ static_cast<std::uint64_t>(position) << 32U);
}

}  // namespace

// --- words -------------------------------------------------------------------------------------

namespace {

Error damaged_word(std::int64_t number) {
  return {ErrorCode::damaged, "word " + std::to_string(number) +
                                  " is damaged: run `pawl verify`, then restore a backup"};
}

}  // namespace

Result<std::int64_t> Words::number(const std::string& text) {
  if (text.empty()) return std::int64_t{0};
  if (const auto known = numbers_.find(text); known != numbers_.end()) return known->second;
  PAWL_TRY(Rows rows, db_.query("SELECT id, sum FROM word WHERE text = ?1", text));
  PAWL_TRY(const bool found, rows.next());
  if (!found) return kNoWord;
  if (static_cast<std::uint64_t>(rows.integer(1)) != checksum(text))
    return damaged_word(rows.integer(0));
  return numbers_[text] = rows.integer(0);
}

Result<std::int64_t> Words::give_number(const std::string& text) {
  PAWL_TRY(const std::int64_t given, number(text));
  if (given != kNoWord) return given;
  PAWL_CHECK(db_.run("INSERT INTO word VALUES(NULL, ?1, ?2)", text, checksum(text)));
  return numbers_[text] = sqlite3_last_insert_rowid(db_.handle());
}

Result<std::string_view> Words::text(std::int64_t number) {
  if (number == 0) return std::string_view();
  if (const auto known = texts_.find(number); known != texts_.end())
    return std::string_view(known->second);
  std::string text;
  {
    PAWL_TRY(Rows rows, db_.query("SELECT text, sum FROM word WHERE id = ?1", number));
    PAWL_TRY(const bool found, rows.next());
    if (!found || static_cast<std::uint64_t>(rows.integer(1)) != checksum(rows.text(0)))
      return damaged_word(number);
    text = rows.text(0);
  }
  // The number is not in the checksum; the index by text has it a second time.
  PAWL_TRY(const std::int64_t by_text, this->number(text));
  if (by_text != number) return damaged_word(number);
  return std::string_view(texts_[number] = std::move(text));
}

void Words::forget() {
  numbers_.clear();
  texts_.clear();
}

void Tables::forget() {
  words_.forget();
  claim_window_.forget();
  is_inbox_empty_ = false;
}

Result<Named> Tables::named(const Record& record, const std::string& queue) {
  Named named;
  PAWL_TRY(named.machine, words_.give_number(record.machine));
  PAWL_TRY(named.state, words_.give_number(record.state));
  PAWL_TRY(named.queue, words_.give_number(queue));
  return named;
}

// --- what stands beside ------------------------------------------------------------------------

Beside beside(const Record& record, const Named& named, std::vector<std::string> slots) {
  Beside beside{.named = named,
                .held = record.hold.has_value(),
                .marks = record.labels,
                .slots = std::move(slots)};
  if (record.parent) beside.marks.push_back({kParentMark, std::to_string(record.parent->id.value)});
  if (record.hold) beside.marks.push_back({kHeldMark, ""});
  if (record.error) beside.marks.push_back({kErrorMark, record.error->code});
  if (record.ready_at)
    beside.ready = {named.queue, record.priority, *record.ready_at, record.id.value};
  if (record.wake_at) beside.wake = wake_of(record);
  if (record.remove_at) beside.removal = {0, kRemovals, *record.remove_at, record.id.value};
  return beside;
}

// --- records -----------------------------------------------------------------------------------

// Into a record that is new.
Result<void> Tables::read(const Rows& rows, Words& words, Record& record, Kept& kept) {
  record.key = rows.text(0);
  record.id.value = static_cast<std::uint64_t>(rows.integer(1));
  kept.named = {rows.integer(2), rows.integer(3), rows.integer(13)};
  record.created_at = rows.instant(4);
  record.entered_at = rows.instant(5);
  record.changed_at = rows.instant(6);
  record.revision = rows.integer(7);
  record.writes = rows.integer(8);
  record.fence = rows.integer(9);
  record.priority = static_cast<int>(rows.integer(10));
  if (!rows.is_null(11)) record.ready_at = rows.instant(11);
  if (!rows.is_null(12)) record.wake_at = rows.instant(12);
  const std::string_view slots = rows.text(14);
  record.data = rows.text(15);
  const std::string_view more = rows.text(16);
  if (static_cast<std::uint64_t>(rows.integer(17)) != record_sum(record, kept.named, slots, more))
    return Error{ErrorCode::damaged, "the row of record " + std::to_string(record.id.value) +
                                         " is damaged: run `pawl verify`, then restore a backup"};
  PAWL_TRY(record.machine, words.text(kept.named.machine));
  PAWL_TRY(record.state, words.text(kept.named.state));
  kept.slots = lines_of(slots);
  if (!more.empty()) read_sparse(more, record);
  return {};
}

Result<bool> Tables::find(RecordId id, Record& record, Kept& kept) {
  if (cache_.take(id, record, kept)) return true;
  static const std::string sql =
      std::string("SELECT key") + kColumnsAfterKey + " FROM record WHERE id = ?1";
  PAWL_TRY(Rows rows, db_.query(sql.c_str(), id.value));
  PAWL_TRY(const bool found, rows.next());
  if (found) PAWL_CHECK(read(rows, words_, record, kept));
  return found;
}

Result<void> Tables::find(std::span<const RecordName> names, std::span<Record> records,
                          std::span<Kept> kept) {
  std::vector<Wanted> wanted;
  for (std::size_t i = 0; i < names.size(); ++i) {
    PAWL_TRY(const std::int64_t machine, words_.number(names[i].machine));
    if (!cache_.take(machine, names[i].key, records[i], kept[i]))
      wanted.push_back({names[i].key, machine, i});
  }
  std::span<const Wanted> left(wanted);
  for (; left.size() >= kNamesAtOnce; left = left.subspan(kNamesAtOnce))
    PAWL_CHECK(find_several(left.first(kNamesAtOnce), records, kept));
  for (const Wanted& one : left) PAWL_CHECK(find_one(one, records[one.place], kept[one.place]));
  return {};
}

Result<void> Tables::find_several(std::span<const Wanted> wanted, std::span<Record> records,
                                  std::span<Kept> kept) {
  static const std::string sql =
      "WITH name(of_key, in_machine, place) AS (VALUES" + numbered_names() + ") SELECT of_key" +
      kColumnsAfterKey +
      ", place FROM name CROSS JOIN record ON machine = in_machine AND key = of_key";
  constexpr int kPlaceColumn = 18;
  PAWL_TRY(Rows rows, db_.query_rows(sql.c_str(), wanted, [](const Wanted& one) {
    return std::tuple(one.key, one.machine);
  }));
  for (;;) {
    PAWL_TRY(const bool found, rows.next());
    if (!found) return {};
    const std::size_t place = wanted[static_cast<std::size_t>(rows.integer(kPlaceColumn))].place;
    PAWL_CHECK(read(rows, words_, records[place], kept[place]));
  }
}

// Gives its key back as it was asked for: that one need not be copied from a page.
Result<void> Tables::find_one(const Wanted& wanted, Record& record, Kept& kept) {
  static const std::string sql =
      std::string("SELECT ?2") + kColumnsAfterKey + " FROM record WHERE machine = ?1 AND key = ?2";
  PAWL_TRY(Rows rows, db_.query(sql.c_str(), wanted.machine, wanted.key));
  PAWL_TRY(const bool found, rows.next());
  if (!found) return {};
  return read(rows, words_, record, kept);
}

Result<bool> Tables::has_record(RecordId id) {
  PAWL_TRY(Rows rows, db_.query("SELECT 1 FROM record WHERE id = ?1", id.value));
  return rows.next();
}

Result<bool> Tables::has_record(const RecordName& name) {
  PAWL_TRY(const std::int64_t machine, words_.number(name.machine));
  PAWL_TRY(Rows rows,
           db_.query("SELECT 1 FROM record WHERE machine = ?1 AND key = ?2", machine, name.key));
  return rows.next();
}

NewRecord Tables::new_record(const Record& record, const Named& named,
                             const std::vector<std::string>& slots) {
  NewRecord row{&record, named, joined_lines(slots), "", 0};
  append_sparse(row.more, record);
  if (row.more == "{}") row.more.clear();
  row.sum = record_sum(record, named, row.slots, row.more);
  return row;
}

Result<void> Tables::insert(std::span<const NewRecord> records) {
  static const Insert into("record", 18);
  return db_.insert(into, records, [](const NewRecord& row) {
    const Record& record = *row.record;
    return std::tuple(record.id.value, row.named.machine, std::string_view(record.key),
                      row.named.state, record.created_at, record.entered_at, record.changed_at,
                      record.revision, record.writes, record.fence, record.priority,
                      record.ready_at, record.wake_at, row.named.queue, unless_empty(row.slots),
                      std::string_view(record.data), unless_empty(row.more), row.sum);
  });
}

Result<void> Tables::update(const Record& record, const Named& named,
                            const std::vector<std::string>& slots) {
  const NewRecord row = new_record(record, named, slots);
  return db_.run(
      "UPDATE record SET state = ?2, entered_at = ?3, changed_at = ?4, revision = ?5, "
      "writes = ?6, fence = ?7, priority = ?8, ready_at = ?9, wake_at = ?10, queue = "
      "?11, slots = ?12, data = ?13, more = ?14, sum = ?15 WHERE id = ?1",
      record.id.value, named.state, record.entered_at, record.changed_at, record.revision,
      record.writes, record.fence, record.priority, record.ready_at, record.wake_at, named.queue,
      unless_empty(row.slots), record.data, unless_empty(row.more), row.sum);
}

Result<void> Tables::remove(RecordId id) {
  return db_.run("DELETE FROM record WHERE id = ?1", id.value);
}

Result<void> Tables::remove_belongings(RecordId id, const RecordName& name) {
  PAWL_CHECK(write_entries());
  PAWL_CHECK(db_.run("DELETE FROM log WHERE record = ?1", id.value));
  PAWL_CHECK(db_.run("DELETE FROM inbox WHERE record = ?1", id.value));
  return db_.run("DELETE FROM request WHERE machine = ?1 AND key = ?2", name.machine, name.key);
}

// --- what is derived from records --------------------------------------------------------------

Result<bool> Tables::has_due(const Due& due) {
  PAWL_TRY(Rows rows, db_.query("SELECT 1 FROM due WHERE queue = ?1 AND priority = ?2 AND at = ?3 "
                                "AND record = ?4",
                                due.queue, due.priority, due.at, due.record));
  return rows.next();
}
Result<bool> Tables::has_mark(RecordId id, const Label& mark) {
  PAWL_TRY(Rows rows, db_.query("SELECT 1 FROM mark WHERE name = ?1 AND value = ?2 AND record = ?3",
                                mark.name, mark.value, id.value));
  return rows.next();
}
Result<void> Tables::add_dues(std::span<const Due> dues) {
  static const Insert into("due", 4);
  PAWL_CHECK(db_.insert(into, dues, [](const Due& due) {
    return std::tuple(due.queue, due.priority, due.at, due.record);
  }));
  for (const Due& due : dues) claim_window_.added(due);
  return {};
}
Result<void> Tables::remove_due(const Due& due) {
  PAWL_CHECK(
      db_.run("DELETE FROM due WHERE queue = ?1 AND priority = ?2 AND at = ?3 AND record = ?4",
              due.queue, due.priority, due.at, due.record));
  claim_window_.removed(due);
  return {};
}
Result<void> Tables::add_mark(RecordId id, const Label& mark) {
  return db_.run("INSERT INTO mark VALUES(?1, ?2, ?3)", mark.name, mark.value, id.value);
}
Result<void> Tables::remove_mark(RecordId id, const Label& mark) {
  return db_.run("DELETE FROM mark WHERE name = ?1 AND value = ?2 AND record = ?3", mark.name,
                 mark.value, id.value);
}
Result<void> Tables::add_to_slot(const std::string& slot, int by) {
  return db_.run(
      "INSERT INTO slot VALUES(?1, ?2, 0, 0) "
      "ON CONFLICT(name) DO UPDATE SET taken = taken + ?2",
      slot, by);
}
Result<void> Tables::add_to_count(const Named& named, int records, int held) {
  PAWL_TRY(const std::string_view machine, words_.text(named.machine));
  PAWL_TRY(const std::string_view state, words_.text(named.state));
  return db_.run(
      "INSERT INTO state_count VALUES(?1, ?2, ?3, ?4) ON CONFLICT(machine, state) "
      "DO UPDATE SET records = records + ?3, held = held + ?4",
      machine, state, records, held);
}

// --- the log -----------------------------------------------------------------------------------

Result<Entry> Tables::entry_of(const Rows& rows) {
  const std::string_view body = rows.text(0);
  const auto record = static_cast<std::uint64_t>(rows.integer(2));
  const std::int64_t position = rows.integer(3);
  if (static_cast<std::uint64_t>(rows.integer(1)) != entry_sum(record, position, body))
    return Error{ErrorCode::damaged, "an entry in the log of record " + std::to_string(record) +
                                         " (position " + std::to_string(position) +
                                         ") is damaged: run `pawl verify`, then restore a backup"};
  return read_entry(body);
}

Result<void> Tables::add_entry(std::int64_t position, RecordId record, const Entry& entry) {
  NewEntry& row = entries_[entries_waiting_++];
  row.position = position;
  row.record = record.value;
  row.seq = entry.seq;
  row.body.clear();
  append_entry(row.body, entry);
  row.sum = entry_sum(record.value, position, row.body);
  if (entries_waiting_ < entries_.size()) return {};
  return write_entries();
}

Result<void> Tables::write_entries() {
  static const Insert into("log", 5);
  const std::span rows(entries_.data(), std::exchange(entries_waiting_, 0));
  return db_.insert(into, std::span<const NewEntry>(rows), [](const NewEntry& row) {
    return std::tuple(row.position, row.record, row.seq, std::string_view(row.body), row.sum);
  });
}

Result<void> Tables::count_error(const Record& record, const Entry& entry) {
  if (!entry.error) return {};
  const Failure& error = *entry.error;
  return db_.run(
      "INSERT INTO error_count VALUES(?1, ?2, ?3, ?4, 1, ?5, ?5, ?6) "
      "ON CONFLICT(machine, state, code, fingerprint) "
      "DO UPDATE SET count = count + 1, last_at = ?5, message = ?6",
      record.machine, entry.from, error.code, error.fingerprint, entry.at, error.message);
}

Result<void> Tables::erase_texts(RecordId record) {
  PAWL_CHECK(write_entries());
  std::vector<std::pair<std::int64_t, Entry>> entries;
  {
    static const std::string sql =
        std::string("SELECT ") + kEntryColumns + " FROM log WHERE record = ?1";
    PAWL_TRY(Rows rows, db_.query(sql.c_str(), record.value));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) break;
      PAWL_TRY(Entry entry, entry_of(rows));
      entries.emplace_back(rows.integer(3), std::move(entry));
    }
  }
  for (auto& [position, entry] : entries) {
    entry.input.clear();
    entry.changes.clear();
    PAWL_CHECK(db_.run("DELETE FROM log WHERE position = ?1", position));
    PAWL_CHECK(add_entry(position, record, entry));
  }
  return {};
}

// It stands where the last one that it replaces stood.
Result<void> Tables::compact(RecordId record, const Entry& compacted) {
  PAWL_CHECK(write_entries());
  std::int64_t position = 0;
  {
    PAWL_TRY(Rows rows, db_.query("SELECT max(position) FROM log WHERE record = ?1 AND seq <= ?2",
                                  record.value, compacted.seq));
    PAWL_TRY([[maybe_unused]] const bool found, rows.next());
    position = rows.integer(0);
  }
  PAWL_CHECK(
      db_.run("DELETE FROM log WHERE record = ?1 AND seq <= ?2", record.value, compacted.seq));
  return add_entry(position, record, compacted);
}

// --- messages, requests, slots -----------------------------------------------------------------

Result<bool> Tables::has_message(MessageId id) {
  PAWL_TRY(Rows rows, db_.query("SELECT 1 FROM inbox WHERE id = ?1", id.value));
  return rows.next();
}
Result<void> Tables::add_message(std::int64_t id, const Message& message) {
  is_inbox_empty_ = false;
  return db_.run("INSERT INTO inbox VALUES(?1, ?2, 0, ?3)", id, message.to.value, message.body);
}
Result<void> Tables::take_message(MessageId id) {
  return db_.run("DELETE FROM inbox WHERE id = ?1", id.value);
}
Result<void> Tables::postpone_message(MessageId id) {
  return db_.run("UPDATE inbox SET waits = 1 WHERE id = ?1", id.value);
}
Result<void> Tables::open_inbox(RecordId record) {
  is_inbox_empty_ = false;
  return db_.run("UPDATE inbox SET waits = 0 WHERE record = ?1 AND waits = 1", record.value);
}

Result<std::optional<Remembered>> Tables::remembered(const RequestName& request) {
  PAWL_TRY(Rows rows,
           db_.query("SELECT content, answer FROM request "
                     "WHERE machine = ?1 AND key = ?2 AND request = ?3",
                     request.record.machine, request.record.key, request.idempotency_key));
  PAWL_TRY(const bool found, rows.next());
  if (!found) return std::optional<Remembered>();
  return std::optional(Remembered{.content = static_cast<std::uint64_t>(rows.integer(0)),
                                  .answer = std::string(rows.text(1))});
}
Result<void> Tables::remember(const RequestName& request, const Remembered& remembered,
                              Instant now) {
  return db_.run("INSERT OR REPLACE INTO request VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
                 request.record.machine, request.record.key, request.idempotency_key,
                 remembered.content, remembered.answer, now);
}

Result<Slot> Tables::slot(const std::string& name) {
  PAWL_TRY(Rows rows, db_.query("SELECT taken, window, started FROM slot WHERE name = ?1", name));
  PAWL_TRY(const bool found, rows.next());
  if (!found) return Slot{.rate = {.slot = name}};
  return Slot{static_cast<int>(rows.integer(0)),
              {name, rows.instant(1), static_cast<int>(rows.integer(2))}};
}
Result<void> Tables::put_rate(const RateWindow& rate) {
  return db_.run(
      "INSERT INTO slot VALUES(?1, 0, ?2, ?3) "
      "ON CONFLICT(name) DO UPDATE SET window = ?2, started = ?3",
      rate.slot, rate.window, rate.started);
}

Result<Counter> Tables::counter() {
  PAWL_TRY(Rows rows, db_.query("SELECT batch, record, position, message, at FROM counter"));
  PAWL_TRY(const bool found, rows.next());
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  for (int i = 0; i < 4; ++i)
    if (!found || !rows.is_integer(i) || rows.integer(i) < 0 || rows.integer(i) > kMost)
      return Error{ErrorCode::damaged, "the table `counter` is damaged: restore a backup"};
  return Counter{rows.integer(0), static_cast<std::uint64_t>(rows.integer(1)), rows.integer(2),
                 rows.integer(3), rows.instant(4)};
}
Result<void> Tables::put_counter(const Counter& counter) {
  return db_.run("UPDATE counter SET batch = ?1, record = ?2, position = ?3, message = ?4, at = ?5",
                 counter.batch, counter.record, counter.position, counter.message, counter.at);
}

}  // namespace pawl::sqlite
