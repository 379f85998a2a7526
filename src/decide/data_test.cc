#include "decide/data.h"

#include "gtest/gtest.h"

namespace pawl {
namespace {

const Zones& data_zones() {
  static const Zones loaded = *Zones::open();
  return loaded;
}

Fields fields() {
  return {{.name = "amount", .type = {.kind = FieldType::Kind::decimal, .required = true}},
          {.name = "note", .type = {.kind = FieldType::Kind::string}},
          {.name = "tries", .type = {.kind = FieldType::Kind::integer}, .fallback = Json(0)}};
}

std::string completed_or_error(std::string_view map, Others others = Others::refused) {
  const auto result = completed(map, fields(), others, data_zones());
  return result ? *result : result.error().message;
}

TEST(Data, GetsDefaultsForWhatIsNotGiven) {
  EXPECT_EQ(completed_or_error(R"({"amount":1.50})"), R"({"amount":1.50,"tries":0})");
  EXPECT_EQ(completed_or_error(R"({"amount":1,"tries":null})"), R"({"amount":1,"tries":null})");
  EXPECT_EQ(completed_or_error(R"({"tries":3,"amount":1})"), R"({"tries":3,"amount":1})");
}

TEST(Data, IsRefusedWhenItDoesNotFit) {
  EXPECT_EQ(completed_or_error("{}"), "`amount`: null is not allowed in decimal!");
  EXPECT_EQ(completed_or_error(R"({"amount":null})"), "`amount`: null is not allowed in decimal!");
  EXPECT_EQ(completed_or_error(R"({"amount":"x"})"),
            "`amount`: \"x\" is not a value of the type decimal!");
  EXPECT_EQ(completed_or_error(R"({"amount":1,"tries":1.5})"),
            "`tries`: 1.5 is not a whole number");
  EXPECT_EQ(completed_or_error("[1]"), "expected a map of fields");
}

TEST(Data, ThatDoesNotFitIsBadInput) {
  for (const char* map : {"[1]", R"({"amount":null})", R"({"amount":1,"other":1})"}) {
    const auto result = completed(map, fields(), Others::refused, data_zones());
    ASSERT_FALSE(result) << map;
    EXPECT_EQ(result.error().code, ErrorCode::bad_input) << map;
  }
}

TEST(Data, OtherFieldsAreRefusedOnlyWhereItIsComplete) {
  EXPECT_EQ(completed_or_error(R"({"amount":1,"nota":2})"),
            "`nota`: there is no such field; did you mean note?");
  EXPECT_EQ(completed_or_error(R"({"amount":1,"nota":2})", Others::allowed),
            R"({"amount":1,"nota":2,"tries":0})");
}

TEST(Data, OneMemberIsHeldAgainstItsField) {
  EXPECT_TRUE(check_member(std::nullopt, "anything", JsonView("1"), data_zones()));
  EXPECT_TRUE(check_member(fields(), "note", JsonView("null"), data_zones()));
  EXPECT_FALSE(check_member(fields(), "note", JsonView("[]"), data_zones()));
  EXPECT_FALSE(check_member(fields(), "nothing", JsonView("1"), data_zones()));
}

}  // namespace
}  // namespace pawl
