#include "store/memory/memory_store.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "pawl/assert.h"
#include "store/query.h"

namespace pawl {
namespace {

std::size_t page_size(std::size_t max) { return std::clamp<std::size_t>(max, 1, kPageMax); }

struct Kept {
  Record record;
  std::string queue;
  std::vector<std::string> slots;
  std::vector<std::int64_t> positions;  // of its entries
};

struct Waiting {
  Message message;
  bool waits = false;
};

// Who is claimed first: by queue, priority, instant, record.
using Due = std::tuple<std::string, int, Instant, std::uint64_t>;

Due due_of(const Kept& kept) {
  const Record& record = kept.record;
  return {kept.queue, record.priority, *record.ready_at, record.id.value};
}

struct MemoryTables {
  std::map<std::uint64_t, Kept> records;
  std::map<RecordName, std::uint64_t> names;
  std::set<Due> ready;
  std::set<std::pair<Instant, std::uint64_t>> wakes;
  std::set<std::pair<Instant, std::uint64_t>> removals;
  std::map<std::int64_t, LoggedEntry> log;  // by position
  std::map<std::int64_t, Waiting> inbox;    // by id
  std::map<RequestName, std::pair<Instant, Remembered>> requests;
  std::map<std::string, Slot> slots;
  std::map<std::pair<std::string, std::string>, StateCount> states;
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t>, ErrorCount> errors;
  std::map<std::pair<std::string, int>, StoredMachine> machines;
  std::map<std::string, Setting> settings;
  std::uint64_t last_id = 0;
  std::int64_t last_position = 0;
  std::int64_t last_message = 0;
};

// --- writing -----------------------------------------------------------------------------------

class MemoryWriter {
 public:
  MemoryWriter(MemoryTables& tables, Instant now) : tables_(tables), now_(now) {}

  UnitOutcome write(const Unit& unit) {
    UnitOutcome outcome{.kind = possible(unit)};
    Written& written = written_.emplace_back();
    if (outcome.kind != UnitOutcome::Kind::committed) return outcome;
    written.is_committed = true;
    put(unit.record);
    for (std::size_t i = 0; i < unit.created.size(); ++i) {
      if (tables_.names.contains(name_of(unit.created[i].record))) {
        outcome.found.push_back(i);
      } else {
        put(unit.created[i]);
      }
    }
    const RecordId own = unit.record.record.id;
    for (const MessageId id : unit.taken) tables_.inbox.erase(id.value);
    for (const SentHere& sent : unit.taken_here) tables_.inbox.erase(message_of(sent));
    for (const MessageId id : unit.postponed) tables_.inbox.at(id.value).waits = true;
    for (auto& [id, waiting] : tables_.inbox)
      if (unit.opens_inbox && waiting.message.to == own) waiting.waits = false;
    for (const Message& message : unit.sent) written.sent.push_back(send(message));
    for (const RateWindow& rate : unit.rates) tables_.slots[rate.slot].rate = rate;
    if (!unit.idempotency_key.empty())
      tables_.requests[{name_of(unit.record.record), unit.idempotency_key}] = {now_,
                                                                               unit.remembered};
    return outcome;
  }

  static RecordName name_of(const Record& record) { return {record.machine, record.key}; }

 private:
  UnitOutcome::Kind possible(const Unit& unit) const {
    using Kind = UnitOutcome::Kind;
    const RecordChange& change = unit.record;
    const auto kept = tables_.records.find(change.record.id.value);
    if (change.writes_before == 0) {
      if (tables_.names.contains(name_of(change.record))) return Kind::key_taken;
      PAWL_ASSERT(kept == tables_.records.end(), "the id of a new record was never used");
    } else if (kept == tables_.records.end() ||
               kept->second.record.writes != change.writes_before ||
               kept->second.record.fence != change.fence_before) {
      return Kind::lost_race;
    }
    const auto is_gone = [&](MessageId id) { return !tables_.inbox.contains(id.value); };
    const auto is_lost = [&](std::size_t earlier) { return !written_.at(earlier).is_committed; };
    const auto is_not_there = [&](const SentHere& sent) {
      return is_lost(sent.unit) || !tables_.inbox.contains(message_of(sent));
    };
    const bool lost = std::any_of(unit.after.begin(), unit.after.end(), is_lost) ||
                      std::any_of(unit.taken_here.begin(), unit.taken_here.end(), is_not_there) ||
                      std::any_of(unit.taken.begin(), unit.taken.end(), is_gone) ||
                      std::any_of(unit.postponed.begin(), unit.postponed.end(), is_gone);
    return lost ? Kind::lost_race : Kind::committed;
  }

