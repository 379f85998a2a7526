#include "check/distinctions.h"

#include <algorithm>
#include <utility>

#include "check/reading.h"
#include "decide/json_edit.h"
#include "model/edges.h"
#include "model/expression/duration_of.h"
#include "model/expression/json_view.h"
#include "policy/delays.h"

namespace pawl {
namespace {

constexpr char kApart = '\x1f';  // between two parts of a key

constexpr std::int64_t kChildrenMax = 3;
constexpr int kEpochsMax = 3;

void append(std::string& key, std::string_view text) {
  key += text;
  key += kApart;
}

void append(std::string& key, std::int64_t number) {
  append_number(key, number);
  key += kApart;
}

Clock::Kind clock_of(Timer::Kind kind) {
  switch (kind) {
    case Timer::Kind::come_back:
      return Clock::Kind::come_back;
    case Timer::Kind::after:
      return Clock::Kind::after;
    case Timer::Kind::every:
      break;
  }
  return Clock::Kind::every;
}

}  // namespace

Distinctions::Distinctions(const Machine& machine) : machine_(machine) {
  look_at_budgets();
  look_at_limits();
  look_at_texts(machine.definition());
}

// A counter that is beyond all budgets is as good as one that is further beyond.
void Distinctions::look_at_budgets() {
  const auto look = [&](const Delays& delays) {
    counter_max_ = std::max(counter_max_, delay_count(delays).value_or(0) + 1);
  };
  for (StateId id = 0; id < machine_.state_count(); ++id) {
    if (!can_fail(machine_, id)) continue;
    const ResolvedPolicy& policy = machine_.policy_of_state(id);
    look(policy.retry);
    for (const ErrorRows* errors : policy.errors)
      for (const Row& row : errors->rows) {
        if (row.action != Row::Action::retry || !row.delays) continue;
        look(*row.delays);
        has_own_delays_ = true;
      }
  }
}

void Distinctions::look_at_limits() {
  const auto is_known = [&](const DurationValue& limit) {
    return std::any_of(limits_.begin(), limits_.end(),
                       [&](const DurationValue* known) { return *known == limit; });
  };
  for (StateId id = 0; id < machine_.state_count(); ++id)
    for (const Row& row : machine_.policy_of_state(id).give_up)
      if (row.elapsed && !is_known(*row.elapsed)) limits_.push_back(&*row.elapsed);
}

void Distinctions::look_at_texts(const Definition& definition) {
  Reading reading = reading_of(definition);
  reads_attempt_ = reading.names.contains("record.attempt");
  reads_epoch_ = reading.names.contains("record.epoch");
  reads_result_ = reading.names.contains("record.result");
  if (reading.names.contains("error")) codes_read_ = std::move(reading.quoted);
  reads_failed_from_ = reading.names.contains("record.failed_from");
  reads_children_ = reading.names.contains("children");
  reads_all_data_ = reading.all_data;
  fields_ = std::move(reading.fields);
  for (const char* name : {"children", "error.at", "error.detail", "error.message",
                           "error.retry_after", "now", "record.created_at", "record.entered_at",
                           "record.failing_since", "record.planned_at", "record.revision"})
    if (reading.names.contains(name)) unvaried_.emplace_back(name);
  if (reads_attempt_ || reading.names.contains("record.failures"))
    counter_max_ = std::max(counter_max_, reading.number_max + 1);
}

std::string Distinctions::key_of(const Situation& situation, Instant now) const {
  const Record& record = situation.record;
  std::string key;
  append(key, record.state);
  key += record.spent ? 's' : '-';
  key += record.task_at ? 't' : '-';
  key += record.running ? 'r' : '-';
  key += record.hold ? 'h' : '-';
  key += record.plan.next ? 'p' : '-';
  key += situation.waits_without_bound ? 'w' : '-';
  append_counters(key, record);
  for (int limit = 0; limit < limit_count(); ++limit) {
    const auto at = passes_at(limit, situation);
    key += !at ? '-' : (now < *at ? '0' : '1');
  }
  append_pending(key, situation);
  append_data(key, record);
  return key;
}

void Distinctions::append_pending(std::string& key, const Situation& situation) const {
  std::set<std::pair<Timer::Kind, int>> timers;
  for (const Timer& timer : situation.record.timers) timers.emplace(timer.kind, timer.index);
  for (const auto& [kind, index] : timers) {
    append(key, static_cast<int>(kind));
    append(key, index);
  }
  key += kApart;
  std::set<std::string> names;
  for (const OwnMessage& message : situation.messages) names.insert(message.sent.event);
  for (const AsideJob& job : situation.jobs)
    names.insert("run " + job.task + " " + job.otherwise.event);
  for (const std::string& name : names) append(key, name);
  key += kApart;
  for (const std::string& id : situation.keyed) append(key, id);
}

void Distinctions::append_counters(std::string& key, const Record& record) const {
  const auto counted = [&](int number) { append(key, std::min(number, counter_max_)); };
  const Streak& streak = record.streak;
  counted(record.failures);
  if (reads_attempt_) counted(record.attempt);
  if (reads_epoch_) append(key, std::min(record.epoch, kEpochsMax));
  append(key, streak.state);
  append(key, streak.checkpoint);
  if (reads_failed_from_) append(key, record.failed_from);
  key += streak.laters > 0 ? 'l' : '-';
  if (has_own_delays_) {
    append(key, streak.code);
    counted(streak.code_failures);
  }
  if (record.error && codes_read_) append(key, record.error->code);
}

void Distinctions::append_data(std::string& key, const Record& record) const {
  if (reads_all_data_) append(key, record.data);
  for (const std::string& field : fields_)
    if (const JsonView value = JsonView(record.data).member(field); !value.absent())
      append(key, value.json());
    else
      key += kApart;
  if (reads_result_) append(key, record.result);
  if (!reads_children_) return;
  for (const ChildCounts& children : record.children) {
    append(key, children.machine);
    append(key, std::min(children.all, kChildrenMax));
  }
}

std::vector<Clock> Distinctions::clocks_of(const Situation& situation) const {
  const Record& record = situation.record;
  std::vector<Clock> clocks;
  for (const Timer& timer : record.timers)
    clocks.push_back({clock_of(timer.kind), record.state, timer.index, timer.at});
  for (const OwnMessage& message : situation.messages)
    clocks.push_back({Clock::Kind::message, message.sent.event, 0, message.at});
  if (record.plan.next) clocks.push_back({Clock::Kind::plan, "", 0, *record.plan.next});
  if (record.running)
    clocks.push_back({Clock::Kind::attempt, record.state, 0, record.running->deadline_at});
  for (int limit = 0; limit < limit_count(); ++limit)
    if (const auto at = passes_at(limit, situation); at && situation.now < *at)
      clocks.push_back({Clock::Kind::elapsed, "", limit, *at});
  return clocks;
}

std::vector<int> Distinctions::limits_of(StateId state) const {
  std::vector<int> limits;
  for (const Row& row : machine_.policy_of_state(state).give_up)
    for (int i = 0; row.elapsed && i < limit_count(); ++i)
      if (limit(i) == *row.elapsed) limits.push_back(i);
  return limits;
}

std::vector<int> Distinctions::limits_of(const Record& record) const {
  const auto state = machine_.find_state(
      record.task_at || record.running || record.streak.state.empty() ? record.state
                                                                      : record.streak.state);
  return state ? limits_of(*state) : std::vector<int>();
}

std::optional<Instant> Distinctions::passes_at(int index, const Situation& situation) const {
  const Record& record = situation.record;
  std::optional<Instant> since = record.failing_since;
  if (!since && record.running) since = record.running->started_at;  // if that fails
  if (!since) return std::nullopt;
  Scratch scratch;
  const auto length = duration_of(
      limit(index), {.record = &record, .data = record.data, .now = situation.now}, scratch);
  if (!length || *length > kInstantMax - *since) return std::nullopt;
  return *since + *length;
}

}  // namespace pawl
