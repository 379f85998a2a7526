#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/mutant.h"
#include "store/sqlite/check_rows.h"
#include "store/sqlite/directory_lock.h"
#include "store/sqlite/gathered_log.h"
#include "store/sqlite/new_place.h"
#include "store/sqlite/pending.h"
#include "store/sqlite/reading.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/writer.h"

namespace pawl {
namespace sqlite {
namespace {

constexpr std::int64_t kPagesPerMib = 256;

// --- the batch ---------------------------------------------------------------------------------

class SqliteBatch final : public Batch {
 public:
  explicit SqliteBatch(Writer& writer)
      : writer_(writer), tables_(writer.tables()), now_(writer.now()) {}
  ~SqliteBatch() override {
    if (!is_over_) writer_.roll_back();
  }

  Instant now() const override { return now_; }

  Result<std::vector<Record>> load(std::span<const RecordId> ids) override {
    std::vector<Record> records(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) PAWL_CHECK(pending_.load(ids[i], records[i]));
    return records;
  }
  Result<std::vector<Record>> load(std::span<const RecordName> names) override {
    std::vector<Record> records(names.size());
    PAWL_CHECK(pending_.load(names, records));
    return records;
  }

  Result<std::vector<Claimed>> claim(std::span<const Claim> claims) override {
    std::vector<Claimed> claimed;
    for (const Claim& claim : claims) switch (claim.kind) {
        case Claim::Kind::ready:
          PAWL_CHECK(claim_ready(claim, claimed));
          break;
        case Claim::Kind::due:
          PAWL_CHECK(claim_rank(0, kWakes, claim.max, claimed));
          break;
        case Claim::Kind::over:
          PAWL_CHECK(claim_rank(0, kRemovals, claim.max, claimed));
          break;
        case Claim::Kind::inbox:
          PAWL_CHECK(claim_messages(claim, claimed));
          break;
      }
    return claimed;
  }

  Result<std::vector<std::optional<Remembered>>> remembered(
      std::span<const RequestName> requests) override {
    std::vector<std::optional<Remembered>> all;
    for (const RequestName& request : requests) {
      PAWL_TRY(std::optional<Remembered> one, tables_.remembered(request));
      all.push_back(std::move(one));
    }
    return all;
  }

  Result<std::vector<Slot>> slots(std::span<const std::string> names) override {
    std::vector<Slot> all;
    for (const std::string& name : names) {
      PAWL_TRY(Slot slot, tables_.slot(name));
      all.push_back(std::move(slot));
    }
    return all;
  }

  Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) override {
    is_over_ = true;
    Counter counter = writer_.counter();
    counter.at = now_;
    auto outcomes = pending_.apply(units, counter);
    if (!outcomes) {
      writer_.roll_back();
      return outcomes;
    }
    if (auto written = pending_.write(); !written) {
      writer_.roll_back();
      return std::move(written).error();
    }
    PAWL_CHECK(writer_.commit(counter));
    pending_.cache_written();
    if (mutant(Mutant::message_after_commit)) {
      PAWL_CHECK(writer_.begin());
      PAWL_CHECK(pending_.write_messages());
      PAWL_CHECK(writer_.commit(writer_.counter()));
    }
    return outcomes;
  }

 private:
  Result<void> claim_ready(const Claim& claim, std::vector<Claimed>& claimed) {
    const std::size_t end = claimed.size() + claim.max;
    PAWL_TRY(const std::int64_t queue, tables_.words().number(claim.queue));
    if (queue == kNoWord) return {};
    int priority = -1;
    while (claimed.size() < end) {
      PAWL_TRY(const auto next, tables_.claim_window().next_priority(queue, priority));
      if (!next) return {};
      priority = *next;
      PAWL_CHECK(claim_rank(queue, priority, end - claimed.size(), claimed));
    }
    return {};
  }

