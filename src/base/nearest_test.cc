#include "base/nearest.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

const std::vector<std::string> kKnown = {"BYHOUR", "BYMONTH",  "BYMONTHDAY",
                                         "COUNT",  "INTERVAL", "UNTIL"};

TEST(Nearest, FindsTypingMistakesNearestFirst) {
  EXPECT_EQ(nearest("BYMONT", kKnown), std::vector<std::string>{"BYMONTH"});
  EXPECT_EQ(nearest("INTREVAL", kKnown), std::vector<std::string>{"INTERVAL"});
  EXPECT_EQ(nearest("byhuor", kKnown), std::vector<std::string>{"BYHOUR"});
  EXPECT_TRUE(nearest("SOMETHING", kKnown).empty());
}

TEST(Nearest, SaysItAsAQuestion) {
  EXPECT_EQ(did_you_mean("UNTILL", kKnown), "; did you mean UNTIL?");
  EXPECT_EQ(did_you_mean("zzz", kKnown), "");
  const std::vector<std::string> close = {"aaa", "aab", "aac", "aad"};
  EXPECT_EQ(did_you_mean("aax", close), "; did you mean aaa, aab or aac?");
}

TEST(Nearest, LooksAtTheBeginningOfLongWordsOnly) {
  EXPECT_TRUE(nearest(std::string(1'000'000, 'x'), kKnown).empty());
}

}  // namespace
}  // namespace pawl
