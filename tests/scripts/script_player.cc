#include "script_player.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "calendar/zone.h"
#include "decision_text.h"
#include "model/codec.h"
#include "model/reader.h"
#include "model/tree.h"
#include "pawl/machine_file.h"
#include "simulate/scenario_clock.h"
#include "simulate/step_stimulus.h"
#include "simulate/world.h"
#include "value_text.h"

namespace pawl {
namespace {

Error wrong(std::string message) { return {ErrorCode::bad_input, std::move(message)}; }

// --- machines ----------------------------------------------------------------------------------

// The guard that scripts may name: `if: approves`.
Guards guards() {
  return {{"approves", [](const GuardSight& sight) {
             return sight.data.find("\"approved\":true") != std::string_view::npos;
           }}};
}

Result<std::shared_ptr<const Machine>> machine_of(const ScriptMachine& file, const Zones& zones) {
  const ReadMachine read = read_machine(file.text, zones);
  if (!read.machine) {
    std::string text = "a machine file:";
    for (const Diagnostic& finding : read.findings)
      if (finding.severity == Diagnostic::Severity::error)
        text += " " + std::to_string(finding.position.line) + ": " + finding.message;
    return wrong(std::move(text));
  }
  Diagnostics none;
  return Machine::make(read.machine->definition(), zones, none, guards());
}

// --- steps -------------------------------------------------------------------------------------

// What a step says beyond a step of a scenario.
struct Extras {
  std::string apply = {};
  std::string idempotency = {};
  std::string first = {};
  std::optional<std::string> or_create = {};  // data
  std::optional<std::string> reason = {};
  bool dry_run = false;
};

struct ReadStep {
  Step step;
  Extras extras;
};

// Takes the member out of the map.
std::optional<Node> taken(Node& map, std::string_view key) {
  const auto found = std::find_if(map.members.begin(), map.members.end(),
                                  [&](const Member& member) { return member.key == key; });
  if (found == map.members.end()) return std::nullopt;
  Node value = std::move(found->value);
  map.members.erase(found);
  return value;
}

// With `[1001 times 0]` written out.
std::string expanded(const std::string& text) {
  constexpr std::string_view kTimes = " times ";
  const std::size_t times = text.find(kTimes);
  const std::size_t open = text.rfind('[', times);
  const std::size_t close = text.find(']', times);
  if (times == std::string::npos || open == std::string::npos || close == std::string::npos)
    return text;
  const std::size_t item = times + kTimes.size();
  std::string items;
  for (int i = std::atoi(text.c_str() + open + 1); i > 0; --i)
    items += text.substr(item, close - item) + (i > 1 ? "," : "");
  return text.substr(0, open + 1) + items + text.substr(close);
}

Result<ReadStep> read_step(const std::string& text) {
  Diagnostics diagnostics;
  auto tree = read_tree("{" + expanded(text) + "}", diagnostics);
  ReadStep read;
  if (tree) {
    if (const auto node = taken(*tree, "apply")) read.extras.apply = node->text;
    if (const auto node = taken(*tree, "idempotency")) read.extras.idempotency = node->text;
    if (const auto node = taken(*tree, "first")) read.extras.first = node->text;
    if (const auto node = taken(*tree, "or_create"))
      read.extras.or_create = to_text(to_json(*node));
    if (const auto node = taken(*tree, "reason")) read.extras.reason = node->text;
    if (const auto node = taken(*tree, "dry_run")) read.extras.dry_run = node->text == "true";
    Reader(diagnostics).keys(*tree, step_keys(), read.step);
  }
  if (diagnostics.has_errors())
    return wrong("the step " + text + ": " + diagnostics.sorted().front().message);
  return read;
}

// --- what must be true of every decision -------------------------------------------------------

// The log is enough: its changes make the core, and its input makes the entries again.
std::optional<std::string> what_is_wrong(const Decided& decided) {
  const Decision& decision = decided.decision;
  if (!decision.changed) {
    if (!decision.entries.empty() || !decision.effects.empty())
      return "it asks and changes nothing";
    return std::nullopt;
  }
  Record core = decided.before;
  std::int64_t seq = decided.before.revision;
  for (const Entry& entry : decision.entries) {
    fold(core, entry.changes);
    if (entry.seq != ++seq) return "the entries have a gap";
  }
  if (decision.record.revision != seq) return "the revision is not the seq of the last entry";
  if (core_text(core) != core_text(decision.record))
    return "the changes do not make the core: " + core_text(core);
  if (decision.entries.empty()) return std::nullopt;
  if (decision.entries.back().to != decision.record.state) return "the last entry is elsewhere";
  Input input = read_input(decision.entries.front().input);
  input.stimulus.machine = decided.stimulus.machine;
  input.stimulus.key = decided.stimulus.key;
  input.stimulus.newest = decided.stimulus.newest;
  const Record before =
      decided.before.id.value == 0 ? Record{} : joined(decided.before, input.quiet);
  const Decision again =
      decide(decided.machine, before, input.stimulus, decision.entries.front().at);
  if (again.entries != decision.entries) return "its input does not make the entries again";
  return std::nullopt;
}

// --- playing -----------------------------------------------------------------------------------

class ScriptPlayer {
 public:
  ScriptPlayer(const RuleScript& script, const Zones& zones, Zone zone, Instant at)
      : script_(script),
        zones_(zones),
        day_(at, zone),
        clock_(std::move(zone)),
        world_({}, zones, at) {
    world_.watch({.decided = [this](const Decided& decided) { watch(decided); },
                  .noted = [this](Instant, const std::string& note) { say("note " + note); }});
  }

