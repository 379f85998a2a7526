#include "snapshot.h"

#include <utility>

#include "base/checksum.h"
#include "broken.h"
#include "tests/support/record_text.h"

namespace pawl::sim {

std::map<RecordName, Record> read_records(Store& store) {
  std::map<RecordName, Record> records;
  Cursor from;
  do {
    Page<Record> page = must(store.list({.max = kPageMax}, from), "list");
    for (Record& record : page.items) {
      RecordName name{record.machine, record.key};
      require(records.emplace(name, std::move(record)).second,
              "there are two records " + name.machine + "/" + name.key);
    }
    from = page.next;
  } while (!from.empty());
  return records;
}

Snapshot read_all(Store& store) {
  Snapshot all{read_records(store), {}};
  for (const auto& [name, record] : all.records) {
    std::vector<Entry>& log = all.logs[name];
    Cursor from;
    do {
      Page<Entry> page = must(store.log(record.id, from, kPageMax), "log");
      for (Entry& entry : page.items) log.push_back(std::move(entry));
      from = page.next;
    } while (!from.empty());
  }
  return all;
}

std::uint64_t hash_of(const Snapshot& snapshot, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const auto& [name, record] : snapshot.records) {
    hash = checksum(text_of(record), hash);
    for (const Entry& entry : snapshot.logs.at(name)) hash = checksum(text_of(entry), hash);
  }
  return hash;
}

}  // namespace pawl::sim
