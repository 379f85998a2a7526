// pawl init: makes the directory that records are kept in.
#include <memory>
#include <ostream>

#include "base/json_text.h"
#include "cli/store_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct InitOptions {
  std::string directory = "pawl-data";
  bool json = false;
  bool dry_run = false;
};

ExitCode init(const InitOptions& options, const Surroundings& surroundings) {
  std::error_code ignored;  // what cannot be looked at, cannot be opened either
  const bool is_there =
      std::filesystem::exists(std::filesystem::path(options.directory) / "tables.db", ignored);
  if (is_there || !options.dry_run) {
    const auto store = open_sqlite_store(store_options(options.directory, surroundings));
    if (!store) return report(store.error(), "", "", surroundings.err);
  }
  if (options.json) {
    surroundings.out << R"({"directory":)" << json_string(options.directory) << R"(,"new":)"
                     << (is_there ? "false" : "true") << "}\n";
    return ExitCode::ok;
  }
  if (is_there) {
    surroundings.out << options.directory << ": already has a store, nothing to do\n";
  } else if (options.dry_run) {
    surroundings.out << options.directory << ": would be created\n";
  } else {
    const std::string dir = options.directory == "pawl-data" ? "" : " --dir " + options.directory;
    surroundings.out << options.directory << ": created. Next:\n  pawl apply FILE.yaml" << dir
                     << "\n  pawl create MACHINE/KEY --data '{…}'" << dir << '\n';
  }
  return ExitCode::ok;
}

}  // namespace

void add_init(Command& app, Action& action) {
  auto options = std::make_shared<InitOptions>();
  Command* verb = app.add_subcommand("init", "Create the directory that holds the records");
  verb->add_option("DIR", options->directory, "directory to create")
      ->capture_default_str()
      ->check(not_empty());
  verb->add_flag("--dry-run", options->dry_run, "show what would happen, but change nothing");
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl init /var/lib/pawl");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) { return init(*options, surroundings); };
  });
}

}  // namespace pawl::cli
