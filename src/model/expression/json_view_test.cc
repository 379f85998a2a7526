#include "model/expression/json_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/json_text.h"
#include "pawl/json.h"

namespace pawl {
namespace {

std::string text_of(JsonView view) {
  Scratch scratch;
  return std::string(view.text(scratch));
}

TEST(JsonView, FindsMembersAndItemsWhereTheyStand) {
  const JsonView view(R"( {"a": [1, {"b" : "x"}, [ ]], "c":null ,"d":{}, "e":-1.5e3 } )");
  EXPECT_EQ(view.kind(), JsonView::Kind::map);
  EXPECT_EQ(view.size(), 4U);
  EXPECT_EQ(view.member("a").json(), R"([1, {"b" : "x"}, [ ]])");
  EXPECT_EQ(view.member("a").size(), 3U);
  EXPECT_EQ(view.member("a").item(0).json(), "1");
  EXPECT_EQ(text_of(view.member("a").item(1).member("b")), "x");
  EXPECT_EQ(view.member("a").item(2).size(), 0U);
  EXPECT_TRUE(view.member("a").item(3).absent());
  EXPECT_EQ(view.member("c").kind(), JsonView::Kind::null);
  EXPECT_TRUE(view.member("d").member("x").absent());
  EXPECT_EQ(view.member("e").json(), "-1.5e3");
  EXPECT_TRUE(view.member("b").absent());
  EXPECT_TRUE(view.item(0).absent());
  EXPECT_TRUE(view.member("c").member("x").absent());
}

TEST(JsonView, AnEmptyKeyAndAKeyGivenTwice) {
  EXPECT_EQ(JsonView(R"({"": 1, "a": 2, "a": 3})").member("").json(), "1");
  EXPECT_EQ(JsonView(R"({"": 1, "a": 2, "a": 3})").member("a").json(), "2");
}

TEST(JsonView, TextsAreUnescapedOnlyWhereTheyMust) {
  const std::string_view json =
      R"(["plain", "a\"b\\\/\b\f\n\r\t", "\u00e4\u20ac\ud83d\ude00", "ä"])";
  const JsonView view(json);
  Scratch scratch;
  const std::string_view plain = view.item(0).text(scratch);
  EXPECT_EQ(plain, "plain");
  EXPECT_EQ(plain.data(), json.data() + 2);
  EXPECT_EQ(view.item(1).text(scratch), "a\"b\\/\b\f\n\r\t");
  EXPECT_EQ(view.item(2).text(scratch), "ä€😀");
  EXPECT_EQ(view.item(2).size(), 3U);
  EXPECT_EQ(view.item(3).size(), 1U);
}

TEST(JsonView, HalfASurrogatePairIsAReplacementCharacter) {
  EXPECT_EQ(text_of(JsonView(R"("\ud83dx")")), "\uFFFDx");
  EXPECT_EQ(text_of(JsonView(R"("\ud83d\u0041")")), "\uFFFDA");
  EXPECT_EQ(text_of(JsonView(R"("\ude00")")), "\uFFFD");
  EXPECT_EQ(text_of(JsonView(R"("\q\u12")")), "\uFFFD\uFFFD");
}

TEST(JsonView, KeysWithEscapesAreFound) {
  const JsonView view(R"({"a\"b": 1, "\u0061c": 2, "x\\y": 3, "ä": 4})");
  EXPECT_EQ(view.member("a\"b").json(), "1");
  EXPECT_EQ(view.member("ac").json(), "2");
  EXPECT_EQ(view.member("x\\y").json(), "3");
  EXPECT_EQ(view.member("ä").json(), "4");
  EXPECT_TRUE(view.member("x\\\\y").absent());
  EXPECT_TRUE(view.member("\\u0061c").absent());
  // Quotes of the document are never taken for those of a key.
  EXPECT_TRUE(JsonView(R"({"a":"x"})").member("a\":").absent());
}

