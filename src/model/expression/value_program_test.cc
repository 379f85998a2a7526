#include "model/expression/value_program.h"

#include <gtest/gtest.h>

#include "base/json_text.h"

namespace pawl {
namespace {

constexpr std::string_view kValueData =
    R"({"n":1.50,"name":"Ann \"A\" {data.n}","list":[1,2],"none":null,"url":"a b/c?d=ä~","at":"2026-01-01T00:00:00Z"})";

struct Rendered {
  std::string json;
  std::string text;
  std::string url;
};

std::string shown(bool there, const std::string& out) { return there ? out : "absent" + out; }

Rendered rendered(const Json& json) {
  Diagnostics diagnostics;
  const auto program = ValueProgram::compile(json, {}, diagnostics);
  for (const Diagnostic& finding : diagnostics.sorted()) ADD_FAILURE() << finding.message;
  if (!program) return {};
  Record record;
  record.key = "A-1";
  const Sight sight{.record = &record, .data = kValueData};
  Scratch scratch;
  std::string out;
  Rendered result;
  result.json = shown(program->render(sight, scratch, out), out);
  out.clear();
  result.text = shown(program->render_text(sight, scratch, out), out);
  out.clear();
  result.url = shown(program->render_url(sight, scratch, out), out);
  if (result.json != "absent") {
    EXPECT_TRUE(check_json(result.json)) << result.json;
  }
  return result;
}

// Every finding as `line:column id message`.
std::string findings(const Json& json) {
  Diagnostics diagnostics;
  EXPECT_EQ(ValueProgram::compile(json, {}, diagnostics), nullptr);
  std::string result;
  for (const Diagnostic& finding : diagnostics.sorted()) {
    if (!result.empty()) result += '\n';
    result += std::to_string(finding.position.line) + ":" +
              std::to_string(finding.position.column) + " " + std::string(finding.id) + " " +
              finding.message;
  }
  return result;
}

Json text_at(std::string text, int line, int column) {
  Json json(std::move(text));
  json.at = {.position = {line, column}, .text_column = column + 1};
  return json;
}

TEST(ValueProgram, LiteralsAreThemselves) {
  EXPECT_EQ(rendered(nullptr).json, "null");
  EXPECT_EQ(rendered(true).json, "true");
  EXPECT_EQ(rendered(Json::number("1.50")).json, "1.50");
  EXPECT_EQ(rendered("a \"b\"").json, R"("a \"b\"")");
  EXPECT_EQ(rendered("a \"b\"").text, "a \"b\"");
  EXPECT_EQ(rendered("").json, "\"\"");
  EXPECT_EQ(rendered(Json::list({1, "x"})).json, R"([1,"x"])");
  EXPECT_EQ(rendered(Json::map({{"{data.n}", 1}})).json, R"({"{data.n}":1})");
  EXPECT_EQ(rendered(Json::map({})).text, "{}");
  EXPECT_EQ(rendered("https://x/?a=b c").url, "https://x/?a=b c");
}

TEST(ValueProgram, ALonePlaceholderKeepsItsType) {
  EXPECT_EQ(rendered("{data.n}").json, "1.50");
  EXPECT_EQ(rendered("{data.n + 1}").json, "2.5");
  EXPECT_EQ(rendered("{data.list}").json, "[1,2]");
  EXPECT_EQ(rendered("{data.none}").json, "null");
  EXPECT_EQ(rendered("{data.n > 1}").json, "true");
  EXPECT_EQ(rendered("{ record.key }").json, "\"A-1\"");
  EXPECT_EQ(rendered("{record.key}").text, "A-1");
  EXPECT_EQ(rendered("{data.list}").text, "[1,2]");
  EXPECT_EQ(rendered("{data.none}").text, "null");
  EXPECT_EQ(rendered("{data['}']}").json, "absent");
  EXPECT_EQ(rendered("{'}'}").json, "\"}\"");
  EXPECT_EQ(rendered("{'\\'}'}").text, "'}");
}

TEST(ValueProgram, PlaceholdersStandInsideTexts) {
  EXPECT_EQ(rendered("Order {record.key}: {data.n} EUR").json, "\"Order A-1: 1.50 EUR\"");
  EXPECT_EQ(rendered("Order {record.key}: {data.n} EUR").text, "Order A-1: 1.50 EUR");
  EXPECT_EQ(rendered("{data.n}{data.list}").json, "\"1.50[1,2]\"");
  EXPECT_EQ(rendered("{data.none} {data.n == 2} {data.at}").text,
            "null false 2026-01-01T00:00:00Z");
}

TEST(ValueProgram, WhatIsInsertedIsNeverExpandedAgain) {
  EXPECT_EQ(rendered("<{data.name}>").text, "<Ann \"A\" {data.n}>");
  EXPECT_EQ(rendered("<{data.name}>").json, R"("<Ann \"A\" {data.n}>")");
}

