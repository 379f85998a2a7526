// The machines that come with Pawl play their scenarios. All of them are one world.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "pawl/machine_file.h"
#include "pawl/zones.h"
#include "simulate/player.h"
#include "simulate/timeline.h"

namespace pawl {
namespace {

using Machines = std::vector<std::shared_ptr<const Machine>>;

struct Case {
  std::string file;
  std::shared_ptr<const Machine> machine;
  Scenario scenario;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.file; }

const Zones& zones() {
  static const Zones* const opened = new Zones(*Zones::open());
  return *opened;
}

std::vector<std::filesystem::path> machine_paths() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(PAWL_SOURCE_DIR) / "machines"))
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case>* const all = [] {
    auto* cases = new std::vector<Case>();
    for (const auto& path : machine_paths()) {
      const ReadMachine read = read_machine(text_of(path), zones());
      if (!read.machine) continue;  // machines_test says why
      for (const Scenario& scenario : read.machine->definition().scenarios)
        cases->push_back({path.filename(), read.machine, scenario});
    }
    return cases;
  }();
  return *all;
}

Machines all_machines() {
  Machines machines;
  for (const auto& path : machine_paths())
    if (auto machine = read_machine(text_of(path), zones()).machine) machines.push_back(machine);
  return machines;
}

class Scenarios : public testing::TestWithParam<Case> {};

TEST_P(Scenarios, IsPlayed) {
  static const Machines* const machines = new Machines(all_machines());
  const Case& one = GetParam();
  const Played played = play(one.scenario, one.machine->name(), *machines, zones());
  std::string problems;
  for (const Problem& problem : played.problems)
    problems += to_text(problem, one.file, played.zone);
  EXPECT_EQ(problems, "") << to_timeline(played);
}

std::string test_name(const testing::TestParamInfo<Case>& tested) {
  std::string name = tested.param.machine->name() + "_" + tested.param.scenario.title;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, Scenarios, testing::ValuesIn(all_cases()), test_name);

TEST(ScenariosOfMachines, AreThere) {
  for (const auto& path : machine_paths())
    EXPECT_TRUE(std::any_of(all_cases().begin(), all_cases().end(), [&](const Case& one) {
      return one.file == path.filename();
    })) << path;
}

}  // namespace
}  // namespace pawl
