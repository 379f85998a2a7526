#include "surroundings.h"

#include <algorithm>

namespace pawl {
namespace {

// Where a record of that machine begins.
std::string initial_of(const std::string& machine) {
  if (machine == "run") return "running";
  return machine == "delivery" ? "sending" : Surroundings::kFresh;
}

void add(ChildCounts& counts, const Child& child) {
  ++counts.all;
  ++(child.is_final ? counts.final : counts.open);
  if (child.is_held && !child.is_final) ++counts.hold;
  auto in = std::find_if(counts.states.begin(), counts.states.end(),
                         [&](const auto& known) { return known.state == child.state; });
  if (in == counts.states.end()) in = counts.states.insert(in, {child.state, 0});
  ++in->count;
}

}  // namespace

TokenHash Surroundings::new_token() {
  TokenHash token{};
  const std::size_t number = tokens_.size() + 1;
  token[0] = static_cast<std::byte>(number & 255U);
  token[1] = static_cast<std::byte>(number >> 8U);
  token[31] = std::byte{7};
  tokens_.push_back(token);
  return token;
}

void Surroundings::add_stranger(const std::string& machine, const std::string& key) {
  records_[{machine, key}] = {.machine = machine, .key = key, .id = new_id(), .initial = kFresh};
}

KnownRecord Surroundings::look_up(const std::string& machine, const std::string& key) const {
  const auto found = records_.find({machine, key});
  if (found != records_.end()) return found->second;
  return {.machine = machine, .key = key, .initial = initial_of(machine)};
}

void Surroundings::commit(const Stimulus& stimulus, const Decision& decision) {
  for (const Effect& effect : decision.effects)
    if (!effect.found) make(effect, decision.record);
  if (!decision.remember) return;
  remembered_[stimulus.idempotency_key] = *decision.remember;
  keyed_.push_back(stimulus);
}

void Surroundings::make(const Effect& effect, const Record& asker) {
  if (effect.verb == Effect::Verb::send) return;
  const bool creates = effect.verb == Effect::Verb::create;
  const bool runs = effect.verb == Effect::Verb::run;
  const std::string machine = creates ? effect.machine : runs ? "run" : "delivery";
  KnownRecord& made = records_[{machine, creates ? effect.key : effect.id}];
  made = {.machine = machine,
          .key = creates ? effect.key : effect.id,
          .id = new_id(),
          .initial = initial_of(machine)};
  if (!creates && !runs) return;
  made.parent = asker.id;
  children_.push_back({.id = made.id, .machine = machine, .state = made.initial});
}

std::optional<Remembered> Surroundings::remembered(const std::string& key) const {
  const auto found = remembered_.find(key);
  return found == remembered_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ChildCounts> Surroundings::counts() const {
  std::vector<ChildCounts> all;
  for (const Child& child : children_) {
    auto of = std::find_if(all.begin(), all.end(), [&](const ChildCounts& counts) {
      return counts.machine == child.machine;
    });
    if (of == all.end()) of = all.insert(of, ChildCounts{.machine = child.machine});
    add(*of, child);
  }
  return all;
}

}  // namespace pawl
