// What tests need of Kafka beside a consumer of their own: topic_tool COMMAND BROKERS …
//
//   create BROKERS TOPIC PARTITIONS [key=value…]    returns when every broker knows the topic
//   add-partitions BROKERS TOPIC PARTITIONS         so many as there shall be then
//   delete BROKERS TOPIC
//   delete-records BROKERS TOPIC PARTITION OFFSET   all before OFFSET (or `end`)
//   produce BROKERS TOPIC [--partition N] [--keys | --framed] [--timestamp MS] [--header
//   NAME=VALUE…] consume BROKERS TOPIC [--json]                  up to the end that each partition
//   has at the start commit BROKERS GROUP TOPIC PARTITION OFFSET     of a group that has no members
//   committed BROKERS GROUP TOPIC
//   watermarks BROKERS TOPIC
// Every command: [--timeout SECONDS] [-X key=value…] (settings of librdkafka). Options come after
// the command.
//
// produce reads messages from standard input and says how many were acknowledged by all replicas:
//   lines     a message each, without the newline; an empty line is an empty value
//   --keys    a line is KEY<tab>VALUE; a line without a tab has no key
//   --framed  key length, value length, key, value; lengths are 4 bytes, big-endian, -1 for null
// consume prints the values, one a line; with --json an object a line:
//   {"partition":0,"offset":3,"timestamp":1700000000000,"key":null,"headers":[["name","dmFsdWU="]],"value":"e30="}
// in which keys, values and the values of headers are base64 or null. committed prints
//   {"partition":0,"offset":null,"metadata":""}, watermarks {"partition":0,"low":0,"high":4}.
//
// Exit codes: 0 done, 1 Kafka refused, 2 usage, 3 the time-out passed.
#include <librdkafka/rdkafka.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/json_text.h"

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kRefused = 1;
constexpr int kUsage = 2;
constexpr int kLate = 3;
constexpr std::int32_t kFrameBytesMax = 1 << 28;
constexpr milliseconds kPause{50};

// Ends at once: to destroy a client whose broker is gone can take for ever.
[[noreturn]] void fail(int code, const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "topic_tool: %s\n", what.c_str());
  std::_Exit(code);
}

struct Arguments {
  std::string brokers, group, topic;
  int partitions = 0;
  int partition = RD_KAFKA_PARTITION_UA;
  std::string offset;
  std::int64_t timestamp_ms = 0;
  int timeout_s = 30;
  bool with_keys = false, is_framed = false, as_json = false;
  std::vector<std::string> settings, topic_settings, headers;
};

// When the command has to be done.
class Deadline {
 public:
  explicit Deadline(int seconds) : at_(Clock::now() + std::chrono::seconds(seconds)) {}

  int left_ms() const {
    const auto left = std::chrono::duration_cast<milliseconds>(at_ - Clock::now()).count();
    return static_cast<int>(std::max<std::int64_t>(left, 1));
  }

  // Fails when it has passed; else takes a short rest before the next try.
  void rest_or_fail(const std::string& attempted) const {
    if (Clock::now() >= at_) fail(kLate, attempted + ": the time-out passed");
    std::this_thread::sleep_for(kPause);
  }

 private:
  Clock::time_point at_;
};

template <auto destroy>
struct Destroy {
  template <typename T>
  void operator()(T* owned) const {
    destroy(owned);
  }
};
using Client = std::unique_ptr<rd_kafka_t, Destroy<rd_kafka_destroy>>;
using Queue = std::unique_ptr<rd_kafka_queue_t, Destroy<rd_kafka_queue_destroy>>;
using Event = std::unique_ptr<rd_kafka_event_t, Destroy<rd_kafka_event_destroy>>;
using Message = std::unique_ptr<rd_kafka_message_t, Destroy<rd_kafka_message_destroy>>;
using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, Destroy<rd_kafka_AdminOptions_destroy>>;
using Partitions = std::unique_ptr<rd_kafka_topic_partition_list_t,
                                   Destroy<rd_kafka_topic_partition_list_destroy>>;
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, Destroy<rd_kafka_metadata_destroy>>;

