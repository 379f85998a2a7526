#include "pipe/pipe_codes.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(PipeCodes, HaveTheNumbersOperatorsKnow) {
  EXPECT_EQ(pipe_code::number(pipe_code::kKafkaUnavailable), 1);
  EXPECT_EQ(pipe_code::number(pipe_code::kTransformationError), 9);
  EXPECT_EQ(pipe_code::number(pipe_code::kBulkItemBusy), 12);
  EXPECT_EQ(pipe_code::number(pipe_code::kEs4xx), 13);
  EXPECT_EQ(pipe_code::number("never heard of"), 0);
}

}  // namespace
}  // namespace pawl
