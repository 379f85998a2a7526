// Messages of a pipe: any bytes become lines that are JSON, or leave the body as it was and say
// why; the same bytes do so twice. What is quickly taken for JSON is JSON. The first byte picks
// what the pipe's file says, the first line is the key, the rest the value. With the last pick the
// first line is the template of the index.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fault.h"
#include "base/json_text.h"
#include "model/expression/json_view.h"
#include "pawl/assert.h"
#include "pipe/map_members.h"
#include "pipe/pipe_codes.h"
#include "pipe/quick_json.h"
#include "pipe/transform.h"

namespace pawl {
namespace {

using Config = TransformConfig;
using Kind = Transform::Outcome::Kind;

std::vector<std::shared_ptr<const Transform>> transforms() {
  using Time = Config::Time;
  using Type = FieldType::Kind;
  const auto in_field = [](Time::Format format, const char* pattern = "") {
    return Time{Time::From::field, "at", format, pattern};
  };
  std::vector<Config> configs = {
      {.index = "events"},
      {.require = {{"a", {Type::integer}}, {"b.c", {Type::time}}, {"d", {Type::duration}}},
       .index = "{topic}-{partition}-{time:%Y.%j}",
       .id = {Config::Id::From::key}},
      {.index = "e-{data.kind}", .id = {Config::Id::From::field, "id"}, .op = Config::Op::create},
      {.index = "e-{time:%G.%V.%H}", .time = in_field(Time::Format::millis)},
      {.index = "e-{time:%y%m%d%M%S}", .time = in_field(Time::Format::seconds)},
      {.index = "e-{time:%Y}", .time = in_field(Time::Format::iso_8601)},
      {.index = "e-{time:%Y}", .time = in_field(Time::Format::pattern, "%d/%b/%Y:%T %z")},
      {.index = "e-{time:%Y}", .time = in_field(Time::Format::pattern, "%Y-%j")},
      {.message = Config::Message::river, .index = "{data.kind}"},
      {.index = "e", .rename = {{"a", "b"}, {"b", "c"}}, .drop = {"d"}},
      {.index = "e",
       .set = {{"a", "{data.b}"}, {"n", "x{data.c}y"}, {"l", Json::list({1, "{data}"})}},
       .drop_if = "data.a == data.b or size(data.c) > 2 or data.a * 2 > 7",
       .document_bytes_max = 200},
  };
  std::vector<std::shared_ptr<const Transform>> made;
  for (const Config& config : configs) made.push_back(*Transform::make(config));
  return made;
}

void check_lines(std::string_view lines) {
  PAWL_ASSERT(std::count(lines.begin(), lines.end(), '\n') == 2 && lines.ends_with('\n'),
              "there are two lines");
  const std::size_t line = lines.find('\n');
  const std::string_view document = lines.substr(line + 1, lines.size() - line - 2);
  PAWL_ASSERT(check_json(lines.substr(0, line)).has_value(), "the action is JSON");
  PAWL_ASSERT(JsonView(document).kind() == JsonView::Kind::map, "the document is a map");
  // By its form: what is computed may be a number of more than 64 bits, or deep.
  PAWL_ASSERT(!find_json_fault(document), "the document is JSON");
}

void check(const Transform& transform, const SourceMessage& source, Transform::Workbench& used) {
  BulkBody body{.text = "before\n", .items = {{0, 7, 1}}};
  BulkBody again = body;
  const auto outcome = transform.append(source, 2, Instant{}, used, body);
  Transform::Workbench fresh;
  const auto repeated = transform.append(source, 2, Instant{}, fresh, again);
  PAWL_ASSERT(
      outcome.kind == repeated.kind && outcome.reason == repeated.reason && body.text == again.text,
      "the same message gives the same bytes");
  if (outcome.kind == Kind::appended) return check_lines(body.lines(body.items.back()));
  PAWL_ASSERT(body.text == "before\n" && body.items.size() == 1, "the body is as it was");
  PAWL_ASSERT((outcome.kind == Kind::failed) == (pipe_code::number(outcome.code) != 0) &&
                  (outcome.kind == Kind::failed) == !outcome.reason.empty(),
              "what failed has a code and a reason");
}

void check_quick(std::string_view value) {
  static simdjson::dom::parser parser;
  static MapMembers members;
  if (QuickJson::read(value, parser, members) != QuickJson::Verdict::json) return;
  PAWL_ASSERT(check_json(value).has_value() && !find_json_fault(value),
              "what is quickly taken for JSON is JSON");
  MapMembers walked;
  walked.read(value);
  PAWL_ASSERT(std::equal(members.all().begin(), members.all().end(), walked.all().begin(),
                         walked.all().end(),
                         [](const auto& quick, const auto& slow) {
                           return quick.key == slow.key && quick.value == slow.value;
                         }),
              "its members are found");
}

}  // namespace
}  // namespace pawl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace pawl;
  static const auto kTransforms = transforms();
  static Transform::Workbench bench;
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view key = input.substr(0, line);
  const SourceMessage source{.topic = "events",
                             .partition = 3,
                             .offset = 1234,
                             .timestamp_ms = 1'794'819'600'123,
                             .key = key,
                             .value = input.substr(std::min(line + 1, input.size()))};
  check_quick(*source.value);
  const std::size_t pick = bytes[0] % (kTransforms.size() + 1);
  if (pick < kTransforms.size()) {
    check(*kTransforms[pick], source, bench);
  } else if (const auto made = Transform::make({.index = std::string(key)})) {
    check(**made, source, bench);
  }
  return 0;
}
