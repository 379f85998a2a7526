#include "base/child_process.h"

#include <gtest/gtest.h>

#include <csignal>

namespace pawl {
namespace {

TEST(ChildProcess, GetsItsInputAndSaysItsOutput) {
  const auto end = run_child({.arguments = {"sh", "-c", "cat; echo \"$WHO\" >&2; exit 3"},
                              .environment = {"WHO=eve"},
                              .input = "hello"});
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(end->output, "hello");
  EXPECT_EQ(end->error, "eve\n");
  EXPECT_EQ(end->exit_code, 3);
  EXPECT_FALSE(end->is_killed);
}

// Two of one name would leave it to the program which of them counts.
TEST(ChildProcess, ItsOwnEnvironmentGoesBeforeOurs) {
  setenv("PAWL_TEST_WHO", "ours", 1);
  const auto end = run_child({.arguments = {"sh", "-c", "env | grep PAWL_TEST_WHO"},
                              .environment = {"PAWL_TEST_WHO=its"}});
  unsetenv("PAWL_TEST_WHO");
  EXPECT_EQ(end->output, "PAWL_TEST_WHO=its\n");
}

TEST(ChildProcess, TakesAndGivesMoreThanAPipeHolds) {
  const std::string much(1U << 20U, 'x');
  const auto end = run_child({.arguments = {"cat"}, .input = much, .output_max = 2U << 20U});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, much);
  const auto cut = run_child({.arguments = {"cat"}, .input = much, .output_max = 10});
  EXPECT_EQ(cut->output, "xxxxxxxxxx");
  EXPECT_TRUE(cut->is_cut);
}

TEST(ChildProcess, KeepsTheEndOfWhatItComplainsAbout) {
  const auto end =
      run_child({.arguments = {"sh", "-c", "echo first >&2; echo last >&2"}, .error_max = 5});
  EXPECT_EQ(end->error, "last\n");
}

TEST(ChildProcess, IsNotEndedByAProgramThatDoesNotRead) {
  const auto end = run_child({.arguments = {"true"}, .input = std::string(1U << 20U, 'x')});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0);
}

TEST(ChildProcess, IsKilledWithAllThatItStarted) {
  int asked = 0;
  const auto end = run_child({.arguments = {"sh", "-c", "sleep 1000 & sleep 1000"},
                              .asked_every = std::chrono::milliseconds{10},
                              .may_go_on = [&] { return ++asked < 3; }});
  ASSERT_TRUE(end);
  EXPECT_TRUE(end->is_killed);
  EXPECT_EQ(end->signal, SIGKILL);
}

// A grandchild that keeps the output open does not keep the result.
TEST(ChildProcess, DoesNotWaitForWhatGoesOnBehindIt) {
  const auto end = run_child({.arguments = {"sh", "-c", "sleep 1000 & echo done"}});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->output, "done\n");
}

TEST(ChildProcess, SaysWhatCannotBeRun) {
  const auto end = run_child({.arguments = {"no-such-program-anywhere"}});
  ASSERT_FALSE(end);
  EXPECT_NE(end.error().message.find("no-such-program-anywhere"), std::string::npos);
  EXPECT_FALSE(run_child({}));
}

}  // namespace
}  // namespace pawl
