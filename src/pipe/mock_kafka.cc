#include "pipe/mock_kafka.h"

#include <algorithm>

#include "pawl/assert.h"

namespace pawl {
namespace {

using std::chrono::seconds;

kafka::Client client_of(rd_kafka_type_t type, const KafkaConfig& config,
                        const std::vector<kafka::Setting>& settings) {
  return *kafka::make_client(type, *kafka::make_conf(config, settings));
}

}  // namespace

MockKafka::MockKafka(int brokers)
    : client_(client_of(RD_KAFKA_PRODUCER, {}, {})),
      cluster_(rd_kafka_mock_cluster_new(client_.get(), brokers)) {
  PAWL_ASSERT(cluster_ != nullptr, "the mock cluster starts");
}

MockKafka::~MockKafka() {
  producer_.reset();
  rd_kafka_mock_cluster_destroy(cluster_);
}

void MockKafka::create(const std::string& topic, int partitions) {
  rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
}

void MockKafka::put(const std::string& topic, std::int32_t partition, const KafkaMessage& message) {
  if (producer_ == nullptr)
    producer_ = client_of(RD_KAFKA_PRODUCER, config(), {{"linger.ms", "0"}});
  const auto error = kafka::produce(producer_.get(), topic, partition, message, nullptr);
  PAWL_ASSERT(error == RD_KAFKA_RESP_ERR_NO_ERROR, "the producer takes it");
  const auto flushed = rd_kafka_flush(producer_.get(), 20'000);
  PAWL_ASSERT(flushed == RD_KAFKA_RESP_ERR_NO_ERROR, "the broker takes it");
}

std::vector<MockKafka::Found> MockKafka::all_of(const std::string& topic) {
  const kafka::Client consumer = client_of(
      RD_KAFKA_CONSUMER, config(), {{"group.id", "all_of"}, {"enable.auto.commit", "false"}});
  rd_kafka_poll_set_consumer(consumer.get());
  std::vector<kafka::PartitionId> ids;
  for (const std::int32_t partition : *kafka::partitions_of(consumer.get(), topic, seconds{10}))
    ids.push_back({topic, partition});
  const auto ends = *kafka::ends_of(consumer.get(), ids, seconds{10});
  const kafka::Partitions assigned(rd_kafka_topic_partition_list_new(1));
  std::int64_t missing = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    rd_kafka_topic_partition_list_add(assigned.get(), topic.c_str(), ids[i].partition)->offset =
        ends[i].low;
    missing += ends[i].high - ends[i].low;
  }
  rd_kafka_assign(consumer.get(), assigned.get());
  std::vector<Found> found;
  while (missing > 0) {
    const kafka::Message message(rd_kafka_consumer_poll(consumer.get(), 10'000));
    PAWL_ASSERT(message != nullptr && message->err == RD_KAFKA_RESP_ERR_NO_ERROR,
                "what is there is read");
    found.push_back({message->partition, message->offset, kafka::copy_of(*message)});
    --missing;
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::pair(a.partition, a.offset) < std::pair(b.partition, b.offset);
  });
  return found;
}

}  // namespace pawl
