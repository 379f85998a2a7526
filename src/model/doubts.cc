#include "model/doubts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "model/sites.h"

namespace pawl {
namespace {

class Doubts {
 public:
  Doubts(const Machine& machine, const std::vector<Edge>& edges, Diagnostics& diagnostics)
      : machine_(machine),
        definition_(machine.definition()),
        edges_(edges),
        failure_(failure_states(machine)),
        diagnostics_(diagnostics) {}

  void warn() {
    warn_unreachable();
    warn_unreachable_codes();
    warn_unused();
    warn_waiting();
    warn_delays();
    warn_open_children();
    warn_endless();
  }

 private:
  void warning(std::string_view id, const Where& at, std::string message) {
    diagnostics_.warning(id, at.position, std::move(message));
  }

  void warn_unreachable_codes() {
    check_codes(definition_.policy);
    for (const NamedPolicy& named : definition_.policies) check_codes(named.policy);
    for (const Task& task : definition_.tasks) check_codes(task.policy);
    for (const State& state : definition_.states) check_codes(state.policy);
  }

  // Codes are tried as they are written; one behind a prefix that always answers is never reached.
  void check_codes(const Policy& policy) {
    for (std::size_t later = 1; later < policy.errors.size(); ++later)
      for (std::size_t i = 0; i < later; ++i) {
        if (!always_answers(policy.errors[i], policy.errors[later].code)) continue;
        warning("unreachable_row", policy.errors[later].at,
                in_ticks(policy.errors[later].code) + " is never reached: " +
                    in_ticks(policy.errors[i].code) + " before it handles the same codes");
        break;
      }
  }

  static bool always_answers(const ErrorRows& rows, std::string_view code) {
    if (!rows.code.ends_with('*')) return false;
    const std::string_view prefix = std::string_view(rows.code).substr(0, rows.code.size() - 1);
    const bool covers_default = code != "default" || prefix.empty();
    return covers_default && code.starts_with(prefix) &&
           std::any_of(rows.rows.begin(), rows.rows.end(),
                       [](const Row& row) { return !row.condition; });
  }

  void warn_unreachable() {
    const std::vector<bool> reached = reachable_states(machine_, edges_);
    for (StateId id = 0; id < definition_.states.size(); ++id)
      if (!reached[id])
        warning("unreachable_state", machine_.state(id).at,
                "no row leads to the state " + in_ticks(machine_.state(id).name));
  }

  void warn_unused() {
    std::vector<bool> task_used(definition_.tasks.size());
    std::vector<bool> policy_used(definition_.policies.size());
    std::vector<bool> accepted(machine_.event_count());
    const auto effects = [&](const std::vector<EffectRow>& all) {
      for (const EffectRow& effect : all)
        if (effect.verb == EffectRow::Verb::run) task_used[effect.target.id] = true;
    };
    const auto policy = [&](const Policy& p) {
      if (p.policy) policy_used[p.policy->id] = true;
    };
    policy(definition_.policy);
    for (const Task& task : definition_.tasks) policy(task.policy);
    for (const State& state : definition_.states) {
      policy(state.policy);
      effects(state.effects);
      if (state.task) task_used[state.task->id] = true;
      for (const EventRows& on : state.on) accepted[on.event.id] = true;
    }
    for (const EventId event : machine_.machine_events()) accepted[event] = true;
    for_each_rows(definition_, [&](const RowsAt&, const Rows& rows) {
      for (const Row& row : rows) effects(row.effects);
    });
    for (std::size_t i = 0; i < task_used.size(); ++i)
      if (!task_used[i])
        warning("unused_task", definition_.tasks[i].at,
                "no state and no effect runs the task " + in_ticks(definition_.tasks[i].name));
    for (std::size_t i = 0; i < policy_used.size(); ++i)
      if (!policy_used[i])
        warning("unused_policy", definition_.policies[i].at,
                "nothing uses the policy " + in_ticks(definition_.policies[i].name));
    for (const EventDefinition& event : definition_.events)
      if (!accepted[*machine_.find_event(event.name)])
        warning("event_never_accepted", event.at,
                "no state accepts the event " + in_ticks(event.name));
  }