  // Those of one queue and priority whose instant has come.
  Result<void> claim_rank(std::int64_t queue, int priority, std::size_t max,
                          std::vector<Claimed>& claimed) {
    DuePlace place;
    for (std::size_t count = 0; count < max;) {
      PAWL_TRY(const auto next, tables_.claim_window().next(queue, priority, place));
      if (!next || next->at > now_) return {};
      place = *next;
      if (!taken_.insert(place.record).second) continue;
      if (count == 0) claimed.reserve(claimed.size() + std::min<std::size_t>(max, 256));
      PAWL_CHECK(pending_.load(RecordId{place.record}, claimed.emplace_back().record));
      ++count;
    }
    return {};
  }

  Result<void> claim_messages(const Claim& claim, std::vector<Claimed>& claimed) {
    if (tables_.is_inbox_empty()) return {};
    PAWL_TRY(Rows rows, writer_.database().query("SELECT id, record, body FROM inbox INDEXED BY "
                                                 "inbox_open WHERE waits = 0 ORDER BY id"));
    const auto first = static_cast<std::ptrdiff_t>(claimed.size());
    bool is_empty = true;
    for (std::size_t count = 0; count < claim.max;) {
      PAWL_TRY(const bool found, rows.next());
      if (!found && is_empty) tables_.saw_inbox_empty();
      if (!found) return {};
      is_empty = false;
      const MessageId id{rows.integer(0)};
      if (!taken_messages_.insert(id).second) continue;
      const RecordId to{static_cast<std::uint64_t>(rows.integer(1))};
      auto of = std::find_if(claimed.begin() + first, claimed.end(),
                             [&](const Claimed& one) { return one.record.id == to; });
      if (of == claimed.end()) {
        of = claimed.emplace(of);
        PAWL_CHECK(pending_.load(to, of->record));
      }
      of->messages.push_back({to, std::string(rows.text(2)), id});
      ++count;
    }
    return {};
  }

  Writer& writer_;
  Tables& tables_;
  Pending pending_{tables_};
  Instant now_;
  bool is_over_ = false;
  std::set<std::uint64_t> taken_;
  std::set<MessageId> taken_messages_;
};

// --- the store ---------------------------------------------------------------------------------

// Where backups are written: where the store is.
struct Medium {
  std::string vfs;
  Directories* directories;
};

class OpenedStore final : public SqliteStore {
 public:
  OpenedStore(DirectoryLock lock, std::unique_ptr<Writer> writer, Database reading, Medium medium)
      : lock_(std::move(lock)),
        writer_(std::move(writer)),
        reading_(std::move(reading)),
        last_used_(writer_->counter().at),
        medium_(std::move(medium)) {}

  Result<std::unique_ptr<Batch>> begin() override {
    PAWL_CHECK(writer_->begin());
    return std::unique_ptr<Batch>(std::make_unique<SqliteBatch>(*writer_));
  }

  Result<std::vector<bool>> extend(std::span<const Beat> beats) override {
    return writer_->transact([&]() -> Result<std::vector<bool>> {
      std::vector<bool> live;
      for (const Beat& beat : beats) {
        PAWL_TRY(const bool is_live, extend(beat));
        live.push_back(is_live);
      }
      return live;
    });
  }

  Result<std::optional<Instant>> next_due(std::span<const std::string> queues) override {
    PAWL_CHECK(writer_->check_running());
    Tables& tables = writer_->tables();
    if (!tables.is_inbox_empty()) {
      PAWL_TRY(const std::int64_t open,
               writer_->database().integer("SELECT EXISTS(SELECT 1 FROM inbox INDEXED BY "
                                           "inbox_open WHERE waits = 0)"));
      if (open != 0) return std::optional(kInstantMin);
    }
    std::optional<Instant> next;
    PAWL_CHECK(consider(next, 0, kWakes));
    PAWL_CHECK(consider(next, 0, kRemovals));
    for (const std::string& name : queues) {
      PAWL_TRY(const std::int64_t queue, tables.words().number(name));
      int priority = -1;
      for (;;) {
        PAWL_TRY(const auto higher, tables.claim_window().next_priority(queue, priority));
        if (!higher) break;
        priority = *higher;
        PAWL_CHECK(consider(next, queue, priority));
      }
    }
    return next;
  }

