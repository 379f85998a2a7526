#include "model/tree.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

std::string at(Position position) {
  return std::to_string(position.line) + ":" + std::to_string(position.column);
}

// The tree with the place of every key and value: `{3:1 a: 3:4 text x}`.
std::string shown(const Node& node) {
  std::string text = at(node.at) + " ";
  switch (node.kind) {
    case Node::Kind::null:
      return text + (node.empty ? "nothing" : "null");
    case Node::Kind::boolean:
    case Node::Kind::number:
      return text + node.text;
    case Node::Kind::text:
      return text + "'" + node.text + "'";
    case Node::Kind::list:
      text += "[";
      for (const Node& item : node.items)
        text += (&item == &node.items.front() ? "" : ", ") + shown(item);
      return text + "]";
    case Node::Kind::map:
      text += "{";
      for (const Member& member : node.members) {
        text += (&member == &node.members.front() ? "" : ", ") + at(member.key_at) + " " +
                member.key + ": " + shown(member.value);
      }
      return text + "}";
  }
  return text;
}

std::string tree(std::string_view text) {
  Diagnostics diagnostics;
  const auto node = read_tree(text, diagnostics);
  std::string result = node ? shown(*node) : "no tree";
  for (const Diagnostic& finding : diagnostics.sorted())
    result += "\n" + at(finding.position) + " " + std::string(finding.id);
  return result;
}

TEST(Tree, KnowsThePlaceOfEveryKeyAndValue) {
  EXPECT_EQ(
      tree("machine: order\nstates:\n  new: {on: [submit, 1.50]}\n"),
      "1:1 {1:1 machine: 1:10 'order', 2:1 states: 3:3 {3:3 new: 3:8 {3:9 on: 3:13 [3:14 'submit', 3:22 1.50]}}}");
}

TEST(Tree, JsonIsReadByTheSameCode) {
  EXPECT_EQ(tree("{\"a\": [1, -2.5e3, true, null, \"x\\ny\\u00e4\"]}"),
            "1:1 {1:2 a: 1:7 [1:8 1, 1:11 -2.5e3, 1:19 true, 1:25 null, 1:31 'x\ny\u00e4']}");
}

TEST(Tree, OnlyTrueAndFalseAreBooleansAndOnlyJsonNumbersAreNumbers) {
  EXPECT_EQ(
      tree("[on, off, yes, no, True, 007, 0x10, 1_000, .5, 5., +1, 1e, -, 7d, 0, -0.0, 1e+9]"),
      "1:1 [1:2 'on', 1:6 'off', 1:11 'yes', 1:16 'no', 1:20 'True', 1:26 '007', 1:31 '0x10', 1:37 '1_000', 1:44 '.5', 1:48 '5.', 1:52 '+1', "
      "1:56 '1e', 1:60 '-', 1:63 '7d', 1:67 0, 1:70 -0.0, 1:76 1e+9]");
  EXPECT_EQ(tree("['1', \"true\", 'null', '']"), "1:1 [1:2 '1', 1:7 'true', 1:15 'null', 1:23 '']");
}

TEST(Tree, ABlockKeepsItsLines) {
  EXPECT_EQ(tree("p: |\n  one\n  two\n"), "1:1 {1:1 p: 1:4 'one\ntwo\n'}");
  EXPECT_EQ(tree("a:\nb: null\n"), "1:1 {1:1 a: 1:3 nothing, 2:1 b: 2:4 null}");
}

TEST(Tree, ColumnsCountCharacters) {
  EXPECT_EQ(tree("{ä: x, b: y}"), "1:1 {1:2 ä: 1:5 'x', 1:8 b: 1:11 'y'}");
}

TEST(Tree, ReportsAllThatIsRefusedInOrder) {
  EXPECT_EQ(
      tree("a: &x 1\nb: *x\na: 2\n<<: {c: 1}\nd: !!str 5\n? [k]\n: v\ne: ~\n{x}: 1\n?\n: 2\n"),
      "1:1 {1:1 a: 1:4 1, 2:1 b: 2:4 null, 5:1 d: 5:4 5, 8:1 e: 8:4 null}\n"
      "1:4 anchor\n2:4 alias\n3:1 duplicate_key\n4:1 merge_key\n5:4 tag\n6:3 key_not_a_word\n8:4 tilde\n9:1 key_not_a_word\n10:2 key_missing");
  EXPECT_EQ(tree("\"<<\": 1"), "1:1 {1:1 <<: 1:7 1}");
}

