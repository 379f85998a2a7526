#include "pipe/transform.h"

#include <rapidcheck.h>

#include <algorithm>
#include <chrono>

#include "base/json_text.h"
#include "gtest/gtest.h"
#include "model/expression/json_view.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using Config = TransformConfig;
using FieldKind = FieldType::Kind;
using OutcomeKind = Transform::Outcome::Kind;

constexpr std::int64_t kTimestamp = 1'794'819'600'123;  // 2026-11-16T09:00:00.123Z
const Instant kNow = *parse_instant("2030-02-03T04:05:06Z");

SourceMessage message(std::string_view value) {
  return {.topic = "events",
          .partition = 3,
          .offset = 1234,
          .timestamp_ms = kTimestamp,
          .key = "k1",
          .value = value};
}

SourceMessage tombstone() {
  SourceMessage source = message("");
  source.value = std::nullopt;
  return source;
}

Config plain() { return {.index = "events"}; }
Config river() { return {.message = Config::Message::river}; }

std::shared_ptr<const Transform> made(const Config& config) {
  auto transform = Transform::make(config);
  EXPECT_TRUE(transform) << transform.error().message;
  return *transform;
}

// What becomes of one message: the lines, `skipped`, or `code: reason`.
std::string outcome(const Config& config, const SourceMessage& source) {
  Transform::Workbench bench;
  BulkBody body{.text = "before\n", .items = {{0, 7, 1}}};
  const auto result = made(config)->append(source, 2, kNow, bench, body);
  if (result.kind == OutcomeKind::appended) {
    EXPECT_EQ(body.items.size(), 2U);
    EXPECT_EQ(body.items.back().begin, 7U);
    EXPECT_EQ(body.items.back().message, 2U);
    return std::string(body.lines(body.items.back()));
  }
  EXPECT_EQ(body.text, "before\n");
  EXPECT_EQ(body.items.size(), 1U);
  if (result.kind == OutcomeKind::skipped) return "skipped";
  EXPECT_FALSE(result.reason.empty());
  return std::string(result.code) + ": " + result.reason;
}

std::string outcome(const Config& config, std::string_view value) {
  return outcome(config, message(value));
}

std::string code_of(const Config& config, std::string_view value) {
  const std::string text = outcome(config, value);
  return text.starts_with("{") ? "appended" : text.substr(0, text.find(':'));
}

// The name of the index, or the code of what failed.
std::string index_of(const Config& config, const SourceMessage& source) {
  const std::string text = outcome(config, source);
  if (!text.starts_with("{")) return text.substr(0, text.find(':'));
  Scratch scratch;
  return std::string(JsonView(text).member("index").member("_index").text(scratch));
}

std::string error_of(const Config& config) {
  const auto transform = Transform::make(config);
  return transform ? "fine" : transform.error().message;
}

TEST(Transform, AppendsAnActionAndTheValueAsItIs) {
  EXPECT_EQ(outcome(plain(), R"({"a": 1.50, "b":"\u00e9"})"),
            R"({"index":{"_index":"events","_id":"events-3-1234"}})"
            "\n"
            R"({"a": 1.50, "b":"\u00e9"})"
            "\n");
}

TEST(Transform, WritesEveryKindOfIdAndOp) {
  struct Row {
    Config::Id id;
    Config::Op op;
    const char* line;
  };
  using From = Config::Id::From;
  const Row rows[] = {
      {{From::offset}, Config::Op::index, R"({"index":{"_index":"events","_id":"events-3-1234"}})"},
      {{From::offset},
       Config::Op::create,
       R"({"create":{"_index":"events","_id":"events-3-1234"}})"},
      {{From::none}, Config::Op::create, R"({"create":{"_index":"events"}})"},
      {{From::key},
       Config::Op::index,
       R"({"index":{"_index":"events","_id":"k1","version":1234,"version_type":"external_gte"}})"},
      {{From::key}, Config::Op::create, R"({"create":{"_index":"events","_id":"k1"}})"},
      {{From::field, "a.b"},
       Config::Op::index,
       R"({"index":{"_index":"events","_id":"x\"y","version":1234,"version_type":"external_gte"}})"},
      {{From::field, "n"},
       Config::Op::index,
       R"({"index":{"_index":"events","_id":"-7","version":1234,"version_type":"external_gte"}})"},
      {{From::field, "u"},
       Config::Op::create,
       R"({"create":{"_index":"events","_id":"18446744073709551615"}})"},
  };
  for (const Row& row : rows) {
    Config config = plain();
    config.id = row.id;
    config.op = row.op;
    const std::string value = R"({"a":{"b":"x\u0022y"},"n":-7,"u":18446744073709551615})";
    EXPECT_EQ(outcome(config, value), row.line + ("\n" + value + "\n"));
  }
}