std::string text_of(rd_kafka_resp_err_t error) { return rd_kafka_err2str(error); }

std::pair<std::string, std::string> split(const std::string& pair) {
  const auto at = pair.find('=');
  if (at == std::string::npos || at == 0) fail(kUsage, "'" + pair + "' is not NAME=VALUE");
  return {pair.substr(0, at), pair.substr(at + 1)};
}

// ---- clients ----

using Settings = std::vector<std::pair<std::string, std::string>>;
using DeliveryReport = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void*);

struct ClientOptions {
  rd_kafka_type_t type = RD_KAFKA_CONSUMER;
  Settings settings = {};
  DeliveryReport on_delivery = nullptr;
  void* opaque = nullptr;
};

Client connect(const Arguments& arguments, const std::string& brokers, ClientOptions options) {
  options.settings.emplace_back("bootstrap.servers", brokers);
  options.settings.emplace_back("reconnect.backoff.max.ms", "500");
  // The broker that is asked first is often one that was just killed; that is no news here.
  options.settings.emplace_back("log_level", "2");
  for (const auto& setting : arguments.settings) options.settings.push_back(split(setting));
  auto* conf = rd_kafka_conf_new();
  std::array<char, 512> error{};
  for (const auto& [key, value] : options.settings)
    if (rd_kafka_conf_set(conf, key.c_str(), value.c_str(), error.data(), error.size()) !=
        RD_KAFKA_CONF_OK)
      fail(kUsage, error.data());
  rd_kafka_conf_set_opaque(conf, options.opaque);
  if (options.on_delivery != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, options.on_delivery);
  auto* client = rd_kafka_new(options.type, conf, error.data(), error.size());
  if (client == nullptr) fail(kUsage, error.data());
  return Client(client);
}

Client connect(const Arguments& arguments) {
  return connect(arguments, arguments.brokers, {.type = RD_KAFKA_PRODUCER});
}

Client connect_as_consumer(const Arguments& arguments) {
  const auto group = arguments.group.empty() ? "topic_tool" : arguments.group;
  auto client = connect(arguments, arguments.brokers,
                        {.type = RD_KAFKA_CONSUMER,
                         .settings = {{"group.id", group},
                                      {"enable.auto.commit", "false"},
                                      {"enable.partition.eof", "true"},
                                      {"auto.offset.reset", "error"}}});
  rd_kafka_poll_set_consumer(client.get());
  return client;
}

// The number of partitions, if every one has a leader; 0 when the broker knows no such topic.
// nullopt: it cannot be said now. Asking for all topics never creates one.
std::optional<int> partitions_of(rd_kafka_t* client, const std::string& topic, int timeout_ms) {
  const rd_kafka_metadata_t* found = nullptr;
  if (rd_kafka_metadata(client, 1, nullptr, &found, timeout_ms) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return std::nullopt;
  const Metadata metadata(found);
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const auto& one = metadata->topics[i];
    if (topic != one.topic) continue;
    if (one.err != RD_KAFKA_RESP_ERR_NO_ERROR) return std::nullopt;
    for (int j = 0; j < one.partition_cnt; ++j)
      if (one.partitions[j].leader < 0) return std::nullopt;
    return one.partition_cnt;
  }
  return 0;
}