TEST(ValueProgram, DoubledBracesAreBraces) {
  EXPECT_EQ(rendered("{{x}}").text, "{x}");
  EXPECT_EQ(rendered("{{{data.n}}}").text, "{1.50}");
  EXPECT_EQ(rendered("a}}b{{").json, "\"a}b{\"");
}

TEST(ValueProgram, WhatIsAbsentIsLeftOut) {
  EXPECT_EQ(rendered("{data.x}").json, "absent");
  EXPECT_EQ(rendered("{data.x}").text, "absent");
  EXPECT_EQ(rendered("{data.x}").url, "absent");
  EXPECT_EQ(rendered("{data.n / 0}").json, "absent");
  EXPECT_EQ(rendered("<{data.x}{1 / 0}>").text, "<>");
  EXPECT_EQ(rendered(Json::list({"{data.x}", 1, "{data.x}", "{data.n}", "{data.x}"})).json,
            "[1,1.50]");
  EXPECT_EQ(rendered(Json::map({{"a", "{data.x}"},
                                {"b", "{data.n}"},
                                {"c", Json::list({"{data.x}"})},
                                {"d", "{data.x}"}}))
                .json,
            R"({"b":1.50,"c":[]})");
}

TEST(ValueProgram, SaysWhyItIsAbsent) {
  Diagnostics diagnostics;
  const auto program = ValueProgram::compile("{data.x + 1}", {}, diagnostics);
  ASSERT_TRUE(program);
  Scratch scratch;
  std::string out;
  EXPECT_FALSE(program->render_text({}, scratch, out));
  EXPECT_EQ(scratch.why, "data.x is absent");
}

TEST(ValueProgram, InUrlsWhatIsInsertedIsPercentEncoded) {
  EXPECT_EQ(rendered("https://x/{data.url}?n={data.n}&l={data.list}").url,
            "https://x/a%20b%2Fc%3Fd%3D%C3%A4~?n=1.50&l=%5B1%2C2%5D");
  EXPECT_EQ(rendered("{data.url}").url, "a%20b%2Fc%3Fd%3D%C3%A4~");
  EXPECT_EQ(rendered("{{{record.key}}}").url, "{A-1}");
}

TEST(ValueProgram, KnowsWhetherItIsConstantAndItsType) {
  const auto compiled = [](const Json& json) {
    Diagnostics diagnostics;
    return ValueProgram::compile(json, {}, diagnostics);
  };
  EXPECT_TRUE(compiled("a {{b}}")->constant());
  EXPECT_TRUE(compiled(Json::list({1, Json::map({{"a", "b"}})}))->constant());
  EXPECT_FALSE(compiled("{data.n}")->constant());
  EXPECT_FALSE(compiled("{1}")->constant());
  EXPECT_FALSE(compiled(Json::list({1, Json::map({{"a", "{data.n}"}})}))->constant());
  EXPECT_EQ(compiled("{now}")->type(), Type::time);
  EXPECT_EQ(compiled("{data.n + 1}")->type(), Type::decimal);
  EXPECT_EQ(compiled(" {now}")->type(), Type::text);
  EXPECT_EQ(compiled("x")->type(), Type::text);
  EXPECT_EQ(compiled(1)->type(), Type::integer);
  EXPECT_EQ(compiled(Json::number("1.5"))->type(), Type::decimal);
  EXPECT_EQ(compiled(nullptr)->type(), Type::null);
  EXPECT_EQ(compiled(false)->type(), Type::boolean);
  EXPECT_EQ(compiled(Json::list({}))->type(), Type::list);
  EXPECT_EQ(compiled(Json::map({}))->type(), Type::map);
}

TEST(ValueProgram, FindsEveryMistakeWithItsPlace) {
  EXPECT_EQ(findings(text_at("a } b", 3, 5)),
            "3:8 bad_template a } is unmatched; write }} for a brace");
  EXPECT_EQ(findings(text_at("ä {data.n", 3, 5)),
            "3:8 bad_template a { is not closed; write } after the expression, or {{ for a brace");
  EXPECT_EQ(findings(text_at("{ }", 3, 5)),
            "3:6 bad_template an expression is missing between the braces; write for example "
            "{data.amount}, or {{ and }} for braces");
  EXPECT_EQ(
      findings(text_at("x {data.n && 1} {result.x}", 1, 1)),
      "1:12 bad_expression && is not known here; write and\n"
      "1:19 bad_expression result is available only in done rows; write record.result for the "
      "last result");
  EXPECT_EQ(findings(text_at("{ amount }", 1, 1)),
            "1:4 bad_expression the name 'amount' is not known here; write data.amount for a "
            "field, 'amount' for a text");
  EXPECT_EQ(
      findings(Json::map({{"a", Json::list({text_at("{", 7, 9)})}, {"b", text_at("}", 8, 9)}})),
      "7:10 bad_template a { is not closed; write } after the expression, or {{ for a brace\n"
      "8:10 bad_template a } is unmatched; write }} for a brace");
}

}  // namespace
}  // namespace pawl
