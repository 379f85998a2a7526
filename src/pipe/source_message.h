// SourceMessage: one message of Kafka, as views into what librdkafka keeps. Lives as long as the
// batch it belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace pawl {

struct SourceMessage {
  std::string_view topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;              // of the message, as Kafka keeps it; -1: none
  std::optional<std::string_view> key = {};    // none: null
  std::optional<std::string_view> value = {};  // none: null, a tombstone
};

}  // namespace pawl
