// The error codes of a pipe: names as machine files have them, numbers as operators know them.
#pragma once

#include <string_view>

namespace pawl::pipe_code {

inline constexpr std::string_view kUncategorised = "uncategorised";               // 0
inline constexpr std::string_view kKafkaUnavailable = "kafka_unavailable";        // 1
inline constexpr std::string_view kTopicNotFound = "topic_not_found";             // 2
inline constexpr std::string_view kPartitionNotFound = "partition_not_found";     // 3
inline constexpr std::string_view kMessageTooBig = "message_too_big";             // 4
inline constexpr std::string_view kOffsetNotAvailable = "offset_not_available";   // 5
inline constexpr std::string_view kNetwork = "network";                           // 6
inline constexpr std::string_view kInvalidFormat = "invalid_format";              // 7
inline constexpr std::string_view kInvalidEvent = "invalid_event";                // 8
inline constexpr std::string_view kTransformationError = "transformation_error";  // 9
inline constexpr std::string_view kEsUnavailable = "es_unavailable";              // 10
inline constexpr std::string_view kEs5xx = "es_5xx";                              // 11
inline constexpr std::string_view kBulkItem = "bulk_item";                 // 12: refused for good
inline constexpr std::string_view kBulkItemBusy = "bulk_item_busy";        // 12: 408, 429, 5xx
inline constexpr std::string_view kBulkItemBlocked = "bulk_item_blocked";  // 12: 403, no such index
inline constexpr std::string_view kEs4xx = "es_4xx";                       // 13
inline constexpr std::string_view kEsBusy = "es_busy";                     // 13: 429 as a whole
// Of `_errors` alone: a person had it left out.
inline constexpr std::string_view kSkipped = "skipped";

// 0 for a name that is none of these.
int number(std::string_view code);

}  // namespace pawl::pipe_code
