// The tables of a machine: rows by state and event, rows of the machine, policies after the lookup.
#include "pawl/machine.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"
#include "model/edges.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Machine> made(Definition definition) {
  static const Zones zones = *Zones::open();
  Diagnostics diagnostics;
  auto machine = Machine::make(std::move(definition), zones, diagnostics);
  for (const Diagnostic& finding : diagnostics.sorted())
    EXPECT_EQ(finding.severity, Diagnostic::Severity::warning)
        << finding.id << ": " << finding.message;
  return machine;
}

State waiting(std::string name, std::vector<EventRows> on) {
  return {.name = std::move(name), .on = std::move(on)};
}
State final_state(std::string name) { return {.name = std::move(name), .final = true}; }
Row to(const char* state) { return {.to = Ref(state)}; }

// The names of the states that a row of the machine holds in.
std::string states_of(const Machine& machine, const MachineRow& row) {
  std::vector<std::string> names;
  for (StateId id = 0; id < machine.state_count(); ++id)
    if (row.in[id]) names.push_back(machine.state(id).name);
  return join(names, " ", " ");
}

Definition small() {
  return {.machine = "m",
          .initial = "a",
          .events = {{.name = "declared"}},
          .order = {"b", "a"},
          .states = {waiting("a", {{"go", {to("b")}}, {"stop", {to("b"), to("a")}}}),
                     final_state("b"), waiting("c", {{"stop", {to("b")}}})},
          .tasks = {{.name = "t", .target = "q"}, {.name = "u", .target = "q"}}};
}

TEST(Machine, NumbersStatesEventsAndTasksInTheOrderOfTheFile) {
  const auto machine = made(small());
  EXPECT_EQ(machine->name(), "m");
  ASSERT_EQ(machine->state_count(), 4u);
  EXPECT_EQ(machine->state(0).name, "a");
  EXPECT_EQ(machine->state(2).name, "c");
  EXPECT_EQ(machine->state(3).name, "discarded");
  EXPECT_TRUE(machine->state(3).final);
  std::vector<std::string> events;
  for (EventId id = 0; id < machine->event_count(); ++id) {
    events.push_back(machine->event_name(id));
    EXPECT_EQ(machine->find_event(machine->event_name(id)), id);
  }
  EXPECT_EQ(events, (std::vector<std::string>{"declared", "go", "stop", "restart", "discard"}));
  EXPECT_EQ(machine->find_state("c"), 2u);
  EXPECT_EQ(machine->find_task("u"), 1u);
  EXPECT_EQ(machine->task(1).name, "u");
  EXPECT_FALSE(machine->find_state("go"));
  EXPECT_FALSE(machine->find_event("a"));
  EXPECT_FALSE(machine->find_task(""));
  EXPECT_EQ(machine->declared(0), &machine->definition().events[0]);
  EXPECT_EQ(machine->declared(1), nullptr);
}

TEST(Machine, HasTheRowsOfAStateForAnEvent) {
  const auto machine = made(small());
  const EventId go = *machine->find_event("go");
  const EventId stop = *machine->find_event("stop");
  EXPECT_EQ(machine->rows(0, go).data(), machine->definition().states[0].on[0].rows.data());
  EXPECT_EQ(machine->rows(0, stop).size(), 2u);
  EXPECT_EQ(machine->rows(2, stop).data(), machine->definition().states[2].on[0].rows.data());
  EXPECT_TRUE(machine->rows(2, go).empty());
  EXPECT_TRUE(machine->rows(1, stop).empty());
  for (StateId state = 0; state < machine->state_count(); ++state)
    EXPECT_TRUE(machine->rows(state, 0).empty());
}

TEST(Machine, OrdersOnlyTheStatesThatAreListed) {
  const auto machine = made(small());
  EXPECT_EQ(machine->order_of(1), 0);
  EXPECT_EQ(machine->order_of(0), 1);
  EXPECT_FALSE(machine->order_of(2));
  EXPECT_FALSE(machine->order_of(3));
}

