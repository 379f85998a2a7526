// pawl verify: does everything in a store hold together?
#include <iostream>
#include <memory>
#include <string>

#include "base/text.h"
#include "cli/store_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct VerifyOptions {
  std::string directory;
  bool json = false;
};

ExitCode verify_store(const VerifyOptions& options, const Surroundings& surroundings) {
  const auto store = open_existing_store(options.directory, surroundings);
  if (!store) return report(store.error(), "", "", surroundings.err);
  const TransferProgress progress = progress_line("records checked:", surroundings);
  const auto verified = verify(**store, [&](std::size_t records) {
    if (progress) progress(static_cast<std::int64_t>(records), 0);
  });
  end_progress_line(surroundings);
  if (!verified) return report(verified.error(), "", "", surroundings.err);
  const bool is_good = verified->violations.empty();
  if (options.json) {
    surroundings.out << R"({"ok":)" << (is_good ? "true" : "false") << R"(,"records":)"
                     << verified->records << R"(,"entries":)" << verified->entries
                     << R"(,"violations":)" << violations_json(verified->violations) << "}\n";
  } else {
    print_violations(verified->violations, surroundings.out);
    surroundings.out << options.directory << ": ";
    if (is_good) {
      surroundings.out << "ok, ";
    } else {
      surroundings.out << counted(verified->violations.size(), "violation") << " in ";
    }
    surroundings.out << counted(verified->records, "record") << ", " << verified->entries
                     << (verified->entries == 1 ? " entry\n" : " entries\n");
  }
  return is_good ? ExitCode::ok : ExitCode::wrong;
}

}  // namespace

void add_verify(Command& app, Action& action) {
  auto options = std::make_shared<VerifyOptions>();
  Command* verb = app.add_subcommand("verify", "Check the integrity of a whole store");
  verb->add_option("DIR", options->directory, "store directory; no other process may be using it")
      ->required();
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl verify /var/lib/pawl");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return verify_store(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
