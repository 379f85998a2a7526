// pawl validate: is this machine file good?
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/machine_files.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

struct ValidateOptions {
  std::vector<std::string> paths;
  bool strict = false;
  bool json = false;
};

std::size_t count(const MachineFile& file, Diagnostic::Severity severity) {
  const auto& findings = file.read.findings;
  return static_cast<std::size_t>(
      std::count_if(findings.begin(), findings.end(),
                    [&](const Diagnostic& finding) { return finding.severity == severity; }));
}

void make_strict(std::vector<MachineFile>& files) {
  for (MachineFile& file : files)
    for (Diagnostic& finding : file.read.findings) finding.severity = Diagnostic::Severity::error;
}

void print_json(const std::vector<MachineFile>& files, std::ostream& out) {
  out << "{\"files\":[";
  for (const MachineFile& file : files) {
    const bool ok = is_good(file);
    out << (&file == &files.front() ? "" : ",") << "{\"file\":" << json_string(file.path)
        << ",\"ok\":" << (ok ? "true" : "false");
    if (file.unreadable) out << ",\"unreadable\":" << json_string(file.unreadable->message);
    out << ",\"findings\":[";
    for (const Diagnostic& finding : file.read.findings)
      out << (&finding == &file.read.findings.front() ? "" : ",") << "{\"severity\":"
          << (finding.severity == Diagnostic::Severity::error ? "\"error\"" : "\"warning\"")
          << ",\"id\":" << json_string(finding.id) << ",\"line\":" << finding.position.line
          << ",\"column\":" << finding.position.column
          << ",\"message\":" << json_string(finding.message) << "}";
    out << "]}";
  }
  out << "]}\n";
}

void print_summary(const MachineFile& file, const Surroundings& surroundings) {
  if (file.unreadable) {
    report(*file.unreadable, "", "", surroundings.err);
    return;
  }
  const std::size_t errors = count(file, Diagnostic::Severity::error);
  const std::size_t warnings = count(file, Diagnostic::Severity::warning);
  report_findings(file, surroundings);
  surroundings.out << file.path << ": ";
  if (errors > 0) {
    surroundings.out << counted(errors, "error");
  } else {
    const Definition& definition = file.read.machine->definition();
    surroundings.out << "ok, machine " << definition.machine << ", "
                     << counted(definition.states.size(), "state");
  }
  if (warnings > 0) surroundings.out << ", " << counted(warnings, "warning");
  surroundings.out << '\n';
}

ExitCode validate(const ValidateOptions& options, const Surroundings& surroundings) {
  auto files = load_machine_files(options.paths);
  if (!files) return report(files.error(), "", "", surroundings.err);
  // Only a warning: they may have been applied before.
  find_unknown_machines(*files, Diagnostic::Severity::warning);
  if (options.strict) make_strict(*files);
  if (options.json) {
    print_json(*files, surroundings.out);
  } else {
    for (const MachineFile& file : *files) print_summary(file, surroundings);
  }
  const auto unreadable = std::find_if(files->begin(), files->end(), [](const MachineFile& file) {
    return file.unreadable.has_value();
  });
  if (unreadable != files->end()) return exit_code_of(unreadable->unreadable->code);
  return std::all_of(files->begin(), files->end(), is_good) ? ExitCode::ok : ExitCode::wrong;
}

}  // namespace

void add_validate(Command& app, Action& action) {
  auto options = std::make_shared<ValidateOptions>();
  Command* verb =
      app.add_subcommand("validate", "Check machine files and report everything that is wrong");
  verb->add_option("FILE", options->paths, "machine files; they may refer to each other")
      ->required();
  verb->add_flag("--strict", options->strict, "treat warnings as errors");
  verb->add_flag("--json", options->json, "print one JSON object");
  verb->footer("Example:\n  pawl validate machines/order.yaml machines/parcel.yaml --strict");
  verb->callback([options, &action] {
    action = [options](const Surroundings& surroundings) {
      return validate(*options, surroundings);
    };
  });
}

}  // namespace pawl::cli
