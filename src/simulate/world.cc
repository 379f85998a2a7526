// How a world decides: what a decision must know, and what is committed after it. What follows by
// the clock is in world_clock.cc.
#include "simulate/world.h"

#include <iterator>
#include <utility>

#include "decide/consequences.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

// A decision asks for what it must know once, or once more for what follows from that.
constexpr int kQuestionsMax = 8;

Error unknown_machine(const std::string& name) {
  return {ErrorCode::bad_input, "there is no machine `" + name + "` in this world"};
}

Error no_end(Instant now, int decisions_max) {
  return {ErrorCode::bad_input,
          "more than " + std::to_string(decisions_max) + " decisions in one step, the last at " +
              to_text(now) + ": records keep each other moving, or a timer is far too short"};
}

// When something must be done about the record by the clock: it wakes, or is a `send` that is to be
// carried out.
std::optional<Instant> acts_at_of(const Record& record) {
  return record.machine == kSendMachine ? record.next_at() : record.wake_at;
}

// The record an answer speaks of when there is none.
const Record& never_created() {
  static const Record none;
  return none;
}

}  // namespace

World::World(const std::vector<std::shared_ptr<const Machine>>& machines, Zones zones, Instant now,
             int decisions_max)
    : built_ins_(std::move(zones)), now_(now), decisions_max_(decisions_max) {
  for (const auto& machine : machines) add(machine);
}

void World::add(std::shared_ptr<const Machine> machine) {
  machines_[machine->name()][machine->version()] = std::move(machine);
}

Result<Answer> World::apply(Stimulus stimulus) {
  decisions_ = 0;
  PAWL_TRY(Answer answer, decide_one(stimulus, Origin::outside));
  PAWL_CHECK(settle());
  return answer;
}

const Record* World::find(RecordId id) const {
  const KeptRecord* kept = shelf_.find(id);
  return kept == nullptr ? nullptr : &kept->record;
}

const Record* World::find(std::string_view machine, std::string_view key) const {
  const KeptRecord* kept = shelf_.find(machine, key);
  return kept == nullptr ? nullptr : &kept->record;
}

const Record* World::latest_run(std::string_view task) const {
  for (std::size_t id = shelf_.size(); id > 0; --id) {
    const Record& record = shelf_.find(RecordId{id})->record;
    if (record.machine == kRunMachine && side_job_of(record).task == task) return &record;
  }
  return nullptr;
}

const Machine* World::machine(std::string_view name) const {
  const auto versions = machines_.find(name);
  return versions == machines_.end() ? nullptr : versions->second.rbegin()->second.get();
}

Result<Answer> World::decide_one(Stimulus& stimulus, Origin origin) {
  if (++decisions_ > decisions_max_) return no_end(now_, decisions_max_);
  KeptRecord* kept = shelf_.find(stimulus.machine, stimulus.key);
  const auto machine = kept != nullptr ? kept->machine : machine_of_new(stimulus);
  if (machine == nullptr) return unknown_machine(stimulus.machine);
  prepare(stimulus, kept);
  const Record& before = kept != nullptr ? kept->record : never_created();
  Decision decision = decide_knowing(*machine, before, stimulus);
  const std::vector<Effect> effects = reached(decision);
  if (watcher_.decided) watcher_.decided({*machine, stimulus, before, decision, effects, now_});
  Answer answer = decision.answer;
  if (decision.changed && !stimulus.dry_run)
    commit(stimulus, origin, kept, machine, decision, effects);
  return answer;
}

// Fills in what only the one who keeps the records knows.
void World::prepare(Stimulus& stimulus, const KeptRecord* kept) const {
  if (auto* create = std::get_if<Stimulus::Create>(&stimulus.what)) create->id = shelf_.next_id();
  if (auto* fire = std::get_if<Stimulus::Fire>(&stimulus.what); fire != nullptr && fire->create)
    fire->create->id = shelf_.next_id();
  const Machine* newest = machine(stimulus.machine);
  const bool later =
      kept != nullptr && newest != nullptr && newest->version() > kept->record.version;
  stimulus.newest = later ? newest : nullptr;
  stimulus.remembered.reset();
  const auto stored = remembered_.find({stimulus.machine, stimulus.key, stimulus.idempotency_key});
  if (stored != remembered_.end()) stimulus.remembered = stored->second;
}

Decision World::decide_knowing(const Machine& machine, const Record& record,
                               Stimulus& stimulus) const {
  stimulus.known.clear();
  Decision decision = decide(machine, record, stimulus, now_);
  for (int asked = 0; !decision.answer.need.empty(); ++asked) {
    PAWL_ASSERT(asked < kQuestionsMax, "a decision that was told what it needs asks no more");
    for (const KnownRecord& need : decision.answer.need) stimulus.known.push_back(look_up(need));
    decision = decide(machine, record, stimulus, now_);
  }
  return decision;
}

KnownRecord World::look_up(const KnownRecord& asked) const {
  KnownRecord known = asked;
  if (asked.machine == kDeliveryMachine) {
    const auto delivery = delivery_ids_.find(asked.key);
    if (delivery != delivery_ids_.end()) known.id = {delivery->second};
    return known;
  }
  if (const Record* record = find(asked.machine, asked.key)) {
    known.id = record->id;
    if (record->parent) known.parent = record->parent->id;
  } else if (const Machine* newest = machine(asked.machine)) {
    foresee(*newest, now_, known);
  }
  return known;
}

