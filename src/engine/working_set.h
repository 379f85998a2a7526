// WorkingSet: the records that a batch has to do with, as its decisions so far leave them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/machines.h"
#include "pawl/machine.h"
#include "pawl/record.h"
#include "store/store.h"

namespace pawl {

struct InWork {
  InWork(Record&& of, std::shared_ptr<const Machine> its)
      : record(std::move(of)), machine(std::move(its)) {}

  Record record;
  std::shared_ptr<const Machine> machine;  // of its version
  std::optional<std::size_t> unit = {};    // the last one that changes it
  bool is_new = false;                     // made in this batch
  bool has_older_messages = false;         // in the store: what is sent now comes after them
};

// A RecordName that belongs to somebody else, to look for one without a copy.
struct NameView {
  NameView(std::string_view of_machine, std::string_view its_key)
      : machine(of_machine), key(its_key) {}
  NameView(const RecordName& name) : machine(name.machine), key(name.key) {}    // NOLINT: the same
  NameView(const Record& record) : machine(record.machine), key(record.key) {}  // NOLINT

  std::string_view machine;
  std::string_view key;

  friend bool operator==(const NameView&, const NameView&) = default;
};

class WorkingSet {
 public:
  WorkingSet(Batch& batch, Machines& machines) : batch_(batch), machines_(machines) {}

  // Those that are not here yet, at once.
  Result<void> load(std::span<const RecordName> names);

  // Null when there is no such record. Stays where it is until the end of the batch.
  Result<InWork*> find(const NameView& name);
  Result<InWork*> find(RecordId id);

  // One that the batch has claimed. What is here already stays as it is.
  Result<InWork*> claimed(Record&& record);

  // One that a decision made.
  InWork& add(const Record& record, std::shared_ptr<const Machine> machine);
  // It was not made after all.
  void take_back(const InWork& made);

  // Records made in this batch whose parent this is, by id.
  std::vector<RecordId> new_children_of(RecordId parent, const std::string& machine) const;

 private:
  struct NameHash {
    using is_transparent = void;
    std::size_t operator()(const NameView& name) const {
      using Hash = std::hash<std::string_view>;
      return Hash{}(name.key) * 31 + Hash{}(name.machine);
    }
  };
  struct NameEqual {
    using is_transparent = void;
    bool operator()(const NameView& a, const NameView& b) const { return a == b; }
  };

  Result<InWork*> keep(Record&& record);
  InWork& put(Record&& record, std::shared_ptr<const Machine> machine);

  Batch& batch_;
  Machines& machines_;
  std::pmr::monotonic_buffer_resource memory_;  // of what goes with the batch
  std::pmr::deque<InWork> records_{&memory_};
  std::pmr::unordered_map<std::uint64_t, InWork*> by_id_{&memory_};
  std::pmr::unordered_map<RecordName, InWork*, NameHash, NameEqual> by_name_{
      &memory_};  // null: there is none
};

}  // namespace pawl
