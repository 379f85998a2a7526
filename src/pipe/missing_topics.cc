#include "pipe/missing_topics.h"

#include <algorithm>

namespace pawl {

void MissingTopics::failed(const std::string& topic, std::string_view code,
                           const std::string& message, Instant now) {
  Lane& lane = lanes_.try_emplace(topic, machine_, topic, R"({"topic":"-","partition":-1})", now)
                   .first->second;
  if (lane.is_ready(now) && lane.start(now)) lane.fail(code, message, std::nullopt, now);
}

bool MissingTopics::is_due(Instant now) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [&](const auto& one) {
    const auto next = one.second.next_at();
    return next && *next <= now;
  });
}

std::vector<PartitionView> MissingTopics::views() const {
  std::vector<PartitionView> views;
  for (const auto& [topic, lane] : lanes_) {
    const Record& record = lane.record();
    views.push_back({.id = {topic, -1},
                     .state = record.state,
                     .of = record.failed_from,
                     .since = record.entered_at,
                     .code = record.error ? record.error->code : "",
                     .error = record.error ? record.error->message : "",
                     .attempt = record.attempt,
                     .failures = record.failures,
                     .failing_since = record.failing_since,
                     .next_at = record.next_at()});
  }
  return views;
}

}  // namespace pawl
