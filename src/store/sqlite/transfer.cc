#include "store/sqlite/transfer.h"

#include <algorithm>
#include <charconv>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/checksum.h"
#include "base/json_text.h"
#include "model/expression/json_view.h"
#include "store/sqlite/new_place.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/vfs_file.h"

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr int kPagesPerStep = 2'000;
constexpr std::int64_t kRowsPerReport = 10'000;
constexpr std::int64_t kBytesPerReport = 1 << 20;

// --- backup and restore ------------------------------------------------------------------------

// Durable when it returns.
Result<void> copy(const fs::path& from, const fs::path& to, const std::string& vfs,
                  const TransferProgress& progress) {
  PAWL_TRY(sqlite::VfsFile in, sqlite::VfsFile::open(from, vfs, false));
  PAWL_TRY(sqlite::VfsFile out, sqlite::VfsFile::open(to, vfs, true));
  PAWL_TRY(const std::int64_t all, in.size());
  for (std::int64_t done = 0; done < all;) {
    PAWL_TRY(const std::string piece, in.read(sqlite::VfsFile::kPieceMax, done));
    if (piece.empty())
      return Error{ErrorCode::environment,
                   from.string() + " became shorter while Pawl was reading it"};
    PAWL_CHECK(out.write(piece, done));
    done += static_cast<std::int64_t>(piece.size());
    if (progress && (done % kBytesPerReport == 0 || done == all)) progress(done, all);
  }
  return out.sync();
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// Whoever asked knows the directory by the name that it was to get, and finds nothing there.
Error with_names_asked_for(Error error, const sqlite::NewDirectory& directory) {
  if (error.code == ErrorCode::outcome_unknown) {
    const std::string said = error.message.substr(0, error.message.find(": Pawl does not know"));
    error = {ErrorCode::environment, "cannot write " + directory.name().string() + ": " + said +
                                         "; nothing was created. Check the disk"};
  }
  if (!directory.path().empty()) replace_all(error.message, directory.path(), directory.name());
  return error;
}

// What is wrong with the copy is wrong with the backup.
Error about_backup(const fs::path& file, Error error, const sqlite::NewDirectory& directory) {
  const bool is_about_it = error.code == ErrorCode::damaged || error.code == ErrorCode::bad_input;
  if (!is_about_it) return with_names_asked_for(error, directory);
  replace_all(error.message, directory.path() / "tables.db", file);
  replace_all(error.message, "restore a backup", "use another backup");
  if (error.message.find(file) == std::string::npos)
    error.message = file.string() + " is damaged: " + error.message;
  return with_names_asked_for(error, directory);
}

// Opens what is in the new directory and looks at all of it; then it may be put in place.
Result<Restored> take_over(sqlite::NewDirectory& directory, SqliteOptions options) {
  Restored restored;
  {
    options.directory = directory.path();
    options.creates = false;
    PAWL_TRY(const auto store, open_sqlite_store(options));
    restored.last_used = store->last_used();
    PAWL_TRY(restored.verified, verify(*store));
    if (!restored.verified.violations.empty()) return restored;
    PAWL_TRY(restored.void_leases, store->void_leases());
    PAWL_TRY(restored.verified, verify(*store));
    if (!restored.verified.violations.empty()) return restored;
  }
  PAWL_CHECK(directory.put_in_place());
  return restored;
}

// --- lines -------------------------------------------------------------------------------------

// The lines as they were written, to be compared at the end.
struct Tally {
  std::int64_t lines = 0;
  std::uint64_t sum = 0;

  void add(std::string_view line) {
    ++lines;
    sum = checksum(line, sum);
  }
  std::string text() const {
    return R"({"end":{"lines":)" + std::to_string(lines) + R"(,"sum":")" + std::to_string(sum) +
           "\"}}";
  }
};

constexpr const char* kFirstLine = R"({"pawl_export":1,"schema":)";

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + quoted(name);
  return text;
}

// A statement that is used for a while, with a text of its own.
class Statement {
 public:
  static Result<Statement> prepare(sqlite::Database& db, const std::string& sql) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(db.handle(), sql.c_str(), -1, &statement, nullptr);
    if (code != SQLITE_OK) return sqlite::error_of(db.handle(), code, sql);
    return Statement(statement);
  }
  Statement(Statement&& other) noexcept : statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(statement_, other.statement_);
    return *this;
  }
  ~Statement() { sqlite3_finalize(statement_); }

  sqlite3_stmt* get() { return statement_; }
  sqlite::Rows rows() { return sqlite::Rows(statement_); }

 private:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  sqlite3_stmt* statement_;
};

Result<std::vector<Table>> tables_of(sqlite::Database& db) {
  std::vector<Table> tables;
  PAWL_TRY(sqlite::Rows rows,
           db.query("SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
                    "WHERE m.type = 'table' ORDER BY m.name, c.cid"));
  for (;;) {
    PAWL_TRY(const bool found, rows.next());
    if (!found) return tables;
    if (tables.empty() || tables.back().name != rows.text(0))
      tables.push_back({std::string(rows.text(0)), {}});
    tables.back().columns.emplace_back(rows.text(1));
  }
}

