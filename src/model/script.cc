#include "model/script.h"

#include <utility>

#include "model/reader.h"
#include "model/scenario_check.h"
#include "model/tree.h"

namespace pawl {

ReadScript read_script(std::string_view text, const Machine& machine, const Zones& zones) {
  Diagnostics diagnostics;
  ReadScript read;
  if (const auto tree = read_tree(text, diagnostics)) {
    Scenario scenario;
    scenario.where = {tree->at};
    Reader(diagnostics).keys(*tree, scenario_keys(), scenario);
    check_scenario(scenario, machine, zones, diagnostics);
    if (!diagnostics.has_errors()) read.scenario = std::move(scenario);
  }
  read.findings = diagnostics.sorted();
  return read;
}

}  // namespace pawl
