// pawl backup, pawl restore: a store into one file, and back.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>

#include "cli/store_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct BackupOptions {
  std::string directory;
  std::string file;
  bool json = false;
};

ExitCode back_up_store(const BackupOptions& options, const Surroundings& surroundings) {
  const auto store = open_existing_store(options.directory, surroundings);
  if (!store) return report(store.error(), "", "", surroundings.err);
  const auto done = back_up(**store, options.file, progress_line("pages copied:", surroundings));
  end_progress_line(surroundings);
  if (!done) return report(done.error(), "", "", surroundings.err);
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(options.file, ignored);
  if (options.json) {
    surroundings.out << R"({"ok":true,"bytes":)" << bytes << "}\n";
  } else {
    surroundings.out << options.file << ": " << bytes << " bytes\n";
  }
  return ExitCode::ok;
}

ExitCode restore_store(const BackupOptions& options, const Surroundings& surroundings) {
  const auto restored = restore(options.file, store_options(options.directory, surroundings),
                                progress_line("bytes copied:", surroundings));
  end_progress_line(surroundings);
  if (!restored) return report(restored.error(), "", "", surroundings.err);
  return print_restored(*restored, options.file, options.directory, options.json, surroundings);
}

}  // namespace

void add_backup(Command& app, Action& action) {
  auto options = std::make_shared<BackupOptions>();
  Command* verb = app.add_subcommand("backup", "Back up a store to a single file");
  verb->add_option("DIR", options->directory, "store directory; no other process may be using it")
      ->required();
  verb->add_option("FILE", options->file, "backup file to create")->required();
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl backup /var/lib/pawl pawl-2026-11-16.db");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return back_up_store(*options, surroundings);
    };
  });
}

void add_restore(Command& app, Action& action) {
  auto options = std::make_shared<BackupOptions>();
  Command* verb =
      app.add_subcommand("restore", "Restore a backup into a new directory and verify it");
  verb->add_option("FILE", options->file, "backup made by `pawl backup`")->required();
  verb->add_option("DIR", options->directory, "directory to create")->required();
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer(
      "Attempts that were running when the backup was made are over: Pawl refuses their results\n"
      "and retries their tasks.\n"
      "Example:\n  pawl restore pawl-2026-11-16.db /var/lib/pawl");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return restore_store(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