TEST(Transform, FindsWhatIsWrongWithAnId) {
  Config by_field = plain();
  by_field.id = {Config::Id::From::field, "id"};
  EXPECT_EQ(outcome(by_field, "{}"),
            "transformation_error: the field `id` is missing; the id depends on it");
  EXPECT_EQ(outcome(by_field, R"({"id":null})"),
            "transformation_error: the field `id` is null; the id depends on it");
  EXPECT_EQ(outcome(by_field, R"({"id":1.5})"),
            "transformation_error: the field `id` is 1.5; the id needs a text or a whole number");
  EXPECT_EQ(outcome(by_field, R"({"id":""})"), "transformation_error: the id is empty");
  EXPECT_EQ(code_of(by_field, R"({"id":")" + std::string(512, 'x') + "\"}"), "appended");
  EXPECT_EQ(outcome(by_field, R"({"id":")" + std::string(513, 'x') + "\"}"),
            "transformation_error: the id '" + std::string(40, 'x') +
                "…' has 513 bytes; the search engine accepts 512");

  Config by_key = plain();
  by_key.id = {Config::Id::From::key};
  SourceMessage source = message("{}");
  source.key = std::nullopt;
  EXPECT_EQ(outcome(by_key, source),
            "transformation_error: the message has no key, which the id is taken from");
  source.key = "\xff";
  EXPECT_EQ(outcome(by_key, source),
            "transformation_error: the key, which the id is taken from, is not UTF-8");
  source.key = "";
  EXPECT_EQ(outcome(by_key, source), "transformation_error: the id is empty");
  // What is not JSON is that first of all.
  source.value = "x";
  EXPECT_TRUE(outcome(by_key, source).starts_with("invalid_format"));
}

TEST(Transform, EscapesWhatIsNotPlain) {
  Config by_key = plain();
  by_key.id = {Config::Id::From::key};
  SourceMessage source = message("{}");
  source.key = "a\n\"\\é";
  EXPECT_EQ(
      outcome(by_key, source),
      R"({"index":{"_index":"events","_id":"a\n\"\\é","version":1234,"version_type":"external_gte"}})"
      "\n{}\n");
}

