#include "store/verify.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/built_in_names.h"
#include "model/codec.h"

namespace pawl {
namespace {

constexpr Duration kRequestsAreKept = std::chrono::days{7};

// What the log of one record has to show.
class LogCheck {
 public:
  LogCheck(const Record& record, std::vector<Violation>& violations)
      : record_(record), violations_(violations) {}

  void see(const Entry& entry) {
    if (last_) {
      see_after(*last_, entry);
    } else if (entry.seq != 1 && entry.kind != Entry::Kind::compacted) {
      violation("I1", entry, "it is the first entry of the log");
    }
    if (entry.actor.name.empty() && entry.kind != Entry::Kind::compacted)
      violation("I18", entry, "it has no actor");
    if (entry.fence > record_.fence)
      violation("I7", entry, "its fence is higher than the record's");
    see_request(entry);
    see_changes(entry);
    last_ = entry;
    last_->input.clear();
    last_->changes.clear();
  }

  void end() {
    if (!last_) {
      violations_.push_back({"I1", record_.id, "its log is empty"});
      return;
    }
    if (last_->seq != record_.revision)
      violation("I1", *last_, "the record has revision " + std::to_string(record_.revision));
    if (last_->to != record_.state)
      violation("I2", *last_, "it ends in " + last_->to + ", the record is in " + record_.state);
    if (knows_core_ && core_text(core_) != core_text(record_))
      violation("I3", *last_, "the changes in the log do not add up to the record");
  }

 private:
  void see_after(const Entry& before, const Entry& entry) {
    if (entry.seq != before.seq + 1)
      violation("I1", entry, "it follows entry " + std::to_string(before.seq));
    if (entry.from != before.to)
      violation("I2", entry,
                "it starts in " + entry.from + ", the previous entry ends in " + before.to);
    if (entry.at < before.at) violation("I12", entry, "it is earlier than the previous entry");
    if (entry.fence != 0 && entry.fence < fence_)
      violation("I7", entry, "its fence is lower than an earlier one");
    if (entry.fence != 0) fence_ = entry.fence;
  }

  // A decision may write several entries, one after the other, with the key of its request.
  void see_request(const Entry& entry) {
    if (entry.idempotency_key.empty()) return;
    const bool goes_on = last_ && last_->idempotency_key == entry.idempotency_key;
    const auto [seen, is_new] = requests_.try_emplace(entry.idempotency_key, entry.at);
    if (!is_new && !goes_on && entry.at - seen->second < kRequestsAreKept)
      violation("I4", entry, "idempotency key " + entry.idempotency_key + " was applied twice");
    seen->second = entry.at;
  }

  // What was erased cannot be folded, until a compacted entry holds the core again.
  void see_changes(const Entry& entry) {
    if (entry.kind == Entry::Kind::created || entry.kind == Entry::Kind::compacted) {
      core_ = {};
      knows_core_ = true;
    }
    if (entry.changes.empty() && entry.input.empty()) knows_core_ = false;
    if (knows_core_ && !entry.changes.empty()) fold(core_, entry.changes);
  }

  void violation(std::string invariant, const Entry& entry, const std::string& what) {
    violations_.push_back(
        {std::move(invariant), record_.id, "entry " + std::to_string(entry.seq) + ": " + what});
  }

  const Record& record_;
  std::vector<Violation>& violations_;
  std::optional<Entry> last_;
  std::int64_t fence_ = 0;
  std::map<std::string, Instant> requests_;
  Record core_;
  bool knows_core_ = false;
};

class Verification {
 public:
  Verification(Store& store, const std::function<void(std::size_t)>& progress)
      : store_(store), progress_(progress) {}

  Result<Verified> run() {
    PAWL_TRY(const std::vector<StoredMachine> machines, store_.machines());
    for (const StoredMachine& machine : machines) machines_.emplace(machine.name, machine.version);
    // The store names each damaged row; the others cannot be looked at in order then.
    if (auto seen = see_all(); !seen) {
      if (seen.error().code != ErrorCode::damaged) return std::move(seen).error();
      verified_.violations.push_back({"checksum", {}, seen.error().message});
    }
    PAWL_TRY(std::vector<Violation> of_the_store, store_.violations());
    for (Violation& violation : of_the_store) verified_.violations.push_back(std::move(violation));
    return std::move(verified_);
  }

