#include "pipe/error_record.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/json_text.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

constexpr ErrorsConfig::Format kFormats[] = {ErrorsConfig::Format::headers,
                                             ErrorsConfig::Format::json};

ErrorRecord refused() {
  return {.pipe = "events",
          .code = std::string(pipe_code::kBulkItem),
          .reason = "failed to parse field [age]",
          .state = "load",
          .topic = "ev",
          .partition = 3,
          .offset = 1234,
          .timestamp_ms = 1'700'000'000'123,
          .index = "ev-2023",
          .id = "ev-3-1234",
          .es_status = 400,
          .es_type = "mapper_parsing_exception",
          .attempts = 2,
          .at = *parse_instant("2026-03-01T10:00:00.5Z"),
          .original = {.key = "k", .value = R"({"age":"x"})", .headers = {{"trace", "7"}}},
          .payload_bytes = 11};
}

std::optional<std::string> header(const KafkaMessage& message, const std::string& name) {
  for (const auto& [known, value] : message.headers)
    if (known == name) return value;
  return std::nullopt;
}

// All of it: there is no operator, and a test must see a field that is forgotten.
std::string shown(const ErrorRecord& record) {
  KafkaMessage all = write_error(record, {.format = ErrorsConfig::Format::headers});
  std::string text = *all.key;
  for (const auto& [name, value] : all.headers)
    text += "\n" + name + "=" + value.value_or("(null)");
  return text + "\n" + all.value.value_or("(null)");
}

TEST(ErrorRecord, KeepsTheValueUntouchedBesideHeaders) {
  const KafkaMessage message = write_error(refused(), {});
  EXPECT_EQ(message.key, "ev/3/1234");
  EXPECT_EQ(message.value, R"({"age":"x"})");
  const std::vector<std::pair<std::string, std::string>> kExpected = {
      {"pawl.code", "12"},
      {"pawl.error", "bulk_item"},
      {"pawl.reason", "failed to parse field [age]"},
      {"pawl.state", "load"},
      {"pawl.topic", "ev"},
      {"pawl.partition", "3"},
      {"pawl.offset", "1234"},
      {"pawl.timestamp", "1700000000123"},
      {"pawl.key", "k"},
      {"pawl.index", "ev-2023"},
      {"pawl.id", "ev-3-1234"},
      {"pawl.es_status", "400"},
      {"pawl.es_type", "mapper_parsing_exception"},
      {"pawl.attempts", "2"},
      {"pawl.retryable", "false"},
      {"pawl.pipe", "events"},
      {"pawl.at", "2026-03-01T10:00:00.5Z"},
      {"pawl.payload_bytes", "11"},
      {"orig.trace", "7"}};
  ASSERT_EQ(message.headers.size(), kExpected.size());
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    EXPECT_EQ(message.headers[i].first, kExpected[i].first);
    EXPECT_EQ(message.headers[i].second, kExpected[i].second);
  }
}

TEST(ErrorRecord, IsOneJsonMapForPeople) {
  const KafkaMessage message = write_error(refused(), {.format = ErrorsConfig::Format::json});
  EXPECT_EQ(message.key, "ev/3/1234");
  EXPECT_TRUE(message.headers.empty());
  EXPECT_EQ(
      message.value,
      R"({"v":1,"code":12,"error":"bulk_item","reason":"failed to parse field [age]","state":"load",)"
      R"("source":{"topic":"ev","partition":3,"offset":1234,"timestamp":1700000000123,"key":"k",)"
      R"("headers":[{"name":"trace","value":"7"}]},)"
      R"("es":{"status":400,"type":"mapper_parsing_exception","index":"ev-2023","id":"ev-3-1234"},)"
      R"("attempts":2,"retryable":false,"pipe":"events","at":"2026-03-01T10:00:00.5Z",)"
      R"("payload":"{\"age\":\"x\"}","payload_enc":"utf8","payload_bytes":11})");
}

