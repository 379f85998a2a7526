#include "decide/migrate.h"

#include <algorithm>

#include "decide/data.h"
#include "decide/turn.h"

namespace pawl {
namespace {

// Both work, both wait, or both are final.
bool are_alike(const State& a, const State& b) {
  return a.final == b.final && a.task.has_value() == b.task.has_value();
}

}  // namespace

const Migration* mapping_from(const Machine& newest, int version) {
  const auto& all = newest.definition().migrate;
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Migration& line) { return line.version == version; });
  return found == all.end() ? nullptr : &*found;
}

std::optional<StateId> state_in_newer(const Machine& newest, int version, const State& state) {
  if (const Migration* mapping = mapping_from(newest, version))
    for (const Migration::Renamed& renamed : mapping->states)
      if (renamed.from == state.name) return renamed.to.id;
  auto found = newest.find_state(state.name);
  if (!found && state.id) {
    const auto& states = newest.definition().states;
    const auto same = std::find_if(states.begin(), states.end(),
                                   [&](const State& other) { return other.id == state.id; });
    if (same != states.end()) found = static_cast<StateId>(same - states.begin());
  }
  if (!found || !are_alike(newest.state(*found), state)) return std::nullopt;
  return found;
}

bool Turn::migrate() {
  const Machine* newest = stimulus_.newest;
  if (!newest || newest->version() <= record_.version) return false;
  if (newest->definition().pin || machine_->definition().pin) return false;
  const auto target = state_in_newer(*newest, record_.version, here());
  if (!target) return false;
  const auto task_name = [](const Machine& machine, StateId state) {
    const State& working = machine.state(machine.owner_of(state).value_or(state));
    return working.task ? working.task->name : std::string();
  };
  if (record_.running && task_name(*machine_, state_) != task_name(*newest, *target)) return false;

  const Migration* mapping = mapping_from(*newest, record_.version);
  const State& was = here();
  machine_ = newest;
  std::optional<std::string> data = record_.data;
  if (mapping && !mapping->set.empty()) {
    auto assigned = data_after(mapping->set);
    data = assigned ? std::optional(std::move(assigned->data)) : std::nullopt;
  }
  if (data && newest->definition().data) {
    auto complete = completed(*data, *newest->definition().data, Others::refused, newest->zones());
    data = complete ? std::optional<std::string>(*std::move(complete)) : std::nullopt;
  }
  bad_value_.clear();
  if (!data) {  // its data does not fit: it stays on its version
    machine_ = &given_machine_;
    return false;
  }
  open({Entry::Kind::migrated});
  record_.version = newest->version();
  touch(kCoreVersion);
  state_ = *target;
  if (record_.state != here().name) {
    record_.state = here().name;
    touch(kCoreState);
  }
  if (*data != record_.data) change_data(*std::move(data));
  compute_timers_again(was);
  if (here().task && !was.task && !record_.running) {  // it waited, and works now
    record_.spent = false;
    make_task_ready(By::done);
  }
  plan_due_ = true;
  migrated_ = true;
  close();
  derive_instants();  // what was ready may wait now, and the other way round
  return true;
}

// From `entered_at`, as it was; what is overdue is due. One that was used up stays so.
void Turn::compute_timers_again(const State& was) {
  const std::vector<Timer> before = std::move(record_.timers);
  record_.timers.clear();
  for (const Timer& timer : before)
    if (timer.kind == Timer::Kind::come_back) record_.timers.push_back(timer);
  const auto was_used_up = [&](const DurationValue& delay) {
    const auto same = std::find_if(was.after.begin(), was.after.end(),
                                   [&](const TimerRows& rows) { return rows.delay == delay; });
    return same != was.after.end() &&
           std::none_of(before.begin(), before.end(), [&](const Timer& timer) {
             return timer.kind == Timer::Kind::after && timer.index == same - was.after.begin();
           });
  };
  for (std::size_t i = 0; i < here().after.size(); ++i) {
    const auto delay = read_duration(here().after[i].delay, "after");
    if (!delay || was_used_up(here().after[i].delay)) continue;
    record_.timers.push_back(
        {Timer::Kind::after, static_cast<std::uint16_t>(i), after(record_.entered_at, *delay)});
  }
  for (std::size_t i = 0; i < here().every.size(); ++i) {
    const auto period = read_period(here().every[i].delay);
    if (!period) continue;
    const auto ticks = (now_ - record_.entered_at) / *period + 1;
    record_.timers.push_back({Timer::Kind::every, static_cast<std::uint16_t>(i),
                              after(record_.entered_at, ticks * *period)});
  }
}

}  // namespace pawl
