#include "check/shortened.h"

#include <algorithm>
#include <string>
#include <utility>

#include "check/policies.h"
#include "model/expression/program.h"
#include "pawl/assert.h"
#include "policy/jitter.h"

namespace pawl {
namespace {

// Whether it had to be cut.
bool cut(Delays& delays) {
  if (delays.kind == Delays::Kind::list && delays.list.size() > kDelaysWalked) {
    delays.list.resize(kDelaysWalked);
    return true;
  }
  if (delays.attempts && *delays.attempts > kDelaysWalked + 1) {
    delays.attempts = kDelaysWalked + 1;
    return true;
  }
  return false;
}

// The jitter comes after the maximum, so that all parts grow by the same share.
void lengthen(Delays& delays) {
  const auto longest = [&](DurationValue& delay) {
    if (delay.is_fixed()) delay.fixed = jitter_range(delay.fixed, delays).most;
  };
  for (DurationValue& delay : delays.list) longest(delay);
  longest(delays.first);
  if (delays.max) longest(*delays.max);
  delays.jitter = Delays::Jitter::none;
  delays.jitter_percent = 0;
}

Guards guards_of(const Machine& machine) {
  Guards guards;
  const auto add = [&](const std::optional<Expression>& condition) {
    if (!condition || condition->program->guard().empty()) return;
    const std::string name(condition->program->guard());
    if (const Guard* guard = machine.find_guard(name)) guards.emplace(name, *guard);
  };
  const auto add_all = [&](const std::vector<EffectRow>& effects) {
    for (const EffectRow& effect : effects) add(effect.condition);
  };
  for (const State& state : machine.definition().states) add_all(state.effects);
  for_each_rows(machine.definition(), [&](const RowsAt&, const Rows& rows) {
    for (const Row& row : rows) {
      add(row.condition);
      add_all(row.effects);
    }
  });
  return guards;
}

// The built-in policy is no part of the file; walked it has to be one, to be lengthened as well.
void write_out_built_in(Definition& definition) {
  if (!definition.policy.retry && !definition.policy.policy)
    definition.policy.retry = Machine::built_in_policy().retry;
}

}  // namespace

Shortened shortened(const Machine& machine) {
  Shortened made;
  Definition definition = machine.definition();
  write_out_built_in(definition);
  for_each_delays(definition, [&](Delays& delays) {
    made.cut = cut(delays) || made.cut;
    lengthen(delays);
  });
  definition.scenarios.clear();
  Diagnostics diagnostics;
  made.machine =
      Machine::make(std::move(definition), machine.zones(), diagnostics, guards_of(machine));
  PAWL_ASSERT(made.machine != nullptr, "a good machine with other delays is good");
  return made;
}

}  // namespace pawl
