#include "base/text.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/piece.h"

namespace pawl {
namespace {

TEST(Text, ChangesCaseOfAsciiOnly) {
  EXPECT_EQ(to_upper("freq=Daily;ä"), "FREQ=DAILY;ä");
  EXPECT_EQ(to_lower("Europe/BERLIN"), "europe/berlin");
}

TEST(Text, JoinsWithALastWord) {
  const std::vector<std::string> words = {"a", "b", "c"};
  EXPECT_EQ(join(words, ", ", " and "), "a, b and c");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", ", " and "), "a");
  EXPECT_EQ(join({}, ", ", " and "), "");
}

TEST(Text, QuotesForMessages) {
  EXPECT_EQ(in_quotes("a\nb"), "'a\\x0ab'");
  EXPECT_EQ(in_quotes(std::string(100, 'x')), "'" + std::string(60, 'x') + "…'");
}

TEST(Piece, SplitKeepsColumnsAndEmptyPieces) {
  const auto pieces = split({"a,,bc", 5}, ',');
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[1].text, "");
  EXPECT_EQ(pieces[2].text, "bc");
  EXPECT_EQ(pieces[2].column, 8);
  EXPECT_EQ(split({"", 1}, ',').size(), 1U);
}

TEST(Piece, WordsStandBetweenBlanks) {
  const auto words = split_words({"  a \t bc "});
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[1].text, "bc");
  EXPECT_EQ(words[1].column, 7);
  EXPECT_TRUE(split_words({" \t"}).empty());
}

}  // namespace
}  // namespace pawl