  bool waits(StateId id) const {
    const State& state = machine_.state(id);
    return !state.final && !state.task && !failure_[id] && !machine_.owner_of(id);
  }

  static bool watches_children(const State& state) {
    return std::any_of(state.when.begin(), state.when.end(), reads_children);
  }

  void warn_waiting() {
    for (StateId id = 0; id < definition_.states.size(); ++id) {
      const State& state = machine_.state(id);
      if (waits(id) && !watches_children(state) && state.after.empty() && state.every.empty() &&
          state.planned.empty())
        warning("waits_for_ever", state.at,
                "a record may wait in " + in_ticks(state.name) +
                    " for ever: add `after` to say what happens then");
      if (state.task && state.after.empty() && asks_later(id))
        warning("later_for_ever", state.at,
                "`later` may ask again for ever in " + in_ticks(state.name) +
                    ": add `after` to limit the stay");
    }
  }

  bool asks_later(StateId id) const {
    for (const ErrorRows* error : machine_.policy_of_state(id).errors)
      for (const Row& row : error->rows)
        if (row.action == Row::Action::later && error->code != "returned") return true;
    return false;
  }

  // Of delays that are written out, as far as they grow.
  static Duration longest(const Delays& delays) {
    Duration longest{0};
    for (const DurationValue& delay : delays.list)
      if (delay.is_fixed()) longest = std::max(longest, delay.fixed);
    if (delays.kind == Delays::Kind::list || !delays.first.is_fixed()) return longest;
    constexpr int kGrowthMax = 64;
    const Duration most = delays.max && delays.max->is_fixed() ? delays.max->fixed : kDurationMax;
    const int retries = delays.attempts ? *delays.attempts - 1 : kGrowthMax;
    Duration delay = delays.first.fixed;
    if (delays.kind == Delays::Kind::fixed || retries < 1) return retries < 1 ? Duration{0} : delay;
    for (int i = 1; i < std::min(retries, kGrowthMax) && delay < most; ++i) {
      const Duration thousandth = delay / 1'000;
      const bool fits = thousandth < most / delays.factor_milli;
      delay = fits ? thousandth * delays.factor_milli : most;
    }
    return std::min(delay, most);
  }

  void warn_delays() {
    for (StateId id = 0; id < definition_.states.size(); ++id) {
      const State& state = machine_.state(id);
      if (!state.task) continue;
      const ResolvedPolicy& policy = machine_.policy_of_state(id);
      const Duration delay = longest(policy.retry);
      for (const TimerRows& timer : state.after)
        if (!policy.failure && timer.delay.is_fixed() && delay >= timer.delay.fixed)
          warning("delay_beyond_after", timer.delay.at,
                  "a retry in " + in_ticks(state.name) + " waits " + to_text(delay) +
                      ", but `after` ends the stay after " + to_text(timer.delay.fixed));
      for (const Row& row : policy.give_up)
        if (row.elapsed && row.elapsed->is_fixed() && delay >= row.elapsed->fixed)
          warning("delay_beyond_elapsed", row.elapsed->at,
                  "a retry in " + in_ticks(state.name) + " waits " + to_text(delay) +
                      ", but it gives up after " + to_text(row.elapsed->fixed) + " of failures");
    }
  }

