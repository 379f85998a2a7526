// The places of a definition where policies stand.
#pragma once

#include <optional>

#include "model/sites.h"
#include "pawl/definition.h"

namespace pawl {

// Calls visit(Policy&) for the policy of the machine, of each name, state and task.
template <class DefinitionLike, class Visit>
void for_each_policy(DefinitionLike& definition, Visit&& visit) {
  visit(definition.policy);
  for (auto& named : definition.policies) visit(named.policy);
  for (auto& state : definition.states) visit(state.policy);
  for (auto& task : definition.tasks) visit(task.policy);
}

// Calls visit(Delays&) for all delays, those of error rows included.
template <class DefinitionLike, class Visit>
void for_each_delays(DefinitionLike& definition, Visit&& visit) {
  for_each_policy(definition, [&](auto& policy) {
    if (policy.retry) visit(*policy.retry);
  });
  for_each_rows(definition, [&](const RowsAt&, auto& rows) {
    for (auto& row : rows)
      if (row.delays) visit(*row.delays);
  });
}

}  // namespace pawl
