// A machine in English: each state, and how its failures are answered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pawl/machine.h"
#include "policy/outlook.h"

namespace pawl {

struct ExplainedState {
  std::string name;
  std::string nature = {};               // `works on charge (queue payments)`, `waits`, `is final`
  std::vector<std::string> moves = {};   // one sentence per stimulus
  std::vector<std::string> policy = {};  // one sentence each; empty when nothing can fail here
  std::optional<Outlook> outlook = {};   // none when nothing can fail here
};

// A shared policy in the sentences a machine file may have it in.
struct ExplainedPolicy {
  std::string name;
  std::vector<std::string> lines;
  std::vector<std::string> unsaid;  // what no sentence says: key, and what it is
};

struct ExplainedMachine {
  std::string summary;
  std::vector<ExplainedState> states;
  std::vector<std::string> everywhere;  // what every state accepts
  std::vector<ExplainedPolicy> policies;
};

ExplainedMachine explain(const Machine& machine);

// As a page of text.
std::string to_text(const ExplainedMachine& explained);

}  // namespace pawl
