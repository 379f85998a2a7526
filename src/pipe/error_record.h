// ErrorRecord: a message that failed, with everything one wants to know of it, as it is kept in the
// topic of errors; in two formats, both of which are read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pawl/result.h"
#include "pawl/time.h"
#include "pipe/pipe_config.h"

namespace pawl {

// A message for Kafka, or from it.
struct KafkaMessage {
  std::optional<std::string> key = {};
  std::optional<std::string> value = {};
  std::vector<std::pair<std::string, std::optional<std::string>>> headers = {};
};

struct ErrorRecord {
  std::string pipe;
  std::string code;    // of pipe_code
  std::string reason;  // cut to 4 KiB
  std::string state;   // of the machine: `extract`, `transform`, `load`
  std::string topic;   // where it comes from
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::optional<std::int64_t> last_offset = {};  // of a gap: the last one that is lost
  std::int64_t timestamp_ms = -1;
  std::string index = {};  // where it was to go, where that is known
  std::string id = {};
  int es_status = 0;
  std::string es_type = {};
  int attempts = 1;
  bool retryable = false;  // a replay may succeed: nothing is wrong with the message itself
  Instant at = {};
  KafkaMessage original = {};  // key, value and headers as they came
  bool payload_omitted = false;
  std::int64_t payload_bytes = 0;  // of the value, whether it is there or not
};

// `topic/partition/offset`: repeats after a crash have the same.
std::string error_key(const ErrorRecord& record);

KafkaMessage write_error(const ErrorRecord& record, const ErrorsConfig& config);
// Of either format, whatever the configuration is. Fails when it is neither.
Result<ErrorRecord> read_error(const KafkaMessage& message);

}  // namespace pawl