TEST(Machine, RowsOfTheMachineHoldInTheStatesTheyName) {
  Definition definition = small();
  definition.on = {{"x",
                    {Row{},
                     {.from = Row::From::all},
                     {.from = Row::From::listed, .from_states = {"b", "c"}},
                     {.except = {"a"}},
                     {.from = Row::From::all, .except = {"b", "discarded"}},
                     {.from = Row::From::listed, .from_states = {"a", "c"}, .except = {"c"}},
                     {.from = Row::From::listed}}}};
  const auto machine = made(definition);
  const auto rows = machine->machine_rows(*machine->find_event("x"));
  const std::vector<std::string> expected = {"a c", "a b c discarded", "b c", "c", "a c", "a", ""};
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(states_of(*machine, rows[i]), expected[i]) << i;
    EXPECT_EQ(rows[i].row, &machine->definition().on[0].rows[i]);
  }
  EXPECT_TRUE(machine->machine_rows(*machine->find_event("go")).empty());
}

TEST(Machine, HasRestartAndDiscardOfItsOwn) {
  const auto machine = made(small());
  const EventId restart = *machine->find_event("restart");
  const EventId discard = *machine->find_event("discard");
  ASSERT_EQ(machine->machine_rows(restart).size(), 1u);
  ASSERT_EQ(machine->machine_rows(discard).size(), 1u);
  const Row& again = *machine->machine_rows(restart)[0].row;
  EXPECT_EQ(again.to->id, 0u);
  EXPECT_TRUE(again.new_epoch);
  EXPECT_EQ(again.held, Row::Held::any);
  const Row& away = *machine->machine_rows(discard)[0].row;
  EXPECT_EQ(away.to->id, 3u);
  EXPECT_FALSE(away.new_epoch);
  EXPECT_EQ(away.held, Row::Held::any);
  EXPECT_EQ(states_of(*machine, machine->machine_rows(restart)[0]), "a c");
  EXPECT_EQ(machine->declared(restart)->by, std::vector<std::string>{"operator"});
  EXPECT_EQ(machine->declared(discard)->by, std::vector<std::string>{"operator"});
  const std::vector<EventId> events(machine->machine_events().begin(),
                                    machine->machine_events().end());
  EXPECT_EQ(events, (std::vector<EventId>{restart, discard}));
}

TEST(Machine, LeavesOutRestartAndDiscardThatTheMachineDeclares) {
  Definition declared = small();
  declared.events = {{.name = "discard"}};
  declared.on = {{"restart", {to("b")}}};
  const auto machine = made(declared);
  EXPECT_EQ(machine->state_count(), 3u);
  EXPECT_FALSE(machine->find_state("discarded"));
  EXPECT_TRUE(machine->machine_rows(*machine->find_event("discard")).empty());
  const auto restart = machine->machine_rows(*machine->find_event("restart"));
  ASSERT_EQ(restart.size(), 1u);
  EXPECT_EQ(restart[0].row->to->name, "b");

  // Rows of one state do not replace those of the machine, nor does a state of that name.
  Definition own = small();
  own.states.push_back(final_state("discarded"));
  own.states[0].on.push_back({"restart", {to("b")}});
  const auto both = made(own);
  EXPECT_EQ(both->state_count(), 4u);
  EXPECT_EQ(both->machine_rows(*both->find_event("restart")).size(), 1u);
  EXPECT_EQ(both->machine_rows(*both->find_event("discard"))[0].row->to->id, 3u);
}

// --- policies --------------------------------------------------------------------------------

// The places of a policy, nearest first; the last is what is built in.
constexpr std::size_t kLevels = 6;

struct Levels {
  Definition definition;

  Levels() {
    definition = {.machine = "m",
                  .initial = "work",
                  .policy = {.policy = Ref("of_machine")},
                  .policies = {{"of_state", {}}, {"of_task", {}}, {"of_machine", {}}},
                  .states = {{.name = "work",
                              .task = Ref("t"),
                              .started = Ref("working"),
                              .done = {to("end")},
                              .policy = {.policy = Ref("of_state")}},
                             {.name = "working"},
                             final_state("end")},
                  .tasks = {{.name = "t", .target = "q", .policy = {.policy = Ref("of_task")}}}};
    for (std::size_t i = 0; i < kLevels; ++i)
      definition.states.push_back(waiting("failed" + std::to_string(i), {{"e", {to("end")}}}));
  }

