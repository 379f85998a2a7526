// Machines for the tests of policy.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "pawl/machine_file.h"
#include "pawl/zones.h"

namespace pawl {

inline std::shared_ptr<const Machine> machine_of(const std::string& text) {
  static const Zones zones = *Zones::open();
  const ReadMachine read = read_machine(text, zones);
  for (const Diagnostic& finding : read.findings)
    EXPECT_EQ(finding.severity, Diagnostic::Severity::warning) << finding.message;
  return read.machine;
}

// A state `working` with these keys, and whatever else the machine has.
inline std::shared_ptr<const Machine> machine_with(const std::string& keys,
                                                   const std::string& more = "") {
  return machine_of("machine: m\ninitial: working\ndata: {wait: duration, limit: duration}\n" +
                    more + "\nstates:\n  working: {task: work, done: over, timeout: 1m, " + keys +
                    "}\n  over: {final: true}\n  idle: {on: {go: working}" +
                    (more.find("schedule") == std::string::npos ? "" : ", planned: working") +
                    "}\ntasks: {work: {queue: q}}\n");
}

// One of the folder `machines`.
inline std::shared_ptr<const Machine> machine_in(const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(std::string(PAWL_SOURCE_DIR) + "/machines/" + name + ".yaml").rdbuf();
  return machine_of(text.str());
}

}  // namespace pawl
