#include "cli/store_files.h"

#include <ostream>

#include "base/json_text.h"
#include "base/text.h"

namespace pawl::cli {

SqliteOptions store_options(const std::string& directory, const Surroundings& surroundings) {
  return {.directory = directory, .clock = surroundings.now};
}

Result<std::unique_ptr<SqliteStore>> open_existing_store(const std::string& directory,
                                                         const Surroundings& surroundings) {
  SqliteOptions options = store_options(directory, surroundings);
  options.creates = false;
  return open_sqlite_store(std::move(options));
}

TransferProgress progress_line(const std::string& what, const Surroundings& surroundings) {
  if (!surroundings.terminal) return {};
  return [what, &surroundings](std::int64_t done, std::int64_t all) {
    surroundings.err << '\r' << what << ' ' << done;
    if (all > 0) surroundings.err << " of " << all;
    surroundings.err << std::flush;
  };
}

void end_progress_line(const Surroundings& surroundings) {
  if (surroundings.terminal) surroundings.err << "\r\x1b[K";
}

std::string text_of(const Violation& violation) {
  const std::uint64_t record = violation.record.value;
  return violation.invariant + ": " +
         (record == 0 ? "" : "record " + std::to_string(record) + ": ") + violation.what;
}

void print_violations(const std::vector<Violation>& violations, std::ostream& out) {
  for (const Violation& violation : violations) out << printable(text_of(violation)) << '\n';
}

std::string violations_json(const std::vector<Violation>& violations) {
  std::string json = "[";
  for (const Violation& violation : violations) {
    if (json.size() > 1) json += ',';
    json += R"({"invariant":)" + json_string(violation.invariant);
    if (violation.record.value != 0)
      json += R"(,"record":)" + std::to_string(violation.record.value);
    json += R"(,"what":)" + json_string(violation.what) + "}";
  }
  return json + "]";
}

ExitCode print_restored(const Restored& restored, const std::string& from,
                        const std::string& directory, bool json, const Surroundings& surroundings) {
  const Verified& verified = restored.verified;
  const bool is_good = verified.violations.empty();
  if (json) {
    surroundings.out << R"({"ok":)" << (is_good ? "true" : "false") << R"(,"records":)"
                     << verified.records << R"(,"entries":)" << verified.entries
                     << R"(,"void_leases":)" << restored.void_leases << R"(,"last_used":)"
                     << json_string(to_text(restored.last_used)) << R"(,"violations":)"
                     << violations_json(verified.violations) << "}\n";
    return is_good ? ExitCode::ok : ExitCode::wrong;
  }
  if (!is_good) {
    print_violations(verified.violations, surroundings.out);
    surroundings.out << from << ": " << counted(verified.violations.size(), "violation")
                     << "; nothing was written. Use an older backup\n";
    return ExitCode::wrong;
  }
  surroundings.out << directory << ": " << counted(verified.records, "record") << ", "
                   << verified.entries << (verified.entries == 1 ? " entry" : " entries")
                   << ", as of " << to_text(restored.last_used) << "; verified\n";
  if (restored.void_leases > 0)
    surroundings.out << counted(restored.void_leases, "attempt")
                     << " running at the time will be retried: the old leases are void\n";
  return ExitCode::ok;
}

}  // namespace pawl::cli
