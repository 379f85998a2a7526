#include "pipe/member_walk.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pawl {
namespace {

std::string walked(std::string_view map) {
  std::string text;
  for (MemberWalk walk(map); walk.next();)
    text += std::string(walk.key()) + "=" + std::string(walk.value()) + ";";
  return text;
}

TEST(MemberWalk, FindsEveryMember) {
  EXPECT_EQ(walked("{}"), "");
  EXPECT_EQ(walked(R"({"a":1})"), R"("a"=1;)");
  EXPECT_EQ(walked(R"( { "a" : 1.5e3 , "b" : null , "" : true } )"),
            R"("a"=1.5e3;"b"=null;""=true;)");
  EXPECT_EQ(walked(R"({"a":{"b":[{"c":"}]"}]},"d":[],"e":{}})"),
            R"("a"={"b":[{"c":"}]"}]};"d"=[];"e"={};)");
}

TEST(MemberWalk, KnowsWhereATextEnds) {
  EXPECT_EQ(walked(R"({"a":"","b":"\"","c":"\\","d":"\\\"","e":["\\\\"]})"),
            R"("a"="";"b"="\"";"c"="\\";"d"="\\\"";"e"=["\\\\"];)");
  EXPECT_EQ(walked(R"({"\\":1,"\"":2})"), R"("\\"=1;"\""=2;)");
}

TEST(MemberWalk, StaysInsideOfWhatIsNoJson) {
  for (const char* text : {"", " ", "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\":[",
                           "{\"a\":\"", "{\"a\":\"\\\"", "x", "]", "{]", "{\"a\":]"}) {
    const std::vector<char> exact(text, text + std::char_traits<char>::length(text));
    walked({exact.data(), exact.size()});
  }
}

}  // namespace
}  // namespace pawl
