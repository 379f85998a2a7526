#include "pipe/quick_json.h"

#include <rapidcheck.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pawl {
namespace {

using namespace std::string_view_literals;
using Verdict = QuickJson::Verdict;

// In room of its very size, so that a read beyond it is noticed.
bool is_json(std::string_view text) {
  simdjson::dom::parser parser;
  MapMembers members;
  const std::vector<char> exact(text.begin(), text.end());
  return QuickJson::read({exact.data(), exact.size()}, parser, members) == Verdict::json;
}

std::string members_of(std::string_view text) {
  simdjson::dom::parser parser;
  MapMembers members;
  if (QuickJson::read(text, parser, members) != Verdict::json) return "unsure";
  std::string said;
  for (const auto& [key, value] : members.all())
    said.append("<").append(key).append("|").append(value).append(">");
  return said;
}

TEST(QuickJson, KnowsOrdinaryEvents) {
  const std::string nested = R"({"a":)" + std::string(64, '[') + std::string(64, ']') + "}";
  const std::string_view texts[] = {
      "{}",
      " { } ",
      R"({"eventName":"login","timestamp":1478822400123,"ok":true,"no":false,"none":null})",
      R"({"a":0,"b":-0,"c":12,"d":-1.5,"e":0.25,"f":123456789012345678,"g":12345678.12345678})",
      R"({"a":9999999999999999999,"b":-999999999999999999,"c":9999999999999999999.5})",
      R"({"a":1e5,"b":-1.5E+07,"c":0e-99,"d":9999999999999999999e99,"e":1E1})",
      R"({"a":[],"b":{},"c":[[]],"d":[{}],"e":{"f":{"g":[1,[2,{"h":3}],"i"]}}})",
      R"({"":"","a":"\"\\\/\b\f\n\r\t\u00e9\uABCD\ud83d\uDE00"})",
      R"({"a":"{}[]:,","b":"\\","c":"\\\"","d":["\\"]})",
      "\r\n\t { \"a\" : [ 1 , 2 , { \"b\" : null } ] ,\n\"c\"\t:\r-1.5 } \n",
      "{\"a\":\"\xf0\x9f\x98\x80\xe2\x82\xac\x7f\"}",
      R"({"a":1,"a":2})",
      R"({"a":{"\u0061":"a key inside may have escapes"}})",
      nested,
  };
  for (const std::string_view text : texts) EXPECT_TRUE(is_json(text)) << text;
}

