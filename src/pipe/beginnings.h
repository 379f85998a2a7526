// Where partitions begin: asked of Kafka, for many at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipe/kafka.h"
#include "pipe/offset_choice.h"
#include "pipe/pipe_config.h"

namespace pawl {

// A partition wants to know where it begins.
struct BeginningWanted {
  kafka::PartitionId id;
  int epoch = 0;
  bool is_reset = false;
  std::int64_t lost = -1;  // the offset that could not be had, where there was one
};

struct Beginning {
  BeginningWanted wanted;
  std::optional<OffsetChoice> choice = {};  // none: what follows says why
  std::int64_t committed = -1;              // -1: nothing
  std::string code = {};                    // of pipe_code
  std::string message = {};
};

// One for each that is wanted, in any order. Asks the group's coordinator and the leaders, and
// waits for them, each of three questions for 3 seconds at most where nobody answers. A topic or
// partition that is not there holds up no other.
std::vector<Beginning> find_beginnings(rd_kafka_t* consumer,
                                       const std::vector<BeginningWanted>& wanted,
                                       KafkaConfig::Start start);

}  // namespace pawl
