// Writer: the connection that alone writes. One transaction at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "store/sqlite/acknowledged.h"
#include "store/sqlite/database.h"
#include "store/sqlite/gathered_log.h"
#include "store/sqlite/tables.h"

namespace pawl::sqlite {

class Writer {
 public:
  struct Limits {
    std::int64_t wal_pages = 0;  // before a checkpoint
    Tables::Limits tables = {};
  };

  // The connection was opened with the log.
  Writer(std::unique_ptr<GatheredLog> log, Database opened, Acknowledged acknowledged,
         Counter counter, Limits limits, std::function<Instant()> clock);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // The clock that decides; it never goes back.
  Instant now();

  Result<void> begin();
  // Durable when it returns. A transaction that has written nothing is not counted.
  Result<void> commit(Counter counter);
  void roll_back();

  // Something in one transaction of its own.
  template <class Act>
  auto transact(Act act) -> decltype(act()) {
    PAWL_CHECK(begin());
    auto result = act();
    if (!result) {
      roll_back();
      return result;
    }
    Counter counter = this->counter();
    counter.at = now();
    PAWL_CHECK(commit(counter));
    return result;
  }

  const Counter& counter() const { return counter_; }
  Database& database() { return db_; }
  Tables& tables() { return tables_; }

  // From any thread.
  Result<void> check_running() const;

 private:
  void checkpoint();
  void stop() { stopped_ = true; }

  std::unique_ptr<GatheredLog> log_;  // goes after the connection
  Database db_;
  Tables tables_;
  Acknowledged acknowledged_;
  Counter counter_;
  std::int64_t wal_pages_max_;
  std::int64_t wal_pages_ = 0;
  std::int64_t changes_before_ = 0;
  std::function<Instant()> clock_;
  Instant now_ = kInstantMin;
  std::atomic<bool> stopped_ = false;
};

}  // namespace pawl::sqlite
