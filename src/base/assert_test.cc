#include "pawl/assert.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

TEST(AssertDeathTest, SaysWhatIsBrokenAndAborts) {
  const int live_attempts = 2;
  PAWL_ASSERT(live_attempts > 1, "holds");
  EXPECT_DEATH(
      PAWL_ASSERT(live_attempts <= 1, "at most one live attempt"),
      "broken invariant: at most one live attempt \\(live_attempts <= 1\\) at .*assert_test.cc");
}

}  // namespace
}  // namespace pawl
