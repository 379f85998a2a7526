// RecordCache: records as they stand in the tables, so that a batch need not read and parse their
// rows again.
//
// It is exact, since one connection alone writes, and reads what it writes to first. Whoever reads
// a record takes it out, and only a commit that has returned puts it in, as it was written: a batch
// that fails, or a unit that is lost, leaves nothing to be put right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pawl/record.h"

namespace pawl::sqlite {

// The words of a record.
struct Named {
  std::int64_t machine = 0;
  std::int64_t state = 0;
  std::int64_t queue = 0;
};

// What is stored with a record and is not part of it.
struct Kept {
  Named named = {};
  std::vector<std::string> slots = {};
};

class RecordCache {
 public:
  // Those that were put in longest ago make room. 0: it keeps nothing.
  explicit RecordCache(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // Out of the cache, into a record that is new. False: it is not here, which says nothing of the
  // tables.
  bool take(RecordId id, Record& record, Kept& kept);
  bool take(std::int64_t machine, std::string_view key, Record& record, Kept& kept);
  // One that is not here.
  void put(const Record& record, const Named& named, const std::vector<std::string>& slots);

  std::size_t bytes() const { return bytes_; }  // about

 private:
  struct Cached {
    Record record;
    Kept kept;
    std::size_t bytes = 0;
  };
  using Place = std::list<Cached>::iterator;

  struct Name {
    std::int64_t machine;
    std::string_view key;  // of the record itself

    friend bool operator==(const Name&, const Name&) = default;
  };
  struct NameHash {
    std::size_t operator()(const Name& name) const {
      return std::hash<std::string_view>()(name.key) ^ static_cast<std::size_t>(name.machine);
    }
  };

  static Name name_of(const Cached& cached) {
    return {cached.kept.named.machine, cached.record.key};
  }
  void take(Place place, Record& record, Kept& kept);
  void forget(Place place);  // all but the place itself

  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::list<Cached> cached_;  // the newest last
  std::unordered_map<std::uint64_t, Place> by_id_;
  std::unordered_map<Name, Place, NameHash> by_name_;
};

}  // namespace pawl::sqlite
