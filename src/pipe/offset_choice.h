// Where to begin to read a partition.
#pragma once

#include <cstdint>
#include <optional>

#include "pipe/kafka.h"
#include "pipe/partition.h"
#include "pipe/pipe_config.h"

namespace pawl {

struct OffsetChoice {
  std::int64_t offset = 0;
  std::optional<OffsetGap> gap = {};  // what is lost for good
};

// Nothing known: as the file says. Older than what is there: the first that is there, whatever the
// file says, and what is between is lost. Beyond the end: the end (S1-15, S1-16, S1-17).
OffsetChoice choose_offset(std::optional<std::int64_t> known, const kafka::Ends& ends,
                           KafkaConfig::Start start);

}  // namespace pawl