std::string value_text(sqlite3_stmt* row, int column, const sqlite::Rows& rows) {
  switch (sqlite3_column_type(row, column)) {
    case SQLITE_NULL:
      return "null";
    case SQLITE_INTEGER:
      return std::to_string(rows.integer(column));
    default:
      return json_string(rows.text(column));
  }
}

class Export {
 public:
  Export(sqlite::Database& db, std::ostream& out, const TransferProgress& progress)
      : db_(db), out_(out), progress_(progress) {}

  Result<void> run() {
    PAWL_TRY(const std::vector<Table> tables, tables_of(db_));
    put(kFirstLine + std::to_string(sqlite::kSchemaVersion) + "}");
    for (const Table& table : tables) PAWL_CHECK(put(table));
    out_ << tally_.text() << '\n';
    out_.flush();
    if (!out_) return Error{ErrorCode::environment, "cannot write the export: is the disk full?"};
    return {};
  }

 private:
  Result<void> put(const Table& table) {
    put(R"({"table":)" + quoted(table.name) + R"(,"columns":[)" + joined(table.columns) + "]}");
    PAWL_TRY(Statement statement, Statement::prepare(db_, "SELECT " + joined(table.columns) +
                                                              " FROM " + quoted(table.name)));
    sqlite::Rows rows = statement.rows();
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      std::string line = "[";
      for (int i = 0; i < static_cast<int>(table.columns.size()); ++i)
        line += (i == 0 ? "" : ",") + value_text(statement.get(), i, rows);
      put(line + "]");
    }
  }

  void put(const std::string& line) {
    tally_.add(line);
    out_ << line << '\n';
    if (progress_ && tally_.lines % kRowsPerReport == 0) progress_(tally_.lines, 0);
  }

  sqlite::Database& db_;
  std::ostream& out_;
  const TransferProgress& progress_;
  Tally tally_;
};

class Import {
 public:
  Import(sqlite::Database& db, std::istream& in, const TransferProgress& progress)
      : db_(db), in_(in), progress_(progress) {}

  Result<void> run() {
    PAWL_TRY(tables_, tables_of(db_));
    PAWL_CHECK(db_.run("BEGIN IMMEDIATE"));
    for (const Table& table : tables_) PAWL_CHECK(db_.script("DELETE FROM " + quoted(table.name)));
    std::string line;
    while (std::getline(in_, line)) {
      ++number_;
      if (line == tally_.text()) return db_.run("COMMIT");
      if (line.starts_with(R"({"end":)")) break;
      tally_.add(line);
      PAWL_CHECK(take(line));
      if (progress_ && number_ % kRowsPerReport == 0) progress_(number_, 0);
    }
    return wrong("the end is missing, or lines were changed: export again");
  }

 private:
  Result<void> take(const std::string& line) {
    if (const auto checked = check_json(line); !checked) return wrong(checked.error().message);
    if (number_ == 1) return take_first(line);
    const JsonView view(line);
    if (view.kind() == JsonView::Kind::list) return take_row(view);
    return take_table(view);
  }

  Result<void> take_first(const std::string& line) {
    for (std::int64_t version = 1; version <= sqlite::kSchemaVersion; ++version)
      if (line == kFirstLine + std::to_string(version) + "}") {
        is_older_ = version < sqlite::kSchemaVersion;
        return {};
      }
    if (!line.starts_with(kFirstLine)) return wrong("this is not an export of Pawl");
    return wrong(
        "it was exported by a later version of Pawl with different tables: import it with that "
        "version");
  }

  Result<void> take_table(JsonView view) {
    Scratch scratch;
    const std::string name(view.member("table").text(scratch));
    std::vector<std::string> columns;
    for (JsonWalk walk(view.member("columns")); walk.next();)
      columns.emplace_back(walk.value().text(scratch));
    const auto table = std::find_if(tables_.begin(), tables_.end(),
                                    [&](const Table& one) { return one.name == name; });
    if (table == tables_.end() || !has_columns(*table, columns))
      return wrong("there is no table " + name + " with these columns");
    std::string sql = "INSERT INTO " + quoted(name) + "(" + joined(columns) + ") VALUES(?";
    for (std::size_t i = 1; i < columns.size(); ++i) sql += ",?";
    PAWL_TRY(Statement statement, Statement::prepare(db_, sql + ")"));
    insert_ = std::move(statement);
    return {};
  }

  // All of them; of an older version those that there were. The others have their defaults: so far
  // every version of the tables has only added columns behind those before.
  bool has_columns(const Table& table, const std::vector<std::string>& columns) const {
    if (!is_older_) return table.columns == columns;
    return !columns.empty() && columns.size() <= table.columns.size() &&
           std::equal(columns.begin(), columns.end(), table.columns.begin());
  }

