#include "store/sqlite/schema.h"

#include <iterator>
#include <memory>
#include <string>

#include "base/mutant.h"

namespace pawl::sqlite {
namespace {

// Instants are microseconds since 1970. There is no index of states: it would be written twice with
// every move, which costs half as much again as everything else. Nor has the table of records any
// other index that is rarely used: each costs every change, used or not.
constexpr const char* kTables = R"(
CREATE TABLE counter(
  id INTEGER PRIMARY KEY CHECK (id = 1),
  batch INTEGER NOT NULL,     -- commits so far
  record INTEGER NOT NULL,    -- the highest id ever given
  position INTEGER NOT NULL,  -- of the last entry in the log
  message INTEGER NOT NULL,
  at INTEGER NOT NULL);       -- of the last batch
INSERT INTO counter VALUES(1, 0, 0, 0, 0, 0);

-- Names of machines, states and queues: elsewhere their number stands for them. None is 0.
CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, sum INTEGER NOT NULL);

CREATE TABLE record(
  id INTEGER PRIMARY KEY, machine INTEGER NOT NULL, key TEXT NOT NULL, state INTEGER NOT NULL,
  created_at INTEGER NOT NULL, entered_at INTEGER NOT NULL, changed_at INTEGER NOT NULL,
  revision INTEGER NOT NULL, writes INTEGER NOT NULL, fence INTEGER NOT NULL,
  priority INTEGER NOT NULL, ready_at INTEGER, wake_at INTEGER,
  queue INTEGER NOT NULL,  -- where it waits from ready_at on
  slots TEXT,              -- that its attempt takes, one a line
  data TEXT NOT NULL,
  more TEXT,               -- what is mostly empty, as JSON
  sum INTEGER NOT NULL     -- checksum of all that stands before it
);
CREATE UNIQUE INDEX record_name ON record(machine, key);
CREATE INDEX record_created ON record(created_at);

-- What waits for a worker, or for the clock: then in no queue, with priority -1.
CREATE TABLE due(
  queue INTEGER NOT NULL, priority INTEGER NOT NULL, at INTEGER NOT NULL, record INTEGER NOT NULL,
  PRIMARY KEY(queue, priority, at, record)) WITHOUT ROWID;

CREATE TABLE log(
  position INTEGER PRIMARY KEY, record INTEGER NOT NULL, seq INTEGER NOT NULL,
  body TEXT NOT NULL, sum INTEGER NOT NULL);
CREATE INDEX log_record ON log(record, seq);

-- What records are found by: their labels, and `.parent`, `.held` and `.error`.
CREATE TABLE mark(
  name TEXT NOT NULL, value TEXT NOT NULL, record INTEGER NOT NULL,
  PRIMARY KEY(name, value, record)) WITHOUT ROWID;

CREATE TABLE inbox(
  id INTEGER PRIMARY KEY, record INTEGER NOT NULL, waits INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX inbox_record ON inbox(record);
CREATE INDEX inbox_open ON inbox(waits) WHERE waits = 0;

CREATE TABLE request(
  machine TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, content INTEGER NOT NULL,
  answer TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(machine, key, request)) WITHOUT ROWID;
CREATE INDEX request_at ON request(at);

CREATE TABLE slot(
  name TEXT PRIMARY KEY, taken INTEGER NOT NULL, window INTEGER NOT NULL,
  started INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE state_count(
  machine TEXT NOT NULL, state TEXT NOT NULL, records INTEGER NOT NULL, held INTEGER NOT NULL,
  PRIMARY KEY(machine, state)) WITHOUT ROWID;
CREATE TABLE error_count(
  machine TEXT NOT NULL, state TEXT NOT NULL, code TEXT NOT NULL, fingerprint INTEGER NOT NULL,
  count INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  message TEXT NOT NULL, PRIMARY KEY(machine, state, code, fingerprint)) WITHOUT ROWID;

CREATE TABLE machine(
  name TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL,
  applied_at INTEGER NOT NULL DEFAULT 0, applied_by TEXT NOT NULL DEFAULT '',
  PRIMARY KEY(name, version)) WITHOUT ROWID;
CREATE TABLE setting(
  name TEXT PRIMARY KEY, value TEXT NOT NULL, revision INTEGER NOT NULL) WITHOUT ROWID;

-- For people: the same with words and instants that can be read.
CREATE VIEW readable_record AS
  SELECT record.id, machine.text AS machine, key, state.text AS state,
    datetime(created_at / 1000000, 'unixepoch') AS created_at,
    datetime(changed_at / 1000000, 'unixepoch') AS changed_at, revision, priority,
    queue.text AS queue, datetime(ready_at / 1000000, 'unixepoch') AS ready_at,
    datetime(wake_at / 1000000, 'unixepoch') AS wake_at, slots, data, more
  FROM record JOIN word AS machine ON machine.id = record.machine
    JOIN word AS state ON state.id = record.state LEFT JOIN word AS queue ON queue.id = record.queue;
CREATE VIEW readable_due AS
  SELECT word.text AS queue, priority, datetime(at / 1000000, 'unixepoch') AS at, record
  FROM due LEFT JOIN word ON word.id = due.queue;
)";

// What leads from each version of the tables to the next.
constexpr const char* kMigrations[] = {
    "ALTER TABLE machine ADD COLUMN applied_at INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE machine ADD COLUMN applied_by TEXT NOT NULL DEFAULT ''",
};
static_assert(std::size(kMigrations) + 1 == kSchemaVersion);

Result<void> check_versions(const std::string& path, std::int64_t application,
                            std::int64_t version) {
  if (application != kApplicationId)
    return Error{
        ErrorCode::bad_input,
        path + " is a database of another program: use a separate directory for the store"};
  if (version < 1)
    return Error{ErrorCode::damaged, path + " has no schema version: restore a backup"};
  if (version > kSchemaVersion)
    return Error{ErrorCode::bad_input,
                 path + " was written by a later version of Pawl (schema version " +
                     std::to_string(version) + "; this program knows " +
                     std::to_string(kSchemaVersion) + "): use that version"};
  return {};
}

struct Pragma {
  const char* name;
  std::string value;
};

Result<void> set(Database& db, const Pragma& setting) {
  PAWL_CHECK(db.script(std::string("PRAGMA ") + setting.name + "=" + setting.value));
  // Not a literal, so it is not kept among the prepared statements.
  sqlite3_stmt* read = nullptr;
  const std::string sql = std::string("PRAGMA ") + setting.name;
  const int code = sqlite3_prepare_v2(db.handle(), sql.c_str(), -1, &read, nullptr);
  if (code != SQLITE_OK) return error_of(db.handle(), code, sql);
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> finalized(read, sqlite3_finalize);
  Rows rows(read);
  PAWL_TRY(const bool found, rows.next());
  const std::string value(found ? rows.text(0) : "");
  if (value == setting.value) return {};
  return Error{ErrorCode::environment, "SQLite did not accept " + sql + "=" + setting.value +
                                           " and has " + value + ": use another build of SQLite"};
}

}  // namespace

Result<void> configure(Database& db, const ConnectionOptions& options) {
  // Of the writer until the store is open: a start that is refused leaves the files as they are.
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  const std::string pages = std::to_string(-options.cache_mib * 1024);
  if (options.writes) PAWL_CHECK(set(db, {"page_size", "4096"}));
  for (const Pragma& setting :
       {Pragma{"journal_mode", "wal"},
        Pragma{"synchronous", mutant(Mutant::commit_not_synced) ? "1" : "2"},
        Pragma{"foreign_keys", "1"}, Pragma{"trusted_schema", "0"}, Pragma{"cell_size_check", "1"},
        Pragma{"mmap_size", "0"}, Pragma{"busy_timeout", "0"}, Pragma{"secure_delete", "0"},
        Pragma{"wal_autocheckpoint", "0"}, Pragma{"cache_size", pages}})
    PAWL_CHECK(set(db, setting));
  int is_defensive = 0;
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, &is_defensive);
  if (is_defensive != 1) return Error{ErrorCode::environment, "SQLite has no defensive mode"};
  return {};
}

