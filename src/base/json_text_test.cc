#include "base/json_text.h"

#include "base/json_fault.h"

#include <gtest/gtest.h>

#include <random>

namespace pawl {
namespace {

TEST(JsonText, EscapesWhatJsonCannotHold) {
  EXPECT_EQ(json_string("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  EXPECT_EQ(json_string("zürich ✓ 😀"), "\"zürich ✓ 😀\"");
  EXPECT_EQ(json_string(""), "\"\"");
}

TEST(JsonText, ReplacesInvalidUtf8) {
  EXPECT_EQ(json_string("a\xff"
                        "b"),
            "\"a\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(json_string("\xe2\x82"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(json_string("\xc0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

TEST(JsonText, AnyBytesBecomeJson) {
  std::mt19937 random(7);
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    ASSERT_TRUE(check_json(json_string(bytes))) << json_string(bytes);
  }
}

TEST(JsonText, CheckRefusesWhatIsNotOneValue) {
  EXPECT_TRUE(check_json(R"({"a":[1,2.5,null]})"));
  EXPECT_TRUE(check_json("\"x\""));
  EXPECT_FALSE(check_json(""));
  EXPECT_FALSE(check_json("[1,"));
  EXPECT_FALSE(check_json("[1] [2]"));
  EXPECT_FALSE(check_json("\"\xff\""));
}

// `line:column`, or `-` where the form is right.
std::string fault(std::string_view text) {
  const auto at = find_json_fault(text);
  return at ? std::to_string(at->line) + ":" + std::to_string(at->column) : "-";
}

TEST(JsonFault, IsTheFirstByteThatCannotStandThere) {
  EXPECT_EQ(fault(R"({"a":tru})"), "1:9");
  EXPECT_EQ(fault("{\"a\":1,\n \"b\" 2}"), "2:6");
  EXPECT_EQ(fault("{\"a\":1,}"), "1:8");
  EXPECT_EQ(fault("[1 2]"), "1:4");
  EXPECT_EQ(fault("[1] []"), "1:5");
  EXPECT_EQ(fault("{'a':1}"), "1:2");
  EXPECT_EQ(fault("[01]"), "1:3");
  EXPECT_EQ(fault("[1.]"), "1:4");
  EXPECT_EQ(fault("[-]"), "1:3");
  EXPECT_EQ(fault(R"(["\x"])"), "1:4");
  EXPECT_EQ(fault(R"(["\u12g4"])"), "1:7");
  EXPECT_EQ(fault("[\"a\nb\"]"), "1:4");
  EXPECT_EQ(fault("[\"\xff\"]"), "1:3");
  EXPECT_EQ(fault("{\"a\": [1, {"), "1:12");
  EXPECT_EQ(fault(""), "1:1");
  EXPECT_EQ(fault(std::string(100'000, '[')), "1:100001");
}

// What the parser takes has none, and where there is one it takes nothing.
TEST(JsonFault, IsNotWhereTheParserSeesNone) {
  const std::string good =
      R"( {"a":[1,-2.5e+3,0,null,true,false,{}],"ü\u00e4\n":"\\\"/","b":{"c":[]}} )";
  ASSERT_TRUE(check_json(good));
  EXPECT_EQ(fault(good), "-");
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c :
         {'"', '{', '}', '[', ']', ',', ':', '\\', '0', 'e', '-', 'x', '\x01', '\xff'}) {
      std::string other = good;
      other[i] = c;
      EXPECT_EQ(check_json(other).has_value(), fault(other) == "-") << other;
    }
    const std::string part = good.substr(0, i);
    EXPECT_EQ(check_json(part).has_value(), fault(part) == "-") << part;
  }
}

}  // namespace
}  // namespace pawl
