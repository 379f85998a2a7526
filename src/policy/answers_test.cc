#include "policy/answers.h"

#include <gtest/gtest.h>

#include <string>

namespace pawl {
namespace {

const Row kAlways{.action = Row::Action::retry};
const Row kSometimes{.condition = "data.a", .action = Row::Action::give_up};

std::string reachable(const std::vector<ErrorRows>& errors) {
  ResolvedPolicy policy;
  for (const ErrorRows& error : errors) policy.errors.push_back(&error);
  std::string codes;
  for (const ErrorRows* error : reachable_errors(policy)) codes += error->code + " ";
  return codes;
}

TEST(ReachableErrors, TheNearestAnswerHidesTheOthers) {
  EXPECT_EQ(reachable({{"a", {kAlways}}, {"a", {kAlways}}, {"b", {kAlways}}}), "a b ");
  EXPECT_EQ(reachable({{"default", {kAlways}}, {"default", {kAlways}}}), "default ");
}

TEST(ReachableErrors, AnAnswerThatMayNotHoldHidesNothing) {
  EXPECT_EQ(reachable({{"a", {kSometimes}}, {"a", {kAlways}}}), "a a ");
  EXPECT_EQ(reachable({{"a", {kSometimes, kAlways}}, {"a", {kAlways}}}), "a ");
}

TEST(ReachableErrors, APrefixHidesWhatBeginsWithIt) {
  EXPECT_EQ(reachable({{"http_*", {kAlways}}, {"http_5*", {kAlways}}, {"http_404", {kAlways}}}),
            "http_* ");
  EXPECT_EQ(reachable({{"http_404", {kAlways}}, {"http_*", {kAlways}}}), "http_404 http_* ");
  EXPECT_EQ(reachable({{"def*", {kAlways}}, {"default", {kAlways}}}), "def* default ");
  EXPECT_EQ(reachable({{"*", {kAlways}}, {"default", {kAlways}}, {"a", {kAlways}}}), "* ");
}

TEST(ReachableRows, EndWithTheOneThatAlwaysHolds) {
  const Rows rows{kSometimes, kAlways, kSometimes};
  EXPECT_EQ(reachable_rows(rows).size(), 2U);
  EXPECT_EQ(reachable_rows(Rows{kSometimes, kSometimes}).size(), 2U);
  EXPECT_EQ(reachable_rows(Rows{}).size(), 0U);
}

}  // namespace
}  // namespace pawl
