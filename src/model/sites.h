// Sites: the places of a definition where rows stand, in the order of the file.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "pawl/definition.h"

namespace pawl {

enum class Site {
  on,
  machine_on,
  done,
  error,
  give_up,
  after,
  every,
  planned,
  ended,
  when,
  resume,
};

// Where some rows stand. `state` is null for rows of the machine, a task or a named policy.
struct RowsAt {
  Site site = Site::on;
  const State* state = nullptr;
  std::string_view name = {};  // the event or the error code
};

// Calls visit(RowsAt, Rows&) for all rows of a policy.
template <class PolicyLike, class Visit>
void for_each_rows_of_policy(PolicyLike& policy, const State* state, Visit&& visit) {
  for (auto& error : policy.errors) visit(RowsAt{Site::error, state, error.code}, error.rows);
  if (!policy.give_up.empty()) visit(RowsAt{Site::give_up, state}, policy.give_up);
}

// … of a state, its policy included.
template <class StateLike, class Visit>
void for_each_rows_of_state(StateLike& state, Visit&& visit) {
  const auto visit_some = [&](Site site, auto& rows) {
    if (!rows.empty()) visit(RowsAt{site, &state}, rows);
  };
  for_each_rows_of_policy(state.policy, &state, visit);
  visit_some(Site::done, state.done);
  for (auto& on : state.on) visit(RowsAt{Site::on, &state, on.event.name}, on.rows);
  for (auto& timer : state.after) visit_some(Site::after, timer.rows);
  for (auto& timer : state.every) visit_some(Site::every, timer.rows);
  visit_some(Site::planned, state.planned);
  visit_some(Site::when, state.when);
  visit_some(Site::resume, state.resume);
}

// … of a definition.
template <class DefinitionLike, class Visit>
void for_each_rows(DefinitionLike& definition, Visit&& visit) {
  for_each_rows_of_policy(definition.policy, nullptr, visit);
  for (auto& named : definition.policies) for_each_rows_of_policy(named.policy, nullptr, visit);
  for (auto& on : definition.on) visit(RowsAt{Site::machine_on, nullptr, on.event.name}, on.rows);
  for (auto& state : definition.states) for_each_rows_of_state(state, visit);
  for (auto& task : definition.tasks) for_each_rows_of_policy(task.policy, nullptr, visit);
  if (definition.schedule && !definition.schedule->ended.empty())
    visit(RowsAt{Site::ended}, definition.schedule->ended);
}

}  // namespace pawl