  std::int64_t message_of(const SentHere& sent) const {
    return written_.at(sent.unit).sent.at(sent.message);
  }

  void put(const RecordChange& change) {
    const std::uint64_t id = change.record.id.value;
    tables_.last_id = std::max(tables_.last_id, id);
    std::vector<std::int64_t> positions;
    if (const auto kept = tables_.records.find(id); kept != tables_.records.end()) {
      forget_derived(kept->second);
      positions = std::move(kept->second.positions);
      tables_.records.erase(kept);
    }
    if (change.purges) {
      purge(change.record, positions);
      return;
    }
    if (change.erases) erase_texts(positions);
    for (const Entry& entry : change.entries) {
      positions.push_back(++tables_.last_position);
      tables_.log[positions.back()] = {change.record.id, name_of(change.record), entry};
      count_error(change.record, entry);
    }
    if (change.compacted) compact(positions, *change.compacted);
    Kept& kept = tables_.records[id];
    kept = {change.record, change.queue, change.slots, std::move(positions)};
    keep_derived(kept);
  }

  void keep_derived(const Kept& kept) {
    const Record& record = kept.record;
    tables_.names[name_of(record)] = record.id.value;
    if (record.ready_at) tables_.ready.insert(due_of(kept));
    if (record.wake_at) tables_.wakes.insert({*record.wake_at, record.id.value});
    if (record.remove_at) tables_.removals.insert({*record.remove_at, record.id.value});
    for (const std::string& slot : kept.slots) ++tables_.slots[slot].taken;
    StateCount& count = tables_.states[{record.machine, record.state}];
    count.machine = record.machine;
    count.state = record.state;
    ++count.records;
    if (record.hold) ++count.held;
  }

  void forget_derived(const Kept& kept) {
    const Record& record = kept.record;
    tables_.names.erase(name_of(record));
    if (record.ready_at) tables_.ready.erase(due_of(kept));
    if (record.wake_at) tables_.wakes.erase({*record.wake_at, record.id.value});
    if (record.remove_at) tables_.removals.erase({*record.remove_at, record.id.value});
    for (const std::string& slot : kept.slots) --tables_.slots[slot].taken;
    const auto count = tables_.states.find({record.machine, record.state});
    if (record.hold) --count->second.held;
    if (--count->second.records == 0) tables_.states.erase(count);
  }

  void count_error(const Record& record, const Entry& entry) {
    if (!entry.error) return;
    const Failure& error = *entry.error;
    ErrorCount& count = tables_.errors[{record.machine, entry.from, error.code, error.fingerprint}];
    if (count.count == 0)
      count = {record.machine, entry.from, error.code, error.fingerprint, 0, entry.at};
    ++count.count;
    count.last_at = entry.at;
    count.message = error.message;
  }

  void erase_texts(const std::vector<std::int64_t>& positions) {
    for (const std::int64_t position : positions) {
      Entry& entry = tables_.log.at(position).entry;
      entry.input.clear();
      entry.changes.clear();
    }
  }

  void compact(std::vector<std::int64_t>& positions, const Entry& compacted) {
    const auto is_replaced = [&](std::int64_t position) {
      return tables_.log.at(position).entry.seq <= compacted.seq;
    };
    const auto end = std::find_if_not(positions.begin(), positions.end(), is_replaced);
    PAWL_ASSERT(end != positions.begin(), "a compacted entry replaces others");
    for (auto position = positions.begin(); position != end - 1; ++position)
      tables_.log.erase(*position);
    tables_.log.at(*(end - 1)).entry = compacted;
    positions.erase(positions.begin(), end - 1);
  }

  void purge(const Record& record, const std::vector<std::int64_t>& positions) {
    for (const std::int64_t position : positions) tables_.log.erase(position);
    std::erase_if(tables_.inbox,
                  [&](const auto& waiting) { return waiting.second.message.to == record.id; });
    std::erase_if(tables_.requests,
                  [&](const auto& request) { return request.first.record == name_of(record); });
  }

  std::int64_t send(const Message& message) {
    if (!tables_.records.contains(message.to.value)) return 0;
    const std::int64_t id = ++tables_.last_message;
    tables_.inbox[id] = {{message.to, message.body, {id}}};
    return id;
  }

  // What has become of a unit.
  struct Written {
    bool is_committed = false;
    std::vector<std::int64_t> sent = {};  // ids of its messages; 0: there was nobody
  };

  MemoryTables& tables_;
  Instant now_;
  std::vector<Written> written_;
};

// --- the batch ---------------------------------------------------------------------------------

class MemoryBatch final : public Batch {
 public:
  MemoryBatch(MemoryTables& tables, std::mutex& mutex, Instant now)
      : tables_(tables), mutex_(mutex), now_(now) {}

