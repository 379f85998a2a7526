#include "decide/json_edit.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

TEST(WithMembers, ReplacesInPlaceAndAddsAtTheEnd) {
  EXPECT_EQ(with_members(R"({"a":1,"b":{"c":[2]}})", {{"a", "7"}, {"d", "null"}}),
            R"({"a":7,"b":{"c":[2]},"d":null})");
  EXPECT_EQ(with_members("{}", {{"a", "\"x\""}}), R"({"a":"x"})");
  EXPECT_EQ(with_members(R"({"a":1})", {}), R"({"a":1})");
}

TEST(WithMembers, KnowsNamesBehindEscapes) {
  EXPECT_EQ(with_members(R"({"\u0061":1})", {{"a", "2"}}), R"({"\u0061":2})");
}

// The examples of RFC 7396, appendix A.
TEST(MergePatch, DoesAsTheRfcSays) {
  const std::vector<std::array<const char*, 3>> rows{
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {"[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const auto& [target, patch, result] : rows)
    EXPECT_EQ(merge_patch(target, patch), result) << target << " + " << patch;
}

TEST(JsonMapText, WritesMembersWithCommas) {
  std::string out;
  {
    JsonMap map(out);
    map.text("a", "x\"y");
    map.number("b", -3);
    map.boolean("c", true);
    map.boolean("d", false);
    map.json("e", "[1]");
  }
  EXPECT_EQ(out, R"({"a":"x\"y","b":-3,"c":true,"d":false,"e":[1]})");
}

}  // namespace
}  // namespace pawl
