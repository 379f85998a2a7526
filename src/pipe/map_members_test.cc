#include "pipe/map_members.h"

#include "gtest/gtest.h"
#include "pipe/field_path.h"

namespace pawl {
namespace {

std::string found(std::string_view map, std::string_view key) {
  MapMembers members;
  members.read(map);
  const auto value = members.find(key);
  EXPECT_EQ(value, find_member(map, key));
  return value ? std::string(*value) : "none";
}

TEST(MapMembers, FindTheFirstOfAKey) {
  EXPECT_EQ(found(R"({ "a" : 1 , "b":[ 2 ], "a":3, "":"" })", "a"), "1");
  EXPECT_EQ(found(R"({ "a" : 1 , "b":[ 2 ], "a":3, "":"" })", "b"), "[ 2 ]");
  EXPECT_EQ(found(R"({ "a" : 1 , "b":[ 2 ], "a":3, "":"" })", ""), "\"\"");
  EXPECT_EQ(found(R"({ "a" : 1 , "b":[ 2 ], "a":3, "":"" })", "c"), "none");
  EXPECT_EQ(found("{}", "a"), "none");
}

TEST(MapMembers, CompareWhatKeysSay) {
  EXPECT_EQ(found(R"({"\u0061":1,"a":2})", "a"), "1");
  EXPECT_EQ(found(R"({"b":1,"\u0061":2})", "b"), "1");
  EXPECT_EQ(found(R"({"k\"x":1,"k\\n":2,"k\n":3})", "k\"x"), "1");
  EXPECT_EQ(found(R"({"k\"x":1,"k\\n":2,"k\n":3})", "k\\n"), "2");
  EXPECT_EQ(found(R"({"k\"x":1,"k\\n":2,"k\n":3})", "k\n"), "3");
  // A name that looks like more than a key.
  EXPECT_EQ(found(R"({"a":"b","c":1})", R"(a":"b)"), "none");
}

TEST(MapMembers, LeadFromMapToMap) {
  constexpr std::string_view kMap = R"({"a":{"x":1,"b":{"\u0063":true}},"l":[{"b":1}]})";
  MapMembers members;
  members.read(kMap);
  const auto at = [&](const char* path) {
    const auto value = FieldPath::parse(path)->find(members);
    return value ? std::string(value->json()) : "none";
  };
  EXPECT_EQ(at("a.b.c"), "true");
  EXPECT_EQ(at("a.b"), R"({"\u0063":true})");
  EXPECT_EQ(at("a.x.b"), "none");
  EXPECT_EQ(at("l.b"), "none");
  EXPECT_EQ(at("x"), "none");
  EXPECT_EQ(FieldPath().find(members)->json(), kMap);
}

}  // namespace
}  // namespace pawl