  Instant now() const override { return now_; }

  Result<std::vector<Record>> load(std::span<const RecordId> ids) override {
    std::vector<Record> records;
    for (const RecordId id : ids) records.push_back(record(id.value));
    return records;
  }

  Result<std::vector<Record>> load(std::span<const RecordName> names) override {
    std::vector<Record> records;
    for (const RecordName& name : names) {
      const auto id = tables_.names.find(name);
      records.push_back(id == tables_.names.end() ? Record{} : record(id->second));
    }
    return records;
  }

  Result<std::vector<Claimed>> claim(std::span<const Claim> claims) override {
    std::vector<Claimed> claimed;
    for (const Claim& claim : claims) switch (claim.kind) {
        case Claim::Kind::ready:
          claim_ready(claim, claimed);
          break;
        case Claim::Kind::due:
          claim_due(tables_.wakes, claim.max, claimed);
          break;
        case Claim::Kind::over:
          claim_due(tables_.removals, claim.max, claimed);
          break;
        case Claim::Kind::inbox:
          claim_messages(claim, claimed);
          break;
      }
    return claimed;
  }

  Result<std::vector<std::optional<Remembered>>> remembered(
      std::span<const RequestName> requests) override {
    std::vector<std::optional<Remembered>> all;
    for (const RequestName& request : requests) {
      const auto found = tables_.requests.find(request);
      all.push_back(found == tables_.requests.end() ? std::nullopt
                                                    : std::optional(found->second.second));
    }
    return all;
  }

  Result<std::vector<Slot>> slots(std::span<const std::string> names) override {
    std::vector<Slot> all;
    for (const std::string& name : names) {
      const auto found = tables_.slots.find(name);
      all.push_back(found == tables_.slots.end() ? Slot{.rate = {.slot = name}} : found->second);
      all.back().rate.slot = name;
    }
    return all;
  }

  Result<std::vector<UnitOutcome>> commit(std::span<const Unit> units) override {
    const std::lock_guard lock(mutex_);
    MemoryWriter writer(tables_, now_);
    std::vector<UnitOutcome> outcomes;
    for (const Unit& unit : units) outcomes.push_back(writer.write(unit));
    return outcomes;
  }

 private:
  Record record(std::uint64_t id) const {
    const auto found = tables_.records.find(id);
    return found == tables_.records.end() ? Record{} : found->second.record;
  }

  void claim_ready(const Claim& claim, std::vector<Claimed>& claimed) {
    std::size_t count = 0;
    for (auto due = tables_.ready.lower_bound({claim.queue, 0, kInstantMin, 0});
         due != tables_.ready.end() && std::get<0>(*due) == claim.queue && count < claim.max;) {
      const auto& [queue, priority, at, id] = *due;
      if (at > now_) {  // so are all others of that priority
        due = tables_.ready.lower_bound({queue, priority + 1, kInstantMin, 0});
        continue;
      }
      ++due;
      if (!taken_.insert(id).second) continue;
      claimed.push_back({record(id)});
      ++count;
    }
  }

  void claim_due(const std::set<std::pair<Instant, std::uint64_t>>& due, std::size_t max,
                 std::vector<Claimed>& claimed) {
    std::size_t count = 0;
    for (const auto& [at, id] : due) {
      if (at > now_ || count == max) return;
      if (!taken_.insert(id).second) continue;
      claimed.push_back({record(id)});
      ++count;
    }
  }

  void claim_messages(const Claim& claim, std::vector<Claimed>& claimed) {
    const std::size_t first = claimed.size();
    std::size_t count = 0;
    for (const auto& [id, waiting] : tables_.inbox) {
      if (count == claim.max) return;
      if (waiting.waits || !taken_messages_.insert(id).second) continue;
      const RecordId to = waiting.message.to;
      auto of = std::find_if(claimed.begin() + static_cast<std::ptrdiff_t>(first), claimed.end(),
                             [&](const Claimed& one) { return one.record.id == to; });
      if (of == claimed.end()) of = claimed.insert(of, {record(to.value)});
      of->messages.push_back(waiting.message);
      ++count;
    }
  }

  MemoryTables& tables_;
  std::mutex& mutex_;
  Instant now_;
  std::set<std::uint64_t> taken_;
  std::set<std::int64_t> taken_messages_;
};

// --- the store ---------------------------------------------------------------------------------

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(std::function<Instant()> clock) : clock_(std::move(clock)) {}

