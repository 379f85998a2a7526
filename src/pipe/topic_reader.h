// Reading what a topic has, once.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pawl/result.h"
#include "pipe/kafka.h"

namespace pawl::kafka {

struct TopicReading {
  // Called for every message; those of one partition come in order.
  std::function<void(const rd_kafka_message_t&)> message;
  // About once a second: how far it is, in offsets. May be empty.
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
  // It gives up when brokers say nothing for so long.
  std::chrono::milliseconds patience = std::chrono::seconds{30};
  std::vector<std::int32_t> partitions = {};  // none: all
  // The last so many offsets, of all partitions together; none: from the first message.
  std::optional<std::int64_t> last = {};
};

// How many of the last offsets are read of each partition, when there are so many of them and `all`
// are wanted: about as many of each.
std::vector<std::int64_t> last_of_each(const std::vector<Ends>& ends, std::int64_t all);

// Reads the messages that are in the topic at this moment. Joins no group and commits nothing. When
// it fails, some may have been read.
Result<void> read_topic(const KafkaConfig& config, const std::string& topic,
                        const TopicReading& reading);

}  // namespace pawl::kafka
