#include "pipe/beginnings.h"

#include <algorithm>
#include <map>

#include "base/text.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

constexpr std::chrono::milliseconds kBeginningsWithin{3'000};

using Wanted = std::vector<BeginningWanted>;
using Beginnings = std::vector<Beginning>;

void not_found(Beginnings& found, const BeginningWanted& wanted, std::string_view code,
               const std::string& message) {
  found.push_back({.wanted = wanted, .code = std::string(code), .message = message});
}

// Those that exist; what is to be said of the others is found already.
Wanted those_there(rd_kafka_t* consumer, const Wanted& wanted, Beginnings& found) {
  std::map<std::string, Wanted> by_topic;
  for (const BeginningWanted& one : wanted) by_topic[one.id.topic].push_back(one);
  Wanted there;
  std::optional<Error> away;  // who has not answered for one topic does not for the next
  std::string_view code;
  for (const auto& [topic, of_topic] : by_topic) {
    if (!away) code = pipe_code::kKafkaUnavailable;
    const auto partitions = away ? Result<std::vector<std::int32_t>>(*away)
                                 : kafka::partitions_of(consumer, topic, kBeginningsWithin, &code);
    if (!partitions && (code == pipe_code::kKafkaUnavailable || code == pipe_code::kNetwork))
      away = partitions.error();
    for (const BeginningWanted& one : of_topic) {
      if (!partitions) {
        not_found(found, one, code, partitions.error().message);
      } else if (std::binary_search(partitions->begin(), partitions->end(), one.id.partition)) {
        there.push_back(one);
      } else {
        not_found(found, one, pipe_code::kPartitionNotFound,
                  "topic " + in_quotes(topic) + " has " + std::to_string(partitions->size()) +
                      " partitions, but no partition " + std::to_string(one.id.partition));
      }
    }
  }
  return there;
}

Beginning begin_at(const BeginningWanted& wanted, const rd_kafka_topic_partition_t& committed,
                   const kafka::Ends& ends, KafkaConfig::Start start) {
  if (committed.err != RD_KAFKA_RESP_ERR_NO_ERROR)
    return {.wanted = wanted,
            .code = std::string(kafka::code_of(committed.err)),
            .message = "getting the committed offset of " + to_text(wanted.id) + ": " +
                       kafka::to_text(committed.err)};
  std::optional<std::int64_t> known;
  if (committed.offset >= 0) known = committed.offset;
  // What was being read when it could not be had is further on than what was committed.
  if (wanted.is_reset && wanted.lost >= 0) known = wanted.lost;
  return {
      .wanted = wanted, .choice = choose_offset(known, ends, start), .committed = committed.offset};
}

}  // namespace

Beginnings find_beginnings(rd_kafka_t* consumer, const Wanted& wanted, KafkaConfig::Start start) {
  Beginnings found;
  const Wanted there = those_there(consumer, wanted, found);
  if (there.empty()) return found;
  std::vector<kafka::PartitionId> ids;
  for (const BeginningWanted& one : there) ids.push_back(one.id);
  std::string_view code = pipe_code::kKafkaUnavailable;
  const auto ends = kafka::ends_of(consumer, ids, kBeginningsWithin, &code);
  const kafka::Partitions committed = kafka::list_of(ids);
  std::string message;
  if (!ends) {
    message = ends.error().message;
  } else if (const auto error = rd_kafka_committed(consumer, committed.get(),
                                                   static_cast<int>(kBeginningsWithin.count()));
             error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    code = kafka::code_of(error);
    message = "getting the committed offsets: " + kafka::to_text(error);
  }
  for (std::size_t i = 0; i < there.size(); ++i) {
    if (message.empty()) {
      found.push_back(begin_at(there[i], committed->elems[i], (*ends)[i], start));
    } else {
      not_found(found, there[i], code, message);
    }
  }
  return found;
}

}  // namespace pawl
