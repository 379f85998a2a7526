#include "pipe/kafka.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "pipe/pipe_codes.h"

namespace pawl::kafka {
namespace {

using std::chrono::milliseconds;

// Empty when it was taken; else what librdkafka says.
std::string set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  std::array<char, 512> said{};
  const auto answer =
      rd_kafka_conf_set(conf, name.c_str(), value.c_str(), said.data(), said.size());
  if (answer == RD_KAFKA_CONF_OK) return "";
  return said.front() == '\0' ? "it gives no reason" : said.data();
}

Result<void> take_option(rd_kafka_conf_t* conf, const KafkaConfig::Option& option) {
  std::string value = option.value;
  if (option.secret) {
    auto read = option.secret->read();
    if (!read) return Error{read.error().code, read.error().message, option.at};
    value = *std::move(read);
  }
  const std::string refused = set(conf, option.name, value);
  if (refused.empty()) return {};
  // librdkafka repeats the value.
  const std::string why = option.secret ? "" : ": " + refused;
  return Error{ErrorCode::bad_input,
               "librdkafka rejects the option " + in_ticks(option.name) + why +
                   "; see CONFIGURATION.md of librdkafka for its options",
               option.at};
}

Error fail(rd_kafka_resp_err_t error, const std::string& attempted, std::string_view* code) {
  if (code != nullptr) *code = code_of(error);
  return {ErrorCode::environment, attempted + ": " + to_text(error)};
}

// Milliseconds as librdkafka takes them; it reads a negative number as for ever.
int at_most_ms(milliseconds at_most) {
  return static_cast<int>(std::clamp<milliseconds::rep>(at_most.count(), 0, 86'400'000));
}

// The offsets that answer to a point in time of all partitions: librdkafka hands the time on to the
// brokers, which know two that are none. `rd_kafka_query_watermark_offsets` would ask for one
// partition a call, and waits for ever when the leader it remembers is gone (2.0.2).
Result<std::vector<std::int64_t>> offsets_at(rd_kafka_t* client,
                                             const std::vector<PartitionId>& partitions,
                                             std::int64_t time, milliseconds at_most,
                                             std::string_view* code) {
  const Partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const PartitionId& id : partitions)
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset = time;
  const auto error = rd_kafka_offsets_for_times(client, list.get(), at_most_ms(at_most));
  const std::string attempted = "cannot get the first and last offsets from the brokers";
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(error, attempted, code);

  std::vector<std::int64_t> offsets;
  for (const PartitionId& id : partitions) {
    const rd_kafka_topic_partition_t* const found =
        rd_kafka_topic_partition_list_find(list.get(), id.topic.c_str(), id.partition);
    if (found->err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return fail(found->err, attempted + " (" + to_text(id) + ")", code);
    // A broker that says nothing of a partition leaves what was asked.
    if (found->offset < 0)
      return fail(RD_KAFKA_RESP_ERR__NO_OFFSET, attempted + " (" + to_text(id) + ")", code);
    offsets.push_back(found->offset);
  }
  return offsets;
}

using Resource =
    std::unique_ptr<rd_kafka_ConfigResource_t, Destroy<rd_kafka_ConfigResource_destroy>>;
using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;

std::optional<std::int64_t> message_bytes_max(const rd_kafka_ConfigResource_t* resource) {
  std::size_t count = 0;
  const rd_kafka_ConfigEntry_t** const entries = rd_kafka_ConfigResource_configs(resource, &count);
  for (std::size_t i = 0; i < count; ++i) {
    const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr &&
        std::string_view(rd_kafka_ConfigEntry_name(entries[i])) == "max.message.bytes")
      return parse_whole(value);
  }
  return std::nullopt;
}

Error no_topic(const std::string& topic, std::string_view* code) {
  if (code != nullptr) *code = pipe_code::kTopicNotFound;
  return {ErrorCode::environment,
          "there is no topic " + in_ticks(topic) + " on the brokers, or this user may not see it"};
}

}  // namespace

Result<Conf> make_conf(const KafkaConfig& config, const std::vector<Setting>& settings) {
  Conf conf(rd_kafka_conf_new());
  rd_kafka_conf_set_log_cb(conf.get(), [](const rd_kafka_t*, int, const char*, const char*) {});
  std::vector<Setting> own{{"bootstrap.servers", config.brokers}};
  own.insert(own.end(), settings.begin(), settings.end());
  for (const auto& [name, value] : own)
    if (const std::string refused = set(conf.get(), name, value); !refused.empty())
      return Error{ErrorCode::bad_input, "librdkafka rejects " + in_ticks(name) + ": " + refused};
  for (const KafkaConfig::Option& option : config.options)
    PAWL_CHECK(take_option(conf.get(), option));
  return conf;
}