  Result<std::unique_ptr<Batch>> begin() override {
    now_ = std::max(now_, clock_());
    return std::unique_ptr<Batch>(std::make_unique<MemoryBatch>(tables_, mutex_, now_));
  }

  Result<std::vector<bool>> extend(std::span<const Beat> beats) override {
    const std::lock_guard lock(mutex_);
    std::vector<bool> live;
    for (const Beat& beat : beats) live.push_back(extend(beat));
    return live;
  }

  Result<std::optional<Instant>> next_due(std::span<const std::string> queues) override {
    const std::lock_guard lock(mutex_);
    std::optional<Instant> next;
    const auto consider = [&](Instant at) { next = next ? std::min(*next, at) : at; };
    if (!tables_.wakes.empty()) consider(tables_.wakes.begin()->first);
    if (!tables_.removals.empty()) consider(tables_.removals.begin()->first);
    for (const std::string& queue : queues)
      for (int priority = 0; priority <= 9; ++priority) {
        const auto due = tables_.ready.lower_bound({queue, priority, kInstantMin, 0});
        if (due != tables_.ready.end() && std::get<0>(*due) == queue) consider(std::get<2>(*due));
      }
    for (const auto& [id, waiting] : tables_.inbox)
      if (!waiting.waits) return std::optional(kInstantMin);
    return next;
  }

  Result<Page<Record>> list(const Query& query, const Cursor& from) override {
    const std::lock_guard lock(mutex_);
    switch (order_of(query)) {
      case ListOrder::by_key:
        return by_key(query, from);
      case ListOrder::by_creation:
        return by_creation(query, from);
      case ListOrder::by_id:
        break;
    }
    return by_id(query, from);
  }

  Result<Page<Entry>> log(RecordId record, const Cursor& from, std::size_t max) override {
    const std::lock_guard lock(mutex_);
    PAWL_TRY(const auto after, read_number(from));
    Page<Entry> page;
    const auto kept = tables_.records.find(record.value);
    if (kept == tables_.records.end()) return page;
    for (const std::int64_t position : kept->second.positions) {
      const Entry& entry = tables_.log.at(position).entry;
      if (entry.seq <= after) continue;
      if (page.items.size() == page_size(max)) {
        page.next = std::to_string(page.items.back().seq);
        break;
      }
      page.items.push_back(entry);
    }
    return page;
  }

  // The end of the feed is a place as well: what comes later is read from there.
  Result<Page<LoggedEntry>> feed(const Cursor& from, std::size_t max) override {
    const std::lock_guard lock(mutex_);
    Page<LoggedEntry> page;
    if (from == kFeedEnd) {
      page.next = std::to_string(tables_.last_position);
      return page;
    }
    PAWL_TRY(auto last, read_number(from));
    PAWL_CHECK(check_feed_place(last, tables_.last_position));
    for (auto at = tables_.log.upper_bound(last);
         at != tables_.log.end() && page.items.size() < page_size(max); ++at) {
      page.items.push_back(at->second);
      last = at->first;
    }
    page.next = std::to_string(last);
    return page;
  }

  Result<Counts> counts() override {
    const std::lock_guard lock(mutex_);
    Counts counts;
    for (const auto& [name, count] : tables_.states) counts.states.push_back(count);
    for (const auto& [name, count] : tables_.errors) counts.errors.push_back(count);
    return counts;
  }

  Result<RecordId> last_id() override {
    const std::lock_guard lock(mutex_);
    return RecordId{tables_.last_id};
  }

