// What of librdkafka the pipe uses, with owners. The only header that brings librdkafka's types.
#pragma once

#include <librdkafka/rdkafka.h>

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"
#include "pipe/error_record.h"
#include "pipe/pipe_config.h"
#include "pipe/source_message.h"

namespace pawl::kafka {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* owned) const {
    destroy(owned);
  }
};

using Client = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using Conf = std::unique_ptr<rd_kafka_conf_t, Destroy<rd_kafka_conf_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Headers = std::unique_ptr<rd_kafka_headers_t, Destroy<rd_kafka_headers_destroy>>;
using Message = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                   Destroy<rd_kafka_topic_partition_list_destroy>>;
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;
using Topic = std::unique_ptr<rd_kafka_topic_t, Destroy<rd_kafka_topic_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using KafkaError = std::unique_ptr<rd_kafka_error_t, Destroy<rd_kafka_error_destroy>>;

struct Setting {
  std::string name;
  std::string value;
};

// A configuration with the brokers and the options of the file, over `settings`. Secrets are read
// now. What librdkafka does not take is an error at the place of the option. Nothing is written to
// stderr: set a log callback to see what librdkafka has to say.
Result<Conf> make_conf(const KafkaConfig& config, const std::vector<Setting>& settings);

// Fails with what librdkafka says.
Result<Client> make_client(rd_kafka_type_t type, Conf conf);

// `_TRANSPORT: Local: Broker transport failure`.
std::string to_text(rd_kafka_resp_err_t error);

// The code of pipe_code that an error of a broker or of the client comes to.
std::string_view code_of(rd_kafka_resp_err_t error);

SourceMessage view_of(const rd_kafka_message_t& message);

// With its headers, as a copy.
KafkaMessage copy_of(const rd_kafka_message_t& message);

// Hands a copy to a producer, for any partition (RD_KAFKA_PARTITION_UA) or one; never blocks. The
// delivery report has `opaque`. What it answers is about this call only: _QUEUE_FULL,
// MSG_SIZE_TOO_LARGE, a fatal error of the producer.
rd_kafka_resp_err_t produce(rd_kafka_t* producer, const std::string& topic, std::int32_t partition,
                            const KafkaMessage& message, void* opaque);

struct PartitionId {
  std::string topic;
  std::int32_t partition = 0;

  friend auto operator<=>(const PartitionId&, const PartitionId&) = default;
};
std::string to_text(const PartitionId& id);  // `events/3`

Partitions list_of(const std::vector<PartitionId>& ids);
std::vector<PartitionId> ids_of(const rd_kafka_topic_partition_list_t* list);

// The partitions of a topic, in their order, as the brokers say. Where it fails and `code` is
// given, it becomes the code of pipe_code: topic_not_found where there is no such topic.
Result<std::vector<std::int32_t>> partitions_of(rd_kafka_t* client, const std::string& topic,
                                                std::chrono::milliseconds at_most,
                                                std::string_view* code = nullptr);

// The first offset that is there and the one that comes next.
struct Ends {
  std::int64_t low = 0;
  std::int64_t high = 0;

  friend bool operator==(const Ends&, const Ends&) = default;
};
// Of all of them at once, in their order; `code` as above. Of a topic that is not there it hears
// nothing until the time is over: ask for the partitions first.
Result<std::vector<Ends>> ends_of(rd_kafka_t* client, const std::vector<PartitionId>& partitions,
                                  std::chrono::milliseconds at_most,
                                  std::string_view* code = nullptr);

// How large a message of each topic may be (`max.message.bytes`), in their order; none where the
// brokers do not say. Those that cannot be asked for it say nothing until the time is over.
std::vector<std::optional<std::int64_t>> message_bytes_max_of(
    rd_kafka_t* client, const std::vector<std::string>& topics, std::chrono::milliseconds at_most);

}  // namespace pawl::kafka