// Waits until the partitions have leaders.
int partitions_or_fail(rd_kafka_t* client, const Arguments& arguments, const Deadline& deadline) {
  while (true) {
    const auto count = partitions_of(client, arguments.topic, std::min(deadline.left_ms(), 2'000));
    if (count == 0) fail(kRefused, "no topic is called '" + arguments.topic + "'");
    if (count) return *count;
    deadline.rest_or_fail("asking for the partitions of '" + arguments.topic + "'");
  }
}

// An admin call returns before all brokers know of its outcome: asks each by itself.
void wait_until_known(const Arguments& arguments, int partitions, const Deadline& deadline) {
  for (std::size_t at = 0; at < arguments.brokers.size();) {
    const auto end = std::min(arguments.brokers.find(',', at), arguments.brokers.size());
    const auto broker = arguments.brokers.substr(at, end - at);
    at = end + 1;
    const auto client = connect(arguments, broker, {.type = RD_KAFKA_PRODUCER});
    while (partitions_of(client.get(), arguments.topic, std::min(deadline.left_ms(), 2'000)) !=
           partitions)
      deadline.rest_or_fail("waiting for broker " + broker + " to know '" + arguments.topic + "'");
  }
}

// ---- admin calls ----

// Carries out one admin call and returns what the brokers answered.
Event administer(rd_kafka_t* client, rd_kafka_admin_op_t operation, const Deadline& deadline,
                 const std::function<void(rd_kafka_AdminOptions_t*, rd_kafka_queue_t*)>& call) {
  const AdminOptions options(rd_kafka_AdminOptions_new(client, operation));
  std::array<char, 512> error{};
  const int timeout_ms = deadline.left_ms();
  if (rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, error.data(),
                                                error.size()) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_AdminOptions_set_operation_timeout(options.get(), timeout_ms, error.data(),
                                                  error.size()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    fail(kUsage, error.data());
  const Queue queue(rd_kafka_queue_new(client));
  call(options.get(), queue.get());
  Event event(rd_kafka_queue_poll(queue.get(), timeout_ms + 1'000));
  if (event == nullptr) fail(kLate, "the brokers did not answer before the time-out");
  const auto code = rd_kafka_event_error(event.get());
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    fail(code == RD_KAFKA_RESP_ERR__TIMED_OUT ? kLate : kRefused,
         rd_kafka_event_error_string(event.get()));
  return event;
}

void expect_success(const rd_kafka_topic_result_t* const* results, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (rd_kafka_topic_result_error(results[i]) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      const auto* said = rd_kafka_topic_result_error_string(results[i]);
      fail(kRefused,
           std::string(rd_kafka_topic_result_name(results[i])) + ": " +
               (said != nullptr ? said : text_of(rd_kafka_topic_result_error(results[i]))));
    }
}

void create(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect(arguments);
  std::array<char, 512> error{};
  auto* topic = rd_kafka_NewTopic_new(arguments.topic.c_str(), arguments.partitions, -1,
                                      error.data(), error.size());
  if (topic == nullptr) fail(kUsage, error.data());
  for (const auto& setting : arguments.topic_settings) {
    const auto [key, value] = split(setting);
    rd_kafka_NewTopic_set_config(topic, key.c_str(), value.c_str());
  }
  const auto event = administer(client.get(), RD_KAFKA_ADMIN_OP_CREATETOPICS, deadline,
                                [&](rd_kafka_AdminOptions_t* options, rd_kafka_queue_t* queue) {
                                  rd_kafka_CreateTopics(client.get(), &topic, 1, options, queue);
                                });
  rd_kafka_NewTopic_destroy(topic);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  expect_success(results, count);
  wait_until_known(arguments, arguments.partitions, deadline);
}

void add_partitions(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect(arguments);
  std::array<char, 512> error{};
  auto* wanted = rd_kafka_NewPartitions_new(arguments.topic.c_str(),
                                            static_cast<std::size_t>(arguments.partitions),
                                            error.data(), error.size());
  if (wanted == nullptr) fail(kUsage, error.data());
  const auto event =
      administer(client.get(), RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, deadline,
                 [&](rd_kafka_AdminOptions_t* options, rd_kafka_queue_t* queue) {
                   rd_kafka_CreatePartitions(client.get(), &wanted, 1, options, queue);
                 });
  rd_kafka_NewPartitions_destroy(wanted);
  std::size_t count = 0;
  const auto* results = rd_kafka_CreatePartitions_result_topics(
      rd_kafka_event_CreatePartitions_result(event.get()), &count);
  expect_success(results, count);
  wait_until_known(arguments, arguments.partitions, deadline);
}

void delete_topic(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect(arguments);
  auto* topic = rd_kafka_DeleteTopic_new(arguments.topic.c_str());
  const auto event = administer(client.get(), RD_KAFKA_ADMIN_OP_DELETETOPICS, deadline,
                                [&](rd_kafka_AdminOptions_t* options, rd_kafka_queue_t* queue) {
                                  rd_kafka_DeleteTopics(client.get(), &topic, 1, options, queue);
                                });
  rd_kafka_DeleteTopic_destroy(topic);
  std::size_t count = 0;
  const auto* results =
      rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event.get()), &count);
  expect_success(results, count);
  wait_until_known(arguments, 0, deadline);
}

std::int64_t offset_of(const Arguments& arguments) {
  if (arguments.offset == "end") return RD_KAFKA_OFFSET_END;
  std::int64_t offset = 0;
  const auto* end = arguments.offset.data() + arguments.offset.size();
  const auto read = std::from_chars(arguments.offset.data(), end, offset);
  if (read.ec != std::errc{} || read.ptr != end || offset < 0)
    fail(kUsage, "'" + arguments.offset + "' is no offset");
  return offset;
}

Partitions one_partition(const Arguments& arguments, std::int64_t offset) {
  Partitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), arguments.topic.c_str(), arguments.partition)
      ->offset = offset;
  return list;
}

void expect_success(const rd_kafka_topic_partition_list_t& list) {
  for (int i = 0; i < list.cnt; ++i)
    if (list.elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR)
      fail(kRefused, std::string(list.elems[i].topic) + "/" +
                         std::to_string(list.elems[i].partition) + ": " +
                         text_of(list.elems[i].err));
}

void delete_records(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect(arguments);
  const auto before = one_partition(arguments, offset_of(arguments));
  auto* records = rd_kafka_DeleteRecords_new(before.get());
  const auto event = administer(client.get(), RD_KAFKA_ADMIN_OP_DELETERECORDS, deadline,
                                [&](rd_kafka_AdminOptions_t* options, rd_kafka_queue_t* queue) {
                                  rd_kafka_DeleteRecords(client.get(), &records, 1, options, queue);
                                });
  rd_kafka_DeleteRecords_destroy(records);
  expect_success(
      *rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event.get())));
}

// ---- produce ----

struct Read {
  std::optional<std::string> key, value;
};

std::optional<Read> read_line(std::string& line, bool with_key) {
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (!with_key) return Read{std::nullopt, line};
  const auto tab = line.find('\t');
  if (tab == std::string::npos) return Read{std::nullopt, line};
  return Read{line.substr(0, tab), line.substr(tab + 1)};
}

std::optional<std::string> read_bytes(std::int32_t length) {
  if (length == -1) return std::nullopt;
  if (length < 0 || length > kFrameBytesMax)
    fail(kUsage, "a frame says that it has " + std::to_string(length) + " bytes");
  std::string bytes(static_cast<std::size_t>(length), '\0');
  if (!std::cin.read(bytes.data(), length)) fail(kUsage, "standard input ends within a frame");
  return bytes;
}

std::optional<Read> read_frame() {
  std::array<unsigned char, 8> head{};
  std::cin.read(reinterpret_cast<char*>(head.data()), head.size());
  if (std::cin.gcount() == 0) return std::nullopt;
  if (!std::cin) fail(kUsage, "standard input ends within a frame");
  const auto length = [&](std::size_t at) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) bits = bits << 8 | head[at + i];
    return static_cast<std::int32_t>(bits);
  };
  auto key = read_bytes(length(0));
  return Read{std::move(key), read_bytes(length(4))};
}