  // Children outlive their parent unless it sends them something or looks at them first.
  void warn_open_children() {
    std::vector<StateId> creating;
    const auto creates = [](const std::vector<EffectRow>& effects) {
      return std::any_of(effects.begin(), effects.end(), [](const EffectRow& effect) {
        return effect.verb == EffectRow::Verb::create;
      });
    };
    for (StateId id = 0; id < definition_.states.size(); ++id)
      if (creates(machine_.state(id).effects)) creating.push_back(id);
    for (const Edge& edge : edges_)
      if (edge.row != nullptr && creates(edge.row->effects)) creating.push_back(edge.to);
    for_each_rows(definition_, [&](const RowsAt& at, const Rows& rows) {
      for (const Row& row : rows)
        if (at.state != nullptr && !row.to && creates(row.effects))
          creating.push_back(*machine_.find_state(at.state->name));
    });
    if (creating.empty()) return;
    std::vector<Edge> followed;
    std::copy_if(edges_.begin(), edges_.end(), std::back_inserter(followed), keeps_children);
    const std::vector<bool> may_have =
        reachable_from(std::move(creating), followed, machine_.state_count());
    std::set<const Row*> said;
    for (const Edge& edge : edges_) {
      const State& to = machine_.state(edge.to);
      const bool ends = may_have[edge.from] && !machine_.state(edge.from).final && to.final;
      if (!ends || edge.row == nullptr || edge.why == Edge::Why::implicit) continue;
      if (tells_children(edge.row->effects) || tells_children(to.effects) ||
          reads_children(*edge.row) || !said.insert(edge.row).second)
        continue;
      warning("open_children", edge.row->at,
              "the record ends in " + in_ticks(to.name) +
                  " while its children go on: send them an event, or wait for them in `when`");
    }
  }

  // Whether children may still be open after this hop: it does not look at them, and is neither a
  // fresh start nor a failure on its way back.
  static bool keeps_children(const Edge& edge) {
    return edge.row != nullptr && !edge.row->new_epoch && !reads_children(*edge.row) &&
           edge.why != Edge::Why::resume && edge.why != Edge::Why::give_up;
  }

  static bool tells_children(const std::vector<EffectRow>& effects) {
    return std::any_of(effects.begin(), effects.end(), [](const EffectRow& effect) {
      return effect.to && effect.to->kind == Recipient::Kind::children;
    });
  }

  // A circle of hops that failures and conditions alone can go round, with nothing that counts.
  void warn_endless() {
    std::vector<std::vector<const Edge*>> next(machine_.state_count());
    for (const Edge& edge : edges_) {
      const bool unbounded = edge.why == Edge::Why::error || edge.why == Edge::Why::when ||
                             edge.why == Edge::Why::resume;
      if (unbounded && !edge.row->hold && !reads_children(*edge.row))
        next[edge.from].push_back(&edge);
    }
    std::vector<int> mark(machine_.state_count());  // 1: on the way, 2: left
    for (StateId id = 0; id < machine_.state_count(); ++id)
      if (mark[id] == 0) find_circle(id, next, mark);
  }

  void find_circle(StateId begin, const std::vector<std::vector<const Edge*>>& next,
                   std::vector<int>& mark) {
    std::vector<std::pair<StateId, std::size_t>> way{{begin, 0}};
    mark[begin] = 1;
    while (!way.empty()) {
      auto& [at, taken] = way.back();
      if (taken == next[at].size()) {
        mark[at] = 2;
        way.pop_back();
        continue;
      }
      const Edge& edge = *next[at][taken++];
      if (mark[edge.to] == 1)
        warning("endless_circle", edge.row->at,
                "failures alone can loop from " + in_ticks(machine_.state(edge.from).name) +
                    " to " + in_ticks(machine_.state(edge.to).name) +
                    " for ever: limit them with `retry`, `after` or a counter");
      if (mark[edge.to] != 0) continue;
      mark[edge.to] = 1;
      way.emplace_back(edge.to, 0);
    }
  }

  const Machine& machine_;
  const Definition& definition_;
  const std::vector<Edge>& edges_;
  std::vector<bool> failure_;
  Diagnostics& diagnostics_;
};

}  // namespace

void warn_of_doubts(const Machine& machine, const std::vector<Edge>& edges,
                    Diagnostics& diagnostics) {
  Doubts(machine, edges, diagnostics).warn();
}

}  // namespace pawl