  PlayedScript play() {
    for (const ScriptMachine& file : script_.machines)
      if (file.name.empty()) note_problem(0, add_machine(file));
    for (const ScriptStep& step : script_.steps) {
      played_.outputs.emplace_back();
      note_problem(step.line, play_step(step));
    }
    return std::move(played_);
  }

 private:
  void say(std::string line) {
    if (!played_.outputs.empty()) played_.outputs.back().push_back(std::move(line));
  }

  void note_problem(std::size_t line, const Result<void>& result) {
    if (result) return;
    played_.problems.push_back(std::to_string(line) + ": " + result.error().message);
    say("PROBLEM " + result.error().message);
  }

  void watch(const Decided& decided) {
    for (std::string& line : decision_text(decided, day_)) say(std::move(line));
    if (const auto problem = what_is_wrong(decided)) note_problem(0, wrong(*problem));
  }

  Result<void> add_machine(const ScriptMachine& file) {
    PAWL_TRY(auto machine, machine_of(file, zones_));
    if (machines_.empty()) first_machine_ = machine->name();
    machines_.push_back(machine);
    world_.add(std::move(machine));
    return {};
  }

  Result<void> play_step(const ScriptStep& step) {
    PAWL_TRY(const ReadStep read, read_step(step.text));
    if (!read.extras.apply.empty()) return apply_machine(read.extras.apply);
    PAWL_TRY(const Instant at, clock_.step_at(read.step.at, world_.now()));
    PAWL_CHECK(world_.run_until(at));
    if (read.step.verb == Step::Verb::none) return {};
    PAWL_TRY(const Whom whom, concerned(read.step));
    PAWL_TRY(Stimulus stimulus, stimulus_of(read, whom));
    PAWL_CHECK(world_.apply(std::move(stimulus)));
    return {};
  }

  Result<void> apply_machine(const std::string& name) {
    for (const ScriptMachine& file : script_.machines)
      if (file.name == name) return add_machine(file);
    return wrong("there is no `file " + name + ":`");
  }

  Result<Whom> concerned(const Step& step) {
    if (step.verb == Step::Verb::create) {
      const Whom created = created_by(step.subject, first_machine_);
      if (own_.key.empty()) own_ = created;
      return created;
    }
    if (!step.record.empty()) return whom_of(step.record, world_);
    return own_;
  }

  Result<Stimulus> stimulus_of(const ReadStep& read, const Whom& whom) {
    const Extras& extras = read.extras;
    Stimulus stimulus;
    if (read.step.verb == Step::Verb::fire && world_.find(whom.machine, whom.key) == nullptr) {
      stimulus = fire_at_nobody(read.step, whom);
    } else {
      PAWL_TRY(stimulus, step_stimulus(read.step, whom, first_machine_, world_, tokens_));
    }
    if (auto* create = std::get_if<Stimulus::Create>(&stimulus.what);
        create && !extras.first.empty()) {
      create->event = extras.first;
      if (read.step.with.kind == Json::Kind::map) create->payload = to_text(read.step.with);
    }
    if (auto* fire = std::get_if<Stimulus::Fire>(&stimulus.what); fire && extras.or_create)
      fire->create = Stimulus::Create{.data = *extras.or_create};
    if (auto* order = std::get_if<Stimulus::Order>(&stimulus.what); order && extras.reason)
      order->reason = *extras.reason;
    stimulus.idempotency_key = extras.idempotency;
    stimulus.dry_run = extras.dry_run;
    return stimulus;
  }

  static Stimulus fire_at_nobody(const Step& step, const Whom& whom) {
    Stimulus::Fire fire{.event = step.subject.text};
    if (step.with.kind == Json::Kind::map) fire.payload = to_text(step.with);
    return {
        .what = std::move(fire), .machine = whom.machine, .key = whom.key, .actor = actor_of(step)};
  }

  const RuleScript& script_;
  const Zones& zones_;
  DayClock day_;
  ScenarioClock clock_;
  World world_;
  PlayedScript played_;
  Tokens tokens_;
  std::string first_machine_;
  Whom own_;
  std::vector<std::shared_ptr<const Machine>> machines_;
};

}  // namespace

PlayedScript play(const RuleScript& script, const Zones& zones) {
  const auto zone = script.tz.empty() ? Result<Zone>(Zone::utc()) : zones.find(script.tz);
  if (!zone) return {.problems = {zone.error().message}};
  const auto at = parse_instant(script.at, *zone);
  if (!at) return {.problems = {at.error().message}};
  return ScriptPlayer(script, zones, *zone, *at).play();
}

}  // namespace pawl
