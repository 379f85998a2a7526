// Runs the cases in tests/model/cases: every one is a machine file and all that the reader finds in
// it, word by word and with its place.
//
//   # A comment.
//   title: A task that is not there
//   keys: state.task, task.queue       what it shows, as `place.key` of key_places(); may be absent
//   file:
//     machine: m                       the machine file, two columns to the right
//     …
//   findings:
//     5:11: error: … [unknown_task]    one per line, in the order of the file; or `ok`
//
// A case with an error is a bad one, and then every key it shows has an error in its line. Other
// cases are good ones.
//
// With PAWL_RECORD=1 in the environment the findings in the files are rewritten instead of
// compared. Look at the difference before you commit it.

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/finding_ids.h"
#include "model/keys.h"
#include "pawl/machine_file.h"

namespace pawl {
namespace {

struct Case {
  std::string file = {};
  std::size_t line = 0;   // of its title, from 1
  std::string name = {};  // of its test
  std::string title = {};
  std::vector<std::string> keys = {};
  std::vector<std::string> text = {};      // of the machine file
  std::vector<std::string> findings = {};  // recorded
  std::size_t findings_begin = 0;          // the lines [begin, end) of the file that they take
  std::size_t findings_end = 0;
  std::string problem = {};  // why it cannot be read
};

// What googletest prints of a parameter.
void PrintTo(const Case& one, std::ostream* out) { *out << one.file << ':' << one.line; }

// --- Reading ---

constexpr std::string_view kIndent = "  ";

std::filesystem::path folder() {
  return std::filesystem::path(PAWL_SOURCE_DIR) / "tests" / "model" / "cases";
}

std::vector<std::string> case_files() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), none))
    if (entry.path().extension() == ".txt") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> lines_of(const std::string& file) {
  std::ifstream in(folder() / file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) {
    item.erase(0, item.find_first_not_of(' '));
    items.push_back(item);
  }
  return items;
}

// Reads the lines of one file of cases one by one.
class CaseReader {
 public:
  explicit CaseReader(std::string file) : file_(std::move(file)) {}

  std::vector<Case> read() {
    const auto lines = lines_of(file_);
    for (std::size_t i = 0; i < lines.size(); ++i) read_line(lines[i], i);
    for (Case& one : cases_) {
      while (!one.text.empty() && one.text.back().empty()) one.text.pop_back();
      if (one.problem.empty() && one.findings.empty()) one.problem = "it has no findings";
    }
    return cases_;
  }

 private:
  void read_line(const std::string& line, std::size_t index) {
    if (line.starts_with("title: ")) {
      cases_.push_back({.file = file_, .line = index + 1, .title = line.substr(7)});
      section_ = "";
      return;
    }
    if (cases_.empty()) return;
    Case& one = cases_.back();
    if (line.starts_with("keys: ")) {
      one.keys = split_list(line.substr(6));
    } else if (line == "file:" || line == "findings:") {
      section_ = line;
      one.findings_begin = one.findings_end = index + 1;
    } else if (section_ == "file:" && (line.empty() || line.starts_with(kIndent))) {
      one.text.push_back(line.empty() ? line : line.substr(kIndent.size()));
    } else if (section_ == "findings:" && line.starts_with(kIndent)) {
      one.findings.push_back(line.substr(kIndent.size()));
      one.findings_end = index + 1;
    } else if (!line.empty() && line.front() != '#') {
      one.problem = "unknown line: " + line;
    }
  }

  std::string file_;
  std::string section_;
  std::vector<Case> cases_;
};

// A word made of the file's name and the title: all that googletest takes.
std::string test_name(const Case& one) {
  std::string name = one.file.substr(0, one.file.find('.')) + "_" + one.title;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  const auto both_blank = [](char a, char b) { return a == '_' && b == '_'; };
  name.erase(std::unique(name.begin(), name.end(), both_blank), name.end());
  if (name.back() == '_') name.pop_back();
  return name;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    std::map<std::string, int> used;  // two titles can differ in signs only
    for (const auto& file : case_files()) {
      for (Case& one : CaseReader(file).read()) {
        one.name = test_name(one);
        if (const int times = ++used[one.name]; times > 1) one.name += "_" + std::to_string(times);
        all.push_back(std::move(one));
      }
    }
    return all;
  }();
  return cases;
}

// --- Asking ---

const Zones& zones() {
  static const Zones* const opened = new Zones(Zones::open().value());
  return *opened;
}

std::string to_line(const Diagnostic& finding) {
  return std::to_string(finding.position.line) + ":" + std::to_string(finding.position.column) +
         (finding.severity == Diagnostic::Severity::error ? ": error: " : ": warning: ") +
         finding.message + " [" + std::string(finding.id) + "]";
}

std::vector<Diagnostic> findings_of(const Case& one) {
  std::string text;
  for (const auto& line : one.text) text += line + "\n";
  return read_machine(text, zones()).findings;
}

std::vector<std::string> found_in(const Case& one) {
  std::vector<std::string> lines;
  for (const Diagnostic& finding : findings_of(one)) lines.push_back(to_line(finding));
  if (lines.empty()) lines.emplace_back("ok");
  return lines;
}

bool is_bad(const Case& one) {
  return std::any_of(one.findings.begin(), one.findings.end(), [](const std::string& finding) {
    return finding.find(": error: ") != std::string::npos;
  });
}

// --- Comparing ---

bool recording() { return std::getenv("PAWL_RECORD") != nullptr; }

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += "    " + line + "\n";
  return text;
}

class CaseTest : public testing::TestWithParam<Case> {};

