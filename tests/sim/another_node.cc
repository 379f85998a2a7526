#include "another_node.h"

#include <map>
#include <memory>

#include "broken.h"
#include "engine/machines.h"
#include "engine/queue_name.h"
#include "pawl/decide.h"
#include "sim_machines.h"

namespace pawl::sim {
namespace {

const Machine* machine_of(const std::string& name) {
  static const auto all = [] {
    const Zones zones = *Zones::open();
    std::map<std::string, std::shared_ptr<const Machine>> read;
    for (const StoredMachine& stored : machines())
      read[stored.name] = must(read_stored_machine(stored, zones, {}), stored.name);
    return read;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second.get();
}

}  // namespace

// Of the records that the batch is about; only what changes nothing but the record itself.
std::optional<Unit> AnotherNode::before(Batch& batch, std::span<const Unit> units) {
  const RecordChange& change = units[tape_.below(units.size())].record;
  const std::string& machine = change.record.machine;
  if (machine_of(machine) == nullptr) return std::nullopt;
  if (change.writes_before == 0) {
    if (change.record.parent || machine == "page" || !swarm_.strikes(Fault::rival_create))
      return std::nullopt;
    mark_.clear();
    last_id_ += 1ULL << 20;
    const Stimulus create{.what = Stimulus::Create{.id = {last_id_}, .data = "{}"},
                          .machine = machine,
                          .key = change.record.key,
                          .actor = {.name = "rival"}};
    return decided({}, create, batch.now());
  }
  if (!swarm_.strikes(Fault::rival_change)) return std::nullopt;
  const RecordId id = change.record.id;
  const auto loaded = batch.load({&id, 1});
  if (!loaded || loaded->front().id.value == 0) return std::nullopt;  // it is made in this batch
  mark_ = "r" + std::to_string(++pokes_);
  const Stimulus poke{
      .what = Stimulus::Fire{.event = "poke", .payload = R"({"id":")" + mark_ + R"("})"},
      .machine = machine,
      .key = change.record.key,
      .actor = {.name = "rival"}};
  return decided(loaded->front(), poke, batch.now());
}

std::optional<Unit> AnotherNode::decided(const Record& record, const Stimulus& stimulus,
                                         Instant now) {
  const Machine& machine = *machine_of(stimulus.machine);
  const Decision decision = decide(machine, record, stimulus, now);
  if (!decision.changed || !decision.effects.empty() || decision.to_parent) return std::nullopt;
  Unit unit;
  unit.record.record = decision.record;
  if (decision.record.ready_at) unit.record.queue = queue_of(machine, decision.record);
  if (decision.record.running) unit.record.slots = decision.record.running->slots;
  unit.record.entries = decision.entries;
  unit.record.writes_before = record.writes;
  unit.record.fence_before = record.fence;
  return unit;
}

void AnotherNode::committed(const Unit& unit) {
  has_been_there_ = true;
  hits_.struck(mark_.empty() ? Fault::rival_create : Fault::rival_change);
  ledger_.changed(unit.record.record, mark_);
}

}  // namespace pawl::sim
