#include "check/lone_world.h"

#include <algorithm>

#include "check/aside.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr int kMessagesMax = 100;  // that follow at once from one decision
constexpr int kQuestionsMax = 8;   // that a decision asks before it is made

// A little later the clock shows whole seconds: times that people can read.
Instant next_second(Instant at) { return std::chrono::ceil<std::chrono::seconds>(at); }

Actor engine() { return {.name = "engine", .roles = {"engine"}}; }

// Whether a row gave it a `key`: then it is sent once. Else its id is that of the entry.
bool has_own_key(const Effect& effect, const Record& record) {
  return !effect.id.starts_with(std::to_string(record.id.value) + "/" + std::to_string(effect.seq) +
                                "/");
}

auto first_message(auto& situation) {
  return std::min_element(situation.messages.begin(), situation.messages.end(),
                          [](const OwnMessage& a, const OwnMessage& b) { return a.at < b.at; });
}

}  // namespace

LoneWorld::LoneWorld(const Machine& machine, std::vector<const Machine*> others)
    : machine_(machine), others_(std::move(others)), built_ins_(machine.zones()) {}

Answer LoneWorld::apply(Situation& situation, decltype(Stimulus::what) what, const Actor& actor,
                        Instant now) {
  Answer answer = decide(situation, std::move(what), actor, now);
  for (int i = 0; !situation.inbox.empty() && !situation.record.hold && i < kMessagesMax; ++i) {
    Stimulus::Sent sent = std::move(situation.inbox.front());
    situation.inbox.erase(situation.inbox.begin());
    decide(situation, std::move(sent), engine(), now);
  }
  return answer;
}

Answer LoneWorld::decide(Situation& situation, decltype(Stimulus::what) what, const Actor& actor,
                         Instant now) {
  Stimulus stimulus{.what = std::move(what),
                    .machine = machine_.name(),
                    .key = situation.record.key,
                    .actor = actor};
  if (std::holds_alternative<Stimulus::Create>(stimulus.what)) stimulus.key = "r1";
  Decision decision = decide_knowing(situation, stimulus, now);
  situation.acted_at = now;
  situation.now = std::max(situation.now, now);
  if (!decision.changed) return std::move(decision.answer);
  situation.record = std::move(decision.record);
  for (const KnownRecord& known : stimulus.known)
    if (known.id.value == 0) situation.made.push_back(known.machine + "/" + known.key);
  log_.insert(log_.end(), decision.entries.begin(), decision.entries.end());
  keep_effects(situation, decision.effects, now);
  return std::move(decision.answer);
}

Decision LoneWorld::decide_knowing(const Situation& situation, Stimulus& stimulus,
                                   Instant now) const {
  Decision decision = pawl::decide(machine_, situation.record, stimulus, now);
  for (int asked = 0; !decision.answer.need.empty(); ++asked) {
    PAWL_ASSERT(asked < kQuestionsMax, "a decision that was told what it needs asks no more");
    for (const KnownRecord& need : decision.answer.need)
      stimulus.known.push_back(look_up(situation, need, now));
    decision = pawl::decide(machine_, situation.record, stimulus, now);
  }
  return decision;
}

KnownRecord LoneWorld::look_up(const Situation& situation, const KnownRecord& asked,
                               Instant now) const {
  KnownRecord known = asked;
  for (const Machine* other : others_)
    if (other->name() == asked.machine) foresee(*other, now, known);
  const auto& made = situation.made;
  const bool is_made =
      std::find(made.begin(), made.end(), asked.machine + "/" + asked.key) != made.end();
  if (is_made) known.id = {situation.record.id.value + 1};
  return known;
}

void LoneWorld::keep_effects(Situation& situation, const std::vector<Effect>& effects,
                             Instant now) {
  for (const Effect& effect : effects) {
    if (effect.found) continue;
    if (effect.verb == Effect::Verb::send) send_to_itself(situation, effect, now);
    if (effect.verb != Effect::Verb::run || effect.otherwise.empty()) continue;
    auto job = quickest_failure(effect, situation.record, machine_, built_ins_, now);
    if (!job) continue;
    std::erase_if(situation.jobs, [&](const AsideJob& known) { return known.is(*job); });
    situation.jobs.push_back(*std::move(job));
  }
}

void LoneWorld::send_to_itself(Situation& situation, const Effect& effect, Instant now) {
  const Record& record = situation.record;
  const bool is_own = effect.to == Effect::To::record && effect.machine == record.machine &&
                      effect.key == record.key;
  if (!is_own || (has_own_key(effect, record) && !situation.keyed.insert(effect.id).second)) return;
  Stimulus::Sent sent{.event = effect.target, .from = record.id, .epoch_only = effect.epoch_only};
  if (!effect.payload.empty()) sent.payload = effect.payload;
  if (effect.in || effect.must) {
    situation.messages.push_back({now + effect.in.value_or(Duration{0}), std::move(sent)});
  } else {
    situation.inbox.push_back(std::move(sent));
  }
}

std::optional<Instant> LoneWorld::next_act(const Situation& situation) {
  std::optional<Instant> at = situation.record.wake_at;
  const auto message = first_message(situation);
  if (message != situation.messages.end() && (!at || message->at < *at)) at = message->at;
  return at;
}

void LoneWorld::act(Situation& situation) { act_late(situation, *next_act(situation)); }

// A result that comes at the deadline still counts: that is over only when it has passed.
void LoneWorld::act_late(Situation& situation, Instant now) {
  const Instant at = *next_act(situation);
  const bool is_deadline = situation.record.running && situation.record.running->deadline_at == now;
  if (situation.record.wake_at == at) {
    apply(situation, Stimulus::Wake{.passed = true}, engine(), now);
  } else {
    const auto message = first_message(situation);
    Stimulus::Sent sent = std::move(message->sent);
    situation.messages.erase(message);
    apply(situation, std::move(sent), engine(), now);
  }
  const Instant seen = is_deadline ? next_second(now + Duration{1}) : next_second(now);
  situation.now = std::max(situation.now, seen);
}

}  // namespace pawl