TEST_P(CaseTest, IsFoundAsRecorded) {
  const Case& one = GetParam();
  SCOPED_TRACE(one.file + ":" + std::to_string(one.line) + ": " + one.title);
  ASSERT_EQ(one.problem, "");
  if (recording()) return;
  const auto found = found_in(one);
  EXPECT_TRUE(found == one.findings) << "  recorded:\n"
                                     << joined(one.findings) << "  found:\n"
                                     << joined(found);
}

INSTANTIATE_TEST_SUITE_P(Model, CaseTest, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<Case>& tested) {
                           return tested.param.name;
                         });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CaseTest);

TEST(Cases, HaveFindingsOfOneLineAndWithAPlace) {
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.file + ":" + std::to_string(one.line) + ": " + one.title);
    for (const Diagnostic& finding : findings_of(one)) {
      EXPECT_GT(finding.position.line, 0) << finding.message;
      EXPECT_GT(finding.position.column, 0) << finding.message;
      EXPECT_LE(finding.position.line, static_cast<int>(one.text.size()) + 1) << finding.message;
      EXPECT_EQ(finding.message.find('\n'), std::string::npos) << finding.message;
    }
  }
}

// --- Completeness ---

std::string key_of(const std::string& shown) { return shown.substr(shown.find('.') + 1); }

// Whether the key stands in that line; whose key it is, is not looked at.
bool has_key(const std::string& line, const std::string& key) {
  for (std::size_t at = line.find(key + ":"); at != std::string::npos;
       at = line.find(key + ":", at + 1)) {
    if (at == 0 || std::string_view(" {,\"").find(line[at - 1]) != std::string_view::npos)
      return true;
  }
  return false;
}

bool has_error_at(const Case& one, const std::string& key) {
  return std::any_of(one.findings.begin(), one.findings.end(), [&](const std::string& finding) {
    const auto line = static_cast<std::size_t>(std::atoi(finding.c_str()));
    return finding.find(": error: ") != std::string::npos && line >= 1 && line <= one.text.size() &&
           has_key(one.text[line - 1], key);
  });
}

std::set<std::string> all_keys() {
  std::set<std::string> keys;
  for (const KeyPlace& place : key_places())
    for (const Key& key : place.keys)
      keys.insert(std::string(place.name) + "." + std::string(key.name));
  return keys;
}

TEST(Cases, ShowOnlyKeysThatStandInThem) {
  const auto known = all_keys();
  for (const Case& one : all_cases()) {
    SCOPED_TRACE(one.file + ":" + std::to_string(one.line) + ": " + one.title);
    for (const std::string& shown : one.keys) {
      EXPECT_TRUE(known.contains(shown)) << shown << " is not in key_places()";
      EXPECT_TRUE(std::any_of(one.text.begin(), one.text.end(), [&](const std::string& line) {
        return has_key(line, key_of(shown));
      })) << shown;
    }
  }
}

TEST(Cases, ShowEveryKeyInAGoodFileAndInABadOne) {
  std::set<std::string> good;
  std::set<std::string> bad;
  for (const Case& one : all_cases()) {
    for (const std::string& shown : one.keys) {
      if (!is_bad(one)) good.insert(shown);
      if (is_bad(one)) {
        bad.insert(shown);
        EXPECT_TRUE(has_error_at(one, key_of(shown)))
            << one.file << ":" << one.line << ": no error in the line of " << shown;
      }
    }
  }
  good.insert("policy.policy");  // is known only in order to be refused: see policy_in_policy
  for (const std::string& key : all_keys()) {
    EXPECT_TRUE(good.contains(key)) << key << " is in no good case";
    EXPECT_TRUE(bad.contains(key)) << key << " is in no bad case";
  }
}

TEST(Cases, ShowEveryFinding) {
  // Proved in limits_test.cc and hostile_files_test.cc: their files are large, or not text.
  const std::set<std::string_view> elsewhere = {
      "bad_utf8",          "file_too_large", "too_many_fields", "too_many_findings",
      "too_many_policies", "too_many_rows",  "too_many_states", "too_many_values"};
  std::set<std::string_view> shown = elsewhere;
  shown.insert("unknown_machine");  // found by `pawl validate`, which sees several files
  for (const Case& one : all_cases())
    for (const Diagnostic& finding : findings_of(one)) shown.insert(finding.id);
  for (const FindingId& known : finding_ids()) {
    if (known.kind == FindingId::Kind::applying) continue;  // tests/engine/embedding_test.cc
    if (known.kind == FindingId::Kind::serving) continue;   // src/cli/serve_config_test.cc
    if (known.kind == FindingId::Kind::piping) continue;    // tests/pipe/cases_test.cc
    EXPECT_TRUE(shown.contains(known.id)) << known.id << " is in no case";
  }
}

TEST(Cases, HaveDifferentTitles) {
  ASSERT_FALSE(case_files().empty()) << "no case in " << folder();
  std::set<std::string> titles;
  for (const Case& one : all_cases())
    EXPECT_TRUE(titles.insert(one.file + one.title).second)
        << one.file << ':' << one.line << ": a second one with this title: " << one.title;
}

// --- Recording ---

TEST(Cases, AreRecordedWhenAsked) {
  if (!recording()) return;
  for (const auto& file : case_files()) {
    const auto lines = lines_of(file);
    std::ostringstream out;
    std::size_t copied = 0;
    for (const Case& one : CaseReader(file).read()) {
      ASSERT_TRUE(one.problem.empty() || one.problem == "it has no findings")
          << file << ':' << one.line << ": " << one.problem;
      for (; copied < one.findings_begin; ++copied) out << lines[copied] << '\n';
      copied = one.findings_end;
      for (const auto& line : found_in(one)) out << kIndent << line << '\n';
    }
    for (; copied < lines.size(); ++copied) out << lines[copied] << '\n';
    std::ofstream(folder() / file) << out.str();
  }
}

}  // namespace
}  // namespace pawl
