// A connection to an SQLite file, for one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "pawl/result.h"
#include "pawl/time.h"

namespace pawl::sqlite {

// The rows that a statement gives. Reset when it goes.
class Rows {
 public:
  explicit Rows(sqlite3_stmt* statement) : statement_(statement) {}
  ~Rows();
  Rows(Rows&& other) noexcept;
  Rows& operator=(Rows&&) = delete;

  // False: there are no more. The first row is there when next() was called once.
  Result<bool> next();

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  Instant instant(int column) const { return Instant(Duration(integer(column))); }
  std::string_view text(int column) const;  // until next()
  bool is_integer(int column) const {
    return sqlite3_column_type(statement_, column) == SQLITE_INTEGER;
  }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

 private:
  sqlite3_stmt* statement_;
};

// How rows of a table are inserted: one, or several with one statement, since to begin and end a
// statement costs as much as a row.
struct Insert {
  static constexpr std::size_t kRowsAtOnce = 16;

  Insert(const std::string& table, int columns);

  std::string one;
  std::string several;
};

class Database {
 public:
  // `vfs`: the name of one that was registered, or empty.
  static Result<Database> open(const std::string& path, int flags, const std::string& vfs);

  Database(Database&& other) noexcept;
  Database& operator=(Database&&) = delete;
  ~Database();

  // Several statements without values.
  Result<void> script(const std::string& sql);

  // A statement is prepared once and known by the address of its text: give literals. The values
  // are bound to ?1, ?2, … and have to live until the rows are gone.
  template <class... Values>
  Result<Rows> query(const char* sql, const Values&... values) {
    PAWL_TRY(sqlite3_stmt * statement, prepared(sql));
    int index = 0;
    (bind(statement, ++index, values), ...);
    return Rows(statement);
  }
  template <class... Values>
  Result<void> run(const char* sql, const Values&... values) {
    PAWL_TRY(Rows rows, query(sql, values...));
    PAWL_TRY([[maybe_unused]] const bool row, rows.next());
    return {};
  }

  // The values of several rows, each given as a tuple, one after the other.
  template <class Row, class ValuesOf>
  Result<Rows> query_rows(const char* sql, std::span<const Row> rows, const ValuesOf& values_of) {
    PAWL_TRY(sqlite3_stmt * statement, prepared(sql));
    int index = 0;
    for (const Row& row : rows)
      std::apply([&](const auto&... values) { (bind(statement, ++index, values), ...); },
                 values_of(row));
    return Rows(statement);
  }

  // All columns of each row, as a tuple. After an error the transaction has to be rolled back: some
  // rows may be there.
  template <class Row, class ValuesOf>
  Result<void> insert(const Insert& insert, std::span<const Row> rows, const ValuesOf& values_of) {
    while (!rows.empty()) {
      const bool are_several = rows.size() >= Insert::kRowsAtOnce;
      const std::size_t count = are_several ? Insert::kRowsAtOnce : 1;
      PAWL_TRY(Rows run, query_rows(are_several ? insert.several.c_str() : insert.one.c_str(),
                                    rows.first(count), values_of));
      PAWL_TRY([[maybe_unused]] const bool found, run.next());
      rows = rows.subspan(count);
    }
    return {};
  }

  // The first column of the only row.
  Result<std::int64_t> integer(const char* sql);

  sqlite3* handle() { return db_; }

 private:
  explicit Database(sqlite3* db) : db_(db) {}

  Result<sqlite3_stmt*> prepared(const char* sql);

  static void bind(sqlite3_stmt* statement, int index, std::int64_t value);
  static void bind(sqlite3_stmt* statement, int index, int value);
  static void bind(sqlite3_stmt* statement, int index, std::uint64_t value);
  static void bind(sqlite3_stmt* statement, int index, bool value);
  static void bind(sqlite3_stmt* statement, int index, std::string_view text);
  static void bind(sqlite3_stmt* statement, int index, Instant at);
  template <class T>
  static void bind(sqlite3_stmt* statement, int index, const std::optional<T>& value) {
    if (value) {
      bind(statement, index, *value);
    } else {
      sqlite3_bind_null(statement, index);
    }
  }

  sqlite3* db_;
  std::unordered_map<const char*, sqlite3_stmt*> statements_;
};

// Before anything else is asked of SQLite. Once is enough, more does no harm.
void prepare_library();

// What an SQLite result code means for whoever asked.
Error error_of(sqlite3* db, int code, std::string_view attempted);

}  // namespace pawl::sqlite