struct Deliveries {
  std::uint64_t acknowledged = 0, failed = 0;
};

void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  auto& deliveries = *static_cast<Deliveries*>(opaque);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    ++deliveries.acknowledged;
  } else if (++deliveries.failed <= 10) {
    std::fprintf(stderr, "topic_tool: a message of %zu bytes was not taken: %s\n", message->len,
                 rd_kafka_err2str(message->err));
  }
}

// What all messages have in common; a message adds its key and value.
struct Envelope {
  explicit Envelope(const Arguments& arguments) : topic(arguments.topic) {
    for (const auto& header : arguments.headers) headers.push_back(split(header));
    add(RD_KAFKA_VTYPE_TOPIC).u.cstr = topic.c_str();
    add(RD_KAFKA_VTYPE_PARTITION).u.i32 = arguments.partition;
    add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY;
    add(RD_KAFKA_VTYPE_TIMESTAMP).u.i64 = arguments.timestamp_ms;
    for (const auto& [name, value] : headers) {
      auto& header = add(RD_KAFKA_VTYPE_HEADER).u.header;
      header.name = name.c_str();
      header.val = value.data();
      header.size = static_cast<ssize_t>(value.size());
    }
  }

  rd_kafka_vu_t& add(rd_kafka_vtype_t type) {
    parts.emplace_back().vtype = type;
    return parts.back();
  }