TEST(QuickJson, IsNeverSureOfWhatIsNone) {
  const std::string_view texts[] = {
      "",
      " ",
      "x",
      "{",
      "}",
      "{}}",
      "{{}",
      "{}{}",
      "{},{}",
      "{} x",
      "{,}",
      "{:}",
      "{[}",
      "{]}",
      "{1}",
      R"({"a"})",
      R"({"a":})",
      R"({"a",1})",
      R"({"a"::1})",
      R"({"a":1)",
      R"({"a":1]})",
      R"({"a":1,})",
      R"({,"a":1})",
      R"({"a":1,,"b":2})",
      R"({"a":1 2})",
      R"({"a":1"b":2})",
      R"({"a":1 "b":2})",
      R"({"a":"b""c"})",
      R"({"a":"b"c})",
      R"({"a"b:1})",
      R"({"a":x"b"})",
      R"({"a":1"b"})",
      R"({a:1})",
      R"({'a':1})",
      R"({1:1})",
      R"({null:1})",
      R"({"a":{"b"}})",
      R"({"a":{"b":}})",
      R"({"a":{1:2}})",
      R"({"a":{,}})",
      R"({"a":{"b":1,}})",
      R"({"a":{"b":1])",
      R"({"a":{"b":1]})",
      R"({"a":[1}})",
      R"({"a":[1,]})",
      R"({"a":[,1]})",
      R"({"a":[1 2]})",
      R"({"a":[1:2]})",
      R"({"a":["b":2]})",
      R"({"a":[}})",
      R"({"a":[[1],[2]})",
      R"({"a":[[1]]]})",
      R"({"a":tru})",
      R"({"a":truex})",
      R"({"a":true1})",
      R"({"a":True})",
      R"({"a":fals})",
      R"({"a":falsey})",
      R"({"a":nul})",
      R"({"a":nulls})",
      R"({"a":t})",
      R"({"a":NaN})",
      R"({"a":Infinity})",
      R"({"a":-})",
      R"({"a":-x})",
      R"({"a":--1})",
      R"({"a":+1})",
      R"({"a":01})",
      R"({"a":-01})",
      R"({"a":00})",
      R"({"a":.5})",
      R"({"a":1.})",
      R"({"a":1.x})",
      R"({"a":1.2.3})",
      R"({"a":1x})",
      R"({"a":0x10})",
      R"({"a":1e})",
      R"({"a":1e+})",
      R"({"a":1e+-1})",
      R"({"a":1e5.5})",
      R"({"a":1e5e5})",
      R"({"a":e5})",
      R"({"a":1.e5})",
      R"({"a":1ex})",
      R"({"a":1e999})",
      R"({"a":12345678x})",
      R"({"a":1234567:})",
      R"({"a":1234567/})",
      R"({"a":123456789012345678901234567890})",
      R"({"a":"\x"})",
      R"({"a":"\"})",
      R"({"a":"\\\"})",
      R"({"a":"\u"})",
      R"({"a":"\u12"})",
      R"({"a":"\u12g4"})",
      R"({"a":"\ud800"})",
      R"({"a":"\ud800x"})",
      R"({"a":"\udc00"})",
      R"({"a":"\ud800\n"})",
      R"({"a":"\ud800\ud800"})",
      R"({"a":\"b"})",
      R"({\"a":1})",
      R"({"a":1\})",
      R"({"a":"b)",
      R"({"a":"b})",
      "{\"a\":\"line\nbreak\"}",
      "{\"a\":\"tab\t\"}",
      "{\"a\":\"\0\"}"sv,
      "{\"a\":1}\0"sv,
      "{\"a\":1\0}"sv,
      "{\"a\":\0}"sv,
      "{\"a\"\x0c:1}",
      "{\"a\":1\x0c}",
      "{\"a\":1\x1a\"b\":1}",
      "\xEF\xBB\xBF{\"a\":1}",
      "{\"a\":\"\xff\"}",
      "{\"a\":\"\xc0\xaf\"}",
      "{\"a\":\"\xed\xa0\x80\"}",
      "{\"a\":\"\xf4\x90\x80\x80\"}",
      "{\"a\":\"\xe2\x82\"}",
      "{\"a\":\"\x80\"}",
      "{\"a\":\xc3\xa9}",
      "{\"a\":1\xc2\xa0}",
      "/**/{}",
  };
  for (const std::string_view text : texts) EXPECT_FALSE(is_json(text)) << text;
}

TEST(QuickJson, LeavesWhatIsUnusualToTheParser) {
  const std::string deep = R"({"a":)" + std::string(65, '[') + std::string(65, ']') + "}";
  const std::string long_fraction = R"({"a":0.)" + std::string(33, '1') + "}";
  for (const std::string_view text :
       {"[]"sv, "1"sv, "\"x\""sv, "null"sv, R"({"a":1e100})"sv, R"({"a":12345678901234567890})"sv,
        R"({"a":-1234567890123456789})"sv, R"({"\u0061":1})"sv, std::string_view(deep),
        std::string_view(long_fraction)}) {
    EXPECT_FALSE(is_json(text)) << text;
    simdjson::dom::parser parser;
    EXPECT_EQ(parser.parse(text.data(), text.size()).error(), simdjson::SUCCESS) << text;
  }
}

TEST(QuickJson, FindsTheMembersOfTheOutermostMap) {
  EXPECT_EQ(members_of("{}"), "");
  EXPECT_EQ(members_of(R"({"a":1})"), "<a|1>");
  EXPECT_EQ(members_of("{ \"a\" : \"x \" , \"b\"\n:\t[ 1 , {\"c\":2} ] , \"\":{ } , \"a\" : -1 }"),
            "<a|\"x \"><b|[ 1 , {\"c\":2} ]><|{ }><a|-1>");
  EXPECT_EQ(members_of(R"({"a":"\"","b":{"c":"}"},"d":true})"), R"(<a|"\""><b|{"c":"}"}><d|true>)");
  EXPECT_EQ(members_of(R"({"a":"\n","b\n":1,"c":"\n"})"), "unsure");
}