  template <class DefinitionLike>
  static auto& of(DefinitionLike& d, std::size_t level) {
    const std::array places = {&d.states[0].policy, &d.policies[0].policy,
                               &d.tasks[0].policy,  &d.policies[1].policy,
                               &d.policy,           &d.policies[2].policy};
    return *places[level];
  }

  Policy& at(std::size_t level) { return of(definition, level); }
};

// A key of a policy: how it is given at a level, and which level a resolved policy has it from.
// Levels are told apart by their value; the words of short lists cannot tell all of them.
struct PolicyKey {
  const char* name;
  void (*give)(Policy&, std::size_t level);
  bool (*has)(const ResolvedPolicy&, std::size_t level);
};

Duration minutes_of(std::size_t level) { return std::chrono::minutes{level + 1}; }

const PolicyKey kPolicyKeys[] = {
    {"timeout", [](Policy& p, std::size_t level) { p.timeout = minutes_of(level); },
     [](const ResolvedPolicy& p, std::size_t level) {
       return p.timeout.fixed == (level == kLevels ? Duration(5min) : minutes_of(level));
     }},
    {"lease", [](Policy& p, std::size_t level) { p.lease = minutes_of(level); },
     [](const ResolvedPolicy& p, std::size_t level) {
       return level == kLevels ? !p.lease : p.lease && p.lease->fixed == minutes_of(level);
     }},
    {"retry",
     [](Policy& p, std::size_t level) {
       p.retry = Delays{.kind = Delays::Kind::fixed, .first = minutes_of(level)};
     },
     [](const ResolvedPolicy& p, std::size_t level) {
       const Delays built_in{.kind = Delays::Kind::formula,
                             .first = 10s,
                             .max = DurationValue(1h),
                             .jitter = Delays::Jitter::percent,
                             .jitter_percent = 20,
                             .attempts = 10};
       return level == kLevels ? p.retry == built_in : p.retry.first.fixed == minutes_of(level);
     }},
    {"give_up",
     [](Policy& p, std::size_t level) { p.give_up = {{.alert = "c" + std::to_string(level)}}; },
     [](const ResolvedPolicy& p, std::size_t level) {
       if (p.give_up.size() != 1) return false;
       const Row& row = p.give_up[0];
       if (level == kLevels) return row.hold && row.hold->text.json.text == "{error.message}";
       return row.alert == "c" + std::to_string(level);
     }},
    {"failure",
     [](Policy& p, std::size_t level) { p.failure = Ref("failed" + std::to_string(level)); },
     [](const ResolvedPolicy& p, std::size_t level) {
       return level == kLevels ? !p.failure : p.failure == 3 + level;  // after the first states
     }},
    {"count",
     [](Policy& p, std::size_t level) {
       p.count = level % 2 == 0 ? Policy::Count::lifetime : Policy::Count::epoch;
     },
     [](const ResolvedPolicy& p, std::size_t level) {
       if (level == kLevels) return p.count == Policy::Count::state;
       return p.count == (level % 2 == 0 ? Policy::Count::lifetime : Policy::Count::epoch);
     }},
    {"align",
     [](Policy& p, std::size_t level) {
       p.align = level % 2 == 0 ? Policy::Align::retry : Policy::Align::only_planned;
     },
     [](const ResolvedPolicy& p, std::size_t level) {
       if (level == kLevels) return p.align == Policy::Align::planned;
       return p.align == (level % 2 == 0 ? Policy::Align::retry : Policy::Align::only_planned);
     }},
};

