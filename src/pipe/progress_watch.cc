#include "pipe/progress_watch.h"

#include <chrono>

namespace pawl {
namespace {

// What keeps it is seen, or there is nothing to do.
bool is_excused(const PartitionView& view) {
  return view.state == "retrying" || !view.hold.empty() || view.is_paused ||
         view.lag().value_or(0) == 0;
}

}  // namespace

std::vector<kafka::PartitionId> ProgressWatch::look(const std::vector<PartitionView>& views,
                                                    Instant now) {
  const double passed = std::chrono::duration<double>(now - looked_at_).count();
  looked_at_ = now;
  std::map<kafka::PartitionId, Track> tracks;
  std::vector<kafka::PartitionId> stalled;
  for (const PartitionView& view : views) {
    const auto known = tracks_.find(view.id);
    const bool is_new = known == tracks_.end();
    Track track = is_new ? Track{} : std::move(known->second);
    add_sample(track, view, now);
    if (!is_new && passed > 0) track.state_seconds[view.state] += passed;
    if (is_new || track.watermark != view.watermark || is_excused(view)) track.moved_at = now;
    track.watermark = view.watermark;
    const bool was_stalled = track.is_stalled;
    track.is_stalled = now - track.moved_at >= kStalledAfter;
    if (track.is_stalled && !was_stalled) stalled.push_back(view.id);
    tracks.emplace(view.id, std::move(track));
  }
  tracks_ = std::move(tracks);
  return stalled;
}

// Counts go down when a partition begins again: nothing is said of what was before.
void ProgressWatch::add_sample(Track& track, const PartitionView& view, Instant now) {
  const Sample sample{now, view.consumed, view.counted.all()};
  std::deque<Sample>& samples = track.samples;
  if (!samples.empty() &&
      (sample.at <= samples.back().at || sample.consumed < samples.back().consumed ||
       sample.finished < samples.back().finished))
    samples.clear();
  samples.push_back(sample);
  while (samples.front().at < now - kRatesOver) samples.pop_front();
}

void ProgressWatch::tell(PartitionView& view) const {
  const auto known = tracks_.find(view.id);
  if (known == tracks_.end()) return;
  view.is_stalled = known->second.is_stalled;
  view.state_seconds = known->second.state_seconds;
  const Sample& first = known->second.samples.front();
  const Sample& last = known->second.samples.back();
  const double seconds = std::chrono::duration<double>(last.at - first.at).count();
  if (seconds <= 0) return;
  view.in_per_second = static_cast<double>(last.consumed - first.consumed) / seconds;
  view.out_per_second = static_cast<double>(last.finished - first.finished) / seconds;
}

}  // namespace pawl
