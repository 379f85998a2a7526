#include "simulate/shelf.h"

#include "pawl/assert.h"

namespace pawl {

const KeptRecord* Shelf::find(RecordId id) const {
  return id.value == 0 || id.value > kept_.size() ? nullptr : &kept_[id.value - 1];
}

KeptRecord* Shelf::find(RecordId id) {
  return id.value == 0 || id.value > kept_.size() ? nullptr : &kept_[id.value - 1];
}

const KeptRecord* Shelf::find(std::string_view machine, std::string_view key) const {
  const auto found = by_key_.find(Key(machine, key));
  return found == by_key_.end() ? nullptr : find(found->second);
}

KeptRecord* Shelf::find(std::string_view machine, std::string_view key) {
  const auto found = by_key_.find(Key(machine, key));
  return found == by_key_.end() ? nullptr : find(found->second);
}

KeptRecord& Shelf::add(Record record, std::shared_ptr<const Machine> machine,
                       std::optional<Instant> acts_at) {
  PAWL_ASSERT(record.id == next_id(), "a new record has the id that it was given");
  by_key_.emplace(Key(record.machine, record.key), record.id);
  set_due(record.id, acts_at);
  return kept_.emplace_back(KeptRecord{std::move(record), std::move(machine)});
}

void Shelf::replace(KeptRecord& kept, Record record, std::optional<Instant> acts_at) {
  PAWL_ASSERT(record.id == kept.record.id, "a decision changes its own record only");
  kept.record = std::move(record);
  set_due(kept.record.id, acts_at);
}

void Shelf::set_due(RecordId id, std::optional<Instant> at) {
  if (const auto known = due_at_.find(id); known != due_at_.end()) {
    due_.erase({known->second, id});
    due_at_.erase(known);
  }
  if (!at) return;
  due_.insert({*at, id});
  due_at_.emplace(id, *at);
}

std::vector<RecordId> Shelf::children_of(RecordId parent, std::string_view machine) const {
  std::vector<RecordId> children;
  for (const KeptRecord& kept : kept_)
    if (kept.record.machine == machine && kept.record.parent && kept.record.parent->id == parent)
      children.push_back(kept.record.id);
  return children;
}

}  // namespace pawl
