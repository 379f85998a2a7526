#include "engine/working_set.h"

#include <utility>

namespace pawl {

InWork& WorkingSet::put(Record&& record, std::shared_ptr<const Machine> machine) {
  InWork& in = records_.emplace_back(std::move(record), std::move(machine));
  by_id_[in.record.id.value] = &in;
  if (const auto known = by_name_.find(NameView(in.record)); known != by_name_.end()) {
    known->second = &in;
  } else {
    by_name_.emplace(RecordName{in.record.machine, in.record.key}, &in);
  }
  return in;
}

Result<InWork*> WorkingSet::keep(Record&& record) {
  PAWL_TRY(auto machine, machines_.of(record));
  return &put(std::move(record), std::move(machine));
}

Result<InWork*> WorkingSet::claimed(Record&& record) {
  if (const auto known = by_id_.find(record.id.value); known != by_id_.end()) return known->second;
  return keep(std::move(record));
}

Result<void> WorkingSet::load(std::span<const RecordName> names) {
  std::vector<RecordName> missing;
  missing.reserve(names.size());
  for (const RecordName& name : names)
    if (by_name_.try_emplace(name, nullptr).second) missing.push_back(name);
  if (missing.empty()) return {};
  PAWL_TRY(std::vector<Record> records, batch_.load(missing));
  for (Record& record : records)
    if (record.id.value != 0) PAWL_CHECK(keep(std::move(record)));
  return {};
}

Result<InWork*> WorkingSet::find(const NameView& name) {
  if (const auto known = by_name_.find(name); known != by_name_.end()) return known->second;
  const RecordName missing{std::string(name.machine), std::string(name.key)};
  PAWL_CHECK(load({&missing, 1}));
  return by_name_[missing];
}

Result<InWork*> WorkingSet::find(RecordId id) {
  if (const auto known = by_id_.find(id.value); known != by_id_.end()) return known->second;
  PAWL_TRY(std::vector<Record> records, batch_.load({&id, 1}));
  if (records[0].id.value == 0) return static_cast<InWork*>(nullptr);
  return keep(std::move(records[0]));
}

InWork& WorkingSet::add(const Record& record, std::shared_ptr<const Machine> machine) {
  InWork& made = put(Record(record), std::move(machine));
  made.is_new = true;
  return made;
}

void WorkingSet::take_back(const InWork& made) {
  by_id_.erase(made.record.id.value);
  by_name_[{made.record.machine, made.record.key}] = nullptr;
}

std::vector<RecordId> WorkingSet::new_children_of(RecordId parent,
                                                  const std::string& machine) const {
  std::vector<RecordId> children;
  for (const InWork& in : records_) {
    const Record& record = in.record;
    if (in.is_new && by_id_.contains(record.id.value) && record.machine == machine &&
        record.parent && record.parent->id == parent)
      children.push_back(record.id);
  }
  return children;
}

}  // namespace pawl