TEST(JsonView, EqualWhateverTheOrderAndSpelling) {
  EXPECT_TRUE(same_json(R"({"a":1,"b":[1.0,"x"]})", R"({ "b" : [1, "\u0078"], "a" : 1e0 })"));
  EXPECT_TRUE(same_json(R"([{"a":{"c":1,"d":2}},2])", R"([{"a":{"d":2,"c":1}},2])"));
  EXPECT_TRUE(same_json("{}", " { } "));
  EXPECT_TRUE(same_json(R"({"\u0061":1,"b":2})", R"({"b":2,"a":1})"));
  EXPECT_FALSE(same_json(R"({"a":1,"b":2})", R"({"b":1,"a":2})"));
  EXPECT_FALSE(same_json(R"({"a":1})", R"({"a":1,"b":2})"));
  EXPECT_FALSE(same_json(R"({"b":2,"a":1})", R"({"a":1})"));
  EXPECT_FALSE(same_json("[1,2]", "[2,1]"));
  EXPECT_FALSE(same_json("[1]", "[1,1]"));
  EXPECT_FALSE(same_json("{}", "[]"));
  EXPECT_FALSE(same_json("null", "false"));
  EXPECT_FALSE(same_json("\"1\"", "1"));
  EXPECT_FALSE(same_json(R"(["a"])", R"({"a":1})"));
  EXPECT_FALSE(same_json(R"({"x":1,"a":[]})", R"({"a":{},"x":1})"));
}

TEST(JsonView, NumbersAreEqualByValue) {
  EXPECT_TRUE(same_number("1", "1.000"));
  EXPECT_TRUE(same_number("100", "1e2"));
  EXPECT_TRUE(same_number("0.0012", "12E-4"));
  EXPECT_TRUE(same_number("10.5", "105e-1"));
  EXPECT_TRUE(same_number("-0", "0.0e9"));
  EXPECT_TRUE(same_number("1e300", "10e299"));
  EXPECT_FALSE(same_number("1", "-1"));
  EXPECT_FALSE(same_number("1", "10"));
  EXPECT_FALSE(same_number("12", "1.2"));
  EXPECT_FALSE(same_number("1.01", "1.1"));
  EXPECT_FALSE(same_number("123", "12"));
}

TEST(JsonView, LargeMapsInReverseOrderAreComparedInTime) {
  std::string forward = "{";
  std::string backward = "{";
  constexpr int kMembers = 50'000;
  for (int i = 0; i < kMembers; ++i) {
    forward += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":1";
    backward += (i > 0 ? ",\"k" : "\"k") + std::to_string(kMembers - 1 - i) + "\":1";
  }
  EXPECT_TRUE(same_json(forward + "}", backward + "}"));
  EXPECT_FALSE(same_json(forward + "}", backward + ",\"x\":1}"));
}

TEST(JsonView, DeepNestingEndsWithoutHarm) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(JsonView(deep).json().size(), deep.size());
  EXPECT_TRUE(same_json(deep, deep));
  std::string maps;
  std::string others;
  for (int i = 0; i < 100'000; ++i) {
    maps += R"({"a":1,"b":)";
    others += R"({"c":1,"b":)";
  }
  EXPECT_FALSE(same_json(maps, others));
}

// Any piece of any text is looked at without leaving it (the sanitizers watch).
TEST(JsonView, BrokenTextIsSafe) {
  const std::string whole =
      R"({"a\"\u00e4": [1, {"b": "x\\"}, true], "c": -1.5e3, "d": {"e": null}})";
  for (std::size_t begin = 0; begin <= whole.size(); ++begin) {
    for (std::size_t length = 0; begin + length <= whole.size(); ++length) {
      const std::string piece = whole.substr(begin, length);
      const JsonView view(piece);
      EXPECT_LE(view.json().size(), piece.size());
      EXPECT_LE(view.member("a\"ä").item(1).member("b").size(), 2U);
      EXPECT_LE(view.item(0).size() + view.size(), 10U + piece.size());
      text_of(view);
      same_json(piece, whole);
      same_json(whole, piece);
    }
  }
}

