#include "store/sqlite/record_cache.h"

#include <utility>

#include "pawl/assert.h"

namespace pawl::sqlite {
namespace {

std::size_t size_of(const std::vector<std::string>& texts) {
  std::size_t size = texts.size() * sizeof(std::string);
  for (const std::string& text : texts) size += text.size();
  return size;
}

// What may be large, outside of the record itself.
std::size_t size_of(const Record& record) {
  std::size_t size = record.key.size() + record.data.size() + record.result.size() +
                     record.progress.size() + record.plan.anchor.size();
  if (record.parent) size += record.parent->key.size();
  if (record.error) size += record.error->message.size() + record.error->detail.size();
  if (record.hold) size += record.hold->text.size();
  if (record.running) size += record.running->progress.size() + size_of(record.running->slots);
  for (const Label& label : record.labels) size += sizeof label + label.value.size();
  for (const ChildCounts& of : record.children)
    size += sizeof of + of.states.size() * sizeof(ChildCounts::InState);
  return size + record.timers.size() * sizeof(Timer) + record.left_tasks.size() * sizeof(TaskSeq);
}

}  // namespace

bool RecordCache::take(RecordId id, Record& record, Kept& kept) {
  const auto found = by_id_.find(id.value);
  if (found == by_id_.end()) return false;
  take(found->second, record, kept);
  return true;
}

bool RecordCache::take(std::int64_t machine, std::string_view key, Record& record, Kept& kept) {
  const auto found = by_name_.find({machine, key});
  if (found == by_name_.end()) return false;
  take(found->second, record, kept);
  return true;
}

void RecordCache::put(const Record& record, const Named& named,
                      const std::vector<std::string>& slots) {
  constexpr std::size_t kIndexes = 160;  // of both, and of the list
  const std::size_t bytes = sizeof(Cached) + kIndexes + size_of(record) + size_of(slots);
  if (bytes > bytes_max_) return;
  while (bytes_ + bytes > bytes_max_) {
    forget(cached_.begin());
    cached_.pop_front();
  }
  const Place place = cached_.insert(cached_.end(), Cached{record, {named, slots}, bytes});
  const bool is_new_id = by_id_.emplace(record.id.value, place).second;
  const bool is_new_name = by_name_.emplace(name_of(*place), place).second;
  PAWL_ASSERT(is_new_id && is_new_name, "whoever wrote the row has taken the record out");
  bytes_ += bytes;
}

void RecordCache::take(Place place, Record& record, Kept& kept) {
  forget(place);
  record = std::move(place->record);
  kept = std::move(place->kept);
  cached_.erase(place);
}

void RecordCache::forget(Place place) {
  by_id_.erase(place->record.id.value);
  by_name_.erase(name_of(*place));
  bytes_ -= place->bytes;
}

}  // namespace pawl::sqlite
