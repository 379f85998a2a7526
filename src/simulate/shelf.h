// Shelf: the records of a world with their logs, found by id, by key and by when they are due.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/machine.h"
#include "pawl/record.h"
#include "pawl/stimulus.h"

namespace pawl {

// A record, its log, and the messages that wait in its inbox until it is no longer on hold.
struct KeptRecord {
  Record record;
  std::shared_ptr<const Machine> machine;  // of the record's version
  std::vector<Entry> log = {};
  std::deque<Stimulus> inbox = {};
};

class Shelf {
 public:
  struct Due {
    Instant at;
    RecordId id;

    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy takes the 0 of a comparison for a pointer
    friend auto operator<=>(const Due&, const Due&) = default;
  };

  // The id of the record that is added next: 1, 2, …
  RecordId next_id() const { return {kept_.size() + 1}; }
  std::size_t size() const { return kept_.size(); }

  // Null when there is none.
  KeptRecord* find(RecordId id);
  const KeptRecord* find(RecordId id) const;
  KeptRecord* find(std::string_view machine, std::string_view key);
  const KeptRecord* find(std::string_view machine, std::string_view key) const;

  // Puts a record there whose id is the next one. `acts_at`: when something is to be done about it.
  KeptRecord& add(Record record, std::shared_ptr<const Machine> machine,
                  std::optional<Instant> acts_at);

  // The record as it has become.
  void replace(KeptRecord& kept, Record record, std::optional<Instant> acts_at);

  // What is due, the earliest first, then by id.
  const std::set<Due>& due() const { return due_; }

  // Ids of the records of that machine whose parent this is, in the order they were made.
  std::vector<RecordId> children_of(RecordId parent, std::string_view machine) const;

 private:
  using Key = std::pair<std::string, std::string>;

  void set_due(RecordId id, std::optional<Instant> at);

  std::deque<KeptRecord> kept_;  // by id; not moved when it grows
  std::map<Key, RecordId> by_key_;
  std::set<Due> due_;
  std::map<RecordId, Instant> due_at_;
};

}  // namespace pawl
