#include "decide/consequences.h"

#include <algorithm>
#include <utility>

namespace pawl {

Actor engine() { return {.name = "engine", .roles = {"engine"}}; }

bool needs_carrier(const Effect& effect) {
  return effect.verb == Effect::Verb::run ||
         (effect.verb == Effect::Verb::send && (effect.in || effect.must));
}

Stimulus creation_of(const Effect& effect, const Record& asker) {
  Stimulus::Create create{.parent = Parent{asker.id, asker.machine, asker.key}};
  if (!effect.payload.empty()) create.data = effect.payload;
  return {
      .what = std::move(create), .machine = effect.target, .key = effect.key, .actor = engine()};
}

Stimulus message_of(const Effect& effect, const Record& asker) {
  Stimulus::Sent sent{.event = effect.target, .from = asker.id, .epoch_only = effect.epoch_only};
  if (!effect.payload.empty()) sent.payload = effect.payload;
  return {.what = std::move(sent),
          .machine = effect.machine,
          .key = effect.key,
          .actor = engine(),
          .idempotency_key = effect.id};
}

Effect to_one_child(const Effect& effect, const std::string& key) {
  Effect one = effect;
  one.to = Effect::To::record;
  one.key = key;
  one.id += "/" + key;
  return one;
}

std::vector<std::string> keys_created(std::span<const Effect> effects, std::string_view machine) {
  std::vector<std::string> keys;
  for (const Effect& effect : effects) {
    if (effect.found) continue;
    if (effect.verb == Effect::Verb::create && effect.target == machine) keys.push_back(effect.key);
    if (effect.verb == Effect::Verb::run && machine == kRunMachine) keys.push_back(effect.id);
  }
  return keys;
}

std::optional<Stimulus::ChildChanged> since_counted(Stimulus::ChildChanged change,
                                                    const Machine& machine) {
  change.was = machine.definition().initial.name;
  const auto initial = machine.find_state(change.was);
  change.was_final = initial && machine.state(*initial).final;
  change.was_held = false;
  const bool same = change.was == change.is && change.was_final == change.is_final &&
                    change.was_held == change.is_held;
  return same ? std::nullopt : std::optional(std::move(change));
}

}  // namespace pawl
