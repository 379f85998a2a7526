#include "model/finding_ids.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace pawl {
namespace {

// A line of the table on docs/reference/errors.md, under the heading of its kind.
std::string line_of(const FindingId& finding) {
  return "| `" + std::string(finding.id) + "` | " + std::string(finding.meaning) + " |";
}

std::string_view heading_of(FindingId::Kind kind) {
  switch (kind) {
    case FindingId::Kind::text:
      return "## The text";
    case FindingId::Kind::form:
      return "## The form";
    case FindingId::Kind::meaning:
      return "## The meaning";
    case FindingId::Kind::warning:
      return "## Warnings";
    case FindingId::Kind::applying:
      return "## When it is applied";
    case FindingId::Kind::serving:
      return "## The configuration of the server";
    case FindingId::Kind::piping:
      return "## Pipe files";
  }
  return "";
}

std::vector<std::string> lines_expected() {
  std::vector<std::string> lines;
  std::string_view heading;
  for (const FindingId& finding : finding_ids()) {
    if (heading_of(finding.kind) != heading) lines.emplace_back(heading_of(finding.kind));
    heading = heading_of(finding.kind);
    lines.push_back(line_of(finding));
  }
  return lines;
}

std::vector<std::string> lines_of_page() {
  std::ifstream page(PAWL_SOURCE_DIR "/docs/reference/errors.md");
  std::vector<std::string> lines;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("## ") || line.starts_with("| `")) lines.push_back(line);
  return lines;
}

TEST(FindingIds, AreTheLinesOfTheReferencePage) { EXPECT_EQ(lines_of_page(), lines_expected()); }

TEST(FindingIds, AreSortedAndUniqueWithinTheirKind) {
  const auto ids = finding_ids();
  for (std::size_t i = 1; i < ids.size(); ++i) {
    const bool same_kind = ids[i - 1].kind == ids[i].kind;
    EXPECT_TRUE(!same_kind || ids[i - 1].id < ids[i].id) << ids[i].id;
  }
}

TEST(FindingIds, AreFoundByTheirId) {
  for (const FindingId& finding : finding_ids()) EXPECT_EQ(find_finding(finding.id), &finding);
  EXPECT_EQ(find_finding("no_such_finding"), nullptr);
}

}  // namespace
}  // namespace pawl
