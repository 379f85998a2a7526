// pawl print: a machine file in its canonical form.
#include <iostream>
#include <memory>
#include <string>

#include "cli/machine_files.h"
#include "cli/verb.h"
#include "model/definition_json.h"
#include "model/yaml_text.h"

namespace pawl::cli {
namespace {

struct PrintOptions {
  std::string path;
  bool json = false;
};

ExitCode print(const PrintOptions& options, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  const auto machine = load_one_machine(options.path, surroundings, code);
  if (!machine) return code;
  surroundings.out << (options.json ? to_pretty_json(to_json(machine->definition()))
                                    : print_machine(machine->definition()));
  return ExitCode::ok;
}

}  // namespace

void add_print(Command& app, Action& action) {
  auto options = std::make_shared<PrintOptions>();
  Command* verb =
      app.add_subcommand("print", "Print a machine file in canonical form, without comments");
  verb->add_option("FILE", options->path, "machine file")->required();
  verb->add_flag("--json", options->json, "print JSON, which is also a valid machine file");
  verb->footer("Example:\n  pawl print machines/order.yaml --json > order.json");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return print(*options, surroundings); };
  });
}

}  // namespace pawl::cli
