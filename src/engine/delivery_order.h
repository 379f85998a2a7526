// DeliveryOrder: deliveries of one record to an ordered channel go one after the other, in the
// order in which they were asked for. One that fails holds back those behind it until it is through
// or was given up.
//
// Where a delivery stands follows from the records alone: from its id, and from those of the same
// line that have still to go. This is only the part of it that is kept at hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include "engine/round.h"
#include "pawl/record.h"
#include "pawl/result.h"
#include "store/store.h"

namespace pawl {

// Where deliveries wait that are not the first of their line.
std::string line_queue(const std::string& channel);
bool is_line_queue(const std::string& queue);

class DeliveryOrder {
 public:
  // The deliveries to these channels that have still to go.
  static Result<DeliveryOrder> open(Store& store, std::set<std::string> ordered_channels);

  // Whether deliveries may still wait in that queue.
  bool is_ordered(const std::string& queue) const;

  enum class Place {
    first,   // it may go: nobody is before it, or it is in no line
    behind,  // another one goes before it, or is under way
    unseen,  // made in this batch: who goes before it is known once that is committed
  };
  Place place_of(const Record& record) const;
  // Whom it waits for.
  std::optional<RecordId> waits_for(const Record& record) const;

  // Some have waited in the queue since before the engine was opened.
  void found(const std::string& queue);

  // For a new batch: those whose turn has come are brought back, at most so many.
  Result<void> release(Round& round, std::size_t max);

  // What the commit left. `is_all`: nobody lost a race.
  void committed(std::span<const Unit> units, std::span<const UnitOutcome> outcomes, bool is_all);
  // The batch has failed.
  void take_back() { released_.clear(); }

  bool has_more() const { return !called_.empty(); }

 private:
  using Line = std::pair<std::string, std::uint64_t>;  // the channel, and the record that asks
  struct Standing {
    std::set<std::uint64_t> to_go = {};  // by id
    std::uint64_t under_way = 0;         // of these; 0: none

    std::uint64_t turn() const { return under_way != 0 || to_go.empty() ? 0 : *to_go.begin(); }
  };

  explicit DeliveryOrder(std::set<std::string> channels) : channels_(std::move(channels)) {}

  std::optional<Line> line_of(const Record& record) const;
  void see(const Record& record, bool is_gone);

  std::set<std::string> channels_;
  std::map<Line, Standing> lines_;
  std::unordered_map<std::uint64_t, Line> line_of_;  // of those to go, whatever their data become
  std::set<std::uint64_t> called_;                   // whose turn it is, and who may still be aside
  std::set<std::uint64_t> released_;                 // of these, in this batch
};

}  // namespace pawl