  Result<Page<Record>> list(const Query& query, const Cursor& from) override {
    PAWL_CHECK(writer_->check_running());
    return reading_.list(query, from);
  }
  Result<Page<Entry>> log(RecordId record, const Cursor& from, std::size_t max) override {
    PAWL_CHECK(writer_->check_running());
    return reading_.log(record, from, max);
  }
  Result<Page<LoggedEntry>> feed(const Cursor& from, std::size_t max) override {
    PAWL_CHECK(writer_->check_running());
    return reading_.feed(from, max);
  }
  Result<Counts> counts() override {
    PAWL_CHECK(writer_->check_running());
    return reading_.counts();
  }
  Result<RecordId> last_id() override {
    PAWL_CHECK(writer_->check_running());
    return reading_.last_id();
  }
  Result<std::optional<StoredMachine>> machine(const std::string& name, int version) override {
    PAWL_CHECK(writer_->check_running());
    return reading_.machine(name, version);
  }
  Result<std::vector<StoredMachine>> machines() override {
    PAWL_CHECK(writer_->check_running());
    return reading_.machines();
  }
  Result<std::vector<std::string>> queues() override {
    PAWL_CHECK(writer_->check_running());
    return reading_.queues();
  }
  Result<std::vector<Setting>> settings(const std::string& prefix) override {
    PAWL_CHECK(writer_->check_running());
    return reading_.settings(prefix);
  }

  Result<bool> put_machines(std::span<const StoredMachine> machines) override {
    std::map<std::pair<std::string_view, int>, std::string_view> texts;
    for (const StoredMachine& machine : machines) {
      PAWL_TRY(const auto stored, this->machine(machine.name, machine.version));
      if (stored && stored->text != machine.text) return false;
      const auto [at, is_first] = texts.emplace(
          std::pair<std::string_view, int>(machine.name, machine.version), machine.text);
      if (!is_first && at->second != machine.text) return false;
    }
    return writer_->transact([&]() -> Result<bool> {
      for (const StoredMachine& machine : machines)
        PAWL_CHECK(writer_->database().run(
            "INSERT INTO machine VALUES(?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING", machine.name,
            machine.version, machine.text, machine.applied_at, machine.applied_by));
      return true;
    });
  }

  Result<Setting> put_setting(const Setting& setting) override {
    return writer_->transact([&]() -> Result<Setting> {
      Database& db = writer_->database();
      if (setting.revision == 0) {
        PAWL_CHECK(db.run("INSERT INTO setting VALUES(?1, ?2, 1) ON CONFLICT DO NOTHING",
                          setting.name, setting.value));
      } else {
        PAWL_CHECK(
            db.run("UPDATE setting SET value = ?2, revision = revision + 1 "
                   "WHERE name = ?1 AND revision = ?3",
                   setting.name, setting.value, setting.revision));
      }
      PAWL_TRY(Rows rows,
               db.query("SELECT value, revision FROM setting WHERE name = ?1", setting.name));
      PAWL_TRY(const bool found, rows.next());
      if (!found) return Setting{.name = setting.name};
      return Setting{setting.name, std::string(rows.text(0)), rows.integer(1)};
    });
  }

  Result<std::size_t> forget_requests(Instant before, std::size_t max) override {
    return writer_->transact([&]() -> Result<std::size_t> {
      Database& db = writer_->database();
      PAWL_CHECK(
          db.run("DELETE FROM request WHERE (machine, key, request) IN (SELECT machine, "
                 "key, request FROM request WHERE at < ?1 ORDER BY at LIMIT ?2)",
                 before, static_cast<std::int64_t>(max)));
      return static_cast<std::size_t>(sqlite3_changes64(db.handle()));
    });
  }

