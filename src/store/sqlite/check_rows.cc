#include "store/sqlite/check_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace pawl::sqlite {
namespace {

class RowCheck {
 public:
  RowCheck(Database& db, Tables& tables) : db_(db), tables_(tables) {}

  Result<std::vector<Violation>> run() {
    PAWL_CHECK(check_file());
    PAWL_CHECK(check_records());
    PAWL_CHECK(check_entries());
    PAWL_CHECK(check_rows("SELECT record, queue || ' ' || priority || ' ' || at FROM due", "I8",
                          "`due` has a row that does not match the record: "));
    PAWL_CHECK(check_rows("SELECT record, name || ' ' || value FROM mark", "mark",
                          "`mark` has a row that does not match the record: "));
    PAWL_CHECK(check_slots());
    PAWL_CHECK(check_owners("SELECT record, count(*) FROM log GROUP BY record", "log"));
    PAWL_CHECK(check_owners("SELECT record, count(*) FROM inbox GROUP BY record", "inbox"));
    PAWL_CHECK(
        check_none("SELECT machine || ' in ' || state FROM state_count "
                   "WHERE records < 0 OR held < 0 OR held > records",
                   "I19", "an impossible count: "));
    PAWL_CHECK(check_none("SELECT id FROM inbox WHERE waits NOT IN (0, 1)", "inbox",
                          "nothing will deliver message "));
    PAWL_CHECK(check_counter());
    return std::move(violations_);
  }

 private:
  // What SQLite says of its own pages and indexes.
  Result<void> check_file() {
    PAWL_TRY(Rows rows, db_.query("PRAGMA integrity_check"));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      if (rows.text(0) != "ok")
        violations_.push_back({"integrity_check", {}, std::string(rows.text(0))});
    }
  }

  // What every record asks for; each row is crossed out when it is found.
  Result<void> check_records() {
    static const std::string sql =
        std::string("SELECT key") + Tables::kColumnsAfterKey + " FROM record ORDER BY id";
    PAWL_TRY(Rows rows, db_.query(sql.c_str()));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      Record record;
      Kept kept;
      const RecordId id{static_cast<std::uint64_t>(rows.integer(1))};
      if (const auto read = Tables::read(rows, tables_.words(), record, kept); !read) {
        violations_.push_back({"checksum", id, read.error().message});
        continue;
      }
      last_record_ = record.id.value;
      for (const std::string& slot : kept.slots) ++slots_[slot];
      PAWL_CHECK(check_beside(record.id, beside(record, kept.named, std::move(kept.slots))));
    }
  }

  Result<void> check_entries() {
    static const std::string sql =
        std::string("SELECT ") + Tables::kEntryColumns + ", seq FROM log";
    PAWL_TRY(Rows rows, db_.query(sql.c_str()));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      const RecordId id{static_cast<std::uint64_t>(rows.integer(2))};
      const auto entry = Tables::entry_of(rows);
      if (!entry) {
        violations_.push_back({"checksum", id, entry.error().message});
      } else if (entry->seq != rows.integer(4)) {
        violations_.push_back({"I1", id,
                               "entry " + std::to_string(entry->seq) + " is stored as " +
                                   std::to_string(rows.integer(4))});
      }
    }
  }

  Result<void> check_beside(RecordId id, const Beside& beside) {
    for (const auto due : kDues) {
      if (!(beside.*due)) continue;
      PAWL_TRY(const bool is_there, tables_.has_due(*(beside.*due)));
      if (!is_there)
        violations_.push_back({"I8", id, "`due` has no row for it: " + text_of(*(beside.*due))});
    }
    for (const Label& mark : beside.marks) {
      PAWL_TRY(const bool is_there, tables_.has_mark(id, mark));
      if (!is_there)
        violations_.push_back(
            {"mark", id, "`mark` has no row for it: " + mark.name + " " + mark.value});
    }
    return {};
  }

  // Rows that no record asks for.
  Result<void> check_rows(const char* sql, const char* invariant, const char* what) {
    PAWL_TRY(Rows rows, db_.query(sql));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      const RecordId id{static_cast<std::uint64_t>(rows.integer(0))};
      const std::string row(rows.text(1));
      Record record;
      Kept kept;
      const auto exists = tables_.find(id, record, kept);
      if (!exists) continue;  // damaged, as was said
      std::vector<std::string> asked;
      if (*exists) {
        const Beside beside = sqlite::beside(record, kept.named, kept.slots);
        for (const auto due : kDues)
          if (beside.*due) asked.push_back(text_of(*(beside.*due)));
        for (const Label& mark : beside.marks) asked.push_back(mark.name + " " + mark.value);
      }
      if (std::find(asked.begin(), asked.end(), row) == asked.end())
        violations_.push_back({invariant, id, what + row});
    }
  }

  // Rows that there must not be.
  Result<void> check_none(const char* sql, const char* invariant, const std::string& what) {
    PAWL_TRY(Rows rows, db_.query(sql));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      violations_.push_back({invariant, {}, what + std::string(rows.text(0))});
    }
  }

  Result<void> check_slots() {
    PAWL_TRY(Rows rows, db_.query("SELECT name, taken FROM slot"));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) break;
      const std::string name(rows.text(0));
      const std::int64_t taken = std::exchange(slots_[name], 0);
      if (rows.integer(1) != taken) wrong_slot(name, rows.integer(1), taken);
    }
    for (const auto& [name, taken] : slots_)
      if (taken != 0) wrong_slot(name, 0, taken);
    return {};
  }

  void wrong_slot(const std::string& name, std::int64_t counted, std::int64_t taken) {
    violations_.push_back({"I19",
                           {},
                           "slot " + name + ": " + std::to_string(counted) + " counted, " +
                               std::to_string(taken) + " records hold it"});
  }

  Result<void> check_owners(const char* sql, const std::string& table) {
    PAWL_TRY(Rows rows, db_.query(sql));
    for (;;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found) return {};
      const RecordId id{static_cast<std::uint64_t>(rows.integer(0))};
      PAWL_TRY(const bool is_there, tables_.has_record(id));
      if (!is_there)
        violations_.push_back(
            {table, id, std::to_string(rows.integer(1)) + " rows of a record that does not exist"});
    }
  }

  // A number that was given is never given again.
  Result<void> check_counter() {
    PAWL_TRY(const Counter counter, tables_.counter());
    PAWL_TRY(const std::int64_t position, db_.integer("SELECT max(position) FROM log"));
    PAWL_TRY(const std::int64_t message, db_.integer("SELECT max(id) FROM inbox"));
    const auto behind = [&](const char* what, std::int64_t kept, std::int64_t used) {
      if (kept < used)
        violations_.push_back({"counter",
                               {},
                               std::string(what) + " " + std::to_string(used) +
                                   " is above the last one assigned, " + std::to_string(kept)});
    };
    behind("record", static_cast<std::int64_t>(counter.record),
           static_cast<std::int64_t>(last_record_));
    behind("position", counter.position, position);
    behind("message", counter.message, message);
    return {};
  }

  static std::string text_of(const Due& due) {
    return std::to_string(due.queue) + " " + std::to_string(due.priority) + " " +
           std::to_string(due.at.time_since_epoch().count());
  }

  Database& db_;
  Tables& tables_;
  std::vector<Violation> violations_;
  std::map<std::string, std::int64_t> slots_;
  std::uint64_t last_record_ = 0;
};

}  // namespace

Result<std::vector<Violation>> check_rows(Database& db, Tables& tables) {
  return RowCheck(db, tables).run();
}

}  // namespace pawl::sqlite
