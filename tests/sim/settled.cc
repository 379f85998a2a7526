#include "settled.h"

#include <algorithm>
#include <array>
#include <set>

#include "broken.h"
#include "decide/built_in.h"
#include "model/built_in_names.h"

namespace pawl::sim {
namespace {

std::string place_of(const Record& record) {
  return record.machine + "/" + record.key + " in " + record.state;
}

bool is_final(const Record& record) {
  static const std::set<std::string> kFinal{"finished", "cancelled", "packed",  "complete",
                                            "over",     "spoilt",    "stopped", "sent",
                                            "failed",   "discarded"};
  return kFinal.contains(record.state);
}

// Without a task, a timer or a plan: an event may come, or it may not.
bool waits_for_an_event(const Record& record) {
  return record.machine == "teller" || record.state == "collecting";
}

// By the queues of the machines; only those that a worker of the simulation claims from.
std::string queue_of(const Record& record) {
  if (record.machine == "parcel") return "packers";
  if (record.machine == "run") return "renderers";
  if (record.machine == "delivery") return "channel:" + to_deliver_of(record).channel;
  return record.machine == "send" ? "send:" : "jobs";
}

// As many failures in a row as there are delays, and the last one, which gives up.
int failures_max(const Record& record) {
  if (record.machine == "job") return 3;
  if (record.machine == "run" || record.machine == "meter") return 2;
  return 10;
}

void check_children(const Record& parent, const Snapshot& snapshot) {
  std::map<std::string, ChildCounts> found;
  for (const auto& [name, record] : snapshot.records) {
    if (!record.parent || record.parent->id != parent.id) continue;
    ChildCounts& counts = found[record.machine];
    ++counts.all;
    ++(is_final(record) ? counts.final : counts.open);
    if (record.hold && !is_final(record)) ++counts.hold;
    auto in =
        std::find_if(counts.states.begin(), counts.states.end(),
                     [&state = record.state](const auto& known) { return known.state == state; });
    if (in == counts.states.end()) in = counts.states.insert(in, {record.state, 0});
    ++in->count;
  }
  for (const ChildCounts& counted : parent.children) {
    const ChildCounts& real = found[counted.machine];
    const bool may_be_gone = is_built_in(counted.machine);  // what was removed stays counted
    const bool is_all = may_be_gone ? counted.all >= real.all
                                    : counted.all == real.all && counted.final == real.final;
    require(is_all && counted.open == real.open && counted.hold == real.hold,
            place_of(parent) + " has counted its children wrong: " + std::to_string(counted.all) +
                " of " + std::to_string(real.all) + ", " + std::to_string(counted.open) +
                " open of " + std::to_string(real.open));
    for (const auto& in : counted.states) {
      if (may_be_gone) continue;
      const auto there = std::find_if(real.states.begin(), real.states.end(),
                                      [&](const auto& known) { return known.state == in.state; });
      require(in.count == (there == real.states.end() ? 0 : there->count),
              place_of(parent) + " has counted its children in " + in.state + " wrong");
    }
    found.erase(counted.machine);
  }
  require(found.empty(), place_of(parent) + " has children that it has not counted");
}

// Each parcel that was packed has told its batch so, once.
void check_told(const Record& parcel, const Snapshot& snapshot) {
  if (!parcel.parent) return;
  const Record* batch = snapshot.find({"batch", parcel.parent->key});
  const bool is_told = batch->data.find(parcel.key + ";") != std::string::npos;
  require(is_told == (parcel.state == "packed"), place_of(parcel) + ": its batch does not know");
}

// What a key makes once is there once.
void check_keyed_deliveries(const Snapshot& snapshot) {
  std::map<std::uint64_t, int> once;
  for (const auto& [name, record] : snapshot.records)
    if (record.machine == "delivery" && to_deliver_of(record).channel == "once")
      ++once[to_deliver_of(record).from.value];
  for (const auto& [name, log] : snapshot.logs) {
    const Record& record = snapshot.records.at(name);
    const bool was_flaky = std::any_of(log.begin(), log.end(), [](const Entry& entry) {
      return entry.kind == Entry::Kind::failed && entry.error && entry.error->code == "flaky";
    });
    const int deliveries = once[record.id.value];
    if (name.machine == "job")
      require(deliveries <= 1 && (!was_flaky || deliveries == 1),
              place_of(record) + ": " + std::to_string(deliveries) + " deliveries of one key");
  }
}

}  // namespace

void check_records(const std::map<RecordName, Record>& records) {
  for (const auto& [name, record] : records) {
    require(record.failures <= failures_max(record),
            place_of(record) + " has failed " + std::to_string(record.failures) + " times");
    require(!record.running || !record.ready_at, place_of(record) + ": two attempts at once");
  }
}

void check_limit(const std::map<RecordName, Record>& records) {
  const auto packing = std::count_if(records.begin(), records.end(), [](const auto& known) {
    return known.first.machine == "parcel" && known.second.running;
  });
  require(packing <= 2, std::to_string(packing) + " parcels are packed at once, of at most 2");
}

void check_settled(const Snapshot& snapshot, Store& store, Instant now) {
  check_records(snapshot.records);
  for (const auto& [name, record] : snapshot.records) {
    require(!record.running, place_of(record) + ": its attempt still runs");
    check_children(record, snapshot);
    if (record.machine == "parcel") check_told(record, snapshot);
    if (record.hold || is_final(record)) continue;
    require(!record.ready_at || *record.ready_at > now,
            place_of(record) + ": nobody does its task");
    require(!record.wake_at || *record.wake_at > now, place_of(record) + ": nobody wakes it");
    require(record.ready_at || record.wake_at || waits_for_an_event(record),
            place_of(record) + ": it waits for nothing");
  }
  check_keyed_deliveries(snapshot);
  const std::vector<std::string> none;
  const auto next = must(store.next_due(none), "next_due");
  require(!next || *next > now, "a message is left in an inbox that is open");
}

void check_next(const std::map<RecordName, Record>& records,
                const std::vector<std::string>& queues_waited_for, std::optional<Instant> next,
                Instant now) {
  for (const auto& [name, record] : records) {
    std::optional<Instant> needed = record.wake_at;
    const std::string queue = queue_of(record);
    // A channel may be shut for a while, or have enough deliveries under way; a parcel may wait
    // for a slot.
    const bool is_limited = record.machine == "delivery" || record.machine == "parcel";
    const bool is_waited_for =
        queue == "send:" || (!is_limited && std::binary_search(queues_waited_for.begin(),
                                                               queues_waited_for.end(), queue));
    if (is_waited_for && record.ready_at && (!needed || *record.ready_at < *needed))
      needed = record.ready_at;
    if (!needed) continue;
    require(next && *next <= std::max(*needed, now + Duration{1}),
            place_of(record) + " needs the engine at " + to_text(*needed) +
                ", which wants to be called " + (next ? "at " + to_text(*next) : "never"));
  }
}

}  // namespace pawl::sim
