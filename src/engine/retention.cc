#include "engine/retention.h"

#include <algorithm>

#include "decide/built_in.h"
#include "model/built_in_names.h"
#include "model/codec.h"

namespace pawl {
namespace {

constexpr std::size_t kSweepMax = 1'000;
constexpr std::size_t kLogsMax = 16;  // that are shortened in one batch
// An effect with a key of its own is not made again while the record that asked for it exists:
// until then its record stays, and is looked at again after this long.
constexpr Duration kLookAgain = std::chrono::days{1};

// How many entries beyond those that are kept make a log worth shortening.
std::int64_t slack_of(int entries) { return std::max(16, entries / 2); }

std::optional<int> entries_kept(const Machine* machine) {
  if (machine == nullptr || !machine->definition().keep) return std::nullopt;
  return machine->definition().keep->entries;
}

// Who asked for what this record of a built-in machine carries out.
RecordId asker_of(const Record& record) {
  if (record.parent) return record.parent->id;
  return record.machine == kDeliveryMachine ? to_deliver_of(record).from
                                            : delayed_message_of(record).sent.from;
}

}  // namespace

Result<bool> Retention::run(Round& round, Batch& batch, std::size_t max) {
  const Claim claim{.kind = Claim::Kind::over, .max = max};
  PAWL_TRY(std::vector<Claimed> claimed, batch.claim({&claim, 1}));
  for (Claimed& one : claimed) {
    PAWL_TRY(InWork * in, round.records().claimed(std::move(one.record)));
    if (!in->unit) PAWL_CHECK(remove(*in, round));
  }
  for (std::size_t i = 0; i < kLogsMax && !long_logs_.empty() && !round.is_full(); ++i) {
    PAWL_TRY(InWork * in, round.records().find(*long_logs_.begin()));
    long_logs_.erase(long_logs_.begin());
    if (in != nullptr) PAWL_CHECK(shorten(*in, round));
  }
  return claimed.size() == max;
}

Result<void> Retention::remove(InWork& in, Round& round) {
  if (is_built_in(in.record.machine) && !is_used_once(in.record.key)) {
    PAWL_TRY(const InWork* asker, round.records().find(asker_of(in.record)));
    if (asker != nullptr) {
      round.keep_until(in, round.now() + kLookAgain);
      return {};
    }
  }
  round.remove(in);
  return {};
}

void Retention::committed(std::span<const Unit> units, const Machines& machines) {
  for (const Unit& unit : units) {
    const Record& record = unit.record.record;
    if (unit.record.entries.empty() || unit.record.purges) continue;
    const auto entries = entries_kept(machines.newest(record.machine));
    if (!entries || record.revision < *entries + slack_of(*entries)) continue;
    const std::int64_t before =
        record.revision - static_cast<std::int64_t>(unit.record.entries.size());
    const std::int64_t slack = slack_of(*entries);
    if (record.revision / slack != before / slack) long_logs_.insert(record.id);
  }
}

// One entry with the core as it was takes the place of all before those that are kept.
Result<void> Retention::shorten(InWork& in, Round& round) {
  const auto entries = entries_kept(in.machine.get());
  if (!entries || in.unit) return {};
  const std::int64_t last = in.record.revision - *entries;
  Record core;
  std::optional<Entry> compacted;
  bool is_worth_it = false;
  Cursor from;
  do {
    PAWL_TRY(const Page<Entry> page, store_.log(in.record.id, from, kPageMax));
    for (const Entry& entry : page.items) {
      if (entry.seq > last) break;
      if (entry.kind == Entry::Kind::compacted) core = {};
      fold(core, entry.changes);
      is_worth_it = compacted.has_value();  // it replaces more than one
      compacted = Entry{.seq = entry.seq,
                        .at = entry.at,
                        .kind = Entry::Kind::compacted,
                        .from = entry.from,
                        .to = entry.to,
                        .epoch = entry.epoch,
                        .fence = entry.fence};
    }
    const bool is_there = !page.items.empty() && page.items.back().seq >= last;
    from = is_there ? Cursor() : page.next;
  } while (!from.empty());
  if (!is_worth_it || core.id != in.record.id) return {};  // or it was erased
  append_changes(compacted->changes, core, kCoreAll);
  round.shorten_log(in, *std::move(compacted));
  return {};
}

Result<bool> Retention::sweep(Instant now) {
  if (now < next_sweep_) return false;
  PAWL_TRY(const std::size_t forgotten, store_.forget_requests(now - kRequestsKept, kSweepMax));
  if (forgotten == kSweepMax) return true;
  next_sweep_ = now + kSweepEvery;
  return false;
}

}  // namespace pawl
