// Plays the scripts beside this file: every one shows a rule of the machine file by what follows
// from one stimulus after another, word by word. The number of the rule begins its title.
//
// With PAWL_RECORD=1 in the environment the outputs in the files are rewritten instead of compared.
// Look at the difference before you commit it.

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rule_script.h"
#include "script_player.h"

namespace pawl {

// What googletest prints of a parameter.
void PrintTo(const RuleScript& script, std::ostream* out) {
  *out << script.file << ':' << script.line;
}

namespace {

const std::vector<RuleScript>& all_scripts() {
  static const std::vector<RuleScript> scripts = [] {
    std::vector<RuleScript> all;
    for (const std::string& file : script_files())
      for (RuleScript& script : read_scripts(file)) all.push_back(std::move(script));
    return all;
  }();
  return scripts;
}

const Zones& zones() {
  static const Zones* const opened = new Zones(Zones::open().value());
  return *opened;
}

bool recording() { return std::getenv("PAWL_RECORD") != nullptr; }

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "    " + line + "\n";
  return text;
}

class RuleScriptTest : public testing::TestWithParam<RuleScript> {};

TEST_P(RuleScriptTest, IsPlayedAsRecorded) {
  const RuleScript& script = GetParam();
  ASSERT_EQ(script.problem, "");
  const PlayedScript played = play(script, zones());
  for (const std::string& problem : played.problems) ADD_FAILURE() << script.file << ':' << problem;
  if (recording()) return;
  for (std::size_t i = 0; i < played.outputs.size(); ++i) {
    const ScriptStep& step = script.steps[i];
    EXPECT_TRUE(played.outputs[i] == step.recorded)
        << script.file << ':' << step.line << ": " << step.text << "\n  recorded:\n"
        << joined(step.recorded) << "  played:\n"
        << joined(played.outputs[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, RuleScriptTest, testing::ValuesIn(all_scripts()),
                         [](const testing::TestParamInfo<RuleScript>& tested) {
                           return tested.param.test_name;
                         });

TEST(Scripts, HaveTheNumberOfARuleInTheirTitlesAndNoTitleTwice) {
  ASSERT_FALSE(all_scripts().empty());
  std::set<std::string> names;
  for (const RuleScript& script : all_scripts()) {
    SCOPED_TRACE(script.file + ":" + std::to_string(script.line));
    // The file `s04_rows.txt` has the rules of section 4.
    const int section = std::atoi(script.file.c_str() + 1);
    EXPECT_EQ(std::atoi(script.title.c_str()), section) << script.title;
    EXPECT_TRUE(names.insert(script.test_name).second) << script.title;
  }
}

TEST(Scripts, AreRecordedWhenAsked) {
  if (!recording()) return;
  for (const std::string& file : script_files()) {
    const auto scripts = read_scripts(file);
    std::vector<std::vector<std::vector<std::string>>> outputs;
    for (const RuleScript& script : scripts) {
      outputs.push_back(play(script, zones()).outputs);
      outputs.back().resize(script.steps.size());
    }
    write_recorded(file, scripts, outputs);
  }
}

}  // namespace
}  // namespace pawl
