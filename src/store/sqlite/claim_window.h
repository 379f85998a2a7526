// ClaimWindow: who is claimed first, in memory: of each queue and priority the first entries of
// `due`, and how far the table has been read. A claim looks here, and at the table only for what
// lies behind the window.
//
// It is exact, since one connection alone writes, and tells it of every row it adds and removes.
// After a rollback it is read anew.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "pawl/result.h"
#include "pawl/time.h"
#include "store/sqlite/database.h"

namespace pawl::sqlite {

// Who is claimed first. What waits for the clock stands in no queue, before every priority; so does
// what waits to be removed.
struct Due {
  std::int64_t queue = 0;
  int priority = 0;
  Instant at = {};
  std::uint64_t record = 0;

  friend auto operator<=>(const Due&, const Due&) = default;
};
inline constexpr int kWakes = -1;
inline constexpr int kRemovals = -2;

inline constexpr std::size_t kClaimWindow = 10'000;

// Of one queue and priority.
struct DuePlace {
  Instant at = kInstantMin;
  std::uint64_t record = 0;

  friend auto operator<=>(const DuePlace&, const DuePlace&) = default;
};

class ClaimWindow {
 public:
  // So many entries of each queue and priority at most.
  ClaimWindow(Database& db, std::size_t entries_max) : db_(db), entries_max_(entries_max) {}

  // The first of a queue and priority that is behind that one; of all when there is none.
  Result<std::optional<DuePlace>> next(std::int64_t queue, int priority,
                                       const DuePlace& behind = {});
  // The first priority above it that something waits with.
  Result<std::optional<int>> next_priority(std::int64_t queue, int above);

  // What was done to the table.
  void added(const Due& due);
  void removed(const Due& due);
  void forget() { queues_.clear(); }

  std::size_t queues() const { return queues_.size(); }  // in memory

 private:
  struct Line {
    std::set<DuePlace> first;  // all up to there
    DuePlace read_to = {};
    bool is_whole = false;  // there is nothing behind it
  };
  using Queue = std::map<int, Line>;  // by priority; those that nobody waits with may be missing

  Result<Queue*> queue_of(std::int64_t number);
  Result<void> read_on(std::int64_t queue, int priority, Line& line);
  void cut(Line& line);

  Database& db_;
  std::size_t entries_max_;
  std::unordered_map<std::int64_t, Queue> queues_;  // that were asked for
};

}  // namespace pawl::sqlite
