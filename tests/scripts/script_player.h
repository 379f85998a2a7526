// Plays a script: machines in a world of their own, one step after another.
#pragma once

#include <string>
#include <vector>

#include "pawl/zones.h"
#include "rule_script.h"

namespace pawl {

struct PlayedScript {
  std::vector<std::vector<std::string>> outputs = {};  // of each step
  // What is wrong whatever was recorded: a file or step that cannot be read, a log that does not
  // add up.
  std::vector<std::string> problems = {};
};

PlayedScript play(const RuleScript& script, const Zones& zones);

}  // namespace pawl
