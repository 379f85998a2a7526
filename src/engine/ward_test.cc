#include "engine/ward.h"

#include <fstream>

#include "gtest/gtest.h"
#include "tests/support/temporary_directory.h"

namespace pawl {
namespace {

TEST(WardTest, SuspectsWhatWasInWorkAtTwoCrashes) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ward";
  for (int crash = 0; crash < 2; ++crash) {
    Ward ward = *Ward::open(file);
    EXPECT_TRUE(ward.poisoned().empty());
    ward.enter({7});  // and the process is gone
  }
  EXPECT_EQ(Ward::open(file)->poisoned(), std::vector<RecordId>{{7}});
}

TEST(WardTest, ForgetsWhatWasDecidedInBetween) {
  Ward::Page page;
  Ward(page).enter({7});
  {
    Ward ward(page);
    ward.clear({7});
    ward.enter({7});
  }
  EXPECT_TRUE(Ward(page).poisoned().empty());
}

TEST(WardTest, ATaskIsSuspectedUntilItEndsWhateverIsDecidedMeanwhile) {
  Ward::Page page;
  Ward(page).enter_task(3, {7});
  {
    Ward ward(page);
    ward.clear({7});  // its attempt has timed out
    ward.enter_task(5, {7});
  }
  EXPECT_EQ(Ward(page).poisoned(), std::vector<RecordId>{{7}});
  Ward ward(page);
  ward.clear_task({7});
  EXPECT_TRUE(ward.poisoned().empty());
}

TEST(WardTest, LeavesNoTraceOfWhatWentWell) {
  Ward::Page page;
  for (int i = 0; i < 3; ++i) {
    Ward ward(page);
    ward.enter({7});
    ward.leave();
  }
  EXPECT_TRUE(Ward(page).poisoned().empty());
}

TEST(WardTest, WritesOverAFileOfSomebodyElse) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "ward";
  { std::ofstream(file) << std::string(5'000, 'x'); }
  EXPECT_TRUE(Ward::open(file)->poisoned().empty());
}

TEST(WardTest, SaysWhichFileCannotBeOpened) {
  const auto ward = Ward::open("/nowhere/at/all/ward");
  ASSERT_FALSE(ward);
  EXPECT_EQ(ward.error().code, ErrorCode::environment);
  EXPECT_NE(ward.error().message.find("/nowhere/at/all/ward"), std::string::npos);
}

}  // namespace
}  // namespace pawl