TEST(Tree, OneDocumentWithoutDirectives) {
  EXPECT_EQ(tree("---\na: 1\n---\nb: 2\n"), "2:1 {2:1 a: 2:4 1}\n3:1 several_documents");
  EXPECT_EQ(tree("%YAML 1.1\n---\na: 1\n"), "3:1 {3:1 a: 3:4 1}\n1:1 directive");
  EXPECT_EQ(tree(""), "no tree\n1:1 empty_file");
  EXPECT_EQ(tree("# only a comment\n"), "no tree\n1:1 empty_file");
}

TEST(Tree, SyntaxErrorsHaveAPlaceAndARemedy) {
  const std::tuple<const char*, const char*, const char*> kBad[] = {
      {"a: {b: 1\nc: 2\n", "2:2 syntax", "close the bracket or brace"},
      {"a: b: c\n", "1:5 syntax", "in quotes"},
      {"a:\n\tb: 1\n", "2:1 syntax", "not tabs"},
      {"a: \"x\n", "2:1 syntax", "this is not YAML"},
      {"a: \xff\n", "1:4 bad_utf8", "save it as UTF-8"},
      {"a: [1, 2\n", "2:1 syntax", "this is not YAML"},
      {"a: 1\nb", "2:2 syntax", "this is not YAML"},  // the last line is not ended
  };
  for (const auto& [text, place, remedy] : kBad) {
    Diagnostics diagnostics;
    EXPECT_FALSE(read_tree(text, diagnostics)) << text;
    ASSERT_EQ(diagnostics.sorted().size(), 1U) << text;
    const Diagnostic finding = diagnostics.sorted().front();
    EXPECT_EQ(at(finding.position) + " " + std::string(finding.id), place)
        << text << finding.message;
    EXPECT_NE(finding.message.find(remedy), std::string::npos) << finding.message;
  }
}

TEST(Tree, LimitsAreNamed) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  Diagnostics fine;
  EXPECT_TRUE(read_tree(nested(kFileDepthMax), fine));
  EXPECT_FALSE(fine.has_errors());
  EXPECT_EQ(tree(nested(kFileDepthMax + 1)), "no tree\n1:65 too_deep");
  Diagnostics large;
  EXPECT_TRUE(read_tree("a: " + std::string(kFileBytesMax - 3, 'x'), large));
  EXPECT_EQ(tree("a: " + std::string(kFileBytesMax - 2, 'x')), "no tree\n1:1 file_too_large");
}

TEST(Tree, FindGivesTheValueOfAKey) {
  Diagnostics diagnostics;
  const auto node = read_tree("a: 1\nb: {c: 2}\n", diagnostics);
  ASSERT_TRUE(node);
  EXPECT_EQ(node->find("b")->find("c")->text, "2");
  EXPECT_EQ(node->find("x"), nullptr);
}

TEST(Tree, AByteOrderMarkIsPassedOver) {
  Diagnostics diagnostics;
  const auto tree = read_tree("\xEF\xBB\xBFmachine: m\n", diagnostics);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->find("machine")->text, "m");
  EXPECT_EQ(tree->members[0].key_at, (Position{1, 1}));
}

// What most programs write for characters beyond U+FFFF.
TEST(Tree, SurrogateEscapesOfJsonAreOneCharacter) {
  Diagnostics diagnostics;
  const auto tree =
      read_tree(R"({"a": "\ud83d\ude00!", "b": "\\ud83d\\ude00", "c": "\u00e9\n"})", diagnostics);
  ASSERT_TRUE(tree);
  EXPECT_FALSE(diagnostics.has_errors());
  EXPECT_EQ(tree->find("a")->text, "\xF0\x9F\x98\x80!");
  EXPECT_EQ(tree->find("b")->text, R"(\ud83d\ude00)");
  EXPECT_EQ(tree->find("c")->text, "\u00e9\n");
}

}  // namespace
}  // namespace pawl
