// ProgressWatch: how fast partitions go on, how long they are in each state, and which of them do
// not go on although they could. Kafka's
// own limit on the time between polls finds no worker that is stuck: the thread that polls is never
// kept waiting.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "pawl/time.h"
#include "pipe/partition.h"

namespace pawl {

class ProgressWatch {
 public:
  static constexpr Duration kEvery = std::chrono::seconds{1};
  static constexpr Duration kRatesOver = std::chrono::seconds{10};
  static constexpr Duration kStalledAfter = std::chrono::seconds{60};

  // Whether it is time to look.
  bool is_due(Instant now) const { return now < looked_at_ || now - looked_at_ >= kEvery; }
  // Takes notice of all partitions there are. Gives those that have stalled since the last time.
  std::vector<kafka::PartitionId> look(const std::vector<PartitionView>& views, Instant now);

  // Fills in the rates, the time in each state, and whether it has stalled.
  void tell(PartitionView& view) const;

 private:
  struct Sample {
    Instant at;
    std::uint64_t consumed;
    std::uint64_t finished;
  };
  struct Track {
    std::deque<Sample> samples;  // the oldest first
    std::int64_t watermark = -1;
    Instant moved_at = {};  // or there was nothing to move for
    std::map<std::string, double> state_seconds;
    bool is_stalled = false;
  };

  static void add_sample(Track& track, const PartitionView& view, Instant now);

  std::map<kafka::PartitionId, Track> tracks_;
  Instant looked_at_ = {};
};

}  // namespace pawl