Result<void> check_header(const std::string& path, const std::string& header) {
  const auto number = [&](std::size_t at) {
    std::int64_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i)
      value = value << 8 | static_cast<unsigned char>(header[i]);
    return value;
  };
  if (header.empty()) return {};
  if (header.size() < 100 || !header.starts_with(std::string_view("SQLite format 3\0", 16)))
    return Error{ErrorCode::damaged, path + " is not a database; if it was one, restore a backup"};
  // Nobody has made a table in it: a first start was cut off. Those in the log are looked at later.
  if (number(40) == 0 && number(68) == 0) return {};
  return check_versions(path, number(68), number(60));
}

Result<void> bring_up_to_date(Database& db, const std::string& path) {
  PAWL_TRY(const std::int64_t tables, db.integer("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) {
    PAWL_CHECK(db.script("BEGIN IMMEDIATE;" + std::string(kTables) +
                         "PRAGMA application_id=" + std::to_string(kApplicationId) +
                         ";PRAGMA user_version=" + std::to_string(kSchemaVersion) + ";COMMIT"));
    // From here on the file itself says what it is.
    return db.script("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  PAWL_TRY(const std::int64_t application, db.integer("PRAGMA application_id"));
  PAWL_TRY(const std::int64_t version, db.integer("PRAGMA user_version"));
  PAWL_CHECK(check_versions(path, application, version));
  return migrate(db, version, kMigrations);
}

Result<void> migrate(Database& db, std::int64_t version, std::span<const char* const> steps) {
  const auto done = static_cast<std::size_t>(version - 1);
  if (done >= steps.size()) return {};
  std::string script = "BEGIN IMMEDIATE;";
  for (const char* step : steps.subspan(done)) script += std::string(step) + ";";
  script += "PRAGMA user_version=" + std::to_string(steps.size() + 1) + ";COMMIT";
  auto migrated = db.script(script);
  if (!migrated && sqlite3_get_autocommit(db.handle()) == 0) PAWL_CHECK(db.script("ROLLBACK"));
  return migrated;
}

}  // namespace pawl::sqlite