// S1-8: what is not UTF-8 or not JSON is code 7.
TEST(Transform, CallsInvalidFormatWhatIsNotJson) {
  using namespace std::string_view_literals;
  const std::string deep = R"({"a":)" + std::string(1'100, '[') + std::string(1'100, ']') + "}";
  const std::string_view values[] = {
      "",
      " \n ",
      "x",
      "{",
      R"({"a":1)",
      R"({"a":1}})",
      R"({"a":1} {"b":2})",
      R"({"a":1 2})",
      "{\"a\":1\n2}",
      R"({"a":01})",
      R"({"a":.5})",
      R"({"a":NaN})",
      R"({a:1})",
      R"({'a':1})",
      R"({"a":1,})",
      R"({"a":"\x"})",
      R"({"a":"\ud800"})",
      R"({"a":"\ud800x"})",
      "{\"a\":\"line\nbreak\"}",
      "{\"a\":\"tab\t\"}",
      "{\"a\":\"\0\"}"sv,
      "{\"a\":1}\0"sv,
      "\0"sv,
      "\xEF\xBB\xBF{\"a\":1}",         // a byte order mark
      "{\"a\":\"\xff\"}",              // never in UTF-8
      "{\"a\":\"\xc0\xaf\"}",          // longer than need be
      "{\"a\":\"\xed\xa0\x80\"}",      // half a pair
      "{\"a\":\"\xf4\x90\x80\x80\"}",  // beyond the last character
      "{\"a\":\"\xe2\x82\"}",          // cut off
      "{\"a\":\"\x80\"}",
      R"({"a":123456789012345678901234567890})",
      R"({"a":1e999})",
      deep,
  };
  EXPECT_EQ(pipe_code::number(pipe_code::kInvalidFormat), 7);
  for (const std::string_view value : values)
    EXPECT_EQ(code_of(plain(), value), "invalid_format") << value;
}

TEST(Transform, SaysWhereAValueIsNotJson) {
  EXPECT_EQ(outcome(plain(), ""), "invalid_format: the value is empty");
  EXPECT_EQ(outcome(plain(), R"({"a":tru})"),
            R"(invalid_format: the value is not JSON: line 1, column 9 of '{"a":tru}')");
  EXPECT_EQ(outcome(plain(), "{\"a\":\"\xff\"}"),
            "invalid_format: the value is not UTF-8: line 1, column 7");
  EXPECT_EQ(
      outcome(plain(), R"({"a":123456789012345678901234567890})"),
      "invalid_format: the value contains a number out of range: integers have 64 bits, decimals "
      "an exponent up to 308");
  EXPECT_EQ(outcome(plain(), std::string(2'000, '[') + std::string(2'000, ']')),
            "invalid_format: the value is nested too deeply: more than 1,024 levels");
}

TEST(Transform, TakesEveryJsonThatIsAMap) {
  const std::string deep = R"({"a":)" + std::string(1'000, '[') + std::string(1'000, ']') + "}";
  const std::string_view values[] = {
      "{}",
      R"({"a":1,"a":2})",  // the search engine's to decide
      R"({"":{"":[]}})",
      R"({"a":"\u0000\ud83d\ude00"})",
      "{\"a\":\"\xf0\x9f\x98\x80\xe2\x82\xac\x7f\"}",
      R"({"a":-0,"b":1e-400,"c":-9223372036854775808,"d":18446744073709551615})",
      deep,
  };
  for (const std::string_view value : values)
    EXPECT_EQ(outcome(plain(), value),
              "{\"index\":{\"_index\":\"events\",\"_id\":\"events-3-1234\"}}\n" +
                  std::string(value) + "\n");
}

TEST(Transform, WritesAValueOfManyLinesInOne) {
  EXPECT_TRUE(outcome(plain(), "{\r\n  \"a\": [ 1,\n 2 ],\n  \"b\": \" x \\n \" }\n")
                  .ends_with("}}\n{\"a\":[1,2],\"b\":\" x \\n \"}\n"));
  EXPECT_TRUE(outcome(plain(), "\n {\"a\": 1} \r\n").ends_with("}}\n{\"a\": 1}\n"));
}

// S1-9: what is no event is code 8.
TEST(Transform, CallsInvalidEventWhatIsNotAsRequired) {
  EXPECT_EQ(pipe_code::number(pipe_code::kInvalidEvent), 8);
  for (const char* value : {"[]", "1", "\"x\"", "null", "true"})
    EXPECT_EQ(code_of(plain(), value), "invalid_event") << value;
  EXPECT_EQ(outcome(plain(), "[1]"), "invalid_event: the value is a list; it must be a map");

  Config config = plain();
  config.require = {{"name", {FieldKind::string}}, {"at.time", {}}};
  EXPECT_EQ(code_of(config, R"({"at":{"time":0},"name":""})"), "appended");
  EXPECT_EQ(outcome(config, R"({"at":{"time":0}})"),
            "invalid_event: the field `name` is missing; it must be of type string");
  EXPECT_EQ(outcome(config, R"({"name":null,"at":{"time":0}})"),
            "invalid_event: the field `name` is null; it must be of type string");
  EXPECT_EQ(outcome(config, R"({"name":12,"at":{"time":0}})"),
            "invalid_event: the field `name` is 12; it must be of type string");
  EXPECT_EQ(outcome(config, R"({"name":"x","at":7})"),
            "invalid_event: the field `at.time` is missing; it is required");
  EXPECT_EQ(outcome(config, R"({"name":"x","at":{"time":null}})"),
            "invalid_event: the field `at.time` is null; it is required");
}

// S1-9
TEST(Transform, KnowsTheTypeOfEveryField) {
  struct Row {
    FieldType type;
    std::vector<const char*> good;
    std::vector<const char*> wrong;
  };
  const Row rows[] = {
      {{FieldKind::any}, {"0", "\"\"", "[]", "{}", "false"}, {"null"}},
      {{FieldKind::string}, {"\"\"", "\"x\""}, {"1", "[]", "{}", "true"}},
      {{FieldKind::integer}, {"1", "-3", "18446744073709551615", "2.0"}, {"1.5", "\"1\"", "true"}},
      {{FieldKind::decimal}, {"1", "1.5", "1e300"}, {"\"1\"", "[]"}},
      {{FieldKind::boolean}, {"true", "false"}, {"1", "\"true\""}},
      {{FieldKind::time},
       {"\"2026-11-16T09:30:00Z\"", "\"2026-11-16T09:30:00\""},
       {"\"yesterday\"", "1794819600123"}},
      {{FieldKind::duration}, {"\"5m\"", "\"PT1H\""}, {"\"soon\"", "5"}},
      {{FieldKind::list}, {"[]"}, {"{}", "\"[]\""}},
      {{FieldKind::map}, {"{}"}, {"[]", "1"}},
      {{FieldKind::rrule}, {"\"FREQ=DAILY\""}, {"\"DAILY\""}},
      {{FieldKind::cron}, {"\"0 9 * * *\""}, {"\"9\""}},
      {{FieldKind::zone}, {"\"Europe/Berlin\""}, {"\"Europe/Atlantis\""}},
      {{.kind = FieldKind::word, .words = {"card", "invoice"}}, {"\"card\""}, {"\"cash\"", "1"}},
  };
  for (const Row& row : rows) {
    Config config = plain();
    config.require = {{"f", row.type}};
    for (const char* good : row.good)
      EXPECT_EQ(code_of(config, R"({"f":)" + std::string(good) + "}"), "appended") << good;
    for (const char* wrong : row.wrong)
      EXPECT_EQ(code_of(config, R"({"f":)" + std::string(wrong) + "}"), "invalid_event") << wrong;
  }
}

// S1-9
TEST(Transform, CallsInvalidEventARiverWithoutItsParts) {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"index":"i"})",
       "the field `source` is missing; it holds the document of a river message"},
      {R"({"index":"i","source":1})", "the field `source` is 1; it must be a map"},
      {R"({"source":{}})", "the field `index` is missing; a river message needs it"},
      {R"({"index":null,"source":{}})", "the field `index` is missing; a river message needs it"},
      {R"({"index":7,"source":{}})", "the field `index` is 7; it must be a text"},
      {R"({"index":"i","id":true,"source":{}})",
       "the field `id` is true; it must be a text or a whole number"},
  };
  for (const auto& [value, reason] : rows)
    EXPECT_EQ(outcome(river(), value), "invalid_event: " + std::string(reason)) << value;
}