TEST(QuickJson, IsUsedAgain) {
  simdjson::dom::parser parser;
  MapMembers members;
  const std::string texts[] = {"{}", R"({"a":")" + std::string(100'000, 'x') + "\"}", R"({"b":1})"};
  for (const std::string& text : texts)
    EXPECT_EQ(QuickJson::read(text, parser, members), Verdict::json);
  EXPECT_EQ(members.all().size(), 1U);
  EXPECT_EQ(members.find("b"), "1");
  EXPECT_EQ(members.find("a"), std::nullopt);
}

// Random texts.

rc::Gen<std::string> any_quick_blank() {
  return rc::gen::weightedElement<std::string>({{9, ""}, {2, " "}, {1, "\n"}, {1, "\r\n\t "}});
}

rc::Gen<std::string> any_quick_text() {
  const auto bit = rc::gen::weightedElement<std::string>({{6, "a"},
                                                          {2, "words between "},
                                                          {1, "\\\""},
                                                          {1, "\\\\"},
                                                          {1, "\\n"},
                                                          {1, "\\u00e9"},
                                                          {1, "é"},
                                                          {1, "{"},
                                                          {1, "]"},
                                                          {1, ","},
                                                          {1, ":"},
                                                          {1, " "},
                                                          {1, "\\ud83d\\ude00"}});
  return rc::gen::map(rc::gen::resize(12, rc::gen::container<std::vector<std::string>>(bit)),
                      [](const std::vector<std::string>& bits) {
                        std::string text = "\"";
                        for (const std::string& part : bits) text += part;
                        return text + "\"";
                      });
}

rc::Gen<std::string> any_number() {
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange(0, 64),
                                     rc::gen::inRange(0, 4), rc::gen::arbitrary<std::uint32_t>()),
                      [](const std::tuple<std::int64_t, int, int, std::uint32_t>& parts) {
                        const auto& [number, shift, form, fraction] = parts;
                        std::string text = std::to_string(number >> shift);
                        if (form == 0) text += "." + std::to_string(fraction);
                        return text;
                      });
}

rc::Gen<std::string> any_quick_json(int depth);

rc::Gen<std::string> joined_quick(const rc::Gen<std::string>& item, char open, char close) {
  return rc::gen::map(
      rc::gen::pair(rc::gen::resize(6, rc::gen::container<std::vector<std::string>>(item)),
                    any_quick_blank()),
      [=](const std::pair<std::vector<std::string>, std::string>& parts) {
        std::string text = open + parts.second;
        for (std::size_t i = 0; i < parts.first.size(); ++i)
          text += (i > 0 ? "," : "") + parts.first[i];
        return text + close;
      });
}

rc::Gen<std::string> any_quick_map(int depth) {
  return rc::gen::lazy([depth] {
    const auto member = rc::gen::map(
        rc::gen::tuple(any_quick_blank(),
                       rc::gen::weightedOneOf<std::string>(
                           {{9, rc::gen::element<std::string>("\"a\"", "\"kind\"", "\"\"")},
                            {1, any_quick_text()}}),
                       any_quick_json(depth - 1)),
        [](const std::tuple<std::string, std::string, std::string>& parts) {
          const auto& [blank, key, value] = parts;
          return blank + key + blank + ":" + value;
        });
    return joined_quick(member, '{', '}');
  });
}

