#include "pipe/pipe_file.h"

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "model/finding_ids.h"
#include "model/tree.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;

// With findings, should there be any, as the failure.
PipeConfig config_of(const std::string& text) {
  Diagnostics diagnostics;
  auto config = read_pipe(text, diagnostics);
  for (const Diagnostic& finding : diagnostics.sorted())
    ADD_FAILURE() << finding.position.line << ":" << finding.position.column << ": "
                  << finding.message;
  return config.value_or(PipeConfig{});
}

std::string pipe_with(const std::string& transform) {
  return "pipe: p\nkafka: {brokers: k, group: g, topics: [t]}\nelasticsearch: {url: http://es}\n"
         "transform: " +
         transform + "\n";
}

std::string file_text(const std::string& path) {
  std::ifstream file(PAWL_SOURCE_DIR "/" + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PipeFile, SaysEverythingOfKafka) {
  const KafkaConfig kafka = config_of(R"(
pipe: events
kafka:
  brokers: "k1:9092,k2:9092"
  group: pawl-events
  topics: [events, {topic: clicks, partitions: [0, 2]}]
  start: latest
  assignment: fixed
  drain_timeout: 10s
  commit_every: 500ms
  find_every: 1h
  fetch_memory: 32MiB
  options: {security.protocol: ssl, sasl.password: "env:WORD", session.timeout.ms: 9000}
transform: {index: a}
elasticsearch: {url: http://es}
)")
                                .kafka;
  EXPECT_EQ(kafka.brokers, "k1:9092,k2:9092");
  EXPECT_EQ(kafka.group, "pawl-events");
  ASSERT_EQ(kafka.topics.size(), 2U);
  EXPECT_EQ(kafka.topics[0].name, "events");
  EXPECT_TRUE(kafka.topics[0].partitions.empty());
  EXPECT_EQ(kafka.topics[1].name, "clicks");
  EXPECT_EQ(kafka.topics[1].partitions, (std::vector<std::int32_t>{0, 2}));
  EXPECT_EQ(kafka.topics[1].at, (Position{6, 20}));
  EXPECT_EQ(kafka.start, KafkaConfig::Start::latest);
  EXPECT_EQ(kafka.assignment, KafkaConfig::Assignment::fixed);
  EXPECT_EQ(kafka.drain_timeout, 10s);
  EXPECT_EQ(kafka.commit_every, 500ms);
  EXPECT_EQ(kafka.find_every, 1h);
  EXPECT_EQ(kafka.fetch_bytes, 32U << 20U);
  ASSERT_EQ(kafka.options.size(), 3U);
  EXPECT_EQ(kafka.options[0].name, "security.protocol");
  EXPECT_EQ(kafka.options[0].value, "ssl");
  EXPECT_FALSE(kafka.options[0].secret);
  EXPECT_TRUE(kafka.options[1].secret);
  EXPECT_EQ(kafka.options[1].value, "");
  EXPECT_EQ(kafka.options[1].at, (Position{13, 37}));
  EXPECT_EQ(kafka.options[2].value, "9000");
}

TEST(PipeFile, SaysEverythingOfTheTransform) {
  const TransformConfig transform = config_of(pipe_with(R"(
  message: river
  require: {eventName: string, geo.lat: decimal}
  index: "{data.kind}-{time:%Y}"
  time: {field: meta.at, format: "%d.%m.%Y"}
  id: field:meta.id
  op: index
  rename: {old: new}
  drop: [secret]
  set: {level: "{data.level + 1}"}
  drop_if: data.level < 3
  tombstone: error
  allow_nondeterministic_index: true
  document_bytes: 2MB)"))
                                        .transform;
  EXPECT_EQ(transform.message, TransformConfig::Message::river);
  ASSERT_EQ(transform.require.size(), 2U);
  EXPECT_EQ(transform.require[1].field, "geo.lat");
  EXPECT_EQ(transform.require[1].type.kind, FieldType::Kind::decimal);
  EXPECT_EQ(transform.require[1].at, (Position{6, 32}));
  EXPECT_EQ(transform.index, "{data.kind}-{time:%Y}");
  EXPECT_EQ(transform.index_at, (Position{7, 10}));
  EXPECT_EQ(transform.time.from, TransformConfig::Time::From::field);
  EXPECT_EQ(transform.time.field, "meta.at");
  EXPECT_EQ(transform.time.format, TransformConfig::Time::Format::pattern);
  EXPECT_EQ(transform.time.pattern, "%d.%m.%Y");
  EXPECT_EQ(transform.id.from, TransformConfig::Id::From::field);
  EXPECT_EQ(transform.id.field, "meta.id");
  EXPECT_EQ(transform.op, TransformConfig::Op::index);
  EXPECT_EQ(config_of(pipe_with("\n  index: a\n  op: create")).transform.op,
            TransformConfig::Op::create);
  ASSERT_EQ(transform.rename.size(), 1U);
  EXPECT_EQ(transform.rename[0], (std::pair<std::string, std::string>{"old", "new"}));
  EXPECT_EQ(transform.drop, std::vector<std::string>{"secret"});
  ASSERT_EQ(transform.set.size(), 1U);
  EXPECT_EQ(transform.set[0].name, "level");
  ASSERT_TRUE(transform.drop_if);
  EXPECT_EQ(transform.drop_if->text, "data.level < 3");
  EXPECT_EQ(transform.tombstone, TransformConfig::Tombstone::error);
  EXPECT_TRUE(transform.allow_nondeterministic_index);
  EXPECT_EQ(transform.document_bytes_max, 2'000'000U);
}

TEST(PipeFile, SaysEverythingOfWhereItGoes) {
  const PipeConfig config = config_of(R"(
pipe: events
kafka: {brokers: k, group: g, topics: [t], instance: node-1}
transform: {index: a, require: [a]}
opensearch:
  urls: ["https://es1:9200/", "https://es2"]
  user: pawl
  password: env:WORD
  certificates: ca.pem
  timeout: 30s
  bulks: 4
  gzip: true
  pipeline: geo
errors: {topic: bad, format: json, connect_headers: true}
batch: {messages: 10, bytes: 128KiB, linger: 0, in_flight: 1, memory: 1GiB}
workers: 3
machine: mine.yaml
)");
  EXPECT_EQ(config.name, "events");
  EXPECT_EQ(config.kafka.instance, "node-1");
  EXPECT_EQ(config.transform.require.front().type.kind, FieldType::Kind::any);
  EXPECT_EQ(config.search.urls, (std::vector<std::string>{"https://es1:9200", "https://es2"}));
  EXPECT_EQ(config.search.user, "pawl");
  EXPECT_TRUE(config.search.password);
  EXPECT_FALSE(config.search.api_key);
  EXPECT_EQ(config.search.certificates, "ca.pem");
  EXPECT_EQ(config.search.timeout, 30s);
  EXPECT_EQ(config.search.bulks_max, 4);
  EXPECT_TRUE(config.search.gzip);
  EXPECT_EQ(config.search.pipeline, "geo");
  EXPECT_EQ(config.errors.topic, "bad");
  EXPECT_EQ(config.errors.format, ErrorsConfig::Format::json);
  EXPECT_TRUE(config.errors.connect_headers);
  EXPECT_EQ(config.batch.messages, 10);
  EXPECT_EQ(config.batch.bytes, 128U << 10U);
  EXPECT_EQ(config.batch.linger, 0s);
  EXPECT_EQ(config.batch.in_flight, 1);
  EXPECT_EQ(config.batch.memory, 1U << 30U);
  EXPECT_EQ(config.workers, 3);
  EXPECT_EQ(config.machine, "mine.yaml");
}

TEST(PipeFile, TakesTheTimeFromTheFieldOfTheIndex) {
  using Time = TransformConfig::Time;
  const auto shorthand = config_of(pipe_with("{index: \"e-{at:%Y}-{topic}-{at:%m}\"}")).transform;
  EXPECT_EQ(shorthand.index, "e-{time:%Y}-{topic}-{time:%m}");
  EXPECT_EQ(shorthand.time.from, Time::From::field);
  EXPECT_EQ(shorthand.time.field, "at");
  EXPECT_EQ(shorthand.time.format, Time::Format::millis);

  const auto both =
      config_of(pipe_with("{index: \"e-{data.a.b:%Y}\", time: {field: a.b}}")).transform;
  EXPECT_EQ(both.index, "e-{time:%Y}");
  EXPECT_EQ(both.time.field, "a.b");
  EXPECT_EQ(both.time.format, Time::Format::iso_8601);

  const auto daily = config_of(pipe_with("{index: {daily: events}}")).transform;
  EXPECT_EQ(daily.index, "events-{time:%Y.%m.%d}");
  EXPECT_EQ(daily.time.from, Time::From::message);

  const auto braces = config_of(pipe_with("{index: \"{{a:b}}-{at:%Y}-{open\"}")).transform;
  EXPECT_EQ(braces.index, "{{a:b}}-{time:%Y}-{open");
}

TEST(PipeFile, HasOneWordForEachChoice) {
  using Id = TransformConfig::Id::From;
  for (const auto& [word, from] :
       {std::pair{"offset", Id::offset}, {"key", Id::key}, {"auto", Id::none}})
    EXPECT_EQ(config_of(pipe_with("{index: a, id: " + std::string(word) + "}")).transform.id.from,
              from);
  using Format = TransformConfig::Time::Format;
  for (const auto& [word, format] : {std::pair{"millis", Format::millis},
                                     {"seconds", Format::seconds},
                                     {"iso_8601", Format::iso_8601}})
    EXPECT_EQ(
        config_of(pipe_with("{index: a, time: {field: t, format: " + std::string(word) + "}}"))
            .transform.time.format,
        format);
  using From = TransformConfig::Time::From;
  EXPECT_EQ(config_of(pipe_with("{index: a, time: system}")).transform.time.from, From::system);
  EXPECT_EQ(config_of(pipe_with("{index: a, time: message}")).transform.time.from, From::message);
}

TEST(PipeFile, CanBeJson) {
  const PipeConfig config = config_of(
      R"({"pipe": "p", "kafka": {"brokers": "k", "group": "g", "topics": ["t"]},
          "transform": {"index": "a"}, "elasticsearch": {"url": "http://es"}})");
  EXPECT_EQ(config.kafka.topics.size(), 1U);
}

TEST(PipeFile, ExamplesAreRead) {
  const PipeConfig events = config_of(file_text("examples/pipes/events.yaml"));
  EXPECT_EQ(events.name, "events");
  EXPECT_EQ(events.transform.message, TransformConfig::Message::plain);
  const PipeConfig qanal = config_of(file_text("examples/pipes/qanal.yaml"));
  EXPECT_EQ(qanal.transform.message, TransformConfig::Message::river);
}

// --- Hostile files -------------------------------------------------------------------------------

std::string filled(std::string begin, const std::function<std::string(int)>& part,
                   const std::string& end) {
  for (int i = 0; begin.size() + end.size() + 64 < kFileBytesMax; ++i) begin += part(i);
  return begin + end;
}

std::string number(int i) { return std::to_string(i); }

std::vector<std::string> hostile_files() {
  const std::string kafka = "kafka: {brokers: k, group: g, topics: [";
  const std::string transform = "transform: {index: a, ";
  const auto with = [](const std::string& begin, const char* part, const char* end) {
    return filled(
        begin,
        [&](int i) {
          std::string text = part;
          for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#'))
            text.replace(at, 1, number(i));
          return text;
        },
        end);
  };
  return {
      "",
      " \n\n",
      std::string("\0\0\0", 3),
      std::string("pipe: a\0b", 9),
      "pipe: \xff\xfe",
      "\xef\xbb\xbfpipe: a",
      "pipe: \"a\\0b\"",
      "kafka: {brokers: \"k\\0\", group: \"g\\u0007\", topics: [\"t\\0\"], options: {a: \"\\0\"}}",
      "elasticsearch: {url: \"http://e\\0s\", user: \"\\x1b[31m\", password: \"env:\\0\"}",
      "a: &a [*a, *a]",
      "<<: {pipe: x}",
      "--- a\n--- b\n",
      "%YAML 1.1\n---\npipe: a",
      "? [a]\n: b",
      std::string(2'000'000, 'a'),
      std::string(1'000'000, '['),
      std::string(1'000'000, '{'),
      std::string(1'000'000, '-'),
      "pipe: " + std::string(1'000'000, 'x'),
      "workers: " + std::string(1'000'000, '9'),
      "batch: {bytes: " + std::string(1'000'000, '9') + "}",
      "batch: {linger: " + std::string(1'000'000, '9') + "s}",
      "transform: {index: \"" + std::string(1'000'000, '{') + "\"}",
      "transform: {index: \"" + with("", "{a#:%Y}", "") + "\"}",
      "transform: {index: \"" + with("", "{a:}", "") + "\"}",
      "transform: {id: \"field:" + std::string(1'000'000, '.') + "\"}",
      "transform: {drop_if: \"" + std::string(1'000'000, '(') + "\"}",
      "transform: {set: {a: \"" + with("", "{data.a}", "") + "\"}}",
      "transform: {set: {a: \"" + std::string(1'000'000, '{') + "\"}}",
      "kafka: {brokers: \"" + std::string(1'000'000, ',') + "\"}",
      "elasticsearch: {url: \"http://" + std::string(1'000'000, '[') + "\"}",
      with("", "k#: 1\n", ""),
      with("", "kafk#: 1\n", ""),
      with(kafka, "t#,", "]}"),
      with(kafka, "t,", "]}"),
      with(kafka, "{topic: t#, partitions: [#]},", "]}"),
      with(kafka + "{topic: t, partitions: [", "#,", "]}]}"),
      with(kafka + "t], options: {", "o#: 1,", "}}"),
      with(kafka + "t], options: {", "\"o #\": 1,", "}}"),
      with(transform + "require: [", "f#,", "]}"),
      with(transform + "require: {", "f#: int,", "}}"),
      with(transform + "rename: {", "f#: g#,", "}}"),
      with(transform + "drop: [", "f#,", "]}"),
      with(transform + "set: {", "f#: \"{data.x}\",", "}}"),
      with("elasticsearch: {urls: [", "http://e#,", "]}"),
  };
}

TEST(PipeFile, HostileFilesGiveFindingsAndDoNotTakeLong) {
  for (const std::string& text : hostile_files()) {
    SCOPED_TRACE(text.substr(0, 60));
    timespec begin{};
    timespec end{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    Diagnostics diagnostics;
    EXPECT_FALSE(read_pipe(text, diagnostics));
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    EXPECT_LT(end.tv_sec - begin.tv_sec, 10);
    const auto findings = diagnostics.sorted();
    EXPECT_FALSE(findings.empty());
    EXPECT_LE(findings.size(), kFindingsMax + 1);
    for (const Diagnostic& finding : findings) {
      EXPECT_GT(finding.position.line, 0);
      EXPECT_GT(finding.position.column, 0);
      EXPECT_NE(find_finding(finding.id), nullptr);
      EXPECT_LT(finding.message.size(), 2'000U) << finding.id;
      for (const char c : finding.message)
        EXPECT_FALSE(static_cast<unsigned char>(c) < ' ' || c == '\x7f') << finding.message;
    }
  }
}

// --- The reference -------------------------------------------------------------------------------

TEST(PipeFile, EveryKeyIsInTheReference) {
  const std::string page = file_text("docs/reference/pipe.md");
  for (const KeyPlace& place : pipe_key_places()) {
    for (const Key& key : place.keys) {
      const std::string row =
          "| `" + std::string(key.name) + "` | " + std::string(key.doc) + " |\n";
      EXPECT_NE(page.find(row), std::string::npos) << place.name << ": " << row;
    }
  }
}

TEST(PipeFile, EveryFileOfTheReferenceIsRead) {
  const std::string page = file_text("docs/reference/pipe.md");
  int files = 0;
  for (std::size_t at = page.find("```yaml\n"); at != std::string::npos;
       at = page.find("```yaml\n", at)) {
    at += 8;
    const std::string block = page.substr(at, page.find("```", at) - at);
    if (!block.starts_with("pipe: ")) continue;
    config_of(block);
    ++files;
  }
  EXPECT_GT(files, 0);
}

TEST(PipeFile, EveryCodeIsInTheReferenceWithItsNumber) {
  using namespace pipe_code;
  const std::string page = file_text("docs/reference/pipe.md");
  for (const std::string_view code :
       {kUncategorised, kKafkaUnavailable, kTopicNotFound, kPartitionNotFound, kMessageTooBig,
        kOffsetNotAvailable, kNetwork, kInvalidFormat, kInvalidEvent, kTransformationError,
        kEsUnavailable, kEs5xx, kBulkItem, kBulkItemBusy, kBulkItemBlocked, kEs4xx, kEsBusy}) {
    const std::string row =
        "| " + std::to_string(pipe_code::number(code)) + " | `" + std::string(code) + "` | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace pawl
