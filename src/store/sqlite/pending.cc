#include "store/sqlite/pending.h"

#include <algorithm>
#include <iterator>

#include "base/mutant.h"
#include "pawl/assert.h"

namespace pawl::sqlite {
namespace {

RecordName name_of(const Record& record) { return {record.machine, record.key}; }

template <class T>
bool has(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

}  // namespace

// --- reading -----------------------------------------------------------------------------------

Pending::Touched& Pending::keep(const Record& record, Kept& kept) {
  Touched& touched = records_[record.id.value];
  touched.existed = touched.exists = true;
  touched.before = beside(record, kept.named, std::move(kept.slots));
  touched.writes = record.writes;
  touched.fence = record.fence;
  return touched;
}

Result<void> Pending::load(RecordId id, Record& record) {
  Kept kept;
  PAWL_TRY(const bool found, tables_.find(id, record, kept));
  if (found) keep(record, kept);
  return {};
}

Result<void> Pending::load(std::span<const RecordName> names, std::span<Record> records) {
  std::vector<Kept> kept(names.size());
  PAWL_CHECK(tables_.find(names, records, kept));
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (records[i].id.value != 0) {
      keep(records[i], kept[i]);
    } else {
      taken_[text_of(names[i].machine, names[i].key)] = false;
    }
  }
  return {};
}

Result<Pending::Touched*> Pending::touched(RecordId id) {
  if (const auto known = records_.find(id.value); known != records_.end()) return &known->second;
  Record record;
  Kept kept;
  PAWL_TRY(const bool found, tables_.find(id, record, kept));
  return found ? &keep(record, kept) : &records_[id.value];
}

Result<bool> Pending::is_taken(const Record& record) {
  const std::string& text = text_of(record.machine, record.key);
  if (const auto known = taken_.find(text); known != taken_.end()) return known->second;
  PAWL_TRY(const bool found, tables_.has_record(name_of(record)));
  return taken_[text] = found;
}

const std::string& Pending::text_of(const std::string& machine, const std::string& key) {
  name_text_.assign(machine).append(1, '\0').append(key);
  return name_text_;
}

Result<bool> Pending::exists(RecordId id) {
  if (const auto known = records_.find(id.value); known != records_.end())
    return known->second.exists;
  return tables_.has_record(id);
}

// --- units -------------------------------------------------------------------------------------

Result<std::vector<UnitOutcome>> Pending::apply(std::span<const Unit> units, Counter& counter) {
  std::vector<UnitOutcome> outcomes;
  outcomes.reserve(units.size());
  for (const Unit& unit : units) {
    PAWL_TRY(UnitOutcome outcome, apply(unit, counter));
    carried_out_.push_back(outcome.kind == UnitOutcome::Kind::committed);
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

Result<UnitOutcome> Pending::apply(const Unit& unit, Counter& counter) {
  UnitOutcome outcome;
  first_sent_.push_back(messages_added_.size());
  PAWL_TRY(outcome.kind, possible(unit));
  if (outcome.kind != UnitOutcome::Kind::committed) return outcome;
  PAWL_CHECK(apply(unit.record, counter));
  for (std::size_t i = 0; i < unit.created.size(); ++i) {
    PAWL_TRY(const bool taken, is_taken(unit.created[i].record));
    if (taken) {
      outcome.found.push_back(i);
    } else {
      PAWL_CHECK(apply(unit.created[i], counter));
    }
  }
  for (const MessageId id : unit.taken) PAWL_CHECK(tables_.take_message(id));
  for (const SentHere& sent : unit.taken_here) message_of(sent) = {};
  for (const MessageId id : unit.postponed) PAWL_CHECK(tables_.postpone_message(id));
  if (unit.opens_inbox && !mutant(Mutant::inbox_not_opened))
    PAWL_CHECK(tables_.open_inbox(unit.record.record.id));
  for (const Message& message : unit.sent) {
    PAWL_TRY(const bool is_there, exists(message.to));
    messages_added_.push_back(is_there ? NewMessage{++counter.message, &message} : NewMessage{});
  }
  for (const RateWindow& rate : unit.rates) PAWL_CHECK(tables_.put_rate(rate));
  if (!unit.idempotency_key.empty() && !mutant(Mutant::request_forgotten))
    PAWL_CHECK(tables_.remember({name_of(unit.record.record), unit.idempotency_key},
                                unit.remembered, counter.at));
  return outcome;
}

Result<UnitOutcome::Kind> Pending::possible(const Unit& unit) {
  using Kind = UnitOutcome::Kind;
  const RecordChange& change = unit.record;
  if (change.writes_before == 0) {
    PAWL_TRY(const bool taken, is_taken(change.record));
    if (taken) return Kind::key_taken;
  } else {
    PAWL_TRY(const Touched* record, touched(change.record.id));
    if (mutant(Mutant::no_compare) && record->exists) return Kind::committed;
    if (!record->exists || record->writes != change.writes_before ||
        record->fence != change.fence_before)
      return Kind::lost_race;
  }
  for (const std::size_t earlier : unit.after)
    if (!mutant(Mutant::lost_unit_goes_on) && !carried_out_[earlier]) return Kind::lost_race;
  for (const SentHere& sent : unit.taken_here)
    if (!carried_out_[sent.unit] || message_of(sent).message == nullptr) return Kind::lost_race;
  for (const auto* ids : {&unit.taken, &unit.postponed})
    for (const MessageId id : *ids) {
      PAWL_TRY(const bool is_there, tables_.has_message(id));
      if (!is_there) return Kind::lost_race;
    }
  return Kind::committed;
}

Pending::NewMessage& Pending::message_of(const SentHere& sent) {
  return messages_added_[first_sent_[sent.unit] + sent.message];
}

Result<void> Pending::apply(const RecordChange& change, Counter& counter) {
  const Record& record = change.record;
  counter.record = std::max(counter.record, record.id.value);
  Touched& touched = records_[record.id.value];
  if (change.writes_before == 0)
    PAWL_ASSERT(!touched.existed && !touched.exists, "the id of a new record was never used");
  touched.exists = !change.purges;
  touched.writes = record.writes;
  touched.fence = record.fence;
  touched.change = &change;
  if (change.purges || change.writes_before == 0)
    taken_[text_of(record.machine, record.key)] = !change.purges;
  if (change.purges) {
    for (NewMessage& added : messages_added_)
      if (added.message != nullptr && added.message->to == record.id) added = {};
    return tables_.remove_belongings(record.id, name_of(record));
  }

  if (change.erases) PAWL_CHECK(tables_.erase_texts(record.id));
  for (const Entry& entry : change.entries) {
    PAWL_CHECK(tables_.add_entry(++counter.position, record.id, entry));
    PAWL_CHECK(tables_.count_error(record, entry));
  }
  if (change.compacted) PAWL_CHECK(tables_.compact(record.id, *change.compacted));
  return {};
}

// --- writing -----------------------------------------------------------------------------------

// In the order of the tables, so that neighbours are written one after the other.
Result<void> Pending::write() {
  std::vector<std::pair<std::uint64_t, Touched*>> changed;
  for (auto& [id, touched] : records_)
    if (touched.change != nullptr) changed.emplace_back(id, &touched);
  std::sort(changed.begin(), changed.end());

  // A name that is given again is free before it is taken.
  for (const auto& [id, touched] : changed)
    if (touched->existed && !touched->exists) PAWL_CHECK(tables_.remove({id}));
  for (const auto& [id, touched] : changed) PAWL_CHECK(write({id}, *touched));
  PAWL_CHECK(tables_.insert(records_added_));
  PAWL_CHECK(tables_.write_entries());
  if (!mutant(Mutant::message_after_commit)) PAWL_CHECK(write_messages());

  std::sort(dues_removed_.begin(), dues_removed_.end());
  std::sort(dues_added_.begin(), dues_added_.end());
  for (const Due& due : dues_removed_) PAWL_CHECK(tables_.remove_due(due));
  PAWL_CHECK(tables_.add_dues(dues_added_));
  for (const auto& [slot, by] : slots_)
    if (by != 0) PAWL_CHECK(tables_.add_to_slot(slot, by));
  for (const auto& [name, by] : counts_)
    if (by.first != 0 || by.second != 0)
      PAWL_CHECK(tables_.add_to_count({name.first, name.second}, by.first, by.second));
  return {};
}

Result<void> Pending::write_messages() {
  for (const NewMessage& added : messages_added_)
    if (added.message != nullptr) PAWL_CHECK(tables_.add_message(added.id, *added.message));
  return {};
}

// A record for which nothing is due is seldom asked for again, and would push out others.
void Pending::cache_written() {
  for (const auto& [id, touched] : records_) {
    if (touched.change == nullptr || !touched.exists) continue;
    const RecordChange& change = *touched.change;
    if (change.record.next_at()) tables_.cache().put(change.record, touched.named, change.slots);
  }
}

Result<void> Pending::write(RecordId id, Touched& touched) {
  Beside after;
  if (touched.exists) {
    const RecordChange& change = *touched.change;
    PAWL_TRY(touched.named, tables_.named(change.record, change.queue));
    const Named& named = touched.named;
    after = beside(change.record, named, change.slots);
    if (touched.existed) {
      PAWL_CHECK(tables_.update(change.record, named, change.slots));
    } else {
      records_added_.push_back(Tables::new_record(change.record, named, change.slots));
    }
    count(after, +1);
  }
  if (touched.existed) count(touched.before, -1);
  return write_beside(id, touched.before, after);
}

Result<void> Pending::write_beside(RecordId id, const Beside& before, const Beside& after) {
  for (const auto due : kDues) {
    if (before.*due == after.*due) continue;
    if (before.*due) dues_removed_.push_back(*(before.*due));
    if (after.*due) dues_added_.push_back(*(after.*due));
  }
  for (const Label& mark : before.marks)
    if (!has(after.marks, mark)) PAWL_CHECK(tables_.remove_mark(id, mark));
  for (const Label& mark : after.marks)
    if (!has(before.marks, mark)) PAWL_CHECK(tables_.add_mark(id, mark));
  return {};
}

void Pending::count(const Beside& beside, int by) {
  auto& [records, held] = counts_[{beside.named.machine, beside.named.state}];
  records += by;
  if (beside.held) held += by;
  if (by < 0 && mutant(Mutant::slot_leaked)) return;
  for (const std::string& slot : beside.slots) slots_[slot] += by;
}

}  // namespace pawl::sqlite
