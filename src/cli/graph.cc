// pawl graph: a picture of a machine.
#include <iostream>
#include <memory>
#include <string>
#include <string_view>

#include "cli/machine_files.h"
#include "cli/verb.h"
#include "model/graph.h"

namespace pawl::cli {
namespace {

struct GraphOptions {
  std::string path;
  std::string format = "text";
};

std::string drawn(const Machine& machine, std::string_view format) {
  if (format == "mermaid") return to_mermaid(machine);
  if (format == "dot") return to_dot(machine);
  return to_text_graph(machine);
}

ExitCode graph(const GraphOptions& options, const Surroundings& surroundings) {
  ExitCode code = ExitCode::ok;
  const auto machine = load_one_machine(options.path, surroundings, code);
  if (!machine) return code;
  surroundings.out << drawn(*machine, options.format);
  return ExitCode::ok;
}

}  // namespace

void add_graph(Command& app, Action& action) {
  auto options = std::make_shared<GraphOptions>();
  Command* verb = app.add_subcommand("graph", "Draw a machine as text, Mermaid or Graphviz");
  verb->add_option("FILE", options->path, "machine file")->required();
  verb->add_option("--format", options->format, "text (default), mermaid or dot")
      ->check(one_of({"mermaid", "dot", "text"}))
      ->type_name("FORMAT");
  verb->footer("Example:\n  pawl graph machines/order.yaml --format dot | dot -Tsvg > order.svg");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return graph(*options, surroundings); };
  });
}

}  // namespace pawl::cli
