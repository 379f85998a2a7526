// From a definition to a machine: names are resolved (here), expressions compiled
// (compile_values.cc), tables built (machine.cc), and the machine is looked at as a whole
// (check.cc). What is wrong is reported where it stands.
#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include "base/nearest.h"
#include "base/text.h"
#include "model/built_in_names.h"
#include "model/check.h"
#include "model/compile_values.h"
#include "model/names.h"
#include "model/read_machine.h"
#include "model/sites.h"
#include "pawl/machine.h"
#include "pawl/machine_file.h"

namespace pawl {
namespace {

constexpr std::array<std::string_view, 8> kReservedStates{"all",   "open",    "final", "hold",
                                                          "retry", "give_up", "done",  "later"};

// What stands for itself in `errors`: near enough to a state to be mistyped.
const std::vector<std::string> kActionsOfErrors{"retry", "done", "give_up"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

class Compiler {
 public:
  Compiler(Definition definition, const Zones& zones, Diagnostics& diagnostics, Guards guards,
           bool built_in = false)
      : machine_(new Machine(zones)),
        diagnostics_(diagnostics),
        zones_(zones),
        misses_section_(diagnostics.misses_section()),
        built_in_(built_in) {
    machine_->definition_ = std::move(definition);
    machine_->guards_ = std::move(guards);
  }

  // Goes on after errors: a person wants to see all of them. Names that lead nowhere stay
  // unresolved, and what follows leaves them out.
  std::shared_ptr<const Machine> compile() {
    if (diagnostics_.is_full() || !is_within_limits()) return nullptr;
    check_names();
    add_implicit();
    index();
    resolve();
    compile_values(definition(), *machine_, zones_, diagnostics_);
    if (diagnostics_.is_full()) return nullptr;
    machine_->build_tables();
    check_machine(*machine_, zones_, diagnostics_);
    return diagnostics_.has_errors() ? nullptr : machine_;
  }

 private:
  Definition& definition() { return machine_->definition_; }

  // --- limits --------------------------------------------------------------------------------

  // Beyond these the rest would take too long.
  bool is_within_limits() {
    const Definition& d = definition();
    if (d.states.size() > kStatesMax)
      return refuse("too_many_states", d.states[kStatesMax].at,
                    "a machine has at most " + std::to_string(kStatesMax) + " states");
    if (d.labels.size() > kLabelsMax)
      return refuse("too_many_labels", d.labels[kLabelsMax].at,
                    "a record has at most " + std::to_string(kLabelsMax) + " labels; there are " +
                        std::to_string(d.labels.size()));
    if (d.data && !is_within_limits(*d.data)) return false;
    for (const EventDefinition& event : d.events)
      if (event.with && !is_within_limits(*event.with)) return false;
    for (const Task& t : d.tasks)
      if (t.result && !is_within_limits(*t.result)) return false;
    if (rows_of_all_states() > kRowsMax)
      return refuse("too_many_rows", d.at,
                    "the states have more than " + std::to_string(kRowsMax) +
                        " rows in all, counting those of the machine and of policies in each");
    return true;
  }

  bool is_within_limits(const Fields& fields) {
    if (fields.size() > kFieldsMax)
      return refuse("too_many_fields", fields[kFieldsMax].at,
                    "at most " + std::to_string(kFieldsMax) + " fields are allowed in one place");
    for (const Field& field : fields)
      if (field.type.words.size() > kFieldsMax)
        return refuse("too_many_fields", field.at,
                      "a field has at most " + std::to_string(kFieldsMax) + " words");
    return true;
  }

  bool refuse(std::string_view id, const Where& at, std::string message) {
    diagnostics_.error_at(id, at, std::move(message));
    return false;
  }

  static std::size_t rows_of(const Policy& p) {
    std::size_t count = 0;
    for_each_rows_of_policy(p, nullptr,
                            [&](const RowsAt&, const Rows& rows) { count += rows.size(); });
    return count;
  }

  std::size_t rows_of_all_states() {
    const Definition& d = definition();
    std::unordered_map<std::string_view, std::size_t> of_policy;
    for (const NamedPolicy& named : d.policies) of_policy[named.name] = rows_of(named.policy);
    const auto of_level = [&](const Policy& p) {
      return rows_of(p) + (p.policy ? of_policy[p.policy->name] : 0);
    };
    std::unordered_map<std::string_view, std::size_t> of_task;
    for (const Task& t : d.tasks) of_task[t.name] = of_level(t.policy);
    std::size_t everywhere = of_level(d.policy);
    for (const EventRows& on : d.on) everywhere += on.rows.size();
    std::size_t count = 0;
    for (const State& s : d.states)
      count += everywhere + of_level(s.policy) + (s.task ? of_task[s.task->name] : 0);
    return count;
  }

  // --- names ---------------------------------------------------------------------------------

  void check_names() {
    if (!built_in_ && is_built_in(definition().machine))
      diagnostics_.error_at(
          "reserved_name", definition().at,
          in_ticks(definition().machine) + " is a built-in machine of Pawl; choose another name");
    for (const State& state : definition().states)
      if (contains(kReservedStates, state.name))
        diagnostics_.error_at(
            "reserved_name", state.at,
            in_ticks(state.name) + " is reserved and cannot name a state; choose another name");
    for (const State& state : definition().states)
      for (const EventRows& on : state.on) check_event_name(on.event);
    for (const EventRows& on : definition().on) check_event_name(on.event);
    for (const EventDefinition& event : definition().events)
      check_event_name({event.name, event.at});
    check_unique(definition().states, "state");
    check_unique(definition().tasks, "task");
    check_unique(definition().policies, "policy");
    check_unique(definition().events, "event");
  }

  void check_event_name(const Ref& event) {
    if (event.name == "only")
      diagnostics_.error_at("reserved_name", event.at,
                            "`only` is reserved and cannot name an event; choose another name");
  }

  // A file cannot say a name twice; a C++ program can.
  template <class Named>
  void check_unique(const std::vector<Named>& all, std::string_view what) {
    std::vector<std::string> names = names_of(all);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end())
      diagnostics_.error_at(
          "duplicate_key", definition().at,
          "the " + std::string(what) + " " + in_ticks(*twice) + " is defined twice");
  }

  bool names_event(std::string_view name) const {
    const Definition& d = machine_->definition_;
    return std::any_of(d.events.begin(), d.events.end(),
                       [&](const EventDefinition& event) { return event.name == name; }) ||
           std::any_of(d.on.begin(), d.on.end(),
                       [&](const EventRows& on) { return on.event.name == name; });
  }

  // `restart` and `discard`, unless the machine has its own.
  void add_implicit() {
    if (!names_event("restart")) {
      machine_->implicit_on_.push_back(
          {"restart",
           {Row{.to = Ref(definition().initial.name), .new_epoch = true, .held = Row::Held::any}}});
      machine_->implicit_events_.push_back({.name = "restart", .by = {"operator"}});
    }
    if (!names_event("discard")) {
      machine_->implicit_on_.push_back(
          {"discard", {Row{.to = Ref("discarded"), .held = Row::Held::any}}});
      machine_->implicit_events_.push_back({.name = "discard", .by = {"operator"}});
      const std::vector<std::string> states = names_of(definition().states);
      if (std::find(states.begin(), states.end(), "discarded") == states.end())
        machine_->implicit_states_.push_back({.name = "discarded", .final = true});
    }
  }

  void index() {
    for (const State& state : definition().states) add_state(state);
    for (const State& state : machine_->implicit_states_) add_state(state);
    for (const EventDefinition& event : definition().events) add_event(event.name, &event);
    for (const State& state : definition().states)
      for (const EventRows& on : state.on) add_event(on.event.name, nullptr);
    for (const EventRows& on : definition().on) add_event(on.event.name, nullptr);
    for (const EventDefinition& event : machine_->implicit_events_) add_event(event.name, &event);
    for (std::uint32_t i = 0; i < definition().tasks.size(); ++i)
      machine_->task_index_.emplace(definition().tasks[i].name, i);
    for (std::uint32_t i = 0; i < definition().policies.size(); ++i)
      policy_index_.emplace(definition().policies[i].name, i);
  }

  void add_state(const State& state) {
    const auto id = static_cast<StateId>(machine_->states_.size());
    machine_->state_index_.emplace(state.name, id);
    machine_->states_.push_back(&state);
  }

  void add_event(const std::string& name, const EventDefinition* declared) {
    const auto id = static_cast<EventId>(machine_->event_names_.size());
    const auto [found, added] = machine_->event_index_.emplace(name, id);
    if (added) {
      machine_->event_names_.push_back(name);
      machine_->declared_.push_back(declared);
    } else if (declared != nullptr) {
      machine_->declared_[found->second] = declared;
    }
  }

  // --- references ----------------------------------------------------------------------------

  void resolve(Ref& ref, const Machine::Index& index, std::string_view what, std::string_view id,
               std::span<const std::string> also = {}) {
    if (!ref || (misses_section_ && index.empty())) return;  // it may be in there
    const auto found = index.find(ref.name);
    if (found != index.end()) {
      ref.id = found->second;
      return;
    }
    if (diagnostics_.is_full()) return;
    std::string hint = did_you_mean(ref.name, also);
    if (hint.empty()) hint = did_you_mean(ref.name, sorted_names(index));
    diagnostics_.error_at(
        id, ref.at,
        in_ticks(ref.name) + " is not " + std::string(what) + " of this machine" + hint);
  }

  const std::vector<std::string>& sorted_names(const Machine::Index& index) {
    std::vector<std::string>& names = sorted_names_[&index];
    if (names.size() == index.size()) return names;
    names.clear();
    for (const auto& [name, unused] : index) names.push_back(name);
    std::sort(names.begin(), names.end());
    return names;
  }

  void resolve(std::optional<Ref>& ref, const Machine::Index& index, std::string_view what,
               std::string_view id) {
    if (ref) resolve(*ref, index, what, id);
  }
  void state(Ref& ref, bool in_errors = false) {
    if (definition().states.empty()) return;  // said once, of all of them
    resolve(ref, machine_->state_index_, "a state", "unknown_state",
            in_errors ? std::span<const std::string>(kActionsOfErrors)
                      : std::span<const std::string>{});
  }
  void state(std::optional<Ref>& ref) {
    if (ref) state(*ref);
  }
  void event(std::optional<Ref>& ref) {
    resolve(ref, machine_->event_index_, "an event", "unknown_event");
  }
  void task(std::optional<Ref>& ref) {
    resolve(ref, machine_->task_index_, "a task", "unknown_task");
  }
  void policy(std::optional<Ref>& ref) {
    resolve(ref, policy_index_, "a policy", "unknown_policy");
  }

  void resolve() {
    Definition& d = definition();
    state(d.initial);
    for (Ref& ordered : d.order) state(ordered);
    for (State& s : d.states) {
      task(s.task);
      state(s.started);
      state(s.checkpoint);
      resolve(s.policy);
      for (EventRows& on : s.on) resolve_event(on.event);
      for (EffectRow& effect : s.effects) resolve(effect);
    }
    for (Task& t : d.tasks) resolve(t.policy);
    for (NamedPolicy& named : d.policies) {
      if (named.policy.policy && *named.policy.policy)
        diagnostics_.error_at("policy_in_policy", named.policy.policy->at,
                              "a shared policy cannot name another; write its keys here");
      resolve(named.policy);
    }
    resolve(d.policy);
    for (EventRows& on : d.on) resolve_event(on.event);
    for (EventRows& on : machine_->implicit_on_) {
      resolve_event(on.event);
      const auto to = machine_->find_state(on.rows[0].to->name);
      on.rows[0].to->id = to.value_or(Ref::kUnresolved);
    }
    for (Migration& migration : d.migrate)
      for (Migration::Renamed& renamed : migration.states) state(renamed.to);
    for_each_rows(d, [&](const RowsAt& at, Rows& rows) {
      for (Row& row : rows) resolve(row, at.site);
    });
    index_order();
  }

  void resolve_event(Ref& ref) {
    const auto found = machine_->event_index_.find(ref.name);
    if (found != machine_->event_index_.end()) ref.id = found->second;
  }

  void resolve(Policy& p) {
    policy(p.policy);
    if (p.failure && *p.failure) state(p.failure);
  }

  void resolve(Row& row, Site site) {
    if (row.to) state(*row.to, site == Site::error);
    state(row.checkpoint);
    if (row.event && row.event->name != "only") event(row.event);
    for (Ref& from : row.from_states) state(from);
    for (Ref& except : row.except) state(except);
    for (EffectRow& effect : row.effects) resolve(effect);
  }

  void resolve(EffectRow& effect) {
    if (effect.verb == EffectRow::Verb::run)
      resolve(effect.target, machine_->task_index_, "a task", "unknown_task");
    const bool to_self = effect.verb == EffectRow::Verb::send && effect.to &&
                         effect.to->kind == Recipient::Kind::self;
    if (to_self) resolve(effect.target, machine_->event_index_, "an event", "unknown_event");
    event(effect.then);
    event(effect.otherwise);
    check_keys_of(effect);
  }

  void check_keys_of(const EffectRow& effect) {
    using enum EffectRow::Verb;
    const auto only_for = [&](bool given, std::string_view key, bool allowed,
                              std::string_view verbs) {
      if (given && !allowed)
        diagnostics_.error_at("effect_key", effect.at,
                              in_ticks(key) + " belongs to " + std::string(verbs) + " only");
    };
    only_for(effect.then || effect.otherwise, effect.then ? "then" : "else", effect.verb == run,
             "`run`");
    only_for(effect.to.has_value(), "to", effect.verb == send, "`send`");
    only_for(effect.must, "must", effect.verb == send, "`send`");
    only_for(effect.in.has_value(), "in", effect.verb != create, "`notify`, `run` and `send`");
    if (effect.verb == send && !effect.to)
      diagnostics_.error_at("missing_key", effect.at,
                            "`send` needs `to`: self, parent, children.machine or {machine, key}");
    if (effect.verb == create && !effect.key)
      diagnostics_.error_at("missing_key", effect.at,
                            "`create` needs `key`: the key of the new record");
  }

  void index_order() {
    machine_->order_.assign(machine_->states_.size(), std::nullopt);
    for (std::size_t i = 0; i < definition().order.size(); ++i) {
      const Ref& ordered = definition().order[i];
      if (ordered.is_known()) machine_->order_[ordered.id] = static_cast<int>(i);
    }
  }

  std::shared_ptr<Machine> machine_;
  Diagnostics& diagnostics_;
  const Zones& zones_;
  bool misses_section_;  // names may stand in what could not be read
  bool built_in_;        // a machine of Pawl itself
  Machine::Index policy_index_;
  std::unordered_map<const Machine::Index*, std::vector<std::string>> sorted_names_;
};

namespace {

// A definition that a program has filled in goes through its file, so that it meets every check a
// file meets, and findings have a place: a line of its canonical form.
std::shared_ptr<const Machine> compile(Definition definition, const Zones& zones,
                                       Diagnostics& diagnostics, Guards guards, bool built_in) {
  if (definition.at.position.line == 0) {
    auto read = read_definition(print_machine(definition), diagnostics);
    if (!read) return nullptr;
    definition = *std::move(read);
  }
  return Compiler(std::move(definition), zones, diagnostics, std::move(guards), built_in).compile();
}

}  // namespace

std::shared_ptr<const Machine> Machine::make(Definition definition, const Zones& zones,
                                             Diagnostics& diagnostics, Guards guards) {
  return pawl::compile(std::move(definition), zones, diagnostics, std::move(guards), false);
}

std::shared_ptr<const Machine> Machine::make_built_in(Definition definition, const Zones& zones,
                                                      Diagnostics& diagnostics) {
  return pawl::compile(std::move(definition), zones, diagnostics, {}, true);
}

}  // namespace pawl
