#include "api/given_tokens.h"

#include <gtest/gtest.h>

#include <string>

#include "pawl/task.h"

namespace pawl {
namespace {

TEST(GivenTokens, KnowsATokenForItsRecordAlone) {
  GivenTokens given;
  given.add({"order", "1"}, hash_of_token("a"));
  EXPECT_TRUE(given.has({"order", "1"}, hash_of_token("a")));
  EXPECT_FALSE(given.has({"order", "2"}, hash_of_token("a")));
  EXPECT_FALSE(given.has({"orde", "r1"}, hash_of_token("a")));
  EXPECT_FALSE(given.has({"order", "1"}, hash_of_token("b")));
}

TEST(GivenTokens, ForgetsTheOldestAlone) {
  GivenTokens given;
  const auto add = [&](std::size_t i) {
    given.add({"order", std::to_string(i)}, hash_of_token("a"));
  };
  const auto has = [&](std::size_t i) {
    return given.has({"order", std::to_string(i)}, hash_of_token("a"));
  };
  for (std::size_t i = 0; i <= 2 * GivenTokens::kKept; ++i) add(i);
  EXPECT_FALSE(has(0));
  EXPECT_FALSE(has(GivenTokens::kKept - 1));
  for (std::size_t i = GivenTokens::kKept; i <= 2 * GivenTokens::kKept; ++i) ASSERT_TRUE(has(i));
}

}  // namespace
}  // namespace pawl
