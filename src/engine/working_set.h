// WorkingSet: the records that a batch has to do with, as its decisions so far leave them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/machines.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "store/store.h"

namespace pawl {

struct InWork {
  Record record = {};
  std::shared_ptr<const Machine> machine = {};  // of its version
  std::optional<std::size_t> unit = {};         // the last one that changes it
  bool is_new = false;                          // made in this batch
  bool has_older_messages = false;              // in the store: what is sent now comes after them
};

class WorkingSet {
 public:
  WorkingSet(Batch& batch, Machines& machines) : batch_(batch), machines_(machines) {}

  // Those that are not here yet, at once.
  Result<void> load(std::span<const RecordName> names);

  // Null when there is no such record. Stays where it is until the end of the batch.
  Result<InWork*> find(const RecordName& name);
  Result<InWork*> find(RecordId id);

  // One that the batch has claimed. What is here already stays as it is.
  Result<InWork*> claimed(Record record);

  // One that a decision made.
  InWork& add(Record record, std::shared_ptr<const Machine> machine);
  // It was not made after all.
  void take_back(const InWork& made);

  // Records made in this batch whose parent this is, by id.
  std::vector<RecordId> new_children_of(RecordId parent, const std::string& machine) const;

 private:
  struct NameHash {
    std::size_t operator()(const RecordName& name) const {
      return std::hash<std::string>{}(name.key) * 31 + std::hash<std::string>{}(name.machine);
    }
  };

  Result<InWork*> keep(Record record);

  Batch& batch_;
  Machines& machines_;
  std::deque<InWork> records_;
  std::unordered_map<std::uint64_t, InWork*> by_id_;
  std::unordered_map<RecordName, InWork*, NameHash> by_name_;  // null: there is none
};

}  // namespace pawl