Result<Client> make_client(rd_kafka_type_t type, Conf conf) {
  std::array<char, 512> said{};
  Client client(rd_kafka_new(type, conf.get(), said.data(), said.size()));
  if (client == nullptr)
    return Error{ErrorCode::bad_input,
                 std::string("librdkafka does not start with these options: ") + said.data()};
  static_cast<void>(conf.release());  // it belongs to the client now
  return client;
}

std::string to_text(rd_kafka_resp_err_t error) {
  return std::string(rd_kafka_err2name(error)) + ": " + rd_kafka_err2str(error);
}

std::string_view code_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__QUEUE_FULL:  // of a producer whose broker does not keep up
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_LISTENER_NOT_FOUND:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS:
    case RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND:
    case RD_KAFKA_RESP_ERR__FATAL:  // of a producer, as what follows: it has to be made anew
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
      return pipe_code::kKafkaUnavailable;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
      return pipe_code::kTopicNotFound;
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      return pipe_code::kPartitionNotFound;
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
      return pipe_code::kMessageTooBig;
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR__NO_OFFSET:
      return pipe_code::kOffsetNotAvailable;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR__SSL:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
      return pipe_code::kNetwork;
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR_INVALID_MSG:
      return pipe_code::kInvalidFormat;
    default:
      return pipe_code::kUncategorised;
  }
}

SourceMessage view_of(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t kind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const std::int64_t time = rd_kafka_message_timestamp(&message, &kind);
  SourceMessage view{.topic = rd_kafka_topic_name(message.rkt),
                     .partition = message.partition,
                     .offset = message.offset,
                     .timestamp_ms = kind == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : time};
  if (message.key != nullptr)
    view.key = std::string_view(static_cast<const char*>(message.key), message.key_len);
  if (message.payload != nullptr)
    view.value = std::string_view(static_cast<const char*>(message.payload), message.len);
  return view;
}

KafkaMessage copy_of(const rd_kafka_message_t& message) {
  const SourceMessage view = view_of(message);
  KafkaMessage copy{.key = view.key ? std::optional<std::string>(*view.key) : std::nullopt,
                    .value = view.value ? std::optional<std::string>(*view.value) : std::nullopt};
  rd_kafka_headers_t* headers = nullptr;  // belongs to the message
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return copy;
  const char* name = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    auto& header = copy.headers.emplace_back(name, std::nullopt);
    if (value != nullptr) header.second = std::string(static_cast<const char*>(value), size);
  }
  return copy;
}

rd_kafka_resp_err_t produce(rd_kafka_t* producer, const std::string& topic, std::int32_t partition,
                            const KafkaMessage& message, void* opaque) {
  Headers headers(rd_kafka_headers_new(message.headers.size()));
  for (const auto& [name, value] : message.headers) {
    const auto error = rd_kafka_header_add(
        headers.get(), name.data(), static_cast<ssize_t>(name.size()),
        value ? value->data() : nullptr, value ? static_cast<ssize_t>(value->size()) : 0);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return error;
  }
  // A null is no pointer; what is empty has one. Nothing is written through them: they are copied.
  const auto pointer = [](const std::optional<std::string>& bytes) {
    return bytes ? const_cast<char*>(bytes->data()) : nullptr;
  };
  const auto size = [](const std::optional<std::string>& bytes) {
    return bytes ? bytes->size() : 0;
  };
  std::array<rd_kafka_vu_t, 7> parts{};
  parts[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  parts[0].u.cstr = topic.c_str();
  parts[1].vtype = RD_KAFKA_VTYPE_PARTITION;
  parts[1].u.i32 = partition;
  parts[2].vtype = RD_KAFKA_VTYPE_KEY;
  parts[2].u.mem = {pointer(message.key), size(message.key)};
  parts[3].vtype = RD_KAFKA_VTYPE_VALUE;
  parts[3].u.mem = {pointer(message.value), size(message.value)};
  parts[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  parts[4].u.i = RD_KAFKA_MSG_F_COPY;
  parts[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
  parts[5].u.ptr = opaque;
  parts[6].vtype = RD_KAFKA_VTYPE_HEADERS;
  parts[6].u.headers = headers.get();
  const KafkaError error(rd_kafka_produceva(producer, parts.data(), parts.size()));
  if (error != nullptr) return rd_kafka_error_code(error.get());
  static_cast<void>(headers.release());  // they belong to the message now
  return RD_KAFKA_RESP_ERR_NO_ERROR;
}

std::string to_text(const PartitionId& id) { return id.topic + "/" + std::to_string(id.partition); }

Partitions list_of(const std::vector<PartitionId>& ids) {
  Partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(ids.size())));
  for (const PartitionId& id : ids)
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition);
  return list;
}

