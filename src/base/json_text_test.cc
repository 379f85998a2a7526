#include "base/json_text.h"

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

}  // namespace
}  // namespace pawl
