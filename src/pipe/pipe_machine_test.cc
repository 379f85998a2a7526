#include "pipe/pipe_machine.h"

#include <gtest/gtest.h>

#include "decide/test_world.h"
#include "pipe/lane.h"
#include "pipe/pipe_codes.h"

namespace pawl {
namespace {

using namespace std::chrono_literals;
using Action = PipeMachine::ItemAction;

constexpr Instant kStart = std::chrono::sys_days{std::chrono::year{2026} / 3 / 2};

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::shared_ptr<const PipeMachine> built_in() {
  return *PipeMachine::read(PipeMachine::built_in(), test_zones());
}

TEST(PipeMachine, AnswersForItemsByStateAndCode) {  // S1-18
  const auto machine = built_in();
  EXPECT_EQ(machine->item_action("transform", pipe_code::kInvalidFormat), Action::errors);
  EXPECT_EQ(machine->item_action("transform", pipe_code::kTransformationError), Action::errors);
  EXPECT_EQ(machine->item_action("load", pipe_code::kBulkItem), Action::errors);
  EXPECT_EQ(machine->item_action("load", pipe_code::kBulkItemBusy), Action::again);
  EXPECT_EQ(machine->item_action("load", pipe_code::kBulkItemBlocked), Action::again);
}

TEST(PipeMachine, IsWhatTheFileSays) {
  const std::string text(PipeMachine::built_in());
  const auto drops = *PipeMachine::read(
      replaced(text, "transformation_error: give_up", "transformation_error: done"), test_zones());
  EXPECT_EQ(drops->item_action("transform", pipe_code::kTransformationError), Action::drop);
}

TEST(PipeMachine, SaysWhatAPipeNeeds) {
  const auto none =
      PipeMachine::read("machine: m\ninitial: a\nstates: {a: {final: true}}\n", test_zones());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("'assign'"), std::string::npos) << none.error().message;
  const std::string text(PipeMachine::built_in());
  const auto conditional = PipeMachine::read(
      replaced(text, "invalid_event: give_up ", "invalid_event: {if: now > now, give_up: true} "),
      test_zones());
  ASSERT_FALSE(conditional);
  EXPECT_NE(conditional.error().message.find("without conditions"), std::string::npos)
      << conditional.error().message;
  const auto broken = PipeMachine::read("machine: [", test_zones());
  ASSERT_FALSE(broken);
  EXPECT_TRUE(broken.error().position);
}

TEST(Lane, WaitsAsTheMachineSays) {  // S1-29
  Lane lane(built_in(), "events/0", R"({"topic":"events","partition":0})", kStart);
  ASSERT_TRUE(lane.start(kStart));
  lane.done("{}", kStart);
  EXPECT_TRUE(lane.is_in("extract"));
  Instant now = kStart;
  for (int failure = 1; failure <= 12; ++failure) {
    ASSERT_TRUE(lane.is_ready(now));
    ASSERT_TRUE(lane.start(now));
    lane.fail(pipe_code::kNetwork, "away", std::nullopt, now);
    EXPECT_TRUE(lane.is_in("retrying"));
    EXPECT_EQ(lane.record().failed_from, "extract");
    EXPECT_EQ(lane.record().failures, failure);
    const Duration delay = *lane.next_at() - now;
    const Duration full = std::min<Duration>(300ms * (1 << (failure - 1)), 90s);
    EXPECT_GE(delay, full / 2) << failure;
    EXPECT_LE(delay, full * 3 / 2) << failure;
    EXPECT_FALSE(lane.is_ready(now));
    now += delay;
  }
  ASSERT_TRUE(lane.is_ready(now));
  EXPECT_EQ(lane.record().attempt, 12);
  ASSERT_TRUE(lane.start(now));
  lane.done("{}", now);
  EXPECT_TRUE(lane.is_in("transform"));
  EXPECT_EQ(lane.record().failures, 0);
}

TEST(Lane, WaitsAtLeastAsLongAsTheSearchEngineAsks) {
  Lane lane(built_in(), "events/0", R"({"topic":"events","partition":0})", kStart);
  ASSERT_TRUE(lane.start(kStart));
  lane.fail(pipe_code::kNetwork, "away", 30s, kStart);
  EXPECT_GE(*lane.next_at() - kStart, Duration{30s});
}

TEST(Lane, GoesOnAtOnceWhenSomebodySaysSo) {
  Lane lane(built_in(), "events/0", R"({"topic":"events","partition":0})", kStart);
  ASSERT_TRUE(lane.start(kStart));
  lane.fail(pipe_code::kKafkaUnavailable, "away", std::nullopt, kStart);
  EXPECT_FALSE(lane.is_ready(kStart));
  lane.retry_now("it is back", {.name = "eve", .roles = {"operator"}}, kStart);
  EXPECT_TRUE(lane.is_ready(kStart));
  EXPECT_TRUE(lane.is_in("assign"));
}

}  // namespace
}  // namespace pawl
