#include "model/yaml_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/tree.h"

namespace pawl {
namespace {

Json json_of(const Node& node) {
  Json json;
  json.kind = static_cast<Json::Kind>(node.kind);
  json.text = node.text;
  for (const Node& item : node.items) json.items.push_back(json_of(item));
  for (const Member& member : node.members)
    json.members.push_back({member.key, json_of(member.value), {}});
  return json;
}

// What read_tree makes of the text: the value as JSON, or what it says is wrong.
std::string read_back(const std::string& text) {
  Diagnostics diagnostics;
  const auto node = read_tree(text, diagnostics);
  for (const Diagnostic& finding : diagnostics.sorted()) return finding.message;
  return to_text(json_of(*node));
}

Json json_map(std::vector<JsonMember> members) { return Json::map(std::move(members)); }
Json json_list(std::vector<Json> items) { return Json::list(std::move(items)); }

// The text as the value of a key in a block.
std::string in_block(const std::string& text) {
  const std::string yaml = to_yaml(json_map({{"a", text, {}}}));
  return yaml.substr(3, yaml.size() - 4);
}

// The text as an item of a list in brackets.
std::string in_flow(const std::string& text) {
  const std::string yaml = to_yaml(json_map({{"a", json_list({text}), {}}}));
  return yaml.substr(4, yaml.size() - 6);
}

TEST(YamlText, WordsAndSentencesStandBare) {
  for (const std::string text : {"order",
                                 "on",
                                 "yes",
                                 "string!",
                                 "±20%",
                                 "data.amount > 0 and not record.running",
                                 "record.failed_from == 'new'",
                                 "Zürich",
                                 "30s",
                                 "500ms",
                                 "+1h",
                                 "2026-03-02T08:00:00Z",
                                 "parcel/o1/a",
                                 "/a",
                                 "(a or b) and c",
                                 "a  b",
                                 "a:b",
                                 "a#b",
                                 "_x",
                                 "PT1.5S"}) {
    EXPECT_EQ(in_block(text), text);
    EXPECT_EQ(in_flow(text), text);
  }
}

TEST(YamlText, TextsThatMeanSomethingElseAreQuoted) {
  for (const std::string text :
       {"",    "null",     "Null",   "true", "FALSE", "~",   "0",  "-1",  "1.5e3",
        "007", "0x1f",     ".5",     "-",    "- x",   "? x", "?",  "---", "...",
        ": x", "x:",       "x: y",   "x #y", "#x",    "*x",  "&x", "!x",  "|",
        ">",   "'x'",      "@x",     "%x",   "`x",    " x",  "x ", "{x}", "a {x} b",
        "[x]", "08:00:21", "1 hour", "20%",  "+x",    "<<",  "=",  "+",   "2026-03-02"}) {
    EXPECT_EQ(in_block(text), "\"" + text + "\"");
    EXPECT_EQ(in_flow(text), "\"" + text + "\"");
  }
}

TEST(YamlText, MarksOfListsAreQuotedOnlyInsideOfThem) {
  for (const std::string text : {"a, b", "x in [1, 2]", "why?"}) {
    EXPECT_EQ(in_block(text), text);
    EXPECT_EQ(in_flow(text), "\"" + text + "\"");
  }
}

TEST(YamlText, WhatCannotBeSeenIsEscaped) {
  EXPECT_EQ(in_block("a\nb\tc\r"), R"("a\nb\tc\r")");
  EXPECT_EQ(in_block(std::string("a\0b\x1b\x7f", 5)), R"("a\u0000b\u001b\u007f")");
  EXPECT_EQ(in_block("a\u0085\u009f\u2028\u2029\u202e\u2066\ufeff\uffff"),
            R"("a\u0085\u009f\u2028\u2029\u202e\u2066\ufeff\uffff")");
  EXPECT_EQ(in_block("say \"hi\" \\o"), R"("say \"hi\" \\o")");
  EXPECT_EQ(in_block("a\U0001F600, 漢字"), "a\U0001F600, 漢字");
}

TEST(YamlText, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(in_block("a\xff\xc3"), "\"a\ufffd\ufffd\"");
}

TEST(YamlText, KeysAreQuotedLikeTextsExceptWholeNumbers) {
  EXPECT_EQ(to_yaml(json_map({{"2", 1, {}},
                              {"on", 2, {}},
                              {"-3", 3, {}},
                              {"null", 4, {}},
                              {"a, b", 5, {}},
                              {"<<", 6, {}}})),
            "2: 1\non: 2\n\"-3\": 3\n\"null\": 4\na, b: 5\n\"<<\": 6\n");
}

TEST(YamlText, KeysInsideBracesAreQuotedAsTextsThere) {
  EXPECT_EQ(to_yaml(json_list({json_map({{"a, b", 1, {}}, {"2", 2, {}}})})),
            "[{\"a, b\": 1, 2: 2}]\n");
}

TEST(YamlText, KindsOfValuesAreKept) {
  EXPECT_EQ(to_yaml(json_list({nullptr, true, 7, Json::number("1.50"), "1.50", json_list({})})),
            "[null, true, 7, 1.50, \"1.50\", []]\n");
  EXPECT_EQ(to_yaml(Json()), "null\n");
  EXPECT_EQ(to_yaml("a, b"), "a, b\n");
  EXPECT_EQ(to_yaml(json_list({1, 2})), "[1, 2]\n");
  EXPECT_EQ(to_yaml(json_map({})), "{}\n");
}

TEST(YamlText, AMapThatFitsIntoAHundredColumnsStandsOnOneLine) {
  const auto row = [](std::size_t letters) {
    return json_map(
        {{"keep", json_map({{"if", std::string(letters, 'x'), {}}, {"to", "ä", {}}}), {}}});
  };
  const std::string fits(100 - std::string("keep: {if: , to: x}").size(), 'x');
  EXPECT_EQ(to_yaml(row(fits.size())), "keep: {if: " + fits + ", to: ä}\n");
  EXPECT_EQ(to_yaml(row(fits.size() + 1)), "keep:\n  if: x" + fits + "\n  to: ä\n");
}

TEST(YamlText, RowsOfAListHaveALineEach) {
  const Json rows =
      json_list({json_map({{"if", "a", {}}, {"to", "b", {}}}), json_map({{"to", "c", {}}})});
  EXPECT_EQ(to_yaml(json_map({{"give_up", rows, {}}})),
            "give_up:\n  - {if: a, to: b}\n  - {to: c}\n");
  EXPECT_EQ(to_yaml(json_map({{"on", json_map({{"go", json_list({json_map({}), "c"}), {}}}), {}}})),
            "on:\n  go:\n    - {}\n    - c\n");
  EXPECT_EQ(to_yaml(json_list({rows, json_list({rows})})),
            "- - {if: a, to: b}\n  - {to: c}\n- - - {if: a, to: b}\n    - {to: c}\n");
}

TEST(YamlText, ALongItemIsABlockBehindItsDash) {
  const std::string text(86, 'x');
  EXPECT_EQ(to_yaml(json_list(
                {json_map({{"notify", "a", {}}, {"with", json_map({{"t", text, {}}}), {}}})})),
            "- notify: a\n  with: {t: " + text + "}\n");
}

TEST(YamlText, SectionsAndPartsOfSeveralLinesStandApart) {
  const Json working =
      json_map({{"task", "pay", {}}, {"on", json_map({{"cancel", "gone", {}}}), {}}});
  const Json gone = json_map({{"final", true, {}}});
  EXPECT_EQ(
      to_yaml(json_map(
          {{"machine", "order", {}},
           {"initial", "new", {}},
           {"data", json_map({{"n", "int!", {}}, {"m", json_map({{"type", "int", {}}}), {}}}), {}},
           {"timeout", "5m", {}},
           {"keep", "1d", {}},
           {"states",
            json_map({{"new", working, {}},
                      {"gone", gone, {}},
                      {"sold", gone, {}},
                      {"old", working, {}}}),
            {}}})),
      R"(machine: order
initial: new

data:
  n: int!
  m: {type: int}

timeout: 5m
keep: 1d

states:
  new:
    task: pay
    on: {cancel: gone}

  gone: {final: true}
  sold: {final: true}

  old:
    task: pay
    on: {cancel: gone}
)");
}

TEST(YamlText, AKeyTooLongForYamlIsWrittenBehindAQuestionMark) {
  const std::string key(2'000, 'k');
  EXPECT_EQ(to_yaml(json_map({{key, json_map({{"a", 1, {}}}), {}}, {"b", 2, {}}})),
            "? " + key + "\n:\n  a: 1\n\nb: 2\n");
}

TEST(YamlText, PrettyJsonHasALineForEachMemberAndItem) {
  EXPECT_EQ(to_pretty_json(json_map({{"a", json_list({1, "x", json_map({})}), {}},
                                     {"b", nullptr, {}},
                                     {"c", json_list({}), {}}})),
            "{\n  \"a\": [\n    1,\n    \"x\",\n    {}\n  ],\n  \"b\": null,\n  \"c\": []\n}\n");
  EXPECT_EQ(to_pretty_json("\x7f\u2028"), "\"\\u007f\\u2028\"\n");
}

// Random trees of texts that mean something else somewhere in YAML.
class RandomTree {
 public:
  explicit RandomTree(std::uint64_t seed) : random_(seed) {}

  // Mostly maps, as machine files are.
  Json tree() { return below(4) == 0 ? value(5) : map_of(5); }

 private:
  Json value(int depth) {
    switch (below(depth > 0 ? 9 : 6)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return number();
      case 3:
      case 4:
      case 5:
        return text();
      case 6:
        return list_of(depth - 1);
      default:
        return map_of(depth - 1);
    }
  }

  std::size_t below(std::size_t n) { return random_() % n; }

  Json number() {
    static const std::vector<std::string> kNumbers = {"0", "-0", "12", "1.50", "-2.5e3", "1E+400"};
    return Json::number(kNumbers[below(kNumbers.size())]);
  }

  Json list_of(int depth) {
    Json json = json_list({});
    for (std::size_t n = below(5); n > 0; --n) json.items.push_back(value(depth));
    return json;
  }

  Json map_of(int depth) {
    Json json = json_map({});
    for (std::size_t n = below(5); n > 0; --n) {
      std::string key = text();
      if (json.find(key) == nullptr) json.members.push_back({std::move(key), value(depth), {}});
    }
    return json;
  }

  std::string text() {
    std::string text;
    for (std::size_t n = below(8) == 0 ? 40 : 1 + below(4); n > 0; --n) text += piece();
    return text;
  }

  std::string piece() {
    static const std::vector<std::string> kPieces = {"",
                                                     " ",
                                                     "a",
                                                     "b c",
                                                     "data.x",
                                                     "on",
                                                     "null",
                                                     "true",
                                                     "~",
                                                     "1",
                                                     "-2.5",
                                                     "e3",
                                                     "-",
                                                     "- x",
                                                     "? x",
                                                     "?",
                                                     ":",
                                                     ": ",
                                                     "#",
                                                     " #",
                                                     "\"",
                                                     "'",
                                                     "\\",
                                                     "{",
                                                     "}",
                                                     "[",
                                                     "]",
                                                     ",",
                                                     "\n",
                                                     "\t",
                                                     "\r",
                                                     "---",
                                                     "...",
                                                     "%",
                                                     "@",
                                                     "`",
                                                     "&",
                                                     "*",
                                                     "!",
                                                     "|",
                                                     ">",
                                                     "<<",
                                                     "=",
                                                     "30s",
                                                     "+",
                                                     "é",
                                                     "±20%",
                                                     "漢",
                                                     "\U0001F600",
                                                     "\u0085",
                                                     "\u00a0",
                                                     "\u2028",
                                                     "\u2029",
                                                     "\ufeff",
                                                     "\uffff",
                                                     "\U0010FFFF",
                                                     "\u202e",
                                                     "\x7f",
                                                     "\x01",
                                                     std::string(1, '\0'),
                                                     "states",
                                                     "tasks",
                                                     "scenarios",
                                                     "data",
                                                     "2026-03-02T08:00:00Z",
                                                     "08:00",
                                                     "very long words in a row ",
                                                     "0x1f",
                                                     "1_000",
                                                     ".inf"};
    return kPieces[below(kPieces.size())];
  }

  std::mt19937_64 random_;
};

TEST(YamlText, EveryTreeIsReadBackAsItWas) {
  for (std::uint64_t seed = 1; seed <= 10'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Json json = RandomTree(seed).tree();
    ASSERT_EQ(read_back(to_yaml(json)), to_text(json)) << to_yaml(json);
    ASSERT_EQ(read_back(to_pretty_json(json)), to_text(json)) << to_pretty_json(json);
  }
}

TEST(YamlText, VeryLongTextsAndKeysAreReadBack) {
  const std::string word(5'000, 'x');
  const std::string marks = "- \"" + word + ": #\n" + word;
  for (const std::string& text : {word, marks}) {
    const Json deep =
        json_list({json_map({{text, json_list({text, json_map({{"b" + text, text, {}}})}), {}}})});
    for (const Json& json :
         {Json(text), json_list({text, json_list({text})}), json_map({{text, text, {}}}), deep})
      EXPECT_EQ(read_back(to_yaml(json)), to_text(json));
    EXPECT_EQ(read_back(to_pretty_json(json_list({text}))), to_text(json_list({text})));
  }
}

}  // namespace
}  // namespace pawl