  Result<std::vector<Violation>> violations() override {
    PAWL_CHECK(writer_->check_running());
    return check_rows(writer_->database(), writer_->tables());
  }

  Instant last_used() const override { return last_used_; }

  Result<std::unique_ptr<Backup>> backup(const std::filesystem::path& file) override;

  Result<std::size_t> void_leases() override {
    std::size_t count = 0;
    Cursor from;
    do {
      PAWL_TRY(const Page<Record> page, reading_.list({.max = kPageMax}, from));
      PAWL_TRY(const std::size_t voided,
               writer_->transact([&] { return void_leases(page.items); }));
      count += voided;
      from = page.next;
    } while (!from.empty());
    return count;
  }

  Result<void> read_tables(const std::function<Result<void>(Database&)>& read) override {
    PAWL_CHECK(writer_->begin());
    auto result = read(writer_->database());
    writer_->roll_back();
    return result;
  }

 private:
  Result<std::size_t> void_leases(const std::vector<Record>& records) {
    std::size_t count = 0;
    for (const Record& record : records) {
      if (!record.running) continue;
      const Instant now = writer_->now();
      PAWL_TRY(const bool is_live, change_attempt(record.id, record.fence, [&](Record& changed) {
                 changed.running->token_hash = {};  // of no token
                 changed.running->lease_until = now;
                 changed.wake_at = std::min(changed.wake_at.value_or(now), now);
               }));
      if (is_live) ++count;
    }
    return count;
  }

  Result<bool> extend(const Beat& beat) {
    return change_attempt(beat.record, beat.fence, [&](Record& record) {
      record.running->progress = beat.progress;
      record.running->lease_until = beat.lease_until;
      record.wake_at = beat.wake_at;
    });
  }

  // False when that attempt does not run.
  template <class Change>
  Result<bool> change_attempt(RecordId id, std::int64_t fence, Change change) {
    Tables& tables = writer_->tables();
    Record record;
    Kept kept;
    PAWL_TRY(const bool found, tables.find(id, record, kept));
    if (!found || !record.running || record.fence != fence) return false;
    if (record.wake_at) PAWL_CHECK(tables.remove_due(wake_of(record)));
    change(record);
    if (record.wake_at) PAWL_CHECK(tables.add_dues(std::array{wake_of(record)}));
    PAWL_CHECK(tables.update(record, kept.named, kept.slots));
    return true;
  }

  Result<void> consider(std::optional<Instant>& next, std::int64_t queue, int priority) {
    PAWL_TRY(const auto first, writer_->tables().claim_window().next(queue, priority));
    if (first) next = std::min(next.value_or(kInstantMax), first->at);
    return {};
  }

  DirectoryLock lock_;  // goes last
  std::unique_ptr<Writer> writer_;
  Reading reading_;
  Instant last_used_;
  Medium medium_;
};

// --- backup ------------------------------------------------------------------------------------

class RunningBackup final : public Backup {
 public:
  RunningBackup(NewFile file, Database to, sqlite3_backup* backup)
      : file_(std::move(file)), to_(std::move(to)), backup_(backup) {}
  ~RunningBackup() override { sqlite3_backup_finish(backup_); }

  Result<Progress> step(int pages) override {
    if (progress_.is_complete) return progress_;
    const int code = sqlite3_backup_step(backup_, pages);
    if (code != SQLITE_OK && code != SQLITE_DONE)
      return Error{ErrorCode::environment, "cannot copy the store to " + file_.name().string() +
                                               ": " + sqlite3_errstr(code) +
                                               "; check the free space on both disks"};
    progress_.pages = sqlite3_backup_pagecount(backup_);
    progress_.done = progress_.pages - sqlite3_backup_remaining(backup_);
    if (code == SQLITE_DONE) {
      PAWL_CHECK(file_.put_in_place());
      progress_.is_complete = true;
    }
    return progress_;
  }

