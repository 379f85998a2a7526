#include "base/checksum.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

// Stored values: another result would make every store of today unreadable.
TEST(Checksum, IsTheSameForEver) {
  EXPECT_EQ(checksum(""), 0x2d06800538d394c2U);
  EXPECT_NE(checksum("pawl"), checksum("pawm"));
  EXPECT_NE(checksum("pawl", 1), checksum("pawl", 2));
}

}  // namespace
}  // namespace pawl