// S1-10: what cannot be made a document of is code 9.
TEST(Transform, CallsTransformationErrorWhatHasNoIndex) {
  EXPECT_EQ(pipe_code::number(pipe_code::kTransformationError), 9);
  Config config{.index = "{data.kind}-events"};
  const auto because = [&](std::string_view value) { return outcome(config, value); };
  EXPECT_EQ(because("{}"),
            "transformation_error: the field `kind` is missing; the index depends on it");
  EXPECT_EQ(
      because(R"({"kind":"Click"})"),
      "transformation_error: the index 'Click-events' is not a valid index name: it contains the "
      "upper-case letter 'C'");
  EXPECT_EQ(
      because(R"({"kind":["x"]})"),
      "transformation_error: the field `kind` is a list; the index needs a text or a whole number");
  for (const char* bad : {"a b", "a,b", "a/b", "a\\\\b", "a*", "a?", "\\\"", "<a", "a>", "a|b", "#",
                          "a:b", "-a", "_a", "+a", "\\u0000", "\\n"})
    EXPECT_EQ(code_of(config, R"({"kind":")" + std::string(bad) + "\"}"), "transformation_error")
        << bad;
  const auto of_length = [](std::size_t length) {
    return R"({"kind":")" + std::string(length - 7, 'x') + "\"}";
  };
  EXPECT_EQ(code_of(config, of_length(255)), "appended");
  EXPECT_EQ(code_of(config, of_length(256)), "transformation_error");
  for (const char* good : {"a", "7", "a.b", ".a", "é", "a_-+b", "{a}"})
    EXPECT_EQ(code_of(config, R"({"kind":")" + std::string(good) + "\"}"), "appended") << good;
  config.index = "{data.kind}";
  for (const char* bad : {".", "..", ""})
    EXPECT_EQ(code_of(config, R"({"kind":")" + std::string(bad) + "\"}"), "transformation_error")
        << bad;
}

// S1-10
TEST(Transform, CallsTransformationErrorATimeThatIsNone) {
  Config config{.index = "e-{time:%Y.%m.%d}",
                .time = {.from = Config::Time::From::field, .field = "at"}};
  EXPECT_EQ(outcome(config, R"({"at":"yesterday"})"),
            "transformation_error: the time in the field `at` is 'yesterday'; expected a time like "
            "2026-11-16T09:30:00Z");
  EXPECT_EQ(outcome(config, R"({"at":17})"),
            "transformation_error: the time in the field `at` is 17; expected a text");
  EXPECT_EQ(outcome(config, "{}"),
            "transformation_error: the field `at` is missing; the index needs the time in it");
  config.time.from = Config::Time::From::message;
  SourceMessage source = message("{}");
  source.timestamp_ms = -1;
  EXPECT_EQ(
      outcome(config, source),
      "transformation_error: the message has no timestamp, which the index needs; take the time "
      "from a field");
}

// S1-23: the index is picked message by message; river, simple and daily documents.
TEST(Transform, PicksTheIndexOfEveryMessage) {
  using Time = Config::Time;
  const auto daily = [](Time time) {
    return Config{.index = "daily-{time:%Y.%m.%d}", .time = std::move(time)};
  };
  const auto in_field = [](Time::Format format, std::string pattern = "") {
    return Time{Time::From::field, "ts", format, std::move(pattern)};
  };
  Config clock = daily({.from = Time::From::system});
  clock.allow_nondeterministic_index = true;
  Config river_or_daily = daily({});
  river_or_daily.message = Config::Message::river;
  struct Row {
    Config config;
    const char* value;
    const char* index;
  };
  const Row rows[] = {
      {river(), R"({"index":"one","type":"t","id":"7","source":{"a":1}})", "one"},
      {river(), R"({"source":{"a":1},"index":"two"})", "two"},
      {river(), R"({"index":"Two","source":{"a":1}})", "transformation_error"},
      {river(), R"({"source":{"index":"three"}})", "invalid_event"},
      {river_or_daily, R"({"index":"four","source":{}})", "four"},
      {river_or_daily, R"({"source":{}})", "daily-2026.11.16"},
      {{.index = "simple"}, R"({"index":"other"})", "simple"},
      {{.index = "{{simple}}"}, "{}", "{simple}"},
      {{.index = "{topic}-{partition}"}, "{}", "events-3"},
      {{.index = "{data.a.b}-{data.n}"}, R"({"a":{"b":"x"},"n":7})", "x-7"},
      {daily({}), "{}", "daily-2026.11.16"},
      {daily(in_field(Time::Format::millis)), R"({"ts":1478822400000})", "daily-2016.11.11"},
      {daily(in_field(Time::Format::millis)), R"({"ts":-1})", "daily-1969.12.31"},
      {daily(in_field(Time::Format::millis)), R"({"ts":"1478822400000"})", "transformation_error"},
      {daily(in_field(Time::Format::seconds)), R"({"ts":1478822399.9})", "daily-2016.11.10"},
      {daily(in_field(Time::Format::iso_8601)), R"({"ts":"2016-11-11T01:00:00+02:00"})",
       "daily-2016.11.10"},
      {daily(in_field(Time::Format::iso_8601)), R"({"ts":"2016-02-29"})", "daily-2016.02.29"},
      {daily(in_field(Time::Format::iso_8601)), R"({"ts":"2015-02-29"})", "transformation_error"},
      {daily(in_field(Time::Format::pattern, "%d/%b/%Y:%H:%M:%S %z")),
       R"({"ts":"10/Nov/2016:23:30:00 -0100"})", "daily-2016.11.11"},
      {clock, "{}", "daily-2030.02.03"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(index_of(row.config, message(row.value)), row.index) << row.value;
}

// S1-23: one batch, one workbench; dates change back and forth.
TEST(Transform, KeepsMessagesOfABatchApart) {
  const auto transform = made({.index = "{topic}-{time:%Y.%m.%d.%H}"});
  const auto other = made({.index = "{topic}-{time:%j}"});
  Transform::Workbench bench;
  BulkBody body;
  const std::int64_t hour = 3'600'000;
  std::string expected;
  const auto append = [&](const Transform& by, std::int64_t at, std::string_view index) {
    SourceMessage source = message("{}");
    source.timestamp_ms = kTimestamp + at;
    ASSERT_EQ(by.append(source, 0, kNow, bench, body).kind, OutcomeKind::appended);
    expected += "{\"index\":{\"_index\":\"events-" + std::string(index) +
                "\",\"_id\":\"events-3-1234\"}}\n{}\n";
  };
  append(*transform, 0, "2026.11.16.09");
  append(*transform, hour, "2026.11.16.10");
  append(*transform, hour - 1, "2026.11.16.10");
  append(*other, 0, "320");
  append(*transform, 24 * hour, "2026.11.17.09");
  append(*transform, 0, "2026.11.16.09");
  SourceMessage bad = message("{");
  EXPECT_EQ(transform->append(bad, 9, kNow, bench, body).kind, OutcomeKind::failed);
  EXPECT_EQ(body.text, expected);
  EXPECT_EQ(body.items.size(), 6U);
}

TEST(Transform, TakesTheSourceOfARiverAsItIs) {
  const auto line = [](const char* id) {
    return R"({"index":{"_index":"i","_id":")" + std::string(id) + "\"";
  };
  const std::string versioned = R"(,"version":1234,"version_type":"external_gte"}})";
  EXPECT_EQ(outcome(river(), R"({"index":"i","id":"x","source":{"a" : [1.0, "}"]} })"),
            line("x") + versioned + "\n" + R"({"a" : [1.0, "}"]})" + "\n");
  EXPECT_EQ(outcome(river(), R"({"source": {"source":{}},"id":12,"index":"i","type":null})"),
            line("12") + versioned + "\n" + R"({"source":{}})" + "\n");
  EXPECT_EQ(outcome(river(), R"({"index":"i","source":{}})"), line("events-3-1234") + "}}\n{}\n");
  EXPECT_EQ(outcome(river(), "{\"index\":\"i\",\n\"\\u0073ource\":{\n\"a\":1}}"),
            line("events-3-1234") + "}}\n{\"a\":1}\n");
  EXPECT_EQ(outcome(river(), R"({"index":"i","id":"","source":{}})"),
            "transformation_error: the id is empty");
  Config config = river();
  config.require = {{"a", {}}};
  EXPECT_EQ(code_of(config, R"({"index":"i","a":1,"source":{}})"), "invalid_event");
}

