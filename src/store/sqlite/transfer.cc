#include "store/sqlite/transfer.h"

#include <algorithm>
#include <charconv>
#include <fstream>
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

namespace pawl {
namespace {

namespace fs = std::filesystem;

constexpr int kPagesPerStep = 2'000;
constexpr std::int64_t kRowsPerReport = 10'000;

// --- backup and restore ------------------------------------------------------------------------

Result<void> copy(const fs::path& from, const fs::path& to, const TransferProgress& progress) {
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary);
  if (!in) return Error{ErrorCode::environment, "cannot read " + from.string() + ": is it there?"};
  std::error_code ignored;
  const auto all = static_cast<std::int64_t>(fs::file_size(from, ignored));
  std::vector<char> piece(1U << 20U);
  for (std::int64_t done = 0; in;) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    out.write(piece.data(), in.gcount());
    done += in.gcount();
    if (progress) progress(done, all);
  }
  out.close();
  if (!in.eof() || !out)
    return Error{ErrorCode::environment, "cannot copy " + from.string() + " to " + to.string()};
  return {};
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
    return wrong("the end is missing, or lines before it were changed: export again");
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
    const std::string ours = kFirstLine + std::to_string(sqlite::kSchemaVersion) + "}";
    if (line == ours) return {};
    if (!line.starts_with(kFirstLine)) return wrong("this is no export of Pawl");
    return wrong(
        "it was exported by another version of Pawl, whose tables are different: import "
        "it with that version, and open the store with this one");
  }

  Result<void> take_table(JsonView view) {
    Scratch scratch;
    const std::string name(view.member("table").text(scratch));
    std::vector<std::string> columns;
    for (JsonWalk walk(view.member("columns")); walk.next();)
      columns.emplace_back(walk.value().text(scratch));
    const auto table = std::find_if(tables_.begin(), tables_.end(),
                                    [&](const Table& one) { return one.name == name; });
    if (table == tables_.end() || table->columns != columns)
      return wrong("there is no table " + name + " with these columns");
    std::string sql = "INSERT INTO " + quoted(name) + "(" + joined(columns) + ") VALUES(?";
    for (std::size_t i = 1; i < columns.size(); ++i) sql += ",?";
    PAWL_TRY(Statement statement, Statement::prepare(db_, sql + ")"));
    insert_ = std::move(statement);
    return {};
  }

  Result<void> take_row(JsonView view) {
    if (!insert_) return wrong("a row before its table");
    if (static_cast<int>(view.size()) != sqlite3_bind_parameter_count(insert_->get()))
      return wrong("the row has not as many values as its table has columns");
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
Result<void> check_backup(const fs::path& file) {
  constexpr std::size_t kHeaderSize = 100;
  std::ifstream in(file, std::ios::binary);
  std::string header(kHeaderSize, '\0');
  in.read(header.data(), static_cast<std::streamsize>(kHeaderSize));
  header.resize(static_cast<std::size_t>(in.gcount()));
  if (header.empty())
    return Error{ErrorCode::environment, "cannot read " + file.string() + ", or it is empty"};
  PAWL_CHECK(sqlite::check_header(file, header));
  std::error_code code;
  const std::uintmax_t log = fs::file_size(file.string() + "-wal", code);
  if (!code && log > 0)
    return Error{ErrorCode::bad_input,
                 file.string() +
                     " is no backup but a store that was not closed: open its directory "
                     "instead, or make a backup of it"};
  return {};
}

}  // namespace

Result<Restored> restore(const fs::path& file, const SqliteOptions& options,
                         const TransferProgress& progress) {
  PAWL_CHECK(check_backup(file));
  PAWL_TRY(sqlite::NewDirectory directory, sqlite::NewDirectory::prepare(options.directory));
  PAWL_CHECK(copy(file, directory.path() / "tables.db", progress));
  return take_over(directory, options);
}

Result<void> export_lines(SqliteStore& store, std::ostream& out, const TransferProgress& progress) {
  return store.read_tables([&](sqlite::Database& db) { return Export(db, out, progress).run(); });
}

Result<Restored> import_lines(std::istream& in, const SqliteOptions& options,
                              const TransferProgress& progress) {
  PAWL_TRY(sqlite::NewDirectory directory, sqlite::NewDirectory::prepare(options.directory));
  {
    const std::string path = directory.path() / "tables.db";
    PAWL_TRY(sqlite::Database db,
             sqlite::Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, options.vfs));
    PAWL_CHECK(sqlite::configure(db, {}));
    PAWL_CHECK(sqlite::bring_up_to_date(db, path));
    PAWL_CHECK(Import(db, in, progress).run());
  }
  return take_over(directory, options);
}

}  // namespace pawl
