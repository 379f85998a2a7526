#include "policy/counting.h"

#include <string>

namespace pawl {

void count_failure(Record& record, const FailedIn& failed, std::string_view code,
                   Policy::Count count) {
  Streak& streak = record.streak;
  const bool goes_on = streak.state == failed.state || failed.is_on_the_way_back;
  const bool same_code = streak.code == code && (goes_on || count != Policy::Count::state);
  streak.code_failures = same_code ? streak.code_failures + 1 : 1;
  streak.code = code;
  streak.laters = 0;
  streak.gave_up = false;
  const bool was_elsewhere = !goes_on && !streak.state.empty();
  if (!goes_on) streak.state = failed.state;
  if (was_elsewhere && count == Policy::Count::state) {
    record.failures = 0;
    record.failing_since.reset();
    record.attempt = failed.was_attempt ? 1 : 0;
  }
  ++record.failures;
  if (!record.failing_since) record.failing_since = failed.since;
}

bool count_leaving(Record& record, std::string_view left) {
  const bool is_over = record.streak.state.empty() || record.streak.state == left;
  if (!is_over) {
    if (record.failures == 0) record.attempt = 0;
    return false;
  }
  const bool changes_core = record.failures != 0 || record.failing_since.has_value();
  record.attempt = 0;
  record.failures = 0;
  record.failing_since.reset();
  record.streak = {};
  return changes_core;
}

void count_giving_up(Record& record) {
  record.attempt = 0;
  record.failures = 0;
  record.streak = {.state = record.streak.state};
}

void remember_task(Record& record, std::string_view state) {
  forget_task(record, state);
  record.left_tasks.push_back({std::string(state), record.task_seq});
}

void forget_task(Record& record, std::string_view state) {
  std::erase_if(record.left_tasks, [&](const TaskSeq& left) { return left.state == state; });
}

std::optional<std::int64_t> remembered_task(const Record& record, std::string_view state) {
  for (const TaskSeq& left : record.left_tasks)
    if (left.state == state) return left.seq;
  return std::nullopt;
}

}  // namespace pawl