  std::string topic;
  Settings headers;
  std::vector<rd_kafka_vu_t> parts;
};

// Without an address it is null for the client; an empty one has one.
void add_bytes(Envelope& envelope, rd_kafka_vtype_t type, std::optional<std::string>& bytes) {
  auto& memory = envelope.add(type).u.mem;
  memory.ptr = bytes ? bytes->data() : nullptr;
  memory.size = bytes ? bytes->size() : 0;
}

// Hands one message to the client, and waits while its queue is full.
void send(rd_kafka_t* client, Envelope& envelope, Read& read) {
  const auto common = envelope.parts.size();
  add_bytes(envelope, RD_KAFKA_VTYPE_KEY, read.key);
  add_bytes(envelope, RD_KAFKA_VTYPE_VALUE, read.value);
  while (auto* error = rd_kafka_produceva(client, envelope.parts.data(), envelope.parts.size())) {
    if (rd_kafka_error_code(error) != RD_KAFKA_RESP_ERR__QUEUE_FULL)
      fail(kRefused, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    rd_kafka_poll(client, 100);
  }
  envelope.parts.resize(common);
  rd_kafka_poll(client, 0);
}

void produce(const Arguments& arguments, const Deadline& deadline) {
  Deliveries deliveries;
  // A batch above the topic's max.message.bytes fails as a whole even if each message fits.
  const auto client =
      connect(arguments, arguments.brokers,
              {.type = RD_KAFKA_PRODUCER,
               .settings = {{"enable.idempotence", "true"},
                            {"linger.ms", "5"},
                            {"batch.size", "500000"},
                            {"message.max.bytes", "300000000"},
                            {"message.timeout.ms", std::to_string(deadline.left_ms())}},
               .on_delivery = on_delivery,
               .opaque = &deliveries});
  // To a topic that is missing the client would go on for long.
  const int partitions = partitions_or_fail(client.get(), arguments, deadline);
  if (arguments.partition >= partitions)
    fail(kRefused,
         "'" + arguments.topic + "' has only " + std::to_string(partitions) + " partitions");
  Envelope envelope(arguments);
  std::string line;
  std::uint64_t sent = 0;
  while (auto read = arguments.is_framed ? read_frame() : read_line(line, arguments.with_keys)) {
    send(client.get(), envelope, *read);
    ++sent;
  }
  // What the client still has ends by message.timeout.ms, one way or the other.
  rd_kafka_flush(client.get(), arguments.timeout_s * 1'000 + 1'000);
  std::printf("%llu\n", static_cast<unsigned long long>(deliveries.acknowledged));
  if (deliveries.acknowledged != sent)
    fail(kRefused, std::to_string(sent - deliveries.acknowledged) + " of " + std::to_string(sent) +
                       " messages were not acknowledged");
}

// ---- consume ----

struct Watermarks {
  std::int64_t low = 0, high = 0;
};

// The offset at RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END of each partition. As
// rd_kafka_query_watermark_offsets does it, which ignores its time-out.
std::vector<std::int64_t> offsets_at(rd_kafka_t* client, const Arguments& arguments, int count,
                                     std::int64_t logical, const Deadline& deadline) {
  while (true) {
    const Partitions list(rd_kafka_topic_partition_list_new(count));
    for (int i = 0; i < count; ++i)
      rd_kafka_topic_partition_list_add(list.get(), arguments.topic.c_str(), i)->offset = logical;
    auto error =
        rd_kafka_offsets_for_times(client, list.get(), std::min(deadline.left_ms(), 2'000));
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(count));
    for (int i = 0; i < list->cnt; ++i) {
      if (list->elems[i].err != RD_KAFKA_RESP_ERR_NO_ERROR) error = list->elems[i].err;
      offsets[static_cast<std::size_t>(list->elems[i].partition)] = list->elems[i].offset;
    }
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return offsets;
    deadline.rest_or_fail("asking for the offsets of '" + arguments.topic + "' (" + text_of(error) +
                          ")");
    partitions_or_fail(client, arguments, deadline);  // else it goes on to ask a dead leader
  }
}

std::vector<Watermarks> watermarks_of(rd_kafka_t* client, const Arguments& arguments,
                                      const Deadline& deadline) {
  const int count = partitions_or_fail(client, arguments, deadline);
  const auto low = offsets_at(client, arguments, count, RD_KAFKA_OFFSET_BEGINNING, deadline);
  const auto high = offsets_at(client, arguments, count, RD_KAFKA_OFFSET_END, deadline);
  std::vector<Watermarks> marks;
  for (std::size_t i = 0; i < low.size(); ++i) marks.push_back({low[i], high[i]});
  return marks;
}

void watermarks(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect_as_consumer(arguments);
  const auto marks = watermarks_of(client.get(), arguments, deadline);
  for (std::size_t i = 0; i < marks.size(); ++i)
    std::printf("{\"partition\":%zu,\"low\":%lld,\"high\":%lld}\n", i,
                static_cast<long long>(marks[i].low), static_cast<long long>(marks[i].high));
}

std::string base64(const void* bytes, std::size_t count) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto* in = static_cast<const unsigned char*>(bytes);
  std::string out;
  out.reserve((count + 2) / 3 * 4);
  for (std::size_t i = 0; i < count; i += 3) {
    const std::uint32_t three = static_cast<std::uint32_t>(in[i]) << 16 |
                                (i + 1 < count ? static_cast<std::uint32_t>(in[i + 1]) << 8 : 0U) |
                                (i + 2 < count ? in[i + 2] : 0U);
    out += kDigits[three >> 18];
    out += kDigits[three >> 12 & 63];
    out += i + 1 < count ? kDigits[three >> 6 & 63] : '=';
    out += i + 2 < count ? kDigits[three & 63] : '=';
  }
  return out;
}

std::string json_bytes(const void* bytes, std::size_t count) {
  return bytes == nullptr ? "null" : '"' + base64(bytes, count) + '"';
}

std::string json_headers(const rd_kafka_message_t& message) {
  rd_kafka_headers_t* headers = nullptr;
  std::string out = "[";
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    const char* name = nullptr;
    const void* value = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i)
      out += (i == 0 ? "[" : ",[") + pawl::json_string(name) + ',' + json_bytes(value, size) + ']';
  }
  return out + ']';
}

