#include "store/sqlite/writer.h"

#include <algorithm>
#include <utility>

namespace pawl::sqlite {

Writer::Writer(std::unique_ptr<GatheredLog> log, Database opened, Acknowledged acknowledged,
               Counter counter, Limits limits, std::function<Instant()> clock)
    : log_(std::move(log)),
      db_(std::move(opened)),
      tables_(db_, limits.tables),
      acknowledged_(std::move(acknowledged)),
      counter_(counter),
      wal_pages_max_(limits.wal_pages),
      clock_(std::move(clock)) {
  sqlite3_wal_hook(
      db_.handle(),
      [](void* pages, sqlite3*, const char*, int count) {
        *static_cast<std::int64_t*>(pages) = count;
        return SQLITE_OK;
      },
      &wal_pages_);
  sqlite3_db_config(db_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
}

// What is on the disk after an unknown outcome is for the next start to find out.
Writer::~Writer() {
  roll_back();
  if (stopped_) sqlite3_db_config(db_.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

Instant Writer::now() {
  now_ = std::max(now_, clock_());
  return now_;
}

Result<void> Writer::check_running() const {
  if (!stopped_) return {};
  return Error{ErrorCode::outcome_unknown,
               "the disk failed and the store has stopped: open it again to see what was saved"};
}

Result<void> Writer::begin() {
  PAWL_CHECK(check_running());
  changes_before_ = sqlite3_total_changes64(db_.handle());
  return db_.run("BEGIN IMMEDIATE");
}

void Writer::roll_back() {
  tables_.forget_entries();
  if (sqlite3_total_changes64(db_.handle()) != changes_before_) tables_.forget();
  if (sqlite3_get_autocommit(db_.handle()) != 0) return;
  const auto rolled_back = db_.run("ROLLBACK");
  if (!rolled_back) stop();
}

Result<void> Writer::commit(Counter counter) {
  if (sqlite3_total_changes64(db_.handle()) == changes_before_) {
    roll_back();
    return {};
  }
  ++counter.batch;
  counter.at = std::max(counter.at, counter_.at);  // the clock may have gone back before the start
  if (auto put = tables_.put_counter(counter); !put) {
    roll_back();
    return put;
  }
  if (auto committed = db_.run("COMMIT"); !committed) {
    // Without space the last page, which makes it a commit, is not there. After every other error
    // it may be.
    const bool is_full = (sqlite3_extended_errcode(db_.handle()) & 0xff) == SQLITE_FULL;
    if (!is_full) stop();
    roll_back();
    if (is_full) return committed;
    return Error{
        ErrorCode::outcome_unknown,
        committed.error().message +
            ": Pawl does not know whether this was made durable; open the store again to find out"};
  }
  counter_ = counter;
  if (!acknowledged_.put(counter.batch)) stop();
  if (wal_pages_ >= wal_pages_max_) checkpoint();
  return {};
}

// What is committed is durable whatever comes of this. Without space it is tried again later; after
// another error nothing is known of the disk.
void Writer::checkpoint() {
  const int code =
      sqlite3_wal_checkpoint_v2(db_.handle(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && code != SQLITE_BUSY && (code & 0xff) != SQLITE_FULL) stop();
}

}  // namespace pawl::sqlite