rc::Gen<std::string> any_quick_json(int depth) {
  const auto scalar = rc::gen::oneOf(any_quick_text(), any_number(),
                                     rc::gen::weightedElement<std::string>({{3, "true"},
                                                                            {3, "false"},
                                                                            {3, "null"},
                                                                            {3, "0"},
                                                                            {3, "-0"},
                                                                            {1, "1.5e-5"},
                                                                            {1, "1e100"}}));
  const auto value =
      depth <= 0 ? scalar
                 : rc::gen::oneOf(scalar, any_quick_map(depth), rc::gen::lazy([depth] {
                                    return joined_quick(any_quick_json(depth - 1), '[', ']');
                                  }));
  return rc::gen::map(rc::gen::tuple(any_quick_blank(), value, any_quick_blank()),
                      [](const std::tuple<std::string, std::string, std::string>& parts) {
                        return std::get<0>(parts) + std::get<1>(parts) + std::get<2>(parts);
                      });
}

// Takes out, puts in, or changes a byte here and there.
void spoil(std::string& text) {
  constexpr std::string_view kBytes = "{}[]:,\"\\ \n0123-.eEtruefalsn\x01\x0c\x1a\x80\xff/ux";
  const int count = *rc::gen::weightedElement<int>({{4, 0}, {4, 1}, {1, 2}, {1, 3}});
  for (int i = 0; i < count && !text.empty(); ++i) {
    const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
    const char byte = kBytes[*rc::gen::inRange<std::size_t>(0, kBytes.size())];
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, byte);
        break;
      default:
        text[at] = byte;
        break;
    }
  }
}

std::string minified(std::string_view json) {
  std::string text(json.size() + simdjson::SIMDJSON_PADDING, '\0');
  std::size_t length = 0;
  RC_ASSERT(simdjson::minify(json.data(), json.size(), text.data(), length) == simdjson::SUCCESS);
  text.resize(length);
  return text;
}

// What the parser makes of each value, and what of the member.
void check_same(const simdjson::dom::object& map, const MapMembers& members) {
  RC_ASSERT(map.size() == members.all().size());
  simdjson::dom::parser parser;
  std::size_t at = 0;
  for (const auto& [key, value] : map) {
    const MapMembers::Member& member = members.all()[at++];
    RC_ASSERT(member.key == key);
    simdjson::dom::element again;
    RC_ASSERT(parser.parse(minified(member.value)).get(again) == simdjson::SUCCESS);
    RC_ASSERT(simdjson::minify(again) == simdjson::minify(value));
    simdjson::dom::element first;
    RC_ASSERT(map.at_key(key).get(first) == simdjson::SUCCESS);
    RC_ASSERT(parser.parse(minified(*members.find(key))).get(again) == simdjson::SUCCESS);
    RC_ASSERT(simdjson::minify(again) == simdjson::minify(first));
  }
}

TEST(QuickJsonProperties, IsSureOnlyOfWhatTheParserTakes) {
  simdjson::dom::parser used;
  MapMembers members;
  int sure = 0;
  int refused = 0;
  EXPECT_TRUE(rc::check([&] {
    for (std::string text : *rc::gen::container<std::vector<std::string>>(any_quick_map(4))) {
      spoil(text);
      const bool is_sure = QuickJson::read(text, used, members) == Verdict::json;
      simdjson::dom::parser parser;
      simdjson::dom::object map;
      const bool is_map = parser.parse(text).get(map) == simdjson::SUCCESS;
      if (!is_map) ++refused;
      if (!is_sure) continue;
      ++sure;
      RC_ASSERT(is_map);
      check_same(map, members);
    }
  }));
  EXPECT_GT(sure, 500);
  EXPECT_GT(refused, 500);
}

bool is_unusual(std::string_view text) {
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 18) return true;
  }
  return text.find("1e100") != std::string_view::npos;
}

// Those that come every day do not take the slow way.
TEST(QuickJsonProperties, IsSureOfMostJson) {
  simdjson::dom::parser parser;
  MapMembers members;
  EXPECT_TRUE(rc::check([&] {
    const std::string text = R"({"a":)" + *any_quick_json(3) + "}";
    RC_PRE(parser.parse(text).error() == simdjson::SUCCESS);
    RC_PRE(!is_unusual(text));
    RC_ASSERT(QuickJson::read(text, parser, members) == Verdict::json);
  }));
}

}  // namespace
}  // namespace pawl