 private:
  NewFile file_;
  Database to_;
  sqlite3_backup* backup_;
  Progress progress_;
};

Result<std::unique_ptr<Backup>> OpenedStore::backup(const std::filesystem::path& file) {
  PAWL_CHECK(writer_->check_running());
  PAWL_TRY(NewFile to_file, NewFile::prepare(file, medium_.vfs, *medium_.directories));
  PAWL_TRY(Database to, Database::open(to_file.path(), SQLITE_OPEN_READWRITE, medium_.vfs));
  // Nobody knows the file until it is complete: it is synced then, and needs no way back.
  PAWL_CHECK(to.script("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF"));
  sqlite3_backup* const backup =
      sqlite3_backup_init(to.handle(), "main", writer_->database().handle(), "main");
  if (backup == nullptr)
    return error_of(to.handle(), sqlite3_errcode(to.handle()), "cannot write " + file.string());
  return std::unique_ptr<Backup>(
      std::make_unique<RunningBackup>(std::move(to_file), std::move(to), backup));
}

// --- opening -----------------------------------------------------------------------------------

Result<void> prepare_directory(const std::string& path, const SqliteOptions& options) {
  const std::filesystem::path& directory = options.directory;
  std::error_code failed;
  const bool is_there = std::filesystem::is_directory(directory, failed);
  if (!options.creates) {
    if (is_there) return {};
    return Error{ErrorCode::bad_input, "there is no directory " + directory.string()};
  }
  PAWL_TRY(const bool has_tables, VfsFile::exists(path, options.vfs));
  if (has_tables) return {};
  return make_durable_directory(std::filesystem::absolute(directory, failed).lexically_normal(),
                                *options.directories);
}

// False: it has to be made.
Result<bool> check_file(const std::string& path, const SqliteOptions& options) {
  PAWL_TRY(const bool is_there, VfsFile::exists(path, options.vfs));
  if (!is_there && !options.creates)
    return Error{ErrorCode::bad_input, "there is no store in " + options.directory.string()};
  if (!is_there) return false;
  constexpr std::size_t kHeaderSize = 100;
  PAWL_TRY(VfsFile file, VfsFile::open(path, options.vfs, false));
  PAWL_TRY(const std::string header, file.read(kHeaderSize));
  auto checked = check_header(path, header);
  if (checked) return !header.empty();
  if (checked.error().code != ErrorCode::damaged) return std::move(checked).error();
  // The very first page may have been cut off: its journal says so, and SQLite takes it back.
  PAWL_TRY(const bool has_journal, VfsFile::exists(path + "-journal", options.vfs));
  if (!has_journal) return std::move(checked).error();
  return false;
}

// Whether the tables hold every batch that was acknowledged.
Result<void> check_complete(const Acknowledged& acknowledged, std::int64_t known,
                            const std::filesystem::path& directory) {
  if (acknowledged.batch().value_or(0) <= known) return {};
  return Error{
      ErrorCode::damaged,
      directory.string() + " has lost acknowledged batches: it has " + std::to_string(known) +
          " of " + std::to_string(*acknowledged.batch()) +
          ". Keep a copy of the directory, then restore a backup; or, to continue without them, "
          "remove the file `acknowledged`"};
}

Result<Database> open_to_write(const std::string& path, int cache_mib, const GatheredLog& log) {
  PAWL_TRY(Database db,
           Database::open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, log.name()));
  PAWL_CHECK(configure(db, {cache_mib, true}));
  return db;
}

Result<Database> open_to_read(const std::string& path, const std::string& vfs) {
  constexpr int kCacheMib = 8;
  PAWL_TRY(Database db, Database::open(path, SQLITE_OPEN_READWRITE, vfs));
  PAWL_CHECK(configure(db, {kCacheMib, false}));
  return db;
}

int write_again(sqlite3_file* file) {
  constexpr sqlite3_int64 kPiece = 1 << 16;  // SQLite's own files take less than 128 KiB at once
  const sqlite3_io_methods& methods = *file->pMethods;
  std::vector<char> bytes(kPiece);
  sqlite3_int64 size = 0;
  int code = methods.xFileSize(file, &size);
  for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK; at += kPiece) {
    const int length = static_cast<int>(std::min(size - at, kPiece));
    code = methods.xRead(file, bytes.data(), length, at);
    if (code == SQLITE_OK) code = methods.xWrite(file, bytes.data(), length, at);
  }
  return code == SQLITE_OK ? methods.xSync(file, SQLITE_SYNC_NORMAL) : code;
}

