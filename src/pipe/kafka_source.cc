#include "pipe/kafka_source.h"

#include "base/prefetch.h"

namespace pawl {
namespace {

constexpr ssize_t kMessagesAhead = 8;

TakenMessage taken(kafka::Message message) {
  const SourceMessage view = kafka::view_of(*message);
  return {.owner = std::move(message),
          .offset = view.offset,
          .timestamp_ms = view.timestamp_ms,
          .key = view.key,
          .value = view.value};
}

}  // namespace

std::optional<SourceFault> KafkaSource::take(std::size_t most, std::vector<TakenMessage>& into) {
  if (behind_.empty()) {
    room_.resize(most);
    const ssize_t got = rd_kafka_consume_batch_queue(queue_.get(), 0, room_.data(), most);
    for (ssize_t i = 0; i < got; ++i) {
      if (i + kMessagesAhead < got)
        prefetch(room_[static_cast<std::size_t>(i + kMessagesAhead)], sizeof(rd_kafka_message_t));
      kafka::Message message(room_[static_cast<std::size_t>(i)]);
      if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && behind_.empty()) {
        into.push_back(taken(std::move(message)));
      } else {
        behind_.push_back(std::move(message));
      }
    }
  }
  while (!behind_.empty()) {
    kafka::Message message = std::move(behind_.front());
    behind_.pop_front();
    if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      end_ = message->offset;
      continue;
    }
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      const char* text = rd_kafka_message_errstr(message.get());
      return SourceFault{.code = kafka::code_of(message->err),
                         .message = kafka::to_text(message->err) +
                                    (text != nullptr ? std::string(": ") + text : std::string()),
                         .offset = message->offset};
    }
    into.push_back(taken(std::move(message)));
  }
  return std::nullopt;
}

}  // namespace pawl
