// The machines that come with Pawl: good files, without anything an engine would have to know.
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "model/expression/program.h"
#include "model/sites.h"
#include "pawl/machine_file.h"
#include "pawl/zones.h"

namespace pawl {
namespace {

const std::filesystem::path kMachines = std::filesystem::path(PAWL_SOURCE_DIR) / "machines";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ReadMachine read(const std::string& text) { return read_machine(text, *Zones::open()); }

std::string errors_of(const ReadMachine& read) {
  std::string errors;
  for (const Diagnostic& finding : read.findings)
    if (finding.severity == Diagnostic::Severity::error) errors += finding.message + "\n";
  return errors;
}

bool calls_guard(const std::optional<Expression>& expression) {
  return expression && !expression->program->guard().empty();
}

bool calls_guard(const std::vector<EffectRow>& effects) {
  for (const EffectRow& effect : effects)
    if (calls_guard(effect.condition)) return true;
  return false;
}

class Machines : public testing::TestWithParam<std::string> {};

TEST_P(Machines, IsGoodAndSurvivesPrinting) {
  const ReadMachine given = read(text_of(kMachines / (GetParam() + ".yaml")));
  ASSERT_NE(given.machine, nullptr) << errors_of(given);
  EXPECT_EQ(given.machine->name(), GetParam());
  EXPECT_FALSE(given.machine->definition().doc.empty());
  const std::string printed = print_machine(given.machine->definition());
  const ReadMachine again = read(printed);
  ASSERT_NE(again.machine, nullptr) << errors_of(again) << printed;
  EXPECT_EQ(again.machine->definition(), given.machine->definition());
  EXPECT_EQ(print_machine(again.machine->definition()), printed);
}

TEST_P(Machines, HasNoGuardsInCpp) {
  const ReadMachine given = read(text_of(kMachines / (GetParam() + ".yaml")));
  ASSERT_NE(given.machine, nullptr);
  const Definition& definition = given.machine->definition();
  for (const State& state : definition.states) EXPECT_FALSE(calls_guard(state.effects));
  for_each_rows(definition, [](const RowsAt&, const Rows& rows) {
    for (const Row& row : rows) {
      EXPECT_FALSE(calls_guard(row.condition));
      EXPECT_FALSE(calls_guard(row.effects));
    }
  });
}

std::vector<std::string> machine_names() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kMachines))
    if (entry.path().extension() == ".yaml") names.insert(entry.path().stem());
  return {names.begin(), names.end()};
}

INSTANTIATE_TEST_SUITE_P(All, Machines, testing::ValuesIn(machine_names()),
                         [](const auto& parameter) { return parameter.param; });

TEST(Machines, TheSystemsPawlWasMadeForAreThere) {
  const std::vector<std::string> names = machine_names();
  for (const std::string name :
       {"attempt", "solve", "thumbnail", "big_table", "big_table_week", "turducken_job",
        "turducken_assignment", "evaluation", "qanal", "order", "parcel"})
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
}

// S0-49: states have stable ids, names and an order that is declared apart from the ids.
TEST(Machines, AnAttemptHasStableIdsAndAnOrder) {
  const auto machine = read(text_of(kMachines / "attempt.yaml")).machine;
  ASSERT_NE(machine, nullptr);
  std::set<int> ids;
  for (const State& state : machine->definition().states) ids.insert(state.id.value_or(0));
  EXPECT_EQ(ids.size(), 15U);
  EXPECT_EQ(*ids.begin(), 1);
  EXPECT_EQ(*ids.rbegin(), 15);
  const auto order = [&](std::string_view name) {
    return machine->order_of(*machine->find_state(name));
  };
  EXPECT_LT(*order("attempt_cleanup"), *order("solves_processing"));
  EXPECT_EQ(order("failed"), std::nullopt);
  EXPECT_EQ(order("discarded"), std::nullopt);
}

// R0-8: comparing a state that has no order is an error of the definition.
TEST(Machines, ComparingAStateWithoutOrderIsRefused) {
  std::string text = text_of(kMachines / "attempt.yaml");
  const std::string compared = "record.failed_from < 'solves_processed'";
  text.replace(text.find(compared), compared.size(), "record.failed_from < 'failed'");
  const ReadMachine refused = read(text);
  EXPECT_EQ(refused.machine, nullptr);
  EXPECT_TRUE(errors_of(refused).starts_with("the state 'failed' is not in order"))
      << errors_of(refused);
}

}  // namespace
}  // namespace pawl