void print_json(const rd_kafka_message_t& message) {
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const auto timestamp_ms = rd_kafka_message_timestamp(&message, &type);
  std::string line = "{\"partition\":" + std::to_string(message.partition);
  line += ",\"offset\":" + std::to_string(message.offset);
  line += ",\"timestamp\":" + std::to_string(timestamp_ms);
  line += ",\"key\":" + json_bytes(message.key, message.key_len);
  line += ",\"headers\":" + json_headers(message);
  line += ",\"value\":" + json_bytes(message.payload, message.len) + "}\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
}

void print_value(const rd_kafka_message_t& message) {
  std::fwrite(message.payload, 1, message.len, stdout);
  std::fputc('\n', stdout);
}

// The partitions that are not read to their end yet, with that end.
using Unfinished = std::map<int, std::int64_t>;

Unfinished assign(rd_kafka_t* client, const Arguments& arguments, const Deadline& deadline) {
  const auto marks = watermarks_of(client, arguments, deadline);
  const Partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(marks.size())));
  Unfinished unfinished;
  for (int i = 0; i < static_cast<int>(marks.size()); ++i) {
    const auto& [low, high] = marks[static_cast<std::size_t>(i)];
    if (low >= high) continue;
    rd_kafka_topic_partition_list_add(list.get(), arguments.topic.c_str(), i)->offset = low;
    unfinished[i] = high;
  }
  const auto error = rd_kafka_assign(client, list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(kRefused, text_of(error));
  return unfinished;
}

