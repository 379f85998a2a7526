#include "store/sqlite/claim_window.h"

#include <algorithm>
#include <iterator>

namespace pawl::sqlite {
namespace {

constexpr std::size_t kReadAtOnce = 1'024;
constexpr std::size_t kQueuesMax = 256;

}  // namespace

Result<std::optional<DuePlace>> ClaimWindow::next(std::int64_t queue, int priority,
                                                  const DuePlace& behind) {
  PAWL_TRY(Queue * priorities, queue_of(queue));
  const auto found = priorities->find(priority);
  if (found == priorities->end()) return std::optional<DuePlace>();
  Line& line = found->second;
  for (;;) {
    const auto place = line.first.upper_bound(behind);
    if (place != line.first.end()) return std::optional(*place);
    if (line.is_whole) return std::optional<DuePlace>();
    PAWL_CHECK(read_on(queue, priority, line));
  }
}

Result<std::optional<int>> ClaimWindow::next_priority(std::int64_t queue, int above) {
  PAWL_TRY(Queue * priorities, queue_of(queue));
  auto line = priorities->upper_bound(above);
  while (line != priorities->end()) {
    PAWL_TRY(const auto first, next(queue, line->first));
    if (first) return std::optional(line->first);
    line = priorities->erase(line);
  }
  return std::optional<int>();
}

void ClaimWindow::added(const Due& due) {
  const auto queue = queues_.find(due.queue);
  if (queue == queues_.end()) return;
  // With a priority that is not there nobody has waited.
  Line& line = queue->second.try_emplace(due.priority, Line{.is_whole = true}).first->second;
  const DuePlace place{due.at, due.record};
  if (!line.is_whole && place > line.read_to) return;
  line.first.insert(place);
  cut(line);
}

void ClaimWindow::removed(const Due& due) {
  const auto queue = queues_.find(due.queue);
  if (queue == queues_.end()) return;
  const auto line = queue->second.find(due.priority);
  if (line != queue->second.end()) line->second.first.erase({due.at, due.record});
}

Result<ClaimWindow::Queue*> ClaimWindow::queue_of(std::int64_t number) {
  const auto known = queues_.find(number);
  if (known != queues_.end()) return &known->second;
  if (queues_.size() >= kQueuesMax) queues_.clear();
  Queue priorities;
  PAWL_TRY(Rows rows,
           db_.query("WITH RECURSIVE next(priority) AS (SELECT min(priority) FROM due WHERE "
                     "queue = ?1 UNION ALL SELECT (SELECT min(priority) FROM due WHERE queue = ?1 "
                     "AND priority > next.priority) FROM next WHERE next.priority IS NOT NULL) "
                     "SELECT priority FROM next WHERE priority IS NOT NULL",
                     number));
  for (;;) {
    PAWL_TRY(const bool found, rows.next());
    if (!found) return &(queues_[number] = std::move(priorities));
    priorities.try_emplace(static_cast<int>(rows.integer(0)));
  }
}

// More than the window holds, when a batch has all that is in it already.
Result<void> ClaimWindow::read_on(std::int64_t queue, int priority, Line& line) {
  const std::size_t at_once = std::min(entries_max_, kReadAtOnce);
  PAWL_TRY(Rows rows, db_.query("SELECT at, record FROM due WHERE queue = ?1 AND priority = ?2 AND "
                                "(at, record) > (?3, ?4) ORDER BY at, record LIMIT ?5",
                                queue, priority, line.read_to.at, line.read_to.record, at_once));
  std::size_t count = 0;
  for (;; ++count) {
    PAWL_TRY(const bool found, rows.next());
    if (!found) break;
    line.read_to = {rows.instant(0), static_cast<std::uint64_t>(rows.integer(1))};
    line.first.insert(line.first.end(), line.read_to);
  }
  line.is_whole = count < at_once;
  return {};
}

void ClaimWindow::cut(Line& line) {
  while (line.first.size() > entries_max_) {
    line.first.erase(std::prev(line.first.end()));
    line.read_to = *line.first.rbegin();
    line.is_whole = false;
  }
}

}  // namespace pawl::sqlite