TEST(PolicyLookup, TakesEachKeyFromTheNearestLevel) {
  for (const PolicyKey& key : kPolicyKeys) {
    for (std::size_t nearest = 0; nearest <= kLevels; ++nearest) {
      Levels all;
      for (std::size_t level = nearest; level < kLevels; ++level) key.give(all.at(level), level);
      EXPECT_TRUE(key.has(made(all.definition)->policy_of_state(0), nearest))
          << key.name << " at the levels from " << nearest << " on";
      if (nearest == kLevels) continue;
      Levels one;
      key.give(one.at(nearest), nearest);
      const auto machine = made(one.definition);
      EXPECT_TRUE(key.has(machine->policy_of_state(0), nearest))
          << key.name << " at level " << nearest << " only";
      EXPECT_TRUE(key.has(machine->policy_of_state(1), nearest))
          << key.name << " of the state that is entered when an attempt starts";
    }
  }
}

TEST(PolicyLookup, EachKeyHasALevelOfItsOwn) {
  Levels levels;
  for (std::size_t i = 0; i < kLevels; ++i) kPolicyKeys[i].give(levels.at(i), i);
  const auto machine = made(levels.definition);
  for (std::size_t i = 0; i < kLevels; ++i)
    EXPECT_TRUE(kPolicyKeys[i].has(machine->policy_of_state(0), i)) << kPolicyKeys[i].name;
  EXPECT_TRUE(kPolicyKeys[6].has(machine->policy_of_state(0), kLevels));
}

TEST(PolicyLookup, NullIsAFailureStateToo) {
  Levels levels;
  levels.at(4).failure = Ref("failed0");
  levels.at(1).failure = Ref("");
  const auto machine = made(levels.definition);
  EXPECT_FALSE(machine->policy_of_state(0).failure);
  EXPECT_EQ(machine->policy_of_state(4).failure, 3u);
}

TEST(PolicyLookup, AStateWithoutATaskAsksTheMachineNext) {
  Levels levels;
  for (std::size_t level = 2; level < kLevels; ++level)
    levels.at(level).timeout = minutes_of(level);
  const auto machine = made(levels.definition);
  EXPECT_EQ(machine->policy_of_state(0).timeout.fixed, minutes_of(2));
  EXPECT_EQ(machine->policy_of_state(3).timeout.fixed, minutes_of(4));
}

TEST(PolicyLookup, ARunKnowsOnlyItsTask) {
  for (const PolicyKey& key : kPolicyKeys) {
    Levels levels;
    for (const std::size_t level : {0u, 1u, 4u, 5u}) key.give(levels.at(level), level);
    EXPECT_TRUE(key.has(made(levels.definition)->policy_of_run(0), kLevels)) << key.name;
    key.give(levels.at(3), 3);
    EXPECT_TRUE(key.has(made(levels.definition)->policy_of_run(0), 3)) << key.name;
    key.give(levels.at(2), 2);
    EXPECT_TRUE(key.has(made(levels.definition)->policy_of_run(0), 2)) << key.name;
  }
}

ErrorRows retried(const std::string& code) { return {code, {{.action = Row::Action::retry}}}; }

// The tables as `code/level`, where the level is told by the place the rows stand in.
std::string errors_text(const Machine& machine, const ResolvedPolicy& policy) {
  std::vector<std::string> texts;
  for (const ErrorRows* error : policy.errors) {
    std::string from = "built_in";
    for (std::size_t level = 0; level < kLevels; ++level)
      for (const ErrorRows& own : Levels::of(machine.definition(), level).errors)
        if (&own == error) from = std::to_string(level);
    texts.push_back(error->code + "/" + from);
  }
  return join(texts, " ", " ");
}

TEST(PolicyLookup, ReadsErrorsLevelByLevelAndDefaultsLast) {
  Levels levels;
  for (std::size_t level = 0; level < kLevels; ++level)
    levels.at(level).errors = {retried("default"), retried("same"),
                               retried("c" + std::to_string(level))};
  levels.at(1).errors = {retried("http_5*"), retried("returned")};
  const auto machine = made(levels.definition);
  EXPECT_EQ(errors_text(*machine, machine->policy_of_state(0)),
            "same/0 c0/0 http_5*/1 returned/1 same/2 c2/2 same/3 c3/3 same/4 c4/4 same/5 c5/5 "
            "returned/built_in default/0 default/2 default/3 default/4 default/5 default/built_in");
  EXPECT_EQ(errors_text(*machine, machine->policy_of_run(0)),
            "same/2 c2/2 same/3 c3/3 returned/built_in default/2 default/3 default/built_in");
}