// A random value, and the same value with other blanks, escapes, spellings and order.
class RandomJson {
 public:
  explicit RandomJson(std::uint64_t seed) : random_(seed) {}

  Json value(int depth) {
    switch (random_() % (depth > 0 ? 6 : 4)) {
      case 0:
        return nullptr;
      case 1:
        return random_() % 2 == 0;
      case 2:
        return Json::number(std::to_string(random_() % 30));
      case 3:
        return word();
      case 4: {
        std::vector<Json> items;
        for (auto n = random_() % 4; n > 0; --n) items.push_back(value(depth - 1));
        return Json::list(std::move(items));
      }
      default: {
        Json map = Json::map({});
        for (auto n = random_() % 4; n > 0; --n)
          if (std::string key = word(); !map.find(key))
            map.members.push_back({key, value(depth - 1), {}});
        return map;
      }
    }
  }

  std::string spelled(Json json) {
    std::string out = blank();
    switch (json.kind) {
      case Json::Kind::number:
        out += json.text + (random_() % 2 == 0 ? "" : ".0");
        break;
      case Json::Kind::text:
        out += text(json.text);
        break;
      case Json::Kind::list:
        out += '[';
        for (std::size_t i = 0; i < json.items.size(); ++i)
          out += (i > 0 ? "," : "") + spelled(json.items[i]);
        out += blank() + ']';
        break;
      case Json::Kind::map:
        out += '{';
        std::shuffle(json.members.begin(), json.members.end(), random_);
        for (std::size_t i = 0; i < json.members.size(); ++i)
          out += (i > 0 ? "," : "") + blank() + text(json.members[i].key) + blank() + ':' +
                 spelled(json.members[i].value);
        out += blank() + '}';
        break;
      default:
        out += to_text(json);
    }
    return out + blank();
  }

 private:
  std::string blank() { return random_() % 4 == 0 ? " \n" : ""; }
  std::string word() {
    static constexpr std::array kWords = {"a", "b", "ab", "", "\"", "\\", "ä", "a\nb", "{", "]"};
    return kWords[random_() % kWords.size()];
  }
  std::string text(const std::string& text) {
    if (text == "a" && random_() % 2 == 0) return R"("\u0061")";
    if (text == "ä" && random_() % 2 == 0) return R"("\u00e4")";
    return json_string(text);
  }

  std::mt19937_64 random_;
};

// Numbers here are whole and written alike, so trees are equal exactly when their sorted texts are.
std::string sorted_text(Json json) {
  for (Json& item : json.items) item = Json::number(sorted_text(item));
  for (JsonMember& member : json.members) member.value = Json::number(sorted_text(member.value));
  std::sort(json.members.begin(), json.members.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return to_text(json);
}

void expect_found(const Json& json, JsonView view) {
  Scratch scratch;
  if (json.kind == Json::Kind::text) {
    EXPECT_EQ(view.text(scratch), json.text);
  }
  for (std::size_t i = 0; i < json.items.size(); ++i) expect_found(json.items[i], view.item(i));
  for (const JsonMember& member : json.members) expect_found(member.value, view.member(member.key));
  if (json.kind == Json::Kind::list || json.kind == Json::Kind::map) {
    EXPECT_EQ(view.size(), json.items.size() + json.members.size());
  }
  EXPECT_TRUE(same_json(view.json(), to_text(json)));
}

TEST(JsonView, AgreesWithTreesOnRandomDocuments) {
  RandomJson random(11);
  for (int i = 0; i < 5'000; ++i) {
    const Json json = random.value(4);
    const std::string spelled = random.spelled(json);
    ASSERT_TRUE(check_json(spelled)) << spelled;
    expect_found(json, JsonView(spelled));
    EXPECT_TRUE(same_json(spelled, random.spelled(json))) << spelled;
    const Json other = random.value(2);
    EXPECT_EQ(same_json(spelled, random.spelled(other)), sorted_text(json) == sorted_text(other));
  }
}

}  // namespace
}  // namespace pawl
