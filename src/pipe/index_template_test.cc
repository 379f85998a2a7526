#include "pipe/index_template.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

using PartKind = IndexTemplate::Part::Kind;

std::string error_of(std::string_view text) {
  const auto index = IndexTemplate::parse(text);
  return index ? "fine" : index.error().message;
}

TEST(IndexTemplate, IsReadPartByPart) {
  const auto index = IndexTemplate::parse("a{{b}}-{time:%Y}{topic}{partition}-{data.x.y}");
  ASSERT_TRUE(index);
  const auto& parts = index->parts();
  ASSERT_EQ(parts.size(), 6U);
  EXPECT_EQ(parts[0].text, "a{b}-");
  EXPECT_EQ(parts[1].date->text(), "%Y");
  EXPECT_EQ(parts[2].kind, PartKind::topic);
  EXPECT_EQ(parts[3].kind, PartKind::partition);
  EXPECT_EQ(parts[4].text, "-");
  EXPECT_EQ(parts[5].field.text(), "x.y");
  EXPECT_TRUE(index->is_open());
  EXPECT_FALSE(index->is_fixed());
  EXPECT_TRUE(IndexTemplate::parse("events")->is_fixed());
  EXPECT_FALSE(IndexTemplate::parse("e-{time:%Y}-{partition}")->is_open());
}

TEST(IndexTemplate, RefusesWhatIsNoPlaceholder) {
  for (const char* text : {"{", "}", "a{", "a}b", "{}", "{data}", "{data.}", "{data.a..b}",
                           "{time}", "{time:}", "{time:%Q}", "{timestamp:%Y}", "{Topic}"})
    EXPECT_NE(error_of(text), "fine") << text;
  EXPECT_EQ(error_of("e-{kind}"),
            "{kind} is not a known placeholder; use {time:%Y.%m.%d}, {data.field}, {topic} and "
            "{partition}, and {{ and }} for braces");
}

TEST(IndexTemplate, RefusesWhatNeverIsAName) {
  for (const char* text : {"", "Events", "_a", "-a", "+a", "a b", "a:b", "e-{time:%Y:%m}",
                           "{time:_%Y}", "_{topic}", "{topic}/x", ".", ".."})
    EXPECT_NE(error_of(text), "fine") << text;
  EXPECT_EQ(error_of(std::string(255, 'a')), "fine");
  EXPECT_EQ(error_of(std::string(245, 'a') + "{partition}"), "fine");
  EXPECT_NE(error_of(std::string(246, 'a') + "{partition}"), "fine");
  EXPECT_NE(error_of(std::string(256, 'a')), "fine");
  EXPECT_NE(error_of(std::string(252, 'a') + "{time:%Y}"), "fine");
  EXPECT_EQ(error_of(".{topic}"), "fine");
  EXPECT_EQ(error_of("{time:%Y}"), "fine");
}

}  // namespace
}  // namespace pawl