TEST(PolicyLookup, BuiltInErrorsAreRetriedAndReturnedAtOnce) {
  const auto machine = made(small());
  const ResolvedPolicy& policy = machine->policy_of_state(0);
  ASSERT_EQ(policy.errors.size(), 2u);
  EXPECT_EQ(policy.errors[0]->code, "returned");
  EXPECT_EQ(policy.errors[0]->rows[0].action, Row::Action::later);
  EXPECT_EQ(policy.errors[0]->rows[0].delays->first.fixed, Duration{0});
  EXPECT_EQ(policy.errors[1]->code, "default");
  EXPECT_EQ(policy.errors[1]->rows[0].action, Row::Action::retry);
}

TEST(Machine, KnowsTheOwnerOfAStartedState) {
  const auto machine = made(Levels().definition);
  EXPECT_EQ(machine->owner_of(1), 0u);
  EXPECT_FALSE(machine->owner_of(0));
  EXPECT_FALSE(machine->owner_of(2));
  EXPECT_EQ(checkpoint_of(*machine, 1), 0u);
  EXPECT_TRUE(can_fail(*machine, 1));
  EXPECT_FALSE(can_fail(*machine, 2));
  EXPECT_FALSE(can_fail(*machine, 3));
}

// --- definitions of C++ programs
// ------------------------------------------------------------------

// The findings of a definition, by their ids; each has its place in the canonical file.
std::set<std::string> refused(const Definition& definition) {
  Diagnostics diagnostics;
  EXPECT_EQ(Machine::make(definition, *Zones::open(), diagnostics), nullptr);
  std::set<std::string> ids;
  for (const Diagnostic& finding : diagnostics.sorted()) {
    EXPECT_GE(finding.position.line, 1) << finding.message;
    ids.emplace(finding.id);
  }
  return ids;
}

TEST(Machine, ADefinitionInCppMeetsTheChecksOfAFile) {
  using Ids = std::set<std::string>;
  const Definition good{
      .machine = "m",
      .initial = "a",
      .states = {{.name = "a", .task = "t", .done = {{.to = "b"}}}, {.name = "b", .final = true}},
      .tasks = {{.name = "t", .target = "q"}}};
  Diagnostics none;
  const auto machine = Machine::make(good, *Zones::open(), none);
  ASSERT_NE(machine, nullptr);
  EXPECT_EQ(machine->definition(), good);

  Definition nameless = good;
  nameless.initial = "";
  EXPECT_EQ(refused(nameless), Ids{"bad_name"});
  Definition badly_named = good;
  badly_named.machine = "My Machine";
  EXPECT_EQ(refused(badly_named), Ids{"bad_name"});
  Definition no_target = good;
  no_target.states[1].effects = {{.verb = EffectRow::Verb::run}};
  EXPECT_EQ(refused(no_target), Ids{"bad_name"});
  Definition no_policy = good;
  no_policy.policy.policy = Ref("");
  EXPECT_EQ(refused(no_policy), Ids{"bad_name"});
  Definition negative = good;
  negative.policy.timeout = std::chrono::seconds{-5};
  EXPECT_EQ(refused(negative), Ids{"bad_duration"});
  Definition no_delays = good;
  no_delays.policy.errors = {{"e", {{.action = Row::Action::later}}}};
  EXPECT_EQ(refused(no_delays).size(), 1U);
  Definition two_outcomes = good;
  two_outcomes.states[0].on = {{"x", {{.to = "b", .fail = Value("bad")}}}};
  EXPECT_EQ(refused(two_outcomes), Ids{"two_of_one"});
  Definition out_of_range = good;
  out_of_range.tasks[0].priority = 77;
  EXPECT_EQ(refused(out_of_range), Ids{"bad_integer"});
  Definition no_call = good;
  no_call.tasks[0].kind = Task::Kind::http;
  EXPECT_EQ(refused(no_call), Ids{"missing_key"});
  Definition twice = good;
  twice.states.push_back(twice.states[1]);
  EXPECT_EQ(refused(twice), Ids{"duplicate_key"});
}

