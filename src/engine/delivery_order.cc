#include "engine/delivery_order.h"

#include <algorithm>

#include "decide/built_in.h"
#include "model/built_in_names.h"

namespace pawl {
namespace {

constexpr std::string_view kLinePrefix = "line:";

}  // namespace

std::string line_queue(const std::string& channel) { return std::string(kLinePrefix) + channel; }

bool is_line_queue(const std::string& queue) { return queue.starts_with(kLinePrefix); }

Result<DeliveryOrder> DeliveryOrder::open(Store& store, std::set<std::string> ordered_channels) {
  DeliveryOrder order(std::move(ordered_channels));
  if (order.channels_.empty()) return order;
  const Query query{.machine = std::string(kDeliveryMachine), .state = "sending", .max = kPageMax};
  Cursor from;
  do {
    PAWL_TRY(const Page<Record> page, store.list(query, from));
    for (const Record& record : page.items) order.see(record, false);
    from = page.next;
  } while (!from.empty());
  return order;
}

std::optional<DeliveryOrder::Line> DeliveryOrder::line_of(const Record& record) const {
  if (channels_.empty() || record.machine != kDeliveryMachine) return std::nullopt;
  if (const auto known = line_of_.find(record.id.value); known != line_of_.end())
    return known->second;
  ToDeliver delivery = to_deliver_of(record);
  if (!channels_.contains(delivery.channel)) return std::nullopt;
  return Line(std::move(delivery.channel), delivery.from.value);
}

bool DeliveryOrder::is_ordered(const std::string& queue) const {
  return channels_.contains(queue.substr(kLinePrefix.size()));
}

void DeliveryOrder::found(const std::string& queue) {
  for (const auto& [line, standing] : lines_)
    if (line_queue(line.first) == queue && standing.turn() != 0) called_.insert(standing.turn());
}

DeliveryOrder::Place DeliveryOrder::place_of(const Record& record) const {
  const auto line = line_of(record);
  if (!line) return Place::first;
  const auto known = lines_.find(*line);
  if (known == lines_.end() || !known->second.to_go.contains(record.id.value)) return Place::unseen;
  return known->second.turn() == record.id.value ? Place::first : Place::behind;
}

std::optional<RecordId> DeliveryOrder::waits_for(const Record& record) const {
  if (place_of(record) != Place::behind) return std::nullopt;
  const Standing& standing = lines_.at(*line_of(record));
  return RecordId{standing.under_way != 0 ? standing.under_way : standing.turn()};
}

// One on hold is not waited for. Once it is released it has its old place again.
void DeliveryOrder::see(const Record& record, bool is_gone) {
  const auto line = line_of(record);
  if (!line) return;
  const std::uint64_t id = record.id.value;
  const auto known = lines_.try_emplace(*line).first;
  Standing& standing = known->second;
  const std::uint64_t turn_before = standing.turn();
  if (standing.under_way == id) standing.under_way = 0;
  if (!is_gone && !record.hold && record.state == "sending") {
    standing.to_go.insert(id);
    line_of_.try_emplace(id, *line);
    if (record.running) standing.under_way = id;
  } else {
    standing.to_go.erase(id);
    line_of_.erase(id);
    called_.erase(id);
  }
  // Who was just decided about is not aside.
  const std::uint64_t turn = standing.turn();
  if (turn != turn_before && turn != 0 && turn != id) called_.insert(turn);
  if (standing.to_go.empty()) lines_.erase(known);
}

Result<void> DeliveryOrder::release(Round& round, std::size_t max) {
  for (const std::uint64_t id : called_) {
    if (max-- == 0) return {};
    PAWL_TRY(InWork * in, round.records().find(RecordId{id}));
    if (in != nullptr && !in->unit && in->record.ready_at) round.put_back(*in);
    released_.insert(id);
  }
  return {};
}

void DeliveryOrder::committed(std::span<const Unit> units, std::span<const UnitOutcome> outcomes,
                              bool is_all) {
  if (channels_.empty()) return;
  if (is_all)
    for (const std::uint64_t id : released_) called_.erase(id);
  released_.clear();
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (outcomes[i].kind != UnitOutcome::Kind::committed) continue;
    see(units[i].record.record, units[i].record.purges);
    const auto& found = outcomes[i].found;  // under this key there was another one already
    for (std::size_t made = 0; made < units[i].created.size(); ++made)
      if (std::find(found.begin(), found.end(), made) == found.end())
        see(units[i].created[made].record, false);
  }
}

}  // namespace pawl
