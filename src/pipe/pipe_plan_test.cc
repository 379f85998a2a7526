#include "pipe/pipe_plan.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(PipePlan, SharesOutWhatTheFileAllows) {
  const PipeConfig config{.name = "p"};
  const PipePlan few = plan_of(config, 8, 4);
  EXPECT_EQ(few.workers, 4U);
  EXPECT_EQ(few.fetch_bytes, 4U << 20U);
  EXPECT_EQ(few.batches, 16U);
  EXPECT_EQ(few.batch_bytes, 1U << 20U);
  EXPECT_EQ(few.batch_memory(), 16U << 20U);
  const PipePlan many = plan_of(config, 32, 4);
  EXPECT_EQ(many.fetch_memory(), 32U << 20U);
  EXPECT_EQ(many.batch_bytes, 512U << 10U);
}

TEST(PipePlan, GivesEachPartitionEnoughToGetOnAndNoneTooMuch) {
  const PipeConfig config{.name = "p", .workers = 3};
  const PipePlan one = plan_of(config, 1, 64);
  EXPECT_EQ(one.workers, 3U);
  EXPECT_EQ(one.fetch_bytes, 16U << 20U);
  EXPECT_EQ(one.batch_bytes, config.batch.bytes);
  const PipePlan crowd = plan_of(config, 10'000, 0);
  EXPECT_EQ(crowd.fetch_bytes, 512U << 10U);
  EXPECT_EQ(crowd.batch_bytes, 64U << 10U);
  EXPECT_GT(crowd.fetch_memory(), config.kafka.fetch_bytes);
  EXPECT_EQ(plan_of({.name = "p"}, 0, 0).workers, 1U);
}

}  // namespace
}  // namespace pawl