// Takes what the client says: a message, the end of a partition, or an error. The end may be one
// before the high watermark's message: offsets of transactions carry none.
void take(const rd_kafka_message_t& said, const Arguments& arguments, Unfinished& unfinished) {
  if (said.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    unfinished.erase(said.partition);
    return;
  }
  if (said.err != RD_KAFKA_RESP_ERR_NO_ERROR) fail(kRefused, rd_kafka_message_errstr(&said));
  const auto found = unfinished.find(said.partition);
  if (found == unfinished.end() || said.offset >= found->second) return;  // came after the start
  arguments.as_json ? print_json(said) : print_value(said);
  if (said.offset + 1 >= found->second) unfinished.erase(found);
}

void consume(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect_as_consumer(arguments);
  auto unfinished = assign(client.get(), arguments, deadline);
  auto alive = Deadline(arguments.timeout_s);  // the time-out begins anew with each message
  while (!unfinished.empty()) {
    const Message said(rd_kafka_consumer_poll(client.get(), 1'000));
    if (said != nullptr) {
      take(*said, arguments, unfinished);
      alarm(static_cast<unsigned>(arguments.timeout_s) + 5);
      alive = Deadline(arguments.timeout_s);
    } else {
      alive.rest_or_fail("waiting for messages of '" + arguments.topic + "'");
    }
  }
}

// ---- groups ----

void commit(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect_as_consumer(arguments);
  const auto offset = offset_of(arguments);
  if (offset < 0) fail(kUsage, "a group commits an offset, not '" + arguments.offset + "'");
  const auto wanted = one_partition(arguments, offset);
  const Queue queue(rd_kafka_queue_new(client.get()));
  const auto error =
      rd_kafka_commit_queue(client.get(), wanted.get(), queue.get(), nullptr, nullptr);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) fail(kRefused, text_of(error));
  const Event event(rd_kafka_queue_poll(queue.get(), deadline.left_ms()));
  if (event == nullptr) fail(kLate, "the group's coordinator did not answer before the time-out");
  if (rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    fail(kRefused, text_of(rd_kafka_event_error(event.get())));
  expect_success(*rd_kafka_event_topic_partition_list(event.get()));
}

Partitions committed_of(rd_kafka_t* client, const Arguments& arguments, int count,
                        const Deadline& deadline) {
  while (true) {
    Partitions list(rd_kafka_topic_partition_list_new(count));
    rd_kafka_topic_partition_list_add_range(list.get(), arguments.topic.c_str(), 0, count - 1);
    const auto error = rd_kafka_committed(client, list.get(), std::min(deadline.left_ms(), 5'000));
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return list;
    deadline.rest_or_fail("asking for the offsets of group '" + arguments.group + "' (" +
                          text_of(error) + ")");
  }
}

void committed(const Arguments& arguments, const Deadline& deadline) {
  const auto client = connect_as_consumer(arguments);
  const int count = partitions_or_fail(client.get(), arguments, deadline);
  const auto list = committed_of(client.get(), arguments, count, deadline);
  expect_success(*list);
  for (int i = 0; i < list->cnt; ++i) {
    const auto& one = list->elems[i];
    const auto offset = one.offset >= 0 ? std::to_string(one.offset) : "null";
    const auto metadata =
        pawl::json_string({static_cast<const char*>(one.metadata), one.metadata_size});
    std::printf("{\"partition\":%d,\"offset\":%s,\"metadata\":%s}\n", one.partition, offset.c_str(),
                metadata.c_str());
  }
}

// ---- the command line ----

using Run = void (*)(const Arguments&, const Deadline&);

CLI::App* add_command(CLI::App& app, const std::string& name, Run run, Arguments& arguments,
                      Run& chosen) {
  auto* command = app.add_subcommand(name);
  command->add_option("BROKERS", arguments.brokers)->required();
  if (run == commit || run == committed) command->add_option("GROUP", arguments.group)->required();
  command->add_option("TOPIC", arguments.topic)->required();
  command->add_option("--timeout", arguments.timeout_s)->check(CLI::Range(1, 3'600));
  command->add_option("-X", arguments.settings)->allow_extra_args(false);
  command->callback([&chosen, run] { chosen = run; });
  return command;
}

void add_commands(CLI::App& app, Arguments& arguments, Run& chosen) {
  const auto add = [&](const std::string& name, Run run) {
    return add_command(app, name, run, arguments, chosen);
  };
  const auto partitions_range = CLI::Range(1, 10'000);
  const auto partition_range = CLI::Range(0, 10'000);

  auto* command = add("create", create);
  command->add_option("PARTITIONS", arguments.partitions)->required()->check(partitions_range);
  command->add_option("SETTINGS", arguments.topic_settings);
  command = add("add-partitions", add_partitions);
  command->add_option("PARTITIONS", arguments.partitions)->required()->check(partitions_range);
  add("delete", delete_topic);
  command = add("delete-records", delete_records);
  command->add_option("PARTITION", arguments.partition)->required()->check(partition_range);
  command->add_option("OFFSET", arguments.offset)->required();

  command = add("produce", produce);
  command->add_option("--partition", arguments.partition)->check(partition_range);
  command->add_option("--timestamp", arguments.timestamp_ms);
  command->add_option("--header", arguments.headers)->allow_extra_args(false);
  auto* keys = command->add_flag("--keys", arguments.with_keys);
  command->add_flag("--framed", arguments.is_framed)->excludes(keys);
  command = add("consume", consume);
  command->add_flag("--json", arguments.as_json);

  command = add("commit", commit);
  command->add_option("PARTITION", arguments.partition)->required()->check(partition_range);
  command->add_option("OFFSET", arguments.offset)->required();
  add("committed", committed);
  add("watermarks", watermarks);
}

// The net below every time-out: calls of the client that ignore theirs.
void on_alarm(int) {
  constexpr std::string_view kText = "topic_tool: the time-out passed\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText.data(), kText.size());
  std::_Exit(kLate);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): only if an option were declared twice
int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  Arguments arguments;
  Run chosen = nullptr;
  CLI::App app("What tests need of Kafka beside a consumer of their own");
  app.require_subcommand(1);
  add_commands(app, arguments, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  std::signal(SIGALRM, on_alarm);
  // produce takes as long as standard input gives messages; they have a time-out each.
  if (chosen != produce) alarm(static_cast<unsigned>(arguments.timeout_s) + 5);
  chosen(arguments, Deadline(arguments.timeout_s));
  return std::fflush(stdout) == 0 ? 0 : kRefused;
}