  Result<void> take_row(JsonView view) {
    if (!insert_) return wrong("a row before its table");
    if (static_cast<int>(view.size()) != sqlite3_bind_parameter_count(insert_->get()))
      return wrong("the row does not have as many values as its table has columns");
    int column = 0;
    Scratch scratch;
    for (JsonWalk walk(view); walk.next();)
      if (!bind(++column, walk.value(), scratch))
        return wrong("a number is not whole, or too large");
    const int code = sqlite3_step(insert_->get());
    sqlite3_reset(insert_->get());
    if (code != SQLITE_DONE)
      return wrong(sqlite::error_of(db_.handle(), code, "cannot be inserted").message);
    return {};
  }

  bool bind(int column, JsonView value, Scratch& scratch) {
    sqlite3_bind_null(insert_->get(), column);
    if (value.kind() == JsonView::Kind::number) {
      const std::string_view digits = value.json();
      std::int64_t number = 0;
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return false;
      sqlite3_bind_int64(insert_->get(), column, number);
    }
    if (value.kind() == JsonView::Kind::text) {
      const std::string_view text = value.text(scratch);
      sqlite3_bind_text64(insert_->get(), column, text.data(), text.size(), SQLITE_TRANSIENT,
                          SQLITE_UTF8);
    }
    return true;
  }

  Error wrong(const std::string& message) const {
    return {ErrorCode::bad_input, "line " + std::to_string(number_) + ": " + message};
  }

  sqlite::Database& db_;
  std::istream& in_;
  const TransferProgress& progress_;
  std::vector<Table> tables_;
  std::optional<Statement> insert_;
  std::int64_t number_ = 0;
  bool is_older_ = false;  // of an earlier version of the tables
  Tally tally_;
};

}  // namespace

Result<void> back_up(SqliteStore& store, const fs::path& file, const TransferProgress& progress) {
  PAWL_TRY(const auto backup, store.backup(file));
  for (;;) {
    PAWL_TRY(const Backup::Progress step, backup->step(kPagesPerStep));
    if (progress) progress(step.done, step.pages);
    if (step.is_complete) return {};
  }
}

namespace {

// A backup is one whole file of ours. A store that was copied while it was open is none.
Result<void> check_backup(const fs::path& file, const std::string& vfs) {
  constexpr std::size_t kHeaderSize = 100;
  PAWL_TRY(const bool is_there, sqlite::VfsFile::exists(file, vfs));
  if (!is_there)
    return Error{ErrorCode::environment, "cannot read " + file.string() + ", or it is empty"};
  PAWL_TRY(sqlite::VfsFile in, sqlite::VfsFile::open(file, vfs, false));
  PAWL_TRY(const std::string header, in.read(kHeaderSize));
  if (auto checked = sqlite::check_header(file, header); !checked) {
    Error error = checked.error();
    replace_all(error.message, "restore a backup", "use another backup");
    return error;
  }
  PAWL_TRY(const bool has_log, sqlite::VfsFile::exists(file.string() + "-wal", vfs));
  if (has_log)
    return Error{
        ErrorCode::bad_input,
        file.string() +
            " is not a backup but a store that was not closed: open its directory instead, or "
            "make a backup of it"};
  return {};
}

}  // namespace

Result<Restored> restore(const fs::path& file, const SqliteOptions& options,
                         const TransferProgress& progress) {
  PAWL_CHECK(check_backup(file, options.vfs));
  PAWL_TRY(auto directory, sqlite::NewDirectory::prepare(options.directory, *options.directories));
  const auto copied = copy(file, directory.path() / "tables.db", options.vfs, progress);
  if (!copied) return with_names_asked_for(copied.error(), directory);
  auto restored = take_over(directory, options);
  if (!restored) return about_backup(file, restored.error(), directory);
  return restored;
}

namespace {

Result<void> import_tables(std::istream& in, const std::string& path, const std::string& vfs,
                           const TransferProgress& progress) {
  PAWL_TRY(sqlite::Database db,
           sqlite::Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs));
  PAWL_CHECK(sqlite::configure(db, {}));
  PAWL_CHECK(sqlite::bring_up_to_date(db, path));
  return Import(db, in, progress).run();
}

}  // namespace

Result<void> export_lines(SqliteStore& store, std::ostream& out, const TransferProgress& progress) {
  return store.read_tables([&](sqlite::Database& db) { return Export(db, out, progress).run(); });
}

Result<Restored> import_lines(std::istream& in, const SqliteOptions& options,
                              const TransferProgress& progress) {
  PAWL_TRY(auto directory, sqlite::NewDirectory::prepare(options.directory, *options.directories));
  const auto read = import_tables(in, directory.path() / "tables.db", options.vfs, progress);
  if (!read) return with_names_asked_for(read.error(), directory);
  auto restored = take_over(directory, options);
  if (!restored) return with_names_asked_for(restored.error(), directory);
  return restored;
}

}  // namespace pawl
