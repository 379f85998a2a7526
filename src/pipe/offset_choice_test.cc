#include "pipe/offset_choice.h"

#include <gtest/gtest.h>

namespace pawl {
namespace {

using Start = KafkaConfig::Start;

constexpr kafka::Ends kEnds{.low = 10, .high = 100};

TEST(OffsetChoice, GoesByTheFileWhereNothingIsCommitted) {  // S1-15
  EXPECT_EQ(choose_offset(std::nullopt, kEnds, Start::earliest).offset, 10);
  EXPECT_EQ(choose_offset(std::nullopt, kEnds, Start::latest).offset, 100);
}

TEST(OffsetChoice, BeginsWithWhatIsThereAndNotesWhatIsLost) {  // S1-16
  for (const Start start : {Start::earliest, Start::latest}) {
    const OffsetChoice choice = choose_offset(5, kEnds, start);
    EXPECT_EQ(choice.offset, 10);
    ASSERT_TRUE(choice.gap);
    EXPECT_EQ(choice.gap->first, 5);
    EXPECT_EQ(choice.gap->last, 9);
  }
}

TEST(OffsetChoice, BeginsAtTheEndWhenTheOffsetIsBeyondIt) {  // S1-17
  for (const Start start : {Start::earliest, Start::latest}) {
    const OffsetChoice choice = choose_offset(150, kEnds, start);
    EXPECT_EQ(choice.offset, 100);
    EXPECT_FALSE(choice.gap);
  }
}

TEST(OffsetChoice, GoesOnWhereItWas) {
  for (const std::int64_t known : {10, 55, 100}) {
    const OffsetChoice choice = choose_offset(known, kEnds, Start::latest);
    EXPECT_EQ(choice.offset, known);
    EXPECT_FALSE(choice.gap);
  }
}

}  // namespace
}  // namespace pawl