// A process that died may have left commits in the log that are not durable yet. Whoever is told of
// them relies on them, and later ones stand behind them. A sync alone does not help: after one that
// failed Linux takes for written what is not.
Result<void> make_log_durable(Database& db) {
  sqlite3_file* log = nullptr;
  int code = sqlite3_file_control(db.handle(), nullptr, SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (code == SQLITE_OK && log->pMethods != nullptr) code = write_again(log);
  if (code == SQLITE_OK) return {};
  return Error{ErrorCode::environment, std::string("cannot make the write-ahead log durable: ") +
                                           sqlite3_errstr(code) + "; check the disk"};
}

Instant machine_clock() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

}  // namespace
}  // namespace sqlite

Result<std::unique_ptr<SqliteStore>> open_sqlite_store(SqliteOptions options) {
  using namespace sqlite;
  const std::string path = options.directory / "tables.db";
  PAWL_CHECK(prepare_directory(path, options));
  // Of what is not ours not even the lock is touched. Where there is one it comes first: to close a
  // file that this process has open elsewhere would end the locks of SQLite.
  if (!DirectoryLock::exists(options.directory)) PAWL_CHECK(check_file(path, options));
  PAWL_TRY(DirectoryLock lock, DirectoryLock::take(options.directory));
  PAWL_TRY(const bool is_made, check_file(path, options));
  PAWL_TRY(Acknowledged acknowledged,
           Acknowledged::open(options.directory / "acknowledged", options.vfs));
  // SQLite throws the log of an empty file away.
  if (!is_made) PAWL_CHECK(check_complete(acknowledged, 0, options.directory));
  auto log = std::make_unique<GatheredLog>(options.vfs);
  PAWL_TRY(Database db, open_to_write(path, options.cache_mib, *log));
  PAWL_CHECK(bring_up_to_date(db, path));
  PAWL_TRY(const Counter counter, Tables(db).counter());
  PAWL_CHECK(check_complete(acknowledged, counter.batch, options.directory));
  PAWL_CHECK(make_log_durable(db));
  // SQLite syncs the name of a new log too, but says nothing when that fails.
  PAWL_CHECK(options.directories->sync(options.directory));
  PAWL_CHECK(acknowledged.put(counter.batch));  // later it needs no space
  PAWL_TRY(Database reading, open_to_read(path, options.vfs));
  if (!options.clock) options.clock = machine_clock;
  const Writer::Limits limits{
      options.wal_pages > 0 ? options.wal_pages : options.wal_mib * kPagesPerMib,
      {options.record_cache_bytes > 0 ? options.record_cache_bytes
                                      : static_cast<std::size_t>(options.record_cache_mib) << 20U,
       options.claim_window}};
  auto writer = std::make_unique<Writer>(std::move(log), std::move(db), std::move(acknowledged),
                                         counter, limits, std::move(options.clock));
  return std::unique_ptr<SqliteStore>(
      std::make_unique<OpenedStore>(std::move(lock), std::move(writer), std::move(reading),
                                    Medium{options.vfs, options.directories}));
}

}  // namespace pawl
