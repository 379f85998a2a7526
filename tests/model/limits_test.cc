// The limits of a machine file: at the limit it is read, one above it is refused, and says so at
// the place.
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "model/check.h"
#include "model/expression/value_program.h"
#include "model/tree.h"
#include "pawl/definition.h"
#include "pawl/machine_file.h"

namespace pawl {
namespace {

const Zones& limits_zones() {
  static const Zones* const opened = new Zones(Zones::open().value());
  return *opened;
}

// All errors of the file: `3:1 too_many_labels`.
std::string errors_in(std::string_view text) {
  std::string errors;
  for (const Diagnostic& finding : read_machine(text, limits_zones()).findings) {
    if (finding.severity != Diagnostic::Severity::error) continue;
    errors += (errors.empty() ? "" : ", ") + std::to_string(finding.position.line) + ":" +
              std::to_string(finding.position.column) + " " + std::string(finding.id);
  }
  return errors;
}

constexpr std::string_view kLimitsHead = "machine: m\ninitial: s0\n";

std::string with_states(std::size_t count) {
  std::string text = std::string(kLimitsHead) + "states:\n";
  for (std::size_t i = 0; i < count; ++i) text += "  s" + std::to_string(i) + ": {final: true}\n";
  return text;
}

TEST(Limits, StatesOfAMachine) {
  EXPECT_EQ(errors_in(with_states(kStatesMax)), "");
  EXPECT_EQ(errors_in(with_states(kStatesMax + 1)), "5004:3 too_many_states");
}

std::string with_labels(std::size_t count) {
  std::string text = std::string(kLimitsHead) + "states: {s0: {final: true}}\nlabels:\n";
  for (std::size_t i = 0; i < count; ++i) text += "  l" + std::to_string(i) + ": x\n";
  return text;
}

TEST(Limits, LabelsOfAMachine) {
  EXPECT_EQ(errors_in(with_labels(kLabelsMax)), "");
  EXPECT_EQ(errors_in(with_labels(kLabelsMax + 1)), "13:3 too_many_labels");
}

// `after` and `every` count together.
std::string with_timers(std::size_t after, std::size_t every) {
  std::string text =
      std::string(kLimitsHead) + "states:\n  end: {final: true}\n  s0:\n    after:\n";
  for (std::size_t i = 1; i <= after; ++i) text += "      " + std::to_string(i) + "s: end\n";
  text += "    every:\n";
  for (std::size_t i = 1; i <= every; ++i) text += "      " + std::to_string(i) + "s: {}\n";
  return text;
}

TEST(Limits, TimersOfAState) {
  EXPECT_EQ(errors_in(with_timers(kTimersMax - 2, 2)), "");
  EXPECT_EQ(errors_in(with_timers(kTimersMax - 2, 3)), "5:3 too_many_timers");
}

// `not (1 + 1 > 0)` with so many numbers: each of them, each sign between them and `not` is a node.
std::string with_condition(std::size_t numbers, std::string_view before) {
  std::string sum = "1";
  for (std::size_t i = 2; i < numbers; ++i) sum += " + 1";
  return std::string(kLimitsHead) +
         "states:\n  end: {final: true}\n  s0: {on: {go: {if: " + std::string(before) + "(" + sum +
         " > 0), to: end}}}\n";
}

TEST(Limits, NodesOfAnExpression) {
  EXPECT_EQ(errors_in(with_condition(128, "not ")), "");  // 256 nodes
  EXPECT_NE(errors_in(with_condition(129, "")), "");      // 257 nodes
}

// A label of that many lists, in the two maps around it.
std::string with_depth(int depth) {
  const auto lists = static_cast<std::size_t>(depth - 2);
  return std::string(kLimitsHead) +
         "states: {s0: {final: true}}\nlabels:\n  l: " + std::string(lists, '[') +
         std::string(lists, ']') + "\n";
}

TEST(Limits, DepthOfAFile) {
  EXPECT_EQ(errors_in(with_depth(kFileDepthMax)), "");
  EXPECT_EQ(errors_in(with_depth(kFileDepthMax + 1)), "5:68 too_deep");
}

std::string with_policies(std::size_t policies) {
  std::string text = std::string(kLimitsHead) + "states: {s0: {final: true}}\npolicies:\n";
  for (std::size_t i = 0; i < policies; ++i) text += "  p" + std::to_string(i) + ": Panic\n";
  return text;
}

TEST(Limits, PoliciesOfAMachine) {
  EXPECT_EQ(errors_in(with_policies(kPoliciesMax)), "");
  EXPECT_EQ(errors_in(with_policies(kPoliciesMax + 1)), "1005:3 too_many_policies");
}

std::string with_placeholders(std::size_t placeholders) {
  std::string text = std::string(kLimitsHead) + "states: {s0: {final: true}}\nlabels: {x: \"";
  for (std::size_t i = 0; i < placeholders; ++i) text += "{record.key}";
  return text + "\"}\n";
}

TEST(Limits, PlaceholdersOfAText) {
  EXPECT_EQ(errors_in(with_placeholders(kPlaceholdersMax)), "");
  EXPECT_EQ(errors_in(with_placeholders(kPlaceholdersMax + 1)), "4:12014 bad_template");
}

std::string with_bytes(std::size_t bytes) {
  std::string text = std::string(kLimitsHead) + "states: {s0: {final: true}}\n#";
  text.resize(bytes, 'x');
  return text;
}

TEST(Limits, BytesOfAFile) {
  EXPECT_EQ(kFileBytesMax, std::size_t{1'048'576});
  EXPECT_EQ(errors_in(with_bytes(kFileBytesMax)), "");
  EXPECT_EQ(errors_in(with_bytes(kFileBytesMax + 1)), "1:1 file_too_large");
}

TEST(Limits, AFileIsUtf8) {
  EXPECT_EQ(errors_in(std::string(kLimitsHead) +
                      "doc: gr\xc3\xbc\xc3\x9f\nstates: {s0: {final: true}}\n"),
            "");
  EXPECT_EQ(errors_in(std::string(kLimitsHead) + "doc: gr\xfc\xdf\nstates: {s0: {final: true}}\n"),
            "3:8 bad_utf8");
}

}  // namespace
}  // namespace pawl