TEST(Transform, RenamesDropsAndSetsFields) {
  Config config = plain();
  config.id = {Config::Id::From::field, "old"};
  config.rename = {{"old", "new"}, {"a\"b", "c"}};
  config.drop = {"secret"};
  config.set = {{"total", "{data.n * 2}"}, {"kind", "event"}, {"from", "{data.old}/{data.n}"}};
  EXPECT_EQ(
      outcome(
          config,
          R"({ "old" : "x" , "secret":{"a":[1]}, "kept":[1, 2.50], "n":21, "a\u0022b":null, "kind":1})"),
      R"({"index":{"_index":"events","_id":"x","version":1234,"version_type":"external_gte"}})"
      "\n"
      R"({"new":"x","kept":[1, 2.50],"n":21,"c":null,"total":42,"kind":"event","from":"x/21"})"
      "\n");
  EXPECT_EQ(outcome(config, R"({"old":"x"})"),
            "transformation_error: `set` cannot compute `total`: data.n is absent");
  EXPECT_EQ(
      outcome(config, R"({"old":"x","new":1,"n":1})"),
      "transformation_error: `old` cannot be renamed to `new`: the document already has that field");
}

// S1-10
TEST(Transform, LeavesAnEmptyMapWhereEverythingIsDropped) {
  Config config = plain();
  config.drop = {"a", "b"};
  EXPECT_TRUE(outcome(config, R"({"a":1,"b":2,"a":3})").ends_with("\n{}\n"));
  config.rename = {{"x", "a"}};  // dropped by the name that it comes with
  EXPECT_TRUE(outcome(config, R"({"a":1,"x":2})").ends_with("\n{\"a\":2}\n"));
}

TEST(Transform, SwapsNames) {
  Config config = plain();
  config.rename = {{"a", "b"}, {"b", "a"}};
  EXPECT_TRUE(outcome(config, R"({"a":1,"b":2})").ends_with("\n{\"b\":1,\"a\":2}\n"));
}

TEST(Transform, SetsAFieldThatWasRenamed) {
  Config config = plain();
  config.rename = {{"message", "original"}};
  config.set = {{"message", "{data.short}"}};
  EXPECT_TRUE(outcome(config, R"({"message":"x","short":"y"})")
                  .ends_with("\n{\"original\":\"x\",\"short\":\"y\",\"message\":\"y\"}\n"));
}

TEST(Transform, DropsWhatTheConditionHoldsOf) {
  Config config = plain();
  config.drop_if = "data.kind == 'ping' or data.n > 3";
  config.require = {{"n", {}}};
  EXPECT_EQ(outcome(config, R"({"kind":"ping"})"), "skipped");
  EXPECT_EQ(outcome(config, R"({"n":4})"), "skipped");
  EXPECT_EQ(code_of(config, R"({"n":3})"), "appended");
  EXPECT_EQ(code_of(config, R"({"kind":"pong"})"), "invalid_event");
  EXPECT_EQ(code_of(config, R"({"n":"x"})"), "appended");  // has no value: does not hold
}

