#include "model/script.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "pawl/machine_file.h"

namespace pawl {
namespace {

Zones zones() { return *Zones::open(); }

std::shared_ptr<const Machine> door() {
  return read_machine(
             "machine: door\ninitial: ajar\n"
             "states: {ajar: {on: {close: closed}}, closed: {final: true}}\n",
             zones())
      .machine;
}

std::string first_finding(std::string_view text) {
  const ReadScript read = read_script(text, *door(), zones());
  if (read.findings.empty()) return read.scenario ? "ok" : "nothing";
  const Diagnostic& finding = read.findings.front();
  return std::to_string(finding.position.line) + ":" + std::to_string(finding.position.column) +
         ": " + finding.message + " [" + std::string(finding.id) + "]";
}

TEST(Script, HasTheKeysOfAScenario) {
  const ReadScript read = read_script(
      "at: 2026-03-02T08:00:00\ntz: Europe/Berlin\ncreate: {key: d1}\nsteps:\n"
      "  - {at: +5m, fire: close, expect: {state: closed}}\n",
      *door(), zones());
  ASSERT_TRUE(read.scenario);
  EXPECT_TRUE(read.findings.empty());
  EXPECT_EQ(read.scenario->tz, "Europe/Berlin");
  ASSERT_EQ(read.scenario->steps.size(), 1U);
  EXPECT_EQ(read.scenario->steps[0].where.position.line, 5);
}

TEST(Script, IsCheckedAgainstTheMachine) {
  const std::string head = "at: 2026-03-02T08:00:00Z\ncreate: {key: d1}\nsteps: ";
  EXPECT_EQ(first_finding(head + "[{fire: close, expect: {state: closed}}]"), "ok");
  EXPECT_EQ(first_finding(head + "[{fire: clos}]"),
            "3:16: `clos` is not an event of this machine; did you mean close? [unknown_event]");
  EXPECT_EQ(first_finding(head + "[{at: noon}]"),
            "3:9: `noon` is not an instant, HH:MM[:SS] or +duration [bad_scenario]");
  EXPECT_EQ(first_finding("steps: []"), "1:1: a scenario needs the key `at` [missing_key]");
  EXPECT_EQ(first_finding("- x"),
            "1:1: expected a scenario: a map of keys, found a list [wrong_kind]");
}

TEST(Script, IsNotCheckedWhereItIsAboutAnotherMachine) {
  const std::string head = "at: 2026-03-02T08:00:00Z\n";
  EXPECT_EQ(first_finding(head + "create: {machine: window, key: w}\nsteps: [{fire: tilt}]"), "ok");
  EXPECT_EQ(first_finding(head + "steps: [{create: {machine: window, key: w}, "
                                 "expect: {state: tilted}}, {fire: tilt}]"),
            "2:78: `tilt` is not an event of this machine [unknown_event]");
}

}  // namespace
}  // namespace pawl
