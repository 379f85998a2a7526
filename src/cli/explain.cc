// pawl explain: a machine in English.
#include <iostream>
#include <memory>
#include <string>

#include "base/json_text.h"
#include "cli/machine_files.h"
#include "cli/outlook_json.h"
#include "cli/verb.h"
#include "policy/explain.h"

namespace pawl::cli {
namespace {

struct ExplainOptions {
  std::string path;
  bool json = false;
};

void print_json(const ExplainedMachine& explained, std::ostream& out) {
  out << "{\"summary\":" << json_string(explained.summary) << ",\"states\":[";
  for (const ExplainedState& state : explained.states)
    out << (&state == &explained.states.front() ? "" : ",")
        << "{\"name\":" << json_string(state.name) << ",\"nature\":" << json_string(state.nature)
        << ",\"moves\":" << json_list(state.moves) << ",\"policy\":" << json_list(state.policy)
        << ",\"outlook\":" << (state.outlook ? to_json(*state.outlook) : "null") << "}";
  out << "],\"everywhere\":" << json_list(explained.everywhere) << ",\"policies\":[";
  for (const ExplainedPolicy& policy : explained.policies)
    out << (&policy == &explained.policies.front() ? "" : ",")
        << "{\"name\":" << json_string(policy.name) << ",\"lines\":" << json_list(policy.lines)
        << ",\"unsaid\":" << json_list(policy.unsaid) << "}";
  out << "]}\n";
}

ExitCode explain(const ExplainOptions& options, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  const auto machine = load_one_machine(options.path, surroundings, code);
  if (!machine) return code;
  const ExplainedMachine explained = pawl::explain(*machine);
  if (options.json) {
    print_json(explained, surroundings.out);
  } else {
    surroundings.out << to_text(explained);
  }
  return ExitCode::ok;
}

}  // namespace

void add_explain(Command& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  Command* verb = app.add_subcommand(
      "explain", "Explain in English what a machine does and how it handles failures");
  verb->add_option("FILE", options->path, "machine file")->required();
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl explain machines/order.yaml");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return explain(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
