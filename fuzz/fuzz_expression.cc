// Expressions and values: any text is refused with a place, or computes the same twice, on data
// that is JSON and on data that is not. The first line is the expression, the rest is the data.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_text.h"
#include "base/text.h"
#include "model/expression/decimal.h"
#include "model/expression/json_view.h"
#include "model/expression/program.h"
#include "model/expression/value_program.h"
#include "pawl/assert.h"

namespace pawl {
namespace {

constexpr std::string_view kData =
    R"({"a":1.5,"b":{"c":[1,2,3],"k\u0065y":"x\ny"},"t":"2026-01-01T00:00:00Z","d":"90m","n":null,"s":"small","ok":true})";

// Declared fields make the checker decide what the evaluator decides without them.
Definition definition() {
  using Kind = FieldType::Kind;
  return {.machine = "m",
          .data = Fields{{"a", {Kind::decimal}},
                         {"b", {Kind::map}},
                         {"t", {Kind::time}},
                         {"d", {Kind::duration}},
                         {"n", {Kind::any}},
                         {"s", {.kind = Kind::word, .words = {"small", "large"}}},
                         {"ok", {Kind::boolean}}},
          .order = {"x", "y"},
          .states = {{"x"}, {"y"}, {"z"}}};
}

struct World {
  Definition machine = definition();
  Record record;
  Actor actor{"ann", {"clerk"}};
  Failure error{.code = "e", .detail = R"({"x":[1]})", .retry_after = Duration{1}};
  Scope open{.sees_event = true, .sees_result = true, .sees_error = true, .sees_item = true};
  Scope closed{.definition = &machine, .sees_now = false};

  World() {
    record.machine = "m";
    record.state = "x";
    record.key = "k";
    record.children = {{.machine = "c", .all = 1, .open = 1}};
  }

  Sight sight(std::string_view data) const {
    return {.record = &record,
            .data = data,
            .event = data,
            .result = data,
            .item = data,
            .actor = &actor,
            .error = &error,
            .now = Instant{std::chrono::hours{500'000}}};
  }
};

void check_error(const Error& error, std::string_view text) {
  PAWL_ASSERT(error.position && error.position->column >= 1 &&
                  error.position->column <= static_cast<int>(text.size()) + 1 &&
                  !error.message.empty(),
              "a mistake has a place and a message");
}

// The library that checks JSON refuses whole numbers of more than 64 bits, so long ones are cut.
bool is_printed_json(std::string_view text) {
  std::string cut;
  int digits = 0;
  for (const char c : text) {
    digits = is_digit(c) ? digits + 1 : 0;
    if (digits <= 15) cut += c;
  }
  return check_json(cut).has_value();
}

std::string evaluated(const Program& program, const Sight& sight, Scratch& scratch) {
  const Operand value = program.evaluate(sight, scratch);
  const bool missing = value.kind == Operand::Kind::none || value.kind == Operand::Kind::absent;
  PAWL_ASSERT(scratch.why.empty() != missing, "what has no value has a reason");
  std::string json = std::to_string(static_cast<int>(value.kind)) + " ";
  append_json(json, value);
  const std::string why = scratch.why;
  const bool holds = program.holds(sight, scratch);
  PAWL_ASSERT(!holds || (value.kind == Operand::Kind::boolean && value.boolean && why.empty()),
              "only what is true holds");
  return json;
}

void check_program(std::string_view text, const Scope& scope, const Sight& sight, bool is_json) {
  const auto program = Program::compile(text, scope);
  if (!program) return check_error(program.error(), text);
  if (!(*program)->guard().empty()) return;
  Scratch scratch;
  const std::string once = evaluated(**program, sight, scratch);
  PAWL_ASSERT(evaluated(**program, sight, scratch) == once, "it computes the same twice");
  if (is_json)
    PAWL_ASSERT(is_printed_json(std::string_view(once).substr(once.find(' '))),
                "a value is printed as JSON");
}

void check_value(std::string_view text, const Scope& scope, const Sight& sight, bool is_json) {
  Diagnostics diagnostics;
  const auto program = ValueProgram::compile(
      Json::list({std::string(text), Json::map({{"k", std::string(text)}})}), scope, diagnostics);
  PAWL_ASSERT((program == nullptr) == diagnostics.has_errors(), "no value without a reason");
  if (!program) return;
  Scratch scratch;
  std::string once;
  std::string twice;
  PAWL_ASSERT(program->render(sight, scratch, once) && program->render(sight, scratch, twice),
              "a list is never absent");
  PAWL_ASSERT(once == twice, "it renders the same twice");
  if (is_json) PAWL_ASSERT(is_printed_json(once), "a value is rendered as JSON");
  program->render_url(sight, scratch, twice);
}

// Every member and item is found where a walk sees it.
void check_view(JsonView view, int depth) {
  Scratch scratch;
  std::size_t count = 0;
  for (JsonWalk walk(view); walk.next(); ++count) {
    const JsonView found = view.kind() == JsonView::Kind::map
                               ? view.member(walk.key().text(scratch))
                               : view.item(count);
    PAWL_ASSERT(!found.absent(), "what a walk sees is found");
    if (depth > 0) check_view(walk.value(), depth - 1);
  }
  PAWL_ASSERT(view.kind() == JsonView::Kind::text || view.size() == count, "a walk sees all");
  PAWL_ASSERT(same_json(view.json(), view.json()), "a value is equal to itself");
}

void check_decimal(std::string_view text) {
  if (const auto number = Decimal::parse(text)) {
    PAWL_ASSERT(Decimal::parse(number->to_text()) == number, "printed numbers read back equal");
    PAWL_ASSERT(Decimal::read(text) == number, "what is exact is not rounded");
    PAWL_ASSERT(same_number(text, number->to_text()), "a printed number is the same");
  }
}

}  // namespace
}  // namespace pawl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace pawl;
  static const World world;
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::size_t line = std::min(input.find('\n'), size);
  const std::string_view text = input.substr(0, line);
  const std::string_view data = input.substr(std::min(line + 1, size));

  // Deeply nested data may be too deep for the check once it stands inside a list.
  const bool is_json = data.size() < 500 && check_json(data).has_value();
  for (const Scope* scope : {&world.open, &world.closed}) {
    check_program(text, *scope, world.sight(kData), true);
    check_program(text, *scope, world.sight(data), is_json);
    check_value(text, *scope, world.sight(data), is_json);
  }
  same_json(text, data);
  check_decimal(text);
  if (is_json) check_view(JsonView(data), 64);
  return 0;
}
