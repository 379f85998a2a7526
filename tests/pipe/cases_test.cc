// Runs tests/pipe/cases.txt: every case is the file of a pipe and all that the reader finds in it,
// word by word and with its place.
//
//   title: A topic that stands twice
//   part:
//     kafka: {…}                       the file, two columns to the right
//   findings:
//     1:58: error: … [named_twice]     one per line, in the order of the file; or `ok`
//
// A `part` leaves out what is beside the point: those of `pipe`, `kafka`, `transform` and
// `elasticsearch` that it does not have are added below it. A `file` is all there is.
//
// With PAWL_RECORD=1 in the environment the findings in the file are rewritten instead of compared.
// Look at the difference before you commit it.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding_ids.h"
#include "pipe/pipe_file.h"

namespace pawl {
namespace {

struct Case {
  std::size_t line = 0;  // of its title, from 1
  std::string title = {};
  bool is_part = false;
  std::vector<std::string> text = {};
  std::vector<std::string> findings = {};
  std::size_t findings_begin = 0;  // the lines [begin, end) of the file that they take
  std::size_t findings_end = 0;
  std::string problem = {};  // why it cannot be read
};

constexpr std::string_view kIndent = "  ";
const std::string kPath = PAWL_SOURCE_DIR "/tests/pipe/cases.txt";

std::vector<std::string> lines_of_file() {
  std::ifstream in(kPath);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<Case> read_cases(const std::vector<std::string>& lines) {
  std::vector<Case> cases;
  std::string section;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.starts_with("title: ")) {
      cases.push_back({.line = i + 1, .title = line.substr(7)});
      section = "";
    } else if (cases.empty() || line.starts_with('#')) {
      continue;
    } else if (line == "file:" || line == "part:" || line == "findings:") {
      section = line;
      if (line == "part:") cases.back().is_part = true;
      cases.back().findings_begin = cases.back().findings_end = i + 1;
    } else if (section == "findings:" && line.starts_with(kIndent)) {
      cases.back().findings.push_back(line.substr(kIndent.size()));
      cases.back().findings_end = i + 1;
    } else if (!section.empty() && section != "findings:" && line.starts_with(kIndent)) {
      cases.back().text.push_back(line.substr(kIndent.size()));
    } else if (!line.empty()) {
      cases.back().problem = "unknown line: " + line;
    }
  }
  return cases;
}

std::string whole(const Case& one) {
  std::string text;
  for (const std::string& line : one.text) text += line + "\n";
  if (!one.is_part) return text;
  const std::vector<std::pair<std::string, std::string>> sections = {
      {"pipe:", "pipe: events"},
      {"kafka:", "kafka: {brokers: k, group: g, topics: [events]}"},
      {"transform:", "transform: {index: events}"},
      {"elasticsearch:", "elasticsearch: {url: http://es}"}};
  for (const auto& [key, section] : sections) {
    const bool is_there = text.starts_with(key) || text.find("\n" + key) != std::string::npos ||
                          (key == "elasticsearch:" && text.starts_with("opensearch:"));
    if (!is_there) text += section + "\n";
  }
  return text;
}

std::vector<std::string> found_in(const Case& one) {
  Diagnostics diagnostics;
  const auto config = read_pipe(whole(one), diagnostics);
  std::vector<std::string> lines;
  for (const Diagnostic& finding : diagnostics.sorted())
    lines.push_back(std::to_string(finding.position.line) + ":" +
                    std::to_string(finding.position.column) + ": error: " + finding.message + " [" +
                    std::string(finding.id) + "]");
  EXPECT_EQ(config.has_value(), lines.empty()) << one.title;
  if (lines.empty()) lines.emplace_back("ok");
  return lines;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += "    " + line + "\n";
  return text;
}

bool is_recording() { return std::getenv("PAWL_RECORD") != nullptr; }

TEST(PipeCases, AreFoundAsRecorded) {
  const auto lines = lines_of_file();
  const auto cases = read_cases(lines);
  ASSERT_FALSE(cases.empty());
  std::ostringstream recorded;
  std::size_t copied = 0;
  for (const Case& one : cases) {
    SCOPED_TRACE(kPath + ":" + std::to_string(one.line) + ": " + one.title);
    ASSERT_EQ(one.problem, "");
    const auto found = found_in(one);
    for (; copied < one.findings_begin; ++copied) recorded << lines[copied] << '\n';
    copied = one.findings_end;
    for (const std::string& line : found) recorded << kIndent << line << '\n';
    if (is_recording()) continue;
    EXPECT_TRUE(found == one.findings) << "  recorded:\n"
                                       << joined(one.findings) << "  found:\n"
                                       << joined(found);
  }
  for (; copied < lines.size(); ++copied) recorded << lines[copied] << '\n';
  if (is_recording()) std::ofstream(kPath) << recorded.str();
}

TEST(PipeCases, HaveDifferentTitles) {
  std::set<std::string> titles;
  for (const Case& one : read_cases(lines_of_file()))
    EXPECT_TRUE(titles.insert(one.title).second) << one.title;
}

TEST(PipeCases, ShowEveryKeyInAGoodFileAndInABadOne) {
  std::set<std::string> keys;
  for (const KeyPlace& place : pipe_key_places())
    for (const Key& key : place.keys) keys.insert(std::string(key.name));
  for (const bool wants_good : {true, false}) {
    std::string all;
    for (const Case& one : read_cases(lines_of_file())) {
      if ((one.findings.front() == "ok") == wants_good)
        for (const std::string& line : one.text) all += " " + line;
    }
    for (const std::string& key : keys) {
      bool shown = false;
      for (const char before : {' ', '{'})
        shown = shown || all.find(before + key + ":") != std::string::npos;
      EXPECT_TRUE(shown) << key << " is in no " << (wants_good ? "good" : "bad") << " case";
    }
  }
}

TEST(PipeCases, ShowEveryFindingOfPipeFiles) {
  std::string all;
  for (const std::string& line : lines_of_file()) all += line + "\n";
  for (const FindingId& known : finding_ids()) {
    if (known.kind != FindingId::Kind::piping) continue;
    EXPECT_NE(all.find("[" + std::string(known.id) + "]\n"), std::string::npos) << known.id;
  }
}

}  // namespace
}  // namespace pawl