std::vector<PartitionId> ids_of(const rd_kafka_topic_partition_list_t* list) {
  std::vector<PartitionId> ids;
  for (int i = 0; list != nullptr && i < list->cnt; ++i)
    ids.push_back({list->elems[i].topic, list->elems[i].partition});
  return ids;
}

Result<std::vector<std::int32_t>> partitions_of(rd_kafka_t* client, const std::string& topic,
                                                milliseconds at_most, std::string_view* code) {
  const std::string attempted =
      "cannot get the partitions of " + in_ticks(topic) + " from the brokers";
  const Topic named(rd_kafka_topic_new(client, topic.c_str(), nullptr));
  if (named == nullptr) return fail(rd_kafka_last_error(), attempted, code);
  const rd_kafka_metadata_t* answer = nullptr;
  const auto error = rd_kafka_metadata(client, 0, named.get(), &answer, at_most_ms(at_most));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return fail(error, attempted, code);
  const Metadata metadata(answer);
  if (metadata->topic_cnt != 1) return no_topic(topic, code);
  const rd_kafka_metadata_topic& found = metadata->topics[0];
  if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR)
    return code_of(found.err) == pipe_code::kTopicNotFound ? no_topic(topic, code)
                                                           : fail(found.err, attempted, code);
  std::vector<std::int32_t> partitions;
  for (int i = 0; i < found.partition_cnt; ++i) partitions.push_back(found.partitions[i].id);
  std::sort(partitions.begin(), partitions.end());
  if (partitions.empty()) return no_topic(topic, code);
  return partitions;
}

Result<std::vector<Ends>> ends_of(rd_kafka_t* client, const std::vector<PartitionId>& partitions,
                                  milliseconds at_most, std::string_view* code) {
  const auto until = std::chrono::steady_clock::now() + at_most;
  // The beginning first: the end only grows, so that it is never before it.
  PAWL_TRY(const auto low,
           offsets_at(client, partitions, RD_KAFKA_OFFSET_BEGINNING, at_most, code));
  const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
  PAWL_TRY(const auto high, offsets_at(client, partitions, RD_KAFKA_OFFSET_END, left, code));
  std::vector<Ends> ends;
  for (std::size_t i = 0; i < partitions.size(); ++i) ends.push_back({low[i], high[i]});
  return ends;
}

std::vector<std::optional<std::int64_t>> message_bytes_max_of(
    rd_kafka_t* client, const std::vector<std::string>& topics, milliseconds at_most) {
  std::vector<std::optional<std::int64_t>> found(topics.size());
  std::vector<Resource> asked;
  std::vector<rd_kafka_ConfigResource_t*> pointers;
  for (const std::string& topic : topics) {
    asked.emplace_back(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    pointers.push_back(asked.back().get());
  }
  const AdminOptions options(rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS));
  std::array<char, 256> said{};
  if (rd_kafka_AdminOptions_set_request_timeout(options.get(), std::max(1, at_most_ms(at_most)),
                                                said.data(),
                                                said.size()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return found;
  const Queue queue(rd_kafka_queue_new(client));
  rd_kafka_DescribeConfigs(client, pointers.data(), pointers.size(), options.get(), queue.get());
  const Event event(rd_kafka_queue_poll(queue.get(), at_most_ms(at_most)));
  if (event == nullptr || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return found;
  const auto* const result = rd_kafka_event_DescribeConfigs_result(event.get());
  if (result == nullptr) return found;
  std::size_t count = 0;
  const rd_kafka_ConfigResource_t** const answers =
      rd_kafka_DescribeConfigs_result_resources(result, &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (rd_kafka_ConfigResource_error(answers[i]) != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const auto topic =
        std::find(topics.begin(), topics.end(), rd_kafka_ConfigResource_name(answers[i]));
    if (topic != topics.end())
      found[static_cast<std::size_t>(topic - topics.begin())] = message_bytes_max(answers[i]);
  }
  return found;
}

}  // namespace pawl::kafka
