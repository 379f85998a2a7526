// MockKafka: brokers inside the test process, librdkafka's own, with listeners that any client of
// this machine can reach; and what tests put into topics and find there.
#pragma once

#include <librdkafka/rdkafka.h>
// Needs the header above.
#include <librdkafka/rdkafka_mock.h>

#include <string>
#include <vector>

#include "pipe/kafka.h"

namespace pawl {

class MockKafka {
 public:
  explicit MockKafka(int brokers = 1);
  ~MockKafka();
  MockKafka(const MockKafka&) = delete;
  MockKafka& operator=(const MockKafka&) = delete;

  rd_kafka_mock_cluster_t* cluster() { return cluster_; }
  std::string brokers() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  KafkaConfig config() const { return {.brokers = brokers(), .group = "test"}; }
  void create(const std::string& topic, int partitions);

  // Returns when the broker has it.
  void put(const std::string& topic, std::int32_t partition, const KafkaMessage& message);

  struct Found {
    std::int32_t partition = 0;
    std::int64_t offset = 0;
    KafkaMessage message = {};
  };
  // Everything that is there now, by partition and offset.
  std::vector<Found> all_of(const std::string& topic);

 private:
  kafka::Client client_;    // carries the cluster
  kafka::Client producer_;  // of `put`
  rd_kafka_mock_cluster_t* cluster_;
};

}  // namespace pawl
