#include "pipe/offset_commits.h"

#include <cstring>
#include <utility>

namespace pawl {
namespace {

// librdkafka gives it back to the allocator of C, with the list.
void set_metadata(rd_kafka_topic_partition_t& one, const std::string& text) {
  one.metadata = strdup(text.c_str());
  one.metadata_size = one.metadata != nullptr ? text.size() : 0;
}

}  // namespace

void OffsetCommits::use(rd_kafka_t* client) {
  client_ = client;
  answers_.reset(client != nullptr ? rd_kafka_queue_new(client) : nullptr);
  under_way_.clear();
}

void OffsetCommits::begin(std::vector<CommitOffset> offsets) {
  if (offsets.empty()) return;
  const kafka::Partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const CommitOffset& offset : offsets) {
    rd_kafka_topic_partition_t& one = *rd_kafka_topic_partition_list_add(
        list.get(), offset.id.topic.c_str(), offset.id.partition);
    one.offset = offset.offset;
    set_metadata(one, "pawl:" + instance_ + ":" + std::to_string(offset.errors));
  }
  const std::uintptr_t number = ++last_;
  const auto error = rd_kafka_commit_queue(client_, list.get(), answers_.get(), nullptr,
                                           reinterpret_cast<void*>(number));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    told_({.error = kafka::to_text(error)});
    return;
  }
  under_way_[number] = {std::move(offsets), std::chrono::steady_clock::now()};
}

void OffsetCommits::serve(std::chrono::milliseconds at_most) {
  while (!under_way_.empty()) {
    const kafka::Event event(
        rd_kafka_queue_poll(answers_.get(), static_cast<int>(at_most.count())));
    if (event == nullptr) return;
    at_most = {};
    const auto number = reinterpret_cast<std::uintptr_t>(rd_kafka_event_opaque(event.get()));
    const auto found = under_way_.find(number);
    if (found == under_way_.end()) continue;
    const Commit commit = std::move(found->second);
    under_way_.erase(found);
    Ended ended{
        .took = std::chrono::floor<Duration>(std::chrono::steady_clock::now() - commit.begun_at)};
    const auto whole = rd_kafka_event_error(event.get());
    if (whole != RD_KAFKA_RESP_ERR_NO_ERROR) ended.error = kafka::to_text(whole);
    const rd_kafka_topic_partition_list_t* const list =
        rd_kafka_event_topic_partition_list(event.get());
    for (const CommitOffset& offset : commit.offsets) {
      if (whole != RD_KAFKA_RESP_ERR_NO_ERROR || list == nullptr) break;
      const rd_kafka_topic_partition_t* const one =
          rd_kafka_topic_partition_list_find(list, offset.id.topic.c_str(), offset.id.partition);
      if (one == nullptr) continue;
      if (one->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        ended.committed.push_back(offset);
      } else {
        ended.error = to_text(offset.id) + ": " + kafka::to_text(one->err);
      }
    }
    told_(ended);
  }
}

}  // namespace pawl
