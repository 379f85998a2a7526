// Two formats of one record.
//
// headers: the value is that of the message, untouched; everything else is in headers `pawl.*`, and
// the message's own headers follow as `orig.*`. It is what tools want that only copy bytes.
// json: everything is in the value. Bytes that are not UTF-8 are base64, and `…_enc` beside them
// says so. It is what people want, and brokers before 0.11, which drop headers in silence.
//
// What is not known is left out, in both.
#include "pipe/error_record.h"

#include <openssl/evp.h>
#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/json_text.h"
#include "base/text.h"
#include "decide/json_edit.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

constexpr std::size_t kReasonBytesMax = 4096;
constexpr std::string_view kOriginal = "orig.";
constexpr std::string_view kOurs = "pawl.";

// At most so many bytes, without the beginning of a character at the end.
std::string_view cut(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t length = bytes_max;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) --length;
  // Bytes that are no text at all are cut where they are.
  return text.substr(0, length + 4 > bytes_max ? length : bytes_max);
}

std::int64_t payload_bytes_of(const ErrorRecord& record) {
  if (record.payload_omitted) return record.payload_bytes;
  return record.original.value ? static_cast<std::int64_t>(record.original.value->size()) : 0;
}

Error no_record(const std::string& why) {
  return {ErrorCode::bad_input, "this is not an error record: " + why};
}

// --- headers -----------------------------------------------------------------------------------

// The names that Kafka Connect's tools look for.
void add_connect_headers(KafkaMessage& message, const ErrorRecord& record) {
  const std::string_view stage = record.state == "extract"     ? "KAFKA_CONSUME"
                                 : record.state == "transform" ? "TRANSFORMATION"
                                                               : "TASK_PUT";
  const auto add = [&](const char* name, std::string_view value) {
    message.headers.emplace_back("__connect.errors." + std::string(name), std::string(value));
  };
  add("topic", record.topic);
  add("partition", std::to_string(record.partition));
  add("offset", std::to_string(record.offset));
  add("connector.name", record.pipe);
  add("task.id", "0");
  add("stage", stage);
  add("class.name", "pawl");
  add("exception.class.name", record.code);
  add("exception.message", cut(record.reason, kReasonBytesMax));
}

KafkaMessage in_headers(const ErrorRecord& record) {
  KafkaMessage message{.key = error_key(record)};
  const auto add = [&](std::string_view name, std::string_view value) {
    message.headers.emplace_back(std::string(kOurs) + std::string(name), std::string(value));
  };
  const auto add_known = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) add(name, value);
  };
  add("code", std::to_string(pipe_code::number(record.code)));
  add("error", record.code);
  add("reason", cut(record.reason, kReasonBytesMax));
  add("state", record.state);
  add("topic", record.topic);
  add("partition", std::to_string(record.partition));
  add("offset", std::to_string(record.offset));
  if (record.last_offset) add("last_offset", std::to_string(*record.last_offset));
  if (record.timestamp_ms != -1) add("timestamp", std::to_string(record.timestamp_ms));
  if (record.original.key) add("key", *record.original.key);
  add_known("index", record.index);
  add_known("id", record.id);
  if (record.es_status != 0) add("es_status", std::to_string(record.es_status));
  add_known("es_type", record.es_type);
  add("attempts", std::to_string(record.attempts));
  add("retryable", record.retryable ? "true" : "false");
  add("pipe", record.pipe);
  add("at", to_text(record.at));
  add("payload_bytes", std::to_string(payload_bytes_of(record)));
  if (record.payload_omitted) add("payload_omitted", "true");
  for (const auto& [name, value] : record.original.headers)
    message.headers.emplace_back(std::string(kOriginal) + name, value);
  if (!record.payload_omitted) message.value = record.original.value;
  return message;
}

// The headers `pawl.*` of a message, read with what is wrong with the first that is.
class OurHeaders {
 public:
  explicit OurHeaders(const KafkaMessage& message) {
    for (const auto& [name, value] : message.headers)
      if (name.starts_with(kOurs) && value) found_.emplace(name.substr(kOurs.size()), *value);
  }

  bool has(const std::string& name) const { return found_.contains(name); }

  const std::string& text(const std::string& name) const {
    static const std::string kNone;
    const auto found = found_.find(name);
    return found == found_.end() ? kNone : found->second;
  }

  template <class Number>
  Number number(const std::string& name, Number otherwise) {
    if (!has(name)) return otherwise;
    const auto number = parse_whole(text(name));
    if (number && *number >= std::numeric_limits<Number>::min() &&
        *number <= std::numeric_limits<Number>::max())
      return static_cast<Number>(*number);
    wrong(name);
    return otherwise;
  }

  bool flag(const std::string& name) {
    const std::string& said = text(name);
    if (has(name) && said != "true" && said != "false") wrong(name);
    return said == "true";
  }

  Instant instant(const std::string& name) {
    if (!has(name)) return {};
    const auto read = parse_instant(text(name));
    if (!read) wrong(name);
    return read ? *read : Instant{};
  }