TEST(Transform, DoesWithTombstonesAsTold) {
  Config config = plain();
  EXPECT_EQ(outcome(config, tombstone()), "skipped");
  config.tombstone = Config::Tombstone::error;
  EXPECT_EQ(outcome(config, tombstone()), "invalid_event: the message has no value (a tombstone)");
  config.tombstone = Config::Tombstone::erase;
  config.id = {Config::Id::From::key};
  EXPECT_EQ(
      outcome(config, tombstone()),
      R"({"delete":{"_index":"events","_id":"k1","version":1234,"version_type":"external_gte"}})"
      "\n");
  SourceMessage source = tombstone();
  source.key = std::nullopt;
  EXPECT_EQ(outcome(config, source),
            "transformation_error: the message has no key, which the id is taken from");
}

TEST(Transform, RefusesADocumentThatIsTooBig) {
  Config config = plain();
  config.document_bytes_max = 9;
  EXPECT_EQ(code_of(config, R"( {"a":123} )"), "appended");
  EXPECT_EQ(outcome(config, R"({"a":1234})"),
            "message_too_big: the document has 10 bytes; the limit is 9");
  EXPECT_EQ(code_of(config, "{\n    \"a\": 12}"), "appended");
  config.drop = {"b"};
  EXPECT_EQ(code_of(config, R"({"a":123,"b":456})"), "appended");
}

TEST(Transform, SurvivesAMessageBiggerThanTheOthers) {
  const auto transform = made(plain());
  Transform::Workbench bench;
  BulkBody body;
  const std::string big = R"({"a":")" + std::string(5U << 20U, 'x') + "\"}";
  for (const std::string& value : {std::string("{}"), big, std::string(R"({"a":1})")})
    EXPECT_EQ(transform->append(message(value), 0, kNow, bench, body).kind, OutcomeKind::appended);
  EXPECT_EQ(body.items.size(), 3U);
}

// Neither a name that was refused nor one that is missing is the last one's.
TEST(Transform, RefusesTheSameNameAgain) {
  const auto transform = made({.index = "{data.kind}"});
  Transform::Workbench bench;
  BulkBody body;
  for (const char* value : {R"({"kind":"A"})", R"({"kind":"A"})", R"({"kind":""})",
                            R"({"kind":""})", R"({"kind":"A"})"})
    EXPECT_EQ(transform->append(message(value), 0, kNow, bench, body).kind, OutcomeKind::failed)
        << value;
  EXPECT_EQ(transform->append(message(R"({"kind":"a"})"), 0, kNow, bench, body).kind,
            OutcomeKind::appended);
}

TEST(Transform, KnowsWhetherItIsRepeatable) {
  EXPECT_TRUE(made(plain())->is_repeatable());
  Config config = plain();
  config.id = {Config::Id::From::none};
  EXPECT_FALSE(made(config)->is_repeatable());
  config = plain();
  config.set = {{"at", "{now}"}};
  EXPECT_EQ(error_of(config),
            "`set` of `at`: now is not available here: the same data must give the same value");
  config.allow_nondeterministic_index = true;
  EXPECT_FALSE(made(config)->is_repeatable());
  config.set = {{"at", "{data.at}"}};
  EXPECT_TRUE(made(config)->is_repeatable());
}

TEST(Transform, RefusesAClockInTheIndexUnlessAllowed) {
  Config config{.index = "e-{time:%Y}", .time = {.from = Config::Time::From::system}};
  EXPECT_TRUE(error_of(config).starts_with("an index by the system clock"));
  config.id = {Config::Id::From::none};
  EXPECT_EQ(error_of(config), "fine");
  config.id = {Config::Id::From::key};
  EXPECT_TRUE(error_of(config).starts_with("an index by the system clock"));
  config.allow_nondeterministic_index = true;
  EXPECT_EQ(error_of(config), "fine");
  EXPECT_FALSE(made(config)->is_repeatable());
  config.index = "e";
  config.allow_nondeterministic_index = false;
  EXPECT_EQ(error_of(config), "fine");
}

