// pawl schema: the JSON Schema of machine files, or the OpenAPI document of the API.
#include <memory>
#include <ostream>

#include "api/openapi.h"
#include "cli/verb.h"
#include "model/schema.h"
#include "model/yaml_text.h"

namespace pawl::cli {

void add_schema(Command& app, Action& action) {
  Command* verb = app.add_subcommand(
      "schema", "Print the JSON Schema of machine files, for editors and validators");
  verb->footer(
      "Example:\n"
      "  pawl schema > pawl.schema.json\n"
      "Then begin a machine file with this line, for editors with a YAML language server:\n"
      "  # yaml-language-server: $schema=pawl.schema.json");
  const auto of_api = std::make_shared<bool>(false);
  verb->add_flag("--api", *of_api, "print the OpenAPI 3.1 document of the server's API instead");
  verb->callback([&action, of_api] {
    action = [of_api](const Surroundings& surroundings) {
      surroundings.out << to_pretty_json(*of_api ? openapi_document() : machine_schema());
      return ExitCode::ok;
    };
  });
}

}  // namespace pawl::cli