TEST(ErrorRecord, HasBytesThatAreNoTextInBase64) {
  ErrorRecord record = refused();
  record.original.value = "\xff\x01";
  const KafkaMessage message = write_error(record, {.format = ErrorsConfig::Format::json});
  EXPECT_NE(message.value->find(R"("payload":"/wE=","payload_enc":"base64","payload_bytes":2)"),
            std::string::npos)
      << *message.value;
}

TEST(ErrorRecord, OmitsThePayloadAndSaysHowMuchItWas) {
  ErrorRecord record = refused();
  record.payload_omitted = true;
  for (const auto format : kFormats) {
    const KafkaMessage message = write_error(record, {.format = format});
    EXPECT_EQ(message.value.value_or("").find("age\\\""), std::string::npos);
    const auto read = read_error(message);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->payload_omitted);
    EXPECT_EQ(read->payload_bytes, 11);
    EXPECT_FALSE(read->original.value);
    EXPECT_EQ(read->original.key, "k");
  }
}

TEST(ErrorRecord, CutsTheReasonBetweenCharacters) {
  ErrorRecord record = refused();
  record.reason = std::string(4095, 'x') + "ä and more";
  EXPECT_EQ(header(write_error(record, {}), "pawl.reason"), std::string(4095, 'x'));
  record.reason = std::string(4094, 'x') + "ä";
  EXPECT_EQ(header(write_error(record, {}), "pawl.reason"), record.reason);
  record.reason = std::string(9000, '\x80');  // no character begins anywhere
  EXPECT_EQ(header(write_error(record, {}), "pawl.reason")->size(), 4096U);
}

TEST(ErrorRecord, TellsOfAGap) {
  ErrorRecord record{.pipe = "events",
                     .code = std::string(pipe_code::kOffsetNotAvailable),
                     .topic = "ev",
                     .offset = 10,
                     .last_offset = 19};
  EXPECT_EQ(header(write_error(record, {}), "pawl.last_offset"), "19");
  for (const auto format : kFormats) {
    const auto read = read_error(write_error(record, {.format = format}));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->last_offset, 19);
  }
}

TEST(ErrorRecord, CanCarryTheNamesOfKafkaConnect) {
  const KafkaMessage message = write_error(refused(), {.connect_headers = true});
  EXPECT_EQ(header(message, "__connect.errors.topic"), "ev");
  EXPECT_EQ(header(message, "__connect.errors.partition"), "3");
  EXPECT_EQ(header(message, "__connect.errors.offset"), "1234");
  EXPECT_EQ(header(message, "__connect.errors.connector.name"), "events");
  EXPECT_EQ(header(message, "__connect.errors.stage"), "TASK_PUT");
  EXPECT_EQ(header(message, "__connect.errors.exception.message"), "failed to parse field [age]");
}

TEST(ErrorRecord, SaysWhatIsMissingInWhatItCannotRead) {
  const auto problem = [](const KafkaMessage& message) {
    const auto read = read_error(message);
    return read ? std::string("it was read") : read.error().message;
  };
  const std::string no = "this is not an error record: ";
  EXPECT_EQ(problem({}), no + "it has neither `pawl.*` headers nor a value");
  EXPECT_EQ(problem({.value = "hello"}),
            no + "it has no `pawl.*` headers, and its value is not a JSON object");
  EXPECT_EQ(problem({.value = R"({"v":2})"}),
            no + "it has no `pawl.*` headers, and `v` in its value is not 1");
  EXPECT_EQ(problem({.value = R"({"v":1,"error":"network"})"}), no + "it has no `source`");
  EXPECT_EQ(problem({.value = R"({"v":1,"error":"network","source":{"topic":"a","partition":0}})"}),
            no + "it has no `offset`");
  EXPECT_EQ(problem({.headers = {{"pawl.error", "network"}}}),
            no + "it has no header `pawl.topic`");

  KafkaMessage wrong = write_error(refused(), {});
  for (auto& [name, value] : wrong.headers)
    if (name == "pawl.partition") value = "99999999999";
  EXPECT_EQ(problem(wrong), no + "its header `pawl.partition` has the invalid value '99999999999'");
}

