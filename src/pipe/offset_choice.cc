#include "pipe/offset_choice.h"

namespace pawl {

OffsetChoice choose_offset(std::optional<std::int64_t> known, const kafka::Ends& ends,
                           KafkaConfig::Start start) {
  if (!known) return {start == KafkaConfig::Start::earliest ? ends.low : ends.high};
  if (*known > ends.high) return {ends.high};
  if (*known >= ends.low) return {*known};
  return {
      ends.low,
      OffsetGap{
          .first = *known,
          .last = ends.low - 1,
          .reason = "deleted by retention before they were read: the oldest remaining offset is " +
                    std::to_string(ends.low)}};
}

}  // namespace pawl
