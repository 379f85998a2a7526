#include "engine/machines.h"

#include <utility>

#include "base/text.h"
#include "decide/consequences.h"
#include "model/read_machine.h"

namespace pawl {

Result<std::shared_ptr<const Machine>> read_stored_machine(const StoredMachine& stored,
                                                           const Zones& zones,
                                                           const Guards& guards) {
  Diagnostics diagnostics;
  std::shared_ptr<const Machine> machine;
  if (auto definition = read_definition(stored.text, diagnostics)) {
    definition->version = stored.version;
    machine = Machine::make(*std::move(definition), zones, diagnostics, guards);
  }
  if (machine) return machine;
  std::string why;
  for (const Diagnostic& finding : diagnostics.sorted())
    if (finding.severity == Diagnostic::Severity::error && why.empty()) why = finding.message;
  return Error{ErrorCode::damaged, "this Pawl cannot read version " +
                                       std::to_string(stored.version) + " of machine " +
                                       in_ticks(stored.name) + " in the store: " + why};
}

Machines::Machines(Store& store, Zones zones, Guards guards)
    : store_(&store), zones_(zones), guards_(std::move(guards)), built_ins_(std::move(zones)) {}

Result<Machines> Machines::open(Store& store, Zones zones, Guards guards) {
  Machines machines(store, std::move(zones), std::move(guards));
  PAWL_TRY(const std::vector<StoredMachine> stored, store.machines());
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool is_newest = i + 1 == stored.size() || stored[i + 1].name != stored[i].name;
    if (is_newest) PAWL_CHECK(machines.version(stored[i].name, stored[i].version));
  }
  return machines;
}

const Machine* Machines::newest(std::string_view name) const {
  const auto versions = machines_.find(name);
  return versions == machines_.end() ? nullptr : versions->second.rbegin()->second.get();
}

std::shared_ptr<const Machine> Machines::newest_shared(std::string_view name) const {
  const auto versions = machines_.find(name);
  return versions == machines_.end() ? nullptr : versions->second.rbegin()->second;
}

std::vector<std::string> Machines::names() const {
  std::vector<std::string> names;
  for (const auto& [name, versions] : machines_) names.push_back(name);
  return names;
}

void Machines::add(std::shared_ptr<const Machine> machine) {
  machines_[machine->name()][machine->version()] = std::move(machine);
}

Result<std::shared_ptr<const Machine>> Machines::version(const std::string& name, int version) {
  auto& versions = machines_[name];
  if (const auto known = versions.find(version); known != versions.end()) return known->second;
  PAWL_TRY(const auto stored, store_->machine(name, version));
  if (!stored)
    return Error{ErrorCode::damaged, "a record uses version " + std::to_string(version) +
                                         " of machine " + in_ticks(name) +
                                         ", which is not in the store: run `pawl verify`"};
  PAWL_TRY(auto machine, read_stored_machine(*stored, zones_, guards_));
  versions[version] = machine;
  return machine;
}

Result<std::shared_ptr<const Machine>> Machines::of(const Record& record) {
  if (record.machine == kSendMachine) return built_ins_.send();
  if (record.machine == kDeliveryMachine) return built_ins_.delivery();
  if (record.machine != kRunMachine) return version(record.machine, record.version);
  const SideJob job = side_job_of(record);
  PAWL_TRY(const auto asker, version(job.machine, job.version));
  return built_ins_.run(job, *asker);
}

Result<std::shared_ptr<const Machine>> Machines::ahead_of(const Record& record) {
  PAWL_TRY(auto own, of(record));
  const auto versions = machines_.find(record.machine);
  if (versions == machines_.end()) return own;
  const auto& newest = versions->second.rbegin()->second;
  const bool follows = newest->version() > record.version && !newest->definition().pin &&
                       !own->definition().pin && newest->find_state(record.state);
  return follows ? newest : own;
}

Result<std::shared_ptr<const Machine>> Machines::of_new(const Stimulus& stimulus) {
  Record record{.machine = stimulus.machine};
  if (const auto* create = std::get_if<Stimulus::Create>(&stimulus.what))
    record.data = create->data;
  if (!is_built_in(stimulus.machine)) {
    const Machine* machine = newest(stimulus.machine);
    if (machine == nullptr) return std::shared_ptr<const Machine>();
    record.version = machine->version();
  }
  return of(record);
}

}  // namespace pawl