TEST(Transform, RefusesAFileThatMakesNoSense) {
  const auto with = [](auto change) {
    Config config = plain();
    change(config);
    return error_of(config);
  };
  using From = Config::Id::From;
  EXPECT_EQ(with([](Config& c) { c.index = ""; }),
            "the index is missing; write its name, or a template like events-{time:%Y.%m.%d}");
  EXPECT_EQ(with([](Config& c) { c.id = {From::field, ""}; }), "`id` does not name a field");
  EXPECT_EQ(with([](Config& c) {
              c.id = {From::field, "a..b"};
            }),
            "a name is empty in the field 'a..b'; join names by single dots, like user.name");
  EXPECT_EQ(
      with([](Config& c) {
        c.require = {{"", {}}};
      }),
      "`require`: a name is empty in the field ''; join names by single dots, like user.name");
  EXPECT_EQ(with([](Config& c) { c.drop_if = "data.a +"; }).substr(0, 9), "`drop_if`");
  EXPECT_EQ(with([](Config& c) { c.drop_if = "1 + 2"; }),
            "`drop_if`: a condition is true or false, not a number");
  EXPECT_EQ(with([](Config& c) { c.drop_if = "ping"; }),
            "`drop_if`: the name 'ping' is not known here; write data.ping for a field, 'ping' for "
            "a text");
  EXPECT_EQ(with([](Config& c) { c.drop_if = "record.key == 'x'"; }),
            "`drop_if`: record is available only in machines; only data is available here");
  EXPECT_EQ(with([](Config& c) { c.drop_if = "children.a.all > 1"; }),
            "`drop_if`: children is available only in machines; only data is available here");
  EXPECT_EQ(with([](Config& c) { c.set = {{"a", "{"}}; }).substr(0, 14), "`set` of `a`: ");
  EXPECT_EQ(with([](Config& c) { c.set = {{"a", 1}, {"a", 2}}; }), "`set` sets `a` twice");
  EXPECT_EQ(with([](Config& c) {
              c.rename = {{"a", "b"}, {"c", "b"}};
            }),
            "`rename` gives two fields the name `b`");
  EXPECT_EQ(with([](Config& c) {
              c.rename = {{"a", "b"}, {"a", "c"}};
            }),
            "`rename` renames `a` twice");
  EXPECT_EQ(with([](Config& c) {
              c.rename = {{"a", "a"}};
            }),
            "`rename` gives `a` the name it already has");
  EXPECT_EQ(with([](Config& c) {
              c.rename = {{"a", ""}};
            }),
            "`rename` lacks a name; write the old name, then the new one");
  EXPECT_EQ(with([](Config& c) {
              c.rename = {{"a", "b"}};
              c.drop = {"a"};
            }),
            "`a` is both renamed and dropped; keep one of the two");
  EXPECT_EQ(with([](Config& c) {
              c.rename = {{"a", "b"}};
              c.set = {{"b", 1}};
            }),
            "`b` is both the new name of a field and set; keep one of the two");
  EXPECT_EQ(with([](Config& c) { c.document_bytes_max = 0; }),
            "the maximum size of a document must be from 1 byte to 1 GiB");
  EXPECT_EQ(with([](Config& c) { c.tombstone = Config::Tombstone::erase; }),
            "`tombstone: delete` needs `id: key`: a message without a value has nothing else");
  EXPECT_EQ(with([](Config& c) {
              c.tombstone = Config::Tombstone::erase;
              c.id = {From::key};
              c.op = Config::Op::create;
            }),
            "`tombstone: delete` does not work with `op: create`, which only adds");
  EXPECT_EQ(with([](Config& c) {
              c.tombstone = Config::Tombstone::erase;
              c.id = {From::key};
              c.message = Config::Message::river;
            }).substr(0, 56),
            "`tombstone: delete` does not work with `message: river`:");
  EXPECT_EQ(with([](Config& c) {
              c.tombstone = Config::Tombstone::erase;
              c.id = {From::key};
              c.index = "e-{time:%Y}";
            }).substr(0, 41),
            "`tombstone: delete` needs an index that d");
}

TEST(Transform, SaysWhereInTheFileItIsWrong) {
  Config config{.index = "Events", .index_at = {7, 3}};
  EXPECT_EQ(Transform::make(config).error().position, (Position{7, 3}));
  config.index = "events";
  config.require = {{"a.", {}, {8, 5}}};
  EXPECT_EQ(Transform::make(config).error().position, (Position{8, 5}));
  config.require = {};
  config.drop_if = Expression("data.a == = 1", Where{{9, 2}, 12, false});
  EXPECT_EQ(Transform::make(config).error().position, (Position{9, 22}));
}

// Random values.

// A little of everything that is text in JSON, and of what is not.
rc::Gen<std::string> any_text() {
  return rc::gen::map(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 24)),
                      [](const std::vector<int>& picks) {
                        static const char* const kBits[] = {
                            "a",       "B",       "0",   " ", "\\n",  "\\\"",           "\\\\",
                            "\\u0000", "é",       "\\/", "{", "}",    "\\ud83d\\ude00", "[",
                            ",",       ":",       "-",   ".", "kind", "\t\t",           "\\ud800",
                            "\xff",    "\\udc00", "%"};
                        std::string text = "\"";
                        for (const int pick : picks) {
                          // What is no JSON is rare.
                          if (pick >= 19 && pick <= 22 && picks.size() % 5 != 0) continue;
                          text += kBits[pick];
                        }
                        return text + "\"";
                      });
}

rc::Gen<std::string> any_blank() {
  return rc::gen::weightedElement<std::string>({{8, ""}, {2, " "}, {1, "\n"}, {1, "\r\n\t "}});
}

rc::Gen<std::string> any_json(int depth);

rc::Gen<std::string> any_member(int depth) {
  return rc::gen::map(
      rc::gen::tuple(rc::gen::oneOf(rc::gen::element<std::string>(
                                        "\"a\"", "\"b\"", "\"kind\"", "\"at\"", "\"source\"",
                                        "\"index\"", "\"id\"", "\"k\\u0069nd\""),
                                    any_text()),
                     any_blank(), any_json(depth)),
      [](const std::tuple<std::string, std::string, std::string>& parts) {
        return std::get<0>(parts) + std::get<1>(parts) + ":" + std::get<1>(parts) +
               std::get<2>(parts);
      });
}

rc::Gen<std::string> joined(rc::Gen<std::string> item, char open, char close) {
  return rc::gen::map(
      rc::gen::pair(rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(item)),
                    any_blank()),
      [=](const std::pair<std::vector<std::string>, std::string>& parts) {
        std::string text(1, open);
        for (const std::string& part : parts.first) {
          if (text.size() > 1) text += ",";
          text += parts.second + part;
        }
        return text + parts.second + close;
      });
}

