// MessageBatch: messages of one partition on their way together, and what has become of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pawl/time.h"
#include "pipe/bulk_body.h"
#include "pipe/kafka.h"
#include "pipe/load_plan.h"

namespace pawl {

struct TakenMessage {
  kafka::Message owner;  // of the bytes
  std::int64_t offset = 0;
  std::int64_t timestamp_ms = -1;
  std::optional<std::string_view> key = {};
  std::optional<std::string_view> value = {};
};

// A message that goes to the topic of errors, or messages that are lost.
struct FailedMessage {
  static constexpr std::uint32_t kNone = 0xffff'ffff;
  enum class Phase { waiting, sent, kept };

  std::uint32_t message = kNone;  // its index in the batch; none: a gap
  std::int64_t first_offset = 0;
  std::int64_t last_offset = 0;
  std::string code;
  std::string reason;
  std::string state;  // of the batch when it failed
  int es_status = 0;
  std::string es_type = {};
  int attempts = 1;
  bool retryable = false;
  bool skipped = false;  // by a person: counted as that
  Phase phase = Phase::waiting;
};

// Messages by what became of them. What is consumed and none of these is on its way.
struct Outcomes {
  std::uint64_t indexed = 0;
  std::uint64_t duplicate = 0;
  std::uint64_t errors = 0;
  std::uint64_t skipped = 0;

  std::uint64_t all() const { return indexed + duplicate + errors + skipped; }
  Outcomes& operator+=(const Outcomes& more);
  Outcomes& operator-=(const Outcomes& less);
  // Each at least as much as there.
  void raise_to(const Outcomes& most);
};

struct MessageBatch {
  std::uint64_t id = 0;
  std::vector<TakenMessage> messages;
  std::size_t bytes = 0;   // of keys and values
  Instant since = {};      // of the first message
  std::int64_t end = 0;    // the offset after its last
  bool is_closed = false;  // nothing is added any more

  // Of transform and load.
  BulkBody body;
  LoadPlan plan{0};
  std::string part;       // the text of a request that is not the whole body
  bool is_alone = false;  // not to be sent with other batches
  // Items that wait for a person, with what was last said of them.
  struct Blocked {
    int status = 0;
    std::string type;
    std::string reason;
  };
  std::map<std::uint32_t, Blocked> blocked;

  std::vector<FailedMessage> failed;
  Outcomes outcomes;

  std::size_t on_its_way() const {
    return messages.size() - static_cast<std::size_t>(outcomes.all());
  }
  // Gives the messages back to Kafka's client.
  void release();
  // Forgets what transform and load have made of it; the messages stay.
  void begin_again();
  // For other messages; keeps the room.
  void clear();
};

}  // namespace pawl