void World::commit(const Stimulus& stimulus, Origin origin, KeptRecord* kept,
                   std::shared_ptr<const Machine> machine, Decision& decision,
                   std::span<const Effect> effects) {
  KeptRecord& committed = keep(kept, std::move(machine), decision);
  if (decision.remember && !stimulus.idempotency_key.empty())
    remembered_[{stimulus.machine, stimulus.key, stimulus.idempotency_key}] = *decision.remember;
  postponed_.erase(committed.record.id);
  // A parent's counts are never older than what its child sends it in the same commit.
  tell_parent(decision.to_parent, origin, committed);
  ask_for(effects, committed.record);
  open_inbox(committed);
}

KeptRecord& World::keep(KeptRecord* kept, std::shared_ptr<const Machine> machine,
                        Decision& decision) {
  const std::optional<Instant> acts_at = acts_at_of(decision.record);
  if (kept == nullptr) {
    kept = &shelf_.add(std::move(decision.record), std::move(machine), acts_at);
  } else {
    shelf_.replace(*kept, std::move(decision.record), acts_at);
  }
  if (kept->machine->name() == kept->record.machine &&
      kept->record.version != kept->machine->version())
    kept->machine = machine_for(kept->record);  // it has followed a later version
  kept->log.insert(kept->log.end(), decision.entries.begin(), decision.entries.end());
  return *kept;
}

// The effects, each `send` to children once for every child there is after the commit.
std::vector<Effect> World::reached(const Decision& decision) const {
  std::vector<Effect> effects;
  for (const Effect& effect : decision.effects) {
    if (effect.verb != Effect::Verb::send || effect.to != Effect::To::children) {
      effects.push_back(effect);
      continue;
    }
    for (const RecordId child : shelf_.children_of(decision.record.id, effect.machine))
      effects.push_back(to_one_child(effect, find(child)->key));
    for (const std::string& key : keys_created(decision.effects, effect.machine))
      effects.push_back(to_one_child(effect, key));
  }
  return effects;
}

// New records are there before any message is looked at.
void World::ask_for(std::span<const Effect> effects, const Record& asker) {
  std::vector<Work> created;
  for (const Effect& effect : effects) {
    if (effect.found) continue;
    if (effect.verb == Effect::Verb::notify) {
      deliver(effect, asker);
    } else if (effect.verb == Effect::Verb::create) {
      created.push_back({creation_of(effect, asker), Origin::effect});
    } else if (needs_carrier(effect)) {
      created.push_back({carrier_of(effect, asker, {}, now_), Origin::effect});
    } else {
      work_.push_back({message_of(effect, asker), Origin::message});
    }
  }
  work_.insert(work_.begin(), std::make_move_iterator(created.begin()),
               std::make_move_iterator(created.end()));
}

void World::deliver(const Effect& effect, const Record& asker) {
  deliveries_.push_back(
      {effect.id, effect.target, effect.payload, now_ + effect.in.value_or(Duration{0}), asker.id});
  delivery_ids_.emplace(effect.id, deliveries_.size());
}

void World::tell_parent(std::optional<Stimulus::ChildChanged> change, Origin origin,
                        const KeptRecord& kept) {
  const std::optional<Parent>& parent = kept.record.parent;
  if (change && origin == Origin::effect) change = since_counted(*change, *kept.machine);
  if (!change || !parent) return;
  work_.push_back(
      {{.what = *change, .machine = parent->machine, .key = parent->key, .actor = engine()},
       Origin::message});
}

// What waited for the end of the hold is decided before anything that came later.
void World::open_inbox(KeptRecord& kept) {
  if (kept.record.hold) return;
  for (; !kept.inbox.empty(); kept.inbox.pop_back())
    work_.push_front({std::move(kept.inbox.back()), Origin::message});
}

Result<void> World::settle() {
  while (!work_.empty()) {
    Work work = std::move(work_.front());
    work_.pop_front();
    PAWL_CHECK(take(std::move(work)));
  }
  return {};
}

Result<void> World::take(Work work) {
  const std::string name = work.stimulus.machine + "/" + work.stimulus.key;
  if (work.origin == Origin::message && find(work.stimulus.machine, work.stimulus.key) == nullptr) {
    note("there is no record " + name + ": the message is dropped");
    return {};
  }
  PAWL_TRY(const Answer answer, decide_one(work.stimulus, work.origin));
  if (answer.waits) {
    shelf_.find(work.stimulus.machine, work.stimulus.key)
        ->inbox.push_back(std::move(work.stimulus));
  } else if (work.origin == Origin::effect && answer.kind != Answer::Kind::ok) {
    note(name + " was not created: " + answer.reason);
  }
  return {};
}

std::shared_ptr<const Machine> World::machine_for(const Record& record) {
  if (record.machine == kSendMachine) return built_ins_.send();
  const bool run = record.machine == kRunMachine;
  const SideJob job = run ? side_job_of(record) : SideJob{};
  const auto versions = machines_.find(run ? job.machine : record.machine);
  if (versions == machines_.end()) return nullptr;
  const auto version = versions->second.find(run ? job.version : record.version);
  if (version == versions->second.end()) return nullptr;
  return run ? built_ins_.run(job, *version->second) : version->second;
}

std::shared_ptr<const Machine> World::machine_of_new(const Stimulus& stimulus) {
  const auto* create = std::get_if<Stimulus::Create>(&stimulus.what);
  Record record{.machine = stimulus.machine};
  if (create != nullptr) record.data = create->data;
  if (const auto versions = machines_.find(stimulus.machine); versions != machines_.end())
    record.version = versions->second.rbegin()->first;
  return machine_for(record);
}

void World::note(const std::string& text) const {
  if (watcher_.noted) watcher_.noted(now_, text);
}

}  // namespace pawl