  void need(const std::string& name) {
    if (!has(name) && problem_.empty()) problem_ = "it has no header " + in_ticks("pawl." + name);
  }

  const std::string& problem() const { return problem_; }

 private:
  void wrong(const std::string& name) {
    if (problem_.empty())
      problem_ = "its header " + in_ticks("pawl." + name) + " has the invalid value " +
                 in_quotes(text(name));
  }

  std::map<std::string, std::string> found_;
  std::string problem_;
};

Result<ErrorRecord> of_headers(const KafkaMessage& message) {
  OurHeaders headers(message);
  for (const char* const name : {"error", "topic", "partition", "offset"}) headers.need(name);
  ErrorRecord record{.pipe = headers.text("pipe"),
                     .code = headers.text("error"),
                     .reason = headers.text("reason"),
                     .state = headers.text("state"),
                     .topic = headers.text("topic"),
                     .partition = headers.number<std::int32_t>("partition", 0),
                     .offset = headers.number<std::int64_t>("offset", 0),
                     .timestamp_ms = headers.number<std::int64_t>("timestamp", -1),
                     .index = headers.text("index"),
                     .id = headers.text("id"),
                     .es_status = headers.number<int>("es_status", 0),
                     .es_type = headers.text("es_type"),
                     .attempts = headers.number<int>("attempts", 1),
                     .retryable = headers.flag("retryable"),
                     .at = headers.instant("at"),
                     .payload_omitted = headers.flag("payload_omitted"),
                     .payload_bytes = headers.number<std::int64_t>("payload_bytes", 0)};
  if (headers.has("last_offset"))
    record.last_offset = headers.number<std::int64_t>("last_offset", 0);
  if (headers.has("key")) record.original.key = headers.text("key");
  if (!headers.problem().empty()) return no_record(headers.problem());
  if (!record.payload_omitted) record.original.value = message.value;
  for (const auto& [name, value] : message.headers)
    if (name.starts_with(kOriginal))
      record.original.headers.emplace_back(name.substr(kOriginal.size()), value);
  return record;
}

// --- json --------------------------------------------------------------------------------------

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  if (text.empty()) return "";
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()),
                                   static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

// `"name":"text"`, and `"name_enc":"base64"` where the bytes are no text.
void add_bytes(JsonMap& map, const std::string& name, const std::optional<std::string>& bytes) {
  if (!bytes) return map.json(name, "null");
  const bool is_text = is_utf8(*bytes);
  map.text(name, is_text ? *bytes : base64(*bytes));
  if (!is_text) map.text(name + "_enc", "base64");
}

std::string headers_json(const KafkaMessage& original) {
  std::string list = "[";
  for (const auto& [name, value] : original.headers) {
    if (list.size() > 1) list += ',';
    JsonMap map(list);
    add_bytes(map, "name", name);
    add_bytes(map, "value", value);
  }
  return list + "]";
}

std::string source_json(const ErrorRecord& record) {
  std::string json;
  {
    JsonMap map(json);
    map.text("topic", record.topic);
    map.number("partition", record.partition);
    map.number("offset", record.offset);
    if (record.last_offset) map.number("last_offset", *record.last_offset);
    if (record.timestamp_ms != -1) map.number("timestamp", record.timestamp_ms);
    add_bytes(map, "key", record.original.key);
    if (!record.original.headers.empty()) map.json("headers", headers_json(record.original));
  }
  return json;
}

std::string es_json(const ErrorRecord& record) {
  std::string json;
  {
    JsonMap map(json);
    if (record.es_status != 0) map.number("status", record.es_status);
    if (!record.es_type.empty()) map.text("type", record.es_type);
    if (!record.index.empty()) map.text("index", record.index);
    if (!record.id.empty()) map.text("id", record.id);
  }
  return json;
}

std::string value_json(const ErrorRecord& record) {
  std::string json;
  {
    JsonMap map(json);
    map.number("v", 1);
    map.number("code", pipe_code::number(record.code));
    map.text("error", record.code);
    map.text("reason", cut(record.reason, kReasonBytesMax));
    map.text("state", record.state);
    map.json("source", source_json(record));
    if (const std::string es = es_json(record); es != "{}") map.json("es", es);
    map.number("attempts", record.attempts);
    map.boolean("retryable", record.retryable);
    map.text("pipe", record.pipe);
    map.text("at", to_text(record.at));
    if (record.payload_omitted) {
      map.boolean("payload_omitted", true);
    } else {
      add_bytes(map, "payload", record.original.value);
      if (record.original.value && is_utf8(*record.original.value)) map.text("payload_enc", "utf8");
    }
    map.number("payload_bytes", payload_bytes_of(record));
  }
  return json;
}

using simdjson::dom::element;

// Members of a map that may not be there; says what is wrong with the first that is.
class Members {
 public:
  Members(element map, std::string& problem) : map_(map), problem_(problem) {}

