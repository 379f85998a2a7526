#include "decide/fingerprint.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace pawl {
namespace {

std::uint64_t of(std::string_view message) { return fingerprint_of("oops", message); }

// S4-26: errors of one kind are one, whatever they name.
TEST(Fingerprint, LeavesOutNumbersHexUuidsAndQuotedText) {
  EXPECT_EQ(of("timeout after 30s"), of("timeout after 5s"));
  EXPECT_EQ(of("row 17 of 20"), of("row 3 of 9"));
  EXPECT_EQ(of("at 0x7ffe12"), of("at 0x10"));
  EXPECT_EQ(of("order 6f1c2b3a-0d4e-4f5a-8b6c-7d8e9f0a1b2c"),
            of("order 0a1b2c3d-ffff-4f5a-8b6c-000000000000"));
  EXPECT_EQ(of("no file \"a.txt\""), of("no file \"b and c\""));
  EXPECT_EQ(of("no file 'a'"), of("no file 'b'"));
  EXPECT_EQ(of("took 1.5 seconds"), of("took 22.75 seconds"));
  EXPECT_EQ(of("commit deadbeef01 is gone"), of("commit 12cafe is gone"));
}

TEST(Fingerprint, TellsOtherErrorsApart) {
  EXPECT_NE(of("connection refused"), of("connection reset"));
  EXPECT_NE(of("read 5 bytes"), of("read bytes"));
  EXPECT_NE(of("no file \"a\""), of("no file a"));
  EXPECT_NE(fingerprint_of("timeout", "x"), fingerprint_of("crashed", "x"));
  EXPECT_NE(fingerprint_of("ab", ""), fingerprint_of("a", "b"));
}

TEST(Fingerprint, WordsThatLookLikeHexAreWords) {
  EXPECT_NE(of("a bad cafe"), of("a dead beef"));
  EXPECT_NE(of("state added"), of("state faded"));
}

TEST(Fingerprint, ANumberIsHexDigitsWithADecimalOneInGroups) {
  for (const char* number : {"0", "9", "a0", "f9", "A0", "F9", "0x0", "1.5", "1-5", "0xff"})
    EXPECT_EQ(of(number), of("7")) << number;
  for (const char* other : {"g0", "G0", "ab", ".5", "-5", "5.", "5-", "5.x", "5_5", "xa"})
    EXPECT_NE(of(other), of("7")) << other;
  EXPECT_NE(of("5 files lost"), of("5 files found"));
}

TEST(Fingerprint, OfAWordOnlyTheDigitsAreLeftOut) {
  EXPECT_EQ(of("30s"), of("5s"));
  EXPECT_NE(of("30s"), of("30m"));
  for (const std::string letter : {"a", "z", "A", "Z"}) {
    EXPECT_NE(of("t" + letter + "b1"), of("t" + letter + "c1")) << letter;
    EXPECT_EQ(of("t" + letter + "b1"), of("t" + letter + "b2")) << letter;
  }
  EXPECT_NE(of("a1z"), of("b1z"));
  EXPECT_NE(of("a1Z"), of("b1Z"));
}

TEST(Fingerprint, AWordEndsWithAQuote) { EXPECT_EQ(of("a\"x\"b1"), of("a\"y\"c1")); }

TEST(Fingerprint, LooksAtNothingBeyondTheMessage) {
  EXPECT_EQ(of(std::string_view("ab cd").substr(0, 2)), of("ab"));
  EXPECT_EQ(of(std::string_view("ab1").substr(0, 2)), of("ab"));
  EXPECT_EQ(of(std::string_view("5.5").substr(0, 2)), of("5."));
  EXPECT_EQ(of(std::string_view("a1z").substr(0, 2)), of("a1"));
  EXPECT_EQ(of(std::string_view("a 55").substr(0, 3)), of("a 5"));
}

TEST(Fingerprint, AnApostropheDoesNotBeginAQuote) {
  EXPECT_NE(of("can't open, won't try"), of("can't close, won't try"));
}

}  // namespace
}  // namespace pawl
