#include "pawl/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace pawl {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return bad_input_at(3, "odd");
  return number / 2;
}

Result<int> quarter(int number) {
  PAWL_TRY(const int once, half(number));
  PAWL_TRY(const int twice, half(once));
  return twice;
}

Result<void> check_even(int number) {
  PAWL_CHECK(half(number));
  return {};
}

TEST(Result, HoldsValueOrError) {
  EXPECT_EQ(*half(4), 2);
  const auto failed = half(3);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::bad_input);
  EXPECT_EQ(failed.error().message, "odd");
  EXPECT_EQ(failed.error().position, (Position{1, 3}));
}

TEST(Result, TryReturnsTheFirstError) {
  EXPECT_EQ(*quarter(8), 2);
  EXPECT_FALSE(quarter(6));
  EXPECT_TRUE(check_even(2));
  EXPECT_EQ(check_even(1).error().message, "odd");
}

TEST(Result, CarriesValuesThatCannotBeCopied) {
  Result<std::unique_ptr<int>> owner(std::make_unique<int>(7));
  const std::unique_ptr<int> taken = *std::move(owner);
  EXPECT_EQ(*taken, 7);
}

TEST(ResultDeathTest, AskingForTheWrongSideIsABug) {
  const auto failed = half(3);
  EXPECT_DEATH(static_cast<void>(failed.value()), "value\\(\\) of a Result that holds an error");
  const auto fine = half(2);
  EXPECT_DEATH(static_cast<void>(fine.error()), "error\\(\\) of a Result that holds a value");
}

}  // namespace
}  // namespace pawl