rc::Gen<std::string> any_bytes() { return rc::gen::arbitrary<std::string>(); }

// What text becomes when it is not: only keys, values and headers are kept to the byte by JSON.
std::string text_of(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += is_utf8({&c, 1}) ? std::string(1, c) : "ß€😀";
  return text;
}

std::optional<std::string> maybe_bytes() {
  return *rc::gen::arbitrary<bool>() ? std::optional(*any_bytes()) : std::nullopt;
}

ErrorRecord any_record() {
  ErrorRecord record{.pipe = text_of(*any_bytes()),
                     .code = std::string(*rc::gen::element(pipe_code::kNetwork, pipe_code::kEs5xx,
                                                           pipe_code::kBulkItemBusy)),
                     .reason = text_of(*any_bytes()),
                     .state = *rc::gen::element<std::string>("extract", "transform", "load"),
                     .topic = text_of(*any_bytes()),
                     .partition = *rc::gen::arbitrary<std::int32_t>(),
                     .offset = *rc::gen::arbitrary<std::int64_t>(),
                     .timestamp_ms = *rc::gen::arbitrary<std::int64_t>(),
                     .index = text_of(*any_bytes()),
                     .id = text_of(*any_bytes()),
                     .es_status = *rc::gen::inRange(0, 600),
                     .es_type = text_of(*any_bytes()),
                     .attempts = *rc::gen::inRange(1, 1000),
                     .retryable = *rc::gen::arbitrary<bool>(),
                     .at = Instant{Duration{*rc::gen::inRange<std::int64_t>(0, 1LL << 52)}},
                     .original = {.key = maybe_bytes(), .value = maybe_bytes()}};
  if (*rc::gen::arbitrary<bool>()) record.last_offset = *rc::gen::arbitrary<std::int64_t>();
  const int headers = *rc::gen::inRange(0, 4);
  for (int i = 0; i < headers; ++i)
    record.original.headers.emplace_back(*any_bytes(), maybe_bytes());
  record.payload_omitted = *rc::gen::arbitrary<bool>();
  record.payload_bytes =
      record.original.value ? static_cast<std::int64_t>(record.original.value->size()) : 0;
  if (record.payload_omitted) record.original.value.reset();
  return record;
}

TEST(ErrorRecord, ComesBackFromBothFormats) {
  EXPECT_TRUE(rc::check("what is written is read", [] {
    const ErrorRecord record = any_record();
    for (const auto format : kFormats) {
      const auto read =
          read_error(write_error(record, {.format = format, .connect_headers = true}));
      RC_ASSERT(read.has_value());
      RC_ASSERT(shown(*read) == shown(record));
      RC_ASSERT(read->original.key == record.original.key);
      RC_ASSERT(read->original.value == record.original.value);
      RC_ASSERT(read->original.headers == record.original.headers);
    }
  }));
}

TEST(ErrorRecord, IsReadFromAnyBytesWithoutHarm) {
  EXPECT_TRUE(rc::check("reading anything ends", [] {
    KafkaMessage message = write_error(
        any_record(),
        {.format = *rc::gen::element(ErrorsConfig::Format::headers, ErrorsConfig::Format::json)});
    if (message.value && !message.value->empty())
      (*message.value)[*rc::gen::inRange<std::size_t>(0, message.value->size())] =
          *rc::gen::arbitrary<char>();
    for (auto& [name, value] : message.headers)
      if (*rc::gen::inRange(0, 8) == 0) value = maybe_bytes();
    static_cast<void>(read_error(message));
  }));
}

}  // namespace
}  // namespace pawl
