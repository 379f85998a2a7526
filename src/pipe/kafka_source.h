// KafkaSource: the messages of one partition, from a queue of its own.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "pipe/kafka.h"
#include "pipe/partition.h"

namespace pawl {

class KafkaSource final : public MessageSource {
 public:
  explicit KafkaSource(kafka::Queue queue) : queue_(std::move(queue)) {}

  std::optional<SourceFault> take(std::size_t most, std::vector<TakenMessage>& into) override;
  std::int64_t end() const override { return end_; }

 private:
  kafka::Queue queue_;
  std::vector<rd_kafka_message_t*> room_;
  std::deque<kafka::Message> behind_;  // came with a fault, behind it
  std::int64_t end_ = -1;
};

}  // namespace pawl
