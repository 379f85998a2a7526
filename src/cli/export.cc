// pawl export, pawl import: a store as lines of JSON, and back.
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "cli/store_files.h"
#include "cli/verb.h"
#include "store/sqlite/new_place.h"

namespace pawl::cli {
namespace {

struct ExportOptions {
  std::string directory;
  std::string file;
  bool json = false;
};

// A file of that name is a whole export.
Result<void> export_to_file(SqliteStore& store, const std::string& name,
                            const TransferProgress& progress) {
  PAWL_TRY(sqlite::NewFile file, sqlite::NewFile::prepare(name, "", sqlite::system_directories()));
  std::ofstream out(file.path(), std::ios::binary);
  PAWL_CHECK(export_lines(store, out, progress));
  return file.put_in_place();
}

ExitCode export_store(const ExportOptions& options, const Surroundings& surroundings) {
  const auto store = open_existing_store(options.directory, surroundings);
  if (!store) return report(store.error(), "", "", surroundings.err);
  const TransferProgress progress = progress_line("lines written:", surroundings);
  const auto done = options.file.empty() ? export_lines(**store, surroundings.out, progress)
                                         : export_to_file(**store, options.file, progress);
  end_progress_line(surroundings);
  if (!done) return report(done.error(), "", "", surroundings.err);
  return ExitCode::ok;
}

ExitCode import_store(const ExportOptions& options, const Surroundings& surroundings) {
  std::ifstream file(options.file, std::ios::binary);
  if (!file || file.peek() == std::ifstream::traits_type::eof())
    return report(
        {ErrorCode::environment, "cannot read " + options.file + ", or the file is empty"}, "", "",
        surroundings.err);
  const auto imported = import_lines(file, store_options(options.directory, surroundings),
                                     progress_line("lines read:", surroundings));
  end_progress_line(surroundings);
  if (!imported) return report(imported.error(), options.file, "", surroundings.err);
  return print_restored(*imported, options.file, options.directory, options.json, surroundings);
}

}  // namespace

void add_export(Command& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  Command* verb = app.add_subcommand("export", "Export a store as lines of JSON");
  verb->add_option("DIR", options->directory, "store directory; no other process may be using it")
      ->required();
  verb->add_option("FILE", options->file, "file to create (default: standard output)");
  verb->footer("Example:\n  pawl export /var/lib/pawl | gzip > pawl.jsonl.gz");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return export_store(*options, surroundings);
    };
  });
}

void add_import(Command& app, Action& action) {
  auto options = std::make_shared<ExportOptions>();
  Command* verb =
      app.add_subcommand("import", "Import an exported store into a new directory and verify it");
  verb->add_option("FILE", options->file, "export made by `pawl export`")->required();
  verb->add_option("DIR", options->directory, "directory to create")->required();
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl import pawl.jsonl /var/lib/pawl");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return import_store(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
