#include "pipe/pipe_codes.h"

#include <utility>

namespace pawl::pipe_code {

int number(std::string_view code) {
  static constexpr std::pair<std::string_view, int> kNumbers[] = {{kKafkaUnavailable, 1},
                                                                  {kTopicNotFound, 2},
                                                                  {kPartitionNotFound, 3},
                                                                  {kMessageTooBig, 4},
                                                                  {kOffsetNotAvailable, 5},
                                                                  {kNetwork, 6},
                                                                  {kInvalidFormat, 7},
                                                                  {kInvalidEvent, 8},
                                                                  {kTransformationError, 9},
                                                                  {kEsUnavailable, 10},
                                                                  {kEs5xx, 11},
                                                                  {kBulkItem, 12},
                                                                  {kBulkItemBusy, 12},
                                                                  {kBulkItemBlocked, 12},
                                                                  {kEs4xx, 13},
                                                                  {kEsBusy, 13}};
  for (const auto& [name, known] : kNumbers)
    if (name == code) return known;
  return 0;
}

}  // namespace pawl::pipe_code