// --- edges -----------------------------------------------------------------------------------

std::string edges_text(const Machine& machine) {
  constexpr std::array<std::string_view, 15> kWhys{
      "done", "event",   "machine", "implicit", "after",   "every",   "planned", "ended",
      "when", "started", "resume",  "error",    "failure", "rewound", "give_up"};
  std::string text;
  for (const Edge& edge : edges_of(machine)) {
    if (edge.why == Edge::Why::implicit) continue;
    text += machine.state(edge.from).name + " -> " + machine.state(edge.to).name + " " +
            std::string(kWhys[static_cast<std::size_t>(edge.why)]) +
            (edge.label.empty() ? "" : " " + edge.label) + "\n";
  }
  return text;
}

TEST(Edges, GoWhereEventsTimersAndConditionsLead) {
  Definition definition = small();
  definition.on = {{"away", {{.to = Ref("b"), .from = Row::From::listed, .from_states = {"c"}}}}};
  definition.schedule = Schedule{.kind = Schedule::Kind::every, .every = 1h, .ended = {to("b")}};
  State& c = definition.states[2];
  c.after = {{DurationValue(1h), {{.event = Ref("stop")}}}};
  c.every = {{DurationValue(30min), {Row{}, {.event = Ref("away")}}}};
  c.planned = {{.event = Ref("only")}};
  c.when = {{.condition = "data.x == 1", .to = Ref("a")}};
  EXPECT_EQ(edges_text(*made(definition)),
            "a -> b event go\n"
            "a -> b event stop\n"
            "a -> a event stop\n"
            "c -> b event stop\n"
            "c -> b machine away\n"
            "c -> b after 1h: stop\n"
            "c -> b every 30m: away\n"
            "c -> b planned stop\n"
            "c -> b ended\n"
            "c -> a when\n");
}

TEST(Edges, GoToTheFailureStateAndBackToTheCheckpoint) {
  Levels levels;
  levels.definition.states.resize(4);
  levels.definition.states[3].resume = {to("end")};
  levels.at(0).failure = Ref("failed0");
  levels.at(0).errors = {{"gone", {to("end")}}, retried("default")};
  levels.at(0).give_up = {{.to = Ref("end"), .elapsed = DurationValue(1h)}, {.alert = "ops"}};
  EXPECT_EQ(edges_text(*made(levels.definition)),
            "work -> working started\n"
            "work -> end done\n"
            "work -> end error gone\n"
            "work -> failed0 failure\n"
            "failed0 -> work rewound\n"
            "work -> end give_up\n"
            "work -> failed0 give_up\n"
            "working -> end error gone\n"
            "working -> failed0 failure\n"
            "failed0 -> work rewound\n"
            "working -> end give_up\n"
            "working -> failed0 give_up\n"
            "failed0 -> end event e\n"
            "failed0 -> end resume\n");
}

TEST(Edges, InPlaceAFailureComesStraightBack) {
  Levels levels;
  levels.definition.states.resize(4);
  levels.definition.states[0].checkpoint = Ref("failed0");
  levels.definition.states[0].started.reset();
  levels.definition.states[1].on = {{"e", {to("end")}}};
  levels.at(0).errors = {{"odd", {{.action = Row::Action::retry, .checkpoint = Ref("working")}}}};
  EXPECT_EQ(edges_text(*made(levels.definition)),
            "work -> end done\n"
            "work -> working failure odd\n"
            "work -> failed0 failure\n"
            "work -> work give_up\n"
            "working -> end event e\n"
            "failed0 -> end event e\n");
}

}  // namespace
}  // namespace pawl
