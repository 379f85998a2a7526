#include "pipe/topic_reader.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/text.h"
#include "pipe/pipe_codes.h"

namespace pawl::kafka {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

class TopicReader {
 public:
  TopicReader(Client client, const std::string& topic, const TopicReading& reading)
      : client_(std::move(client)), topic_(topic), reading_(reading) {}

  Result<void> read() {
    PAWL_CHECK(begin());
    auto heard_at = steady_clock::now();
    auto told_at = heard_at;
    while (!open_.empty()) {
      const Message message(rd_kafka_consumer_poll(client_.get(), 100));
      const auto now = steady_clock::now();
      if (message != nullptr && is_there(*message)) {
        take(*message);
        heard_at = now;
      } else if (message != nullptr && !is_for_later(message->err)) {
        return failed(message->err);
      } else if (now - heard_at > reading_.patience) {
        return failed(RD_KAFKA_RESP_ERR__TIMED_OUT);
      }
      if (!reading_.progress || now - told_at < seconds{1}) continue;
      reading_.progress(done_, all_);
      told_at = now;
    }
    return {};
  }

 private:
  Result<void> begin() {
    PAWL_TRY(const auto partitions, partitions_of(client_.get(), topic_, reading_.patience));
    std::vector<PartitionId> ids;
    for (const std::int32_t partition :
         reading_.partitions.empty() ? partitions : reading_.partitions)
      ids.push_back({topic_, partition});
    PAWL_TRY(auto ends, ends_of(client_.get(), ids, reading_.patience));
    if (reading_.last) {
      const auto counts = last_of_each(ends, *reading_.last);
      for (std::size_t i = 0; i < ends.size(); ++i) ends[i].low = ends[i].high - counts[i];
    }
    const Partitions assigned(rd_kafka_topic_partition_list_new(static_cast<int>(ids.size())));
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (ends[i].low >= ends[i].high) continue;
      open_.emplace(ids[i].partition, ends[i]);
      all_ += ends[i].high - ends[i].low;
      rd_kafka_topic_partition_list_add(assigned.get(), topic_.c_str(), ids[i].partition)->offset =
          ends[i].low;
    }
    if (const auto error = rd_kafka_assign(client_.get(), assigned.get());
        error != RD_KAFKA_RESP_ERR_NO_ERROR)
      return failed(error);
    return {};
  }

  static bool is_there(const rd_kafka_message_t& message) {
    return message.err == RD_KAFKA_RESP_ERR_NO_ERROR ||
           message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  }

  // librdkafka tries again by itself.
  static bool is_for_later(rd_kafka_resp_err_t error) {
    const std::string_view code = code_of(error);
    return code == pipe_code::kKafkaUnavailable || code == pipe_code::kNetwork;
  }

  // The last offsets may be those of messages that are gone (compaction) or were never any
  // (transactions): then the end of the partition is the sign.
  void take(const rd_kafka_message_t& message) {
    const auto found = open_.find(message.partition);
    if (found == open_.end()) return;
    Ends& left = found->second;
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR && message.offset < left.high) {
      reading_.message(message);
      done_ += message.offset + 1 - left.low;
      left.low = message.offset + 1;
      if (left.low < left.high) return;
    }
    done_ += left.high - left.low;
    open_.erase(found);
  }

  Error failed(rd_kafka_resp_err_t error) const {
    return {ErrorCode::environment,
            "the topic " + in_ticks(topic_) + " could not be read to its end: " + to_text(error)};
  }

  const Client client_;
  const std::string topic_;
  const TopicReading& reading_;
  std::map<std::int32_t, Ends> open_;  // what is left of each partition
  std::int64_t done_ = 0;
  std::int64_t all_ = 0;
};

}  // namespace

std::vector<std::int64_t> last_of_each(const std::vector<Ends>& ends, std::int64_t all) {
  std::vector<std::int64_t> counts(ends.size());
  // Those with the fewest first: what they do not have is left to the others.
  std::vector<std::size_t> order(ends.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size = [&](std::size_t i) {
    return std::max<std::int64_t>(0, ends[i].high - ends[i].low);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) < size(b); });
  for (std::size_t at = 0; at < order.size(); ++at) {
    const auto others = static_cast<std::int64_t>(order.size() - at);
    counts[order[at]] = std::min(size(order[at]), all / others);
    all -= counts[order[at]];
  }
  return counts;
}

Result<void> read_topic(const KafkaConfig& config, const std::string& topic,
                        const TopicReading& reading) {
  // Without the name of a group librdkafka assigns nothing; it is never joined.
  PAWL_TRY(Conf conf, make_conf(config, {{"group.id", "pawl-reader"},
                                         {"enable.auto.commit", "false"},
                                         {"auto.offset.reset", "earliest"},
                                         {"enable.partition.eof", "true"},
                                         {"reconnect.backoff.max.ms", "1000"}}));
  PAWL_TRY(Client client, make_client(RD_KAFKA_CONSUMER, std::move(conf)));
  rd_kafka_poll_set_consumer(client.get());
  return TopicReader(std::move(client), topic, reading).read();
}

}  // namespace pawl::kafka
