// pawl doctor: what is the matter with a store, and what to do about it?
#include <sqlite3.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/store_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

namespace fs = std::filesystem;

struct DoctorOptions {
  std::string directory;
  bool json = false;
};

struct Finding {
  enum class Kind { ok, warning, problem };

  Kind kind = Kind::ok;
  std::string about;
  std::string text;
  std::string remedy = {};
};

const char* kind_text(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::ok:
      return "ok";
    case Finding::Kind::warning:
      return "warning";
    case Finding::Kind::problem:
      break;
  }
  return "problem";
}

std::string in_mib(std::uintmax_t bytes) {
  const std::uintmax_t tenths = bytes * 10 / (1U << 20U);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " MiB";
}

// A log that is reset while another connection writes can lose what was committed (3.7.0
// to 3.51.2).
Finding about_sqlite() {
  constexpr int kFixedIn = 3'051'003;
  const std::string version = std::string("SQLite ") + sqlite3_libversion();
  if (sqlite3_libversion_number() >= kFixedIn) return {Finding::Kind::ok, "version", version};
  return {Finding::Kind::ok, "version",
          version +
              ", which can lose commits when two connections write. Pawl uses one writer and locks "
              "the store: do not let other programs write to tables.db"};
}

Finding about_disk(const std::string& directory) {
  constexpr std::uintmax_t kLittle = 1U << 30U;
  std::error_code failed;
  const fs::space_info space = fs::space(directory, failed);
  if (failed)
    return {Finding::Kind::problem, "disk", "cannot read the free space: " + failed.message(),
            "check the path and its permissions"};
  std::uintmax_t used = 0;
  for (const fs::directory_entry& file : fs::directory_iterator(directory, failed)) {
    std::error_code gone;
    const std::uintmax_t size = file.is_regular_file(gone) ? file.file_size(gone) : 0;
    if (!gone) used += size;
  }
  const std::string text = in_mib(used) + " used, " + in_mib(space.available) + " free";
  if (space.available < kLittle && space.available < used)
    return {Finding::Kind::warning, "disk", text,
            "free some space: on a full disk nothing can be committed"};
  return {Finding::Kind::ok, "disk", text};
}

Finding about_log(const std::string& directory) {
  constexpr std::uintmax_t kMuch = 1U << 30U;
  std::error_code ignored;
  const fs::path log = fs::path(directory) / "tables.db-wal";
  const std::uintmax_t size = fs::exists(log, ignored) ? fs::file_size(log, ignored) : 0;
  const std::string text = "write-ahead log of " + in_mib(size);
  if (size > kMuch)
    return {Finding::Kind::warning, "log", text,
            "start and stop Pawl once to merge it into the tables"};
  return {Finding::Kind::ok, "log", text};
}

// False: the machine does not let it, as when a process uses the store.
bool examine_store(const DoctorOptions& options, const Surroundings& surroundings,
                   std::vector<Finding>& findings) {
  const auto store = open_existing_store(options.directory, surroundings);
  if (!store) {
    findings.push_back({Finding::Kind::problem, "store", store.error().message});
    return store.error().code != ErrorCode::environment;
  }
  findings.push_back(
      {Finding::Kind::ok, "store", "last used " + pawl::to_text((*store)->last_used())});
  const TransferProgress progress = progress_line("records checked:", surroundings);
  const auto verified = verify(**store, [&](std::size_t records) {
    if (progress) progress(static_cast<std::int64_t>(records), 0);
  });
  end_progress_line(surroundings);
  if (!verified) {
    findings.push_back({Finding::Kind::problem, "invariants", verified.error().message});
  } else if (verified->violations.empty()) {
    findings.push_back({Finding::Kind::ok, "invariants",
                        "hold for " + counted(verified->records, "record") + " and " +
                            std::to_string(verified->entries) + " entries"});
  } else {
    findings.push_back({Finding::Kind::problem, "invariants",
                        counted(verified->violations.size(), "violation") +
                            ", the first: " + text_of(verified->violations.front()),
                        "run `pawl verify` to list them; keep a copy of the directory and restore "
                        "a backup"});
  }
  return true;
}

void print_json(const std::vector<Finding>& findings, bool is_good, std::ostream& out) {
  out << R"({"ok":)" << (is_good ? "true" : "false") << R"(,"findings":[)";
  for (const Finding& finding : findings) {
    out << (&finding == &findings.front() ? "" : ",") << R"({"kind":")" << kind_text(finding.kind)
        << R"(","about":)" << json_string(finding.about) << R"(,"text":)"
        << json_string(finding.text);
    if (!finding.remedy.empty()) out << R"(,"remedy":)" << json_string(finding.remedy);
    out << "}";
  }
  out << "]}\n";
}

ExitCode examine(const DoctorOptions& options, const Surroundings& surroundings) {
  std::error_code ignored;
  if (!fs::is_directory(options.directory, ignored))
    return report({ErrorCode::bad_input, "there is no directory " + options.directory}, "", "",
                  surroundings.err);
  std::vector<Finding> findings{about_sqlite(), about_disk(options.directory),
                                about_log(options.directory)};
  const bool is_examined = examine_store(options, surroundings, findings);
  bool is_good = true;
  for (const Finding& finding : findings) is_good &= finding.kind != Finding::Kind::problem;
  if (options.json) {
    print_json(findings, is_good, surroundings.out);
  } else {
    for (const Finding& finding : findings) {
      surroundings.out << kind_text(finding.kind) << ": " << finding.about << ": "
                       << printable(finding.text) << '\n';
      if (!finding.remedy.empty()) surroundings.out << "  " << finding.remedy << '\n';
    }
  }
  if (!is_examined) return ExitCode::environment;
  return is_good ? ExitCode::ok : ExitCode::wrong;
}

}  // namespace

void add_doctor(Command& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  Command* verb =
      app.add_subcommand("doctor", "Diagnose a store and its disk, and suggest what to do");
  verb->add_option("DIR", options->directory, "store directory")->required();
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl doctor /var/lib/pawl");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return examine(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