 private:
  Result<void> see_all() {
    Cursor from;
    do {
      PAWL_TRY(const Page<Record> page, store_.list({.max = kPageMax}, from));
      for (const Record& record : page.items) PAWL_CHECK(see(record));
      from = page.next;
      if (progress_) progress_(verified_.records);
    } while (!from.empty());
    return compare_counts();
  }

  Result<void> see(const Record& record) {
    ++verified_.records;
    StateCount& count = counts_[{record.machine, record.state}];
    ++count.records;
    if (record.hold) ++count.held;
    if (!is_built_in(record.machine) && !machines_.contains({record.machine, record.version}))
      violation("I16", record,
                "there is no machine " + record.machine + " of version " +
                    std::to_string(record.version));
    if (record.running && record.ready_at)
      violation("I6", record, "its task is ready although an attempt is running");
    see_instants(record);
    return see_log(record);
  }

  // On hold nothing moves; an attempt that runs is watched all the same.
  void see_instants(const Record& record) {
    const auto wakes_by = [&](Instant at) { return record.wake_at && *record.wake_at <= at; };
    if (record.running) {
      const Attempt& attempt = *record.running;
      const Instant end = std::min(attempt.lease_until.value_or(kInstantMax), attempt.deadline_at);
      if (!wakes_by(end)) violation("I8", record, "nothing watches its attempt");
    }
    if (record.hold) return;
    for (const Timer& timer : record.timers)
      if (!wakes_by(timer.at)) violation("I8", record, "nothing will wake it for its timer");
    if (record.plan.next && !wakes_by(*record.plan.next))
      violation("I8", record, "nothing will wake it for its schedule");
    if (record.task_at && !record.running && !record.ready_at)
      violation("I8", record, "no worker can claim its task");
  }

  Result<void> see_log(const Record& record) {
    LogCheck check(record, verified_.violations);
    Cursor from;
    do {
      PAWL_TRY(const Page<Entry> page, store_.log(record.id, from, kPageMax));
      for (const Entry& entry : page.items) check.see(entry);
      verified_.entries += page.items.size();
      from = page.next;
    } while (!from.empty());
    check.end();
    return {};
  }

  Result<void> compare_counts() {
    PAWL_TRY(const Counts kept, store_.counts());
    for (const StateCount& count : kept.states) {
      const StateCount scanned = counts_[{count.machine, count.state}];
      counts_.erase({count.machine, count.state});
      if (count.records != scanned.records || count.held != scanned.held)
        wrong_count(count.machine, count.state, count, scanned);
    }
    for (const auto& [name, scanned] : counts_) wrong_count(name.first, name.second, {}, scanned);
    return {};
  }

  void wrong_count(const std::string& machine, const std::string& state, const StateCount& kept,
                   const StateCount& scanned) {
    verified_.violations.push_back({"I19",
                                    {},
                                    machine + " in " + state + ": " + std::to_string(kept.records) +
                                        " counted (" + std::to_string(kept.held) + " held), " +
                                        std::to_string(scanned.records) + " found (" +
                                        std::to_string(scanned.held) + " held)"});
  }

  void violation(std::string invariant, const Record& record, std::string what) {
    verified_.violations.push_back({std::move(invariant), record.id, std::move(what)});
  }

  Store& store_;
  const std::function<void(std::size_t)>& progress_;
  Verified verified_;
  std::set<std::pair<std::string, int>> machines_;
  std::map<std::pair<std::string, std::string>, StateCount> counts_;
};

}  // namespace

Result<Verified> verify(Store& store, const std::function<void(std::size_t)>& progress) {
  return Verification(store, progress).run();
}

}  // namespace pawl
