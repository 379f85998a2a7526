#include "store/sqlite/database.h"

#include <utility>

namespace pawl::sqlite {

Error error_of(sqlite3* db, int code, std::string_view attempted) {
  const std::string said = std::string(attempted) + ": " + sqlite3_errmsg(db);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return {ErrorCode::environment, said + "; free some space, then try again"};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return {ErrorCode::damaged, said + "; restore a backup"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return {ErrorCode::environment, said + "; check the permissions of the directory"};
    default:
      return {ErrorCode::environment, said};
  }
}

void prepare_library() {
  // Its statistics of memory cost a lock at each allocation, and nobody reads them. Without effect
  // where the program has begun to use SQLite before.
  [[maybe_unused]] static const int kConfigured = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// --- rows --------------------------------------------------------------------------------------

Rows::Rows(Rows&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}

Rows::~Rows() {
  if (statement_ != nullptr) sqlite3_reset(statement_);
}

Result<bool> Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return error_of(sqlite3_db_handle(statement_), code, sqlite3_sql(statement_));
}

std::string_view Rows::text(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

// --- inserting ---------------------------------------------------------------------------------

// Without FAIL, several rows would be kept for the case that the last of them cannot be inserted.
Insert::Insert(const std::string& table, int columns) {
  std::string row = "(?";
  for (int i = 1; i < columns; ++i) row += ",?";
  row += ")";
  one = "INSERT OR FAIL INTO " + table + " VALUES" + row;
  several = one;
  for (std::size_t i = 1; i < kRowsAtOnce; ++i) several += "," + row;
}

// --- the connection ----------------------------------------------------------------------------

Result<Database> Database::open(const std::string& path, int flags, const std::string& vfs) {
  prepare_library();
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX,
                                   vfs.empty() ? nullptr : vfs.c_str());
  Database opened(db);
  if (code != SQLITE_OK) return error_of(db, code, "cannot open " + path);
  sqlite3_extended_result_codes(db, 1);
  return opened;
}

Database::Database(Database&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)), statements_(std::move(other.statements_)) {
  other.statements_.clear();
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(db_);
}

Result<void> Database::script(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of(db_, code, sql);
  return {};
}

Result<std::int64_t> Database::integer(const char* sql) {
  PAWL_TRY(Rows rows, query(sql));
  PAWL_TRY(const bool found, rows.next());
  return found ? rows.integer(0) : 0;
}

Result<sqlite3_stmt*> Database::prepared(const char* sql) {
  sqlite3_stmt*& statement = statements_[sql];
  if (statement != nullptr) return statement;
  const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return error_of(db_, code, sql);
  return statement;
}

void Database::bind(sqlite3_stmt* statement, int index, std::int64_t value) {
  sqlite3_bind_int64(statement, index, value);
}
void Database::bind(sqlite3_stmt* statement, int index, int value) {
  sqlite3_bind_int64(statement, index, value);
}
void Database::bind(sqlite3_stmt* statement, int index, bool value) {
  sqlite3_bind_int64(statement, index, value ? 1 : 0);
}
// SQLite has no unsigned numbers: the bits are kept.
void Database::bind(sqlite3_stmt* statement, int index, std::uint64_t value) {
  sqlite3_bind_int64(statement, index, static_cast<std::int64_t>(value));
}
void Database::bind(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_text64(statement, index, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}
void Database::bind(sqlite3_stmt* statement, int index, Instant at) {
  bind(statement, index, std::int64_t{at.time_since_epoch().count()});
}

}  // namespace pawl::sqlite