rc::Gen<std::string> any_map(int depth) {
  return rc::gen::lazy([depth] { return joined(any_member(depth - 1), '{', '}'); });
}

rc::Gen<std::string> any_json(int depth) {
  const auto scalar = rc::gen::oneOf(
      any_text(),
      rc::gen::element<std::string>("0", "-1", "1.50", "1e5", "1478822400000", "true", "false",
                                    "null", "\"2026-11-16T09:30:00Z\"", "\"click\"", "\"events\""));
  if (depth <= 0) return scalar;
  return rc::gen::oneOf(scalar, any_map(depth),
                        rc::gen::lazy([depth] { return joined(any_json(depth - 1), '[', ']'); }));
}

rc::Gen<std::string> any_value() {
  return rc::gen::weightedOneOf<std::string>(
      {{12, any_map(4)},
       {1, any_json(3)},
       {2, rc::gen::string<std::string>()},
       {2, rc::gen::map(rc::gen::pair(any_map(3), rc::gen::inRange(0, 100)),
                        [](const std::pair<std::string, int>& cut) {
                          return cut.first.substr(
                              0, cut.first.size() * static_cast<std::size_t>(cut.second) / 100);
                        })}});
}

std::vector<std::shared_ptr<const Transform>> all_kinds() {
  Config fields{.index = "{data.kind}-{topic}", .id = {Config::Id::From::field, "id"}};
  Config times{.index = "e-{time:%G.%V}",
               .time = {.from = Config::Time::From::field, .field = "at"},
               .id = {Config::Id::From::key}};
  Config edits{.index = "e"};
  edits.rename = {{"a", "b"}, {"kind", "sort"}};
  edits.drop = {"at", "id"};
  edits.set = {
      {"source", "{data.source}"}, {"n", "x{data.b}y"}, {"index", Json::list({1, "{data}"})}};
  edits.drop_if = "data.a == data.b and size(data.kind) > 2";
  Config rivers = river();
  rivers.index = "{data.kind}";
  return {made(plain()), made(fields), made(times), made(edits), made(rivers)};
}

void check_appended(const BulkBody& body) {
  const std::string_view lines = body.lines(body.items.back());
  RC_ASSERT(body.items.back().end == body.text.size());
  RC_ASSERT(std::count(lines.begin(), lines.end(), '\n') == 2);
  RC_ASSERT(lines.ends_with('\n'));
  const std::size_t line = lines.find('\n');
  const std::string_view document = lines.substr(line + 1, lines.size() - line - 2);
  RC_ASSERT(check_json(lines.substr(0, line)).has_value());
  RC_ASSERT(check_json(document).has_value());
  RC_ASSERT(JsonView(document).kind() == JsonView::Kind::map);
}

void check_outcome(const Transform::Outcome& outcome, const BulkBody& body) {
  if (outcome.kind == OutcomeKind::appended) return check_appended(body);
  RC_ASSERT(body.text == "before\n");
  RC_ASSERT(body.items.size() == 1U);
  RC_ASSERT((outcome.kind == OutcomeKind::failed) == !outcome.reason.empty());
  RC_ASSERT((outcome.kind == OutcomeKind::failed) == (pipe_code::number(outcome.code) != 0));
  RC_ASSERT(outcome.reason.size() < 400U);
}

// Invariant 4: the same message gives the same bytes, whatever came before it.
TEST(TransformProperties, GivesTheSameBytesAgainAndNothingOnFailure) {
  const auto kinds = all_kinds();
  Transform::Workbench used;
  int appended = 0;
  int failed = 0;
  EXPECT_TRUE(rc::check([&] {
    const std::string key = *rc::gen::string<std::string>();
    for (const std::string& value : *rc::gen::container<std::vector<std::string>>(any_value())) {
      SourceMessage source = message(value);
      source.key = key;
      for (const auto& transform : kinds) {
        BulkBody body{.text = "before\n", .items = {{0, 7, 1}}};
        BulkBody again = body;
        const auto outcome = transform->append(source, 5, kNow, used, body);
        Transform::Workbench fresh;
        const auto repeated = transform->append(source, 5, Instant{}, fresh, again);
        RC_ASSERT(body.text == again.text);
        RC_ASSERT(outcome.kind == repeated.kind && outcome.code == repeated.code &&
                  outcome.reason == repeated.reason);
        check_outcome(outcome, body);
        ++(outcome.kind == OutcomeKind::appended ? appended : failed);
      }
    }
  }));
  EXPECT_GT(appended, 1'000);
  EXPECT_GT(failed, 1'000);
}

// A value without line breaks and edits is sent byte by byte as it came.
TEST(TransformProperties, LeavesTheValueAsItIs) {
  const auto transform = made(plain());
  Transform::Workbench bench;
  EXPECT_TRUE(rc::check([&] {
    const std::string value = *any_map(4);
    RC_PRE(value.find('\n') == std::string::npos);
    BulkBody body;
    const bool is_json = check_json(value).has_value();
    const auto outcome = transform->append(message(value), 0, kNow, bench, body);
    RC_ASSERT((outcome.kind == OutcomeKind::appended) == is_json);
    if (is_json) RC_ASSERT(body.text.ends_with("}}\n" + value + "\n"));
  }));
}

}  // namespace
}  // namespace pawl