  Result<std::vector<std::string>> queues() override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const Due& due : tables_.ready)
      if (names.empty() || names.back() != std::get<0>(due)) names.push_back(std::get<0>(due));
    return names;
  }

  Result<bool> put_machines(std::span<const StoredMachine> machines) override {
    const std::lock_guard lock(mutex_);
    auto all = tables_.machines;
    for (const StoredMachine& machine : machines) {
      const auto [at, is_new] = all.emplace(std::pair(machine.name, machine.version), machine);
      if (!is_new && at->second.text != machine.text) return false;
    }
    tables_.machines = std::move(all);
    return true;
  }

  Result<std::optional<StoredMachine>> machine(const std::string& name, int version) override {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.machines.find({name, version});
    if (found == tables_.machines.end()) return std::optional<StoredMachine>();
    return std::optional(found->second);
  }

  Result<std::vector<StoredMachine>> machines() override {
    const std::lock_guard lock(mutex_);
    std::vector<StoredMachine> all;
    for (const auto& [name, machine] : tables_.machines) {
      all.push_back(machine);
      all.back().text.clear();
    }
    return all;
  }

  Result<Setting> put_setting(const Setting& setting) override {
    const std::lock_guard lock(mutex_);
    Setting& stored = tables_.settings[setting.name];
    stored.name = setting.name;
    if (stored.revision == setting.revision) {
      stored = setting;
      ++stored.revision;
    }
    return stored;
  }

  Result<std::vector<Setting>> settings(const std::string& prefix) override {
    const std::lock_guard lock(mutex_);
    std::vector<Setting> all;
    for (const auto& [name, setting] : tables_.settings)
      if (name.starts_with(prefix) && !setting.value.empty()) all.push_back(setting);
    return all;
  }

  Result<std::vector<Violation>> violations() override {
    const std::lock_guard lock(mutex_);
    std::vector<Violation> violations;
    std::size_t dues = 0;
    for (const auto& [id, kept] : tables_.records) {
      const Record& record = kept.record;
      dues +=
          (record.ready_at ? 1U : 0U) + (record.wake_at ? 1U : 0U) + (record.remove_at ? 1U : 0U);
      if (record.ready_at && !tables_.ready.contains(due_of(kept)))
        violations.push_back({"I8", record.id, "its task is not in its queue"});
      if (record.wake_at && !tables_.wakes.contains({*record.wake_at, id}))
        violations.push_back({"I8", record.id, "nothing will wake it"});
      if (record.remove_at && !tables_.removals.contains({*record.remove_at, id}))
        violations.push_back({"I8", record.id, "nothing will remove it"});
    }
    if (dues != tables_.ready.size() + tables_.wakes.size() + tables_.removals.size())
      violations.push_back({"I8", {}, "there are due entries that belong to no record"});
    return violations;
  }

  Result<std::size_t> forget_requests(Instant before, std::size_t max) override {
    const std::lock_guard lock(mutex_);
    std::size_t forgotten = 0;
    for (auto request = tables_.requests.begin();
         request != tables_.requests.end() && forgotten < max;) {
      const bool is_old = request->second.first < before;
      request = is_old ? tables_.requests.erase(request) : std::next(request);
      if (is_old) ++forgotten;
    }
    return forgotten;
  }

 private:
  bool extend(const Beat& beat) {
    const auto found = tables_.records.find(beat.record.value);
    if (found == tables_.records.end()) return false;
    Record& record = found->second.record;
    if (!record.running || record.fence != beat.fence) return false;
    if (record.wake_at) tables_.wakes.erase({*record.wake_at, record.id.value});
    record.running->progress = beat.progress;
    record.running->lease_until = beat.lease_until;
    record.wake_at = beat.wake_at;
    if (record.wake_at) tables_.wakes.insert({*record.wake_at, record.id.value});
    return true;
  }

  // Those after the place, each with a key of the map it stands in.
  template <class Map, class Record_of>
  static Result<Page<Record>> page_from(const Query& query, const Map& map,
                                        typename Map::const_iterator at, Record_of record_of) {
    return fill_page(query, [&]() -> Result<const Record*> {
      return at == map.end() ? nullptr : record_of(*at++);
    });
  }

  Result<Page<Record>> by_id(const Query& query, const Cursor& from) const {
    PAWL_TRY(const auto after, read_number(from));
    return page_from(query, tables_.records,
                     tables_.records.upper_bound(static_cast<std::uint64_t>(after)),
                     [](const auto& kept) { return &kept.second.record; });
  }

  Result<Page<Record>> by_creation(const Query& query, const Cursor& from) const {
    PAWL_TRY(const CreationPlace after, read_creation(from));
    std::map<CreationPlace, const Record*> records;
    for (const auto& [id, kept] : tables_.records)
      records[{kept.record.created_at, id}] = &kept.record;
    return page_from(query, records, records.upper_bound(after),
                     [](const auto& one) { return one.second; });
  }

  Result<Page<Record>> by_key(const Query& query, const Cursor& from) const {
    const RecordName first{query.machine, from.empty() ? query.key_prefix : from};
    const auto& names = tables_.names;
    return page_from(query, names,
                     from.empty() ? names.lower_bound(first) : names.upper_bound(first),
                     [&](const auto& named) -> const Record* {
                       const auto& [name, id] = named;
                       const bool is_beyond =
                           name.machine != query.machine || !name.key.starts_with(query.key_prefix);
                       return is_beyond ? nullptr : &tables_.records.at(id).record;
                     });
  }

  std::function<Instant()> clock_;
  Instant now_ = kInstantMin;
  std::mutex mutex_;  // between the one that writes and those that read
  MemoryTables tables_;
};

}  // namespace

std::unique_ptr<Store> open_memory_store(std::function<Instant()> clock) {
  return std::make_unique<MemoryStore>(std::move(clock));
}

}  // namespace pawl
