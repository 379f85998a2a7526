// MessageTime: when what a message tells of happened: a field of it, the time that Kafka keeps with
// it, or the clock.
#pragma once

#include <string>

#include "pawl/result.h"
#include "pawl/time.h"
#include "pipe/field_path.h"
#include "pipe/pipe_config.h"
#include "pipe/source_message.h"

namespace pawl {

class MessageTime {
 public:
  using From = TransformConfig::Time::From;

  // Fails when the field or the pattern is wrong.
  static Result<MessageTime> make(const TransformConfig::Time& config);

  From from() const { return config_.from; }

  // In the years 1 to 9999. `document` is looked at only where the time is a field of it. `room` is
  // for texts that have to be copied.
  Result<Instant> read(const SourceMessage& source, const MapMembers& document, Instant now,
                       std::string& room) const;

 private:
  MessageTime() = default;

  Result<Instant> read_field(const FieldValue& value, std::string& room) const;
  Result<Instant> read_number(const FieldValue& value, Duration unit) const;
  Result<Instant> read_text(std::string_view text, std::string& room) const;
  Result<Instant> read_pattern(std::string_view text, std::string& room) const;
  Error misfit(std::string_view is, std::string_view expected) const;

  TransformConfig::Time config_;
  FieldPath field_;
};

}  // namespace pawl
