#include "cli/machine_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "cli/verb.h"
#include "model/sites.h"

namespace pawl::cli {
namespace {

constexpr std::streamsize kReadMax = 1'048'577;

// The first `characters` characters of a line of UTF-8.
std::string_view head(std::string_view line, int characters) {
  std::size_t at = 0;
  while (at < line.size() && characters > 0) {
    ++at;
    while (at < line.size() && (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80) ++at;
    --characters;
  }
  return line.substr(0, at);
}

std::size_t width(std::string_view text) {
  std::size_t characters = 0;
  for (const char c : text)
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) ++characters;
  return characters;
}

void show_place(const std::string& text, Position position, std::ostream& err) {
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < position.line && std::getline(lines, line); ++i) {
  }
  const std::string before = printable(head(line, position.column - 1));
  err << "  " << printable(line) << "\n  " << std::string(width(before), ' ') << "^\n";
}

// Calls visit(EffectRow) for all effects of a machine.
template <class Visit>
void for_each_effect(const Definition& definition, Visit visit) {
  for (const State& state : definition.states)
    std::for_each(state.effects.begin(), state.effects.end(), visit);
  for_each_rows(definition, [&](const RowsAt&, const Rows& rows) {
    for (const Row& row : rows) std::for_each(row.effects.begin(), row.effects.end(), visit);
  });
}

}  // namespace

Result<std::string> read_text_file(const std::string& path) {
  const auto cannot = [&](const char* why) {
    return Error{ErrorCode::environment, "cannot read " + path + ": " + why};
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  std::string text(static_cast<std::size_t>(kReadMax), '\0');
  file.read(text.data(), kReadMax);
  if (file.bad() || (file.fail() && !file.eof())) return cannot("is it a directory?");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

Result<std::vector<MachineFile>> load_machine_files(const std::vector<std::string>& paths) {
  PAWL_TRY(const Zones zones, Zones::open());
  std::vector<MachineFile> files;
  for (const std::string& path : paths) {
    MachineFile& file = files.emplace_back();
    file.path = path;
    auto text = read_text_file(path);
    if (!text) {
      file.unreadable = std::move(text).error();
      continue;
    }
    file.text = *std::move(text);
    file.read = read_machine(file.text, zones);
  }
  return files;
}

bool is_good(const MachineFile& file) {
  return !file.unreadable && std::none_of(file.read.findings.begin(), file.read.findings.end(),
                                          [](const Diagnostic& finding) {
                                            return finding.severity == Diagnostic::Severity::error;
                                          });
}

void find_unknown_machines(std::vector<MachineFile>& files, Diagnostic::Severity severity) {
  std::set<std::string> known{"run", "delivery", "send"};
  for (const MachineFile& file : files)
    if (file.read.machine) known.insert(file.read.machine->name());
  for (MachineFile& file : files) {
    if (!file.read.machine) continue;
    auto& findings = file.read.findings;
    for_each_effect(file.read.machine->definition(), [&](const EffectRow& effect) {
      if (effect.verb == EffectRow::Verb::create && !known.contains(effect.target.name))
        findings.push_back(
            {severity, "unknown_machine", effect.target.at.position,
             "none of these files defines the machine `" + effect.target.name + "`; add its file"});
    });
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Diagnostic& a, const Diagnostic& b) {
                       return std::pair(a.position.line, a.position.column) <
                              std::pair(b.position.line, b.position.column);
                     });
  }
}

void report_findings(const std::string& path, const std::string& text,
                     const std::vector<Diagnostic>& findings, const Surroundings& surroundings) {
  for (const Diagnostic& finding : findings) {
    surroundings.err << path << ':' << finding.position.line << ':' << finding.position.column
                     << ": "
                     << (finding.severity == Diagnostic::Severity::error ? "error" : "warning")
                     << ": " << finding.message << " [" << finding.id << "]\n";
    if (surroundings.terminal) show_place(text, finding.position, surroundings.err);
  }
}

void report_findings(const MachineFile& file, const Surroundings& surroundings) {
  report_findings(file.path, file.text, file.read.findings, surroundings);
}

std::shared_ptr<const Machine> load_one_machine(const std::string& path,
                                                const Surroundings& surroundings, ExitCode& code) {
  const auto files = load_machine_files({path});
  if (!files) {
    code = report(files.error(), "", "", surroundings.err);
    return nullptr;
  }
  const MachineFile& file = files->front();
  if (file.unreadable) {
    code = report(*file.unreadable, "", "", surroundings.err);
    return nullptr;
  }
  if (!file.read.machine) {
    report_findings(file, surroundings);
    code = ExitCode::wrong;
  }
  return file.read.machine;
}

}  // namespace pawl::cli
