// pawl schema: the JSON Schema of machine files.
#include <iostream>

#include "cli/verb.h"
#include "model/schema.h"
#include "model/yaml_text.h"

namespace pawl::cli {

void add_schema(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "schema", "Print the JSON Schema (2020-12) of machine files, for editors and validators");
  verb->footer(
      "Example:\n"
      "  pawl schema > pawl.schema.json\n"
      "and as the first line of a machine file, for editors with a YAML language server:\n"
      "  # yaml-language-server: $schema=pawl.schema.json");
  verb->callback([&action] {
    action = [](const Surroundings& surroundings) {
      surroundings.out << to_pretty_json(machine_schema());
      return ExitCode::ok;
    };
  });
}

}  // namespace pawl::cli