  std::optional<element> find(std::string_view name) const {
    element found;
    if (map_[name].get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
    return found;
  }

  std::string text(std::string_view name) {
    const auto found = find(name);
    std::string_view said;
    if (found && found->get(said) != simdjson::SUCCESS) wrong(name);
    return std::string(said);
  }

  template <class Number>
  Number number(std::string_view name, Number otherwise) {
    const auto found = find(name);
    std::int64_t said = otherwise;
    if (found &&
        (found->get(said) != simdjson::SUCCESS || said < std::numeric_limits<Number>::min() ||
         said > std::numeric_limits<Number>::max())) {
      wrong(name);
      return otherwise;
    }
    return static_cast<Number>(said);
  }

  bool flag(std::string_view name) {
    const auto found = find(name);
    bool said = false;
    if (found && found->get(said) != simdjson::SUCCESS) wrong(name);
    return said;
  }

  std::optional<std::string> bytes(const std::string& name) {
    if (!find(name)) return std::nullopt;
    std::string said = text(name);
    if (text(name + "_enc") != "base64") return said;
    auto decoded = bytes_of_base64(said);
    if (!decoded) wrong(name);
    return decoded;
  }

  void need(std::string_view name) {
    if (!find(name) && problem_.empty()) problem_ = "it has no " + in_ticks(name);
  }
  void wrong(std::string_view name) {
    if (problem_.empty()) problem_ = in_ticks(name) + " has an invalid value";
  }

 private:
  element map_;
  std::string& problem_;
};

void read_headers(Members& source, KafkaMessage& original, std::string& problem) {
  const auto list = source.find("headers");
  simdjson::dom::array headers;
  if (!list) return;
  if (list->get(headers) != simdjson::SUCCESS) return source.wrong("headers");
  for (const element header : headers) {
    Members members(header, problem);
    members.need("name");
    original.headers.emplace_back(members.bytes("name").value_or(""), members.bytes("value"));
  }
}

ErrorRecord of_map(element map, std::string& problem) {
  Members top(map, problem);
  for (const char* const name : {"error", "source"}) top.need(name);
  ErrorRecord record{.pipe = top.text("pipe"),
                     .code = top.text("error"),
                     .reason = top.text("reason"),
                     .state = top.text("state"),
                     .attempts = top.number<int>("attempts", 1),
                     .retryable = top.flag("retryable"),
                     .payload_omitted = top.flag("payload_omitted"),
                     .payload_bytes = top.number<std::int64_t>("payload_bytes", 0)};
  if (const auto at = parse_instant(top.text("at")))
    record.at = *at;
  else if (top.find("at"))
    top.wrong("at");
  if (!record.payload_omitted) record.original.value = top.bytes("payload");
  if (const auto found = top.find("source")) {
    Members source(*found, problem);
    for (const char* const name : {"topic", "partition", "offset"}) source.need(name);
    record.topic = source.text("topic");
    record.partition = source.number<std::int32_t>("partition", 0);
    record.offset = source.number<std::int64_t>("offset", 0);
    if (source.find("last_offset"))
      record.last_offset = source.number<std::int64_t>("last_offset", 0);
    record.timestamp_ms = source.number<std::int64_t>("timestamp", -1);
    record.original.key = source.bytes("key");
    read_headers(source, record.original, problem);
  }
  if (const auto found = top.find("es")) {
    Members es(*found, problem);
    record.es_status = es.number<int>("status", 0);
    record.es_type = es.text("type");
    record.index = es.text("index");
    record.id = es.text("id");
  }
  return record;
}

Result<ErrorRecord> of_json(const std::string& text) {
  simdjson::dom::parser parser;
  element map;
  std::int64_t version = 0;
  if (parser.parse(text).get(map) != simdjson::SUCCESS || !map.is_object())
    return no_record("it has no `pawl.*` headers, and its value is not a JSON object");
  if (map["v"].get(version) != simdjson::SUCCESS || version != 1)
    return no_record("it has no `pawl.*` headers, and `v` in its value is not 1");
  std::string problem;
  ErrorRecord record = of_map(map, problem);
  if (!problem.empty()) return no_record(problem);
  return record;
}

}  // namespace

std::string error_key(const ErrorRecord& record) {
  return record.topic + "/" + std::to_string(record.partition) + "/" +
         std::to_string(record.offset);
}

KafkaMessage write_error(const ErrorRecord& record, const ErrorsConfig& config) {
  KafkaMessage message = config.format == ErrorsConfig::Format::json
                             ? KafkaMessage{.key = error_key(record), .value = value_json(record)}
                             : in_headers(record);
  if (config.connect_headers) add_connect_headers(message, record);
  return message;
}

Result<ErrorRecord> read_error(const KafkaMessage& message) {
  const bool is_ours = std::any_of(message.headers.begin(), message.headers.end(),
                                   [](const auto& header) { return header.first == "pawl.error"; });
  if (is_ours) return of_headers(message);
  if (!message.value) return no_record("it has neither `pawl.*` headers nor a value");
  return of_json(*message.value);
}

}  // namespace pawl
