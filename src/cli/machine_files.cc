#include "cli/machine_files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/text.h"
#include "cli/verb.h"

namespace pawl::cli {
namespace {

// One byte more than a machine file may have: the reader then says so.
constexpr std::streamsize kReadMax = 1'048'577;

Result<std::string> read_text(const std::string& path) {
  const auto cannot = [&](const char* why) {
    return Error{ErrorCode::environment, "cannot read " + path + ": " + why};
  };
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot(std::strerror(errno));
  std::string text(static_cast<std::size_t>(kReadMax), '\0');
  file.read(text.data(), kReadMax);
  if (file.bad() || (file.fail() && !file.eof())) return cannot("is it a folder?");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

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

}  // namespace

Result<std::vector<MachineFile>> load_machine_files(const std::vector<std::string>& paths) {
  PAWL_TRY(const Zones zones, Zones::open());
  std::vector<MachineFile> files;
  for (const std::string& path : paths) {
    MachineFile& file = files.emplace_back();
    file.path = path;
    auto text = read_text(path);
    if (!text) {
      file.unreadable = std::move(text).error();
      continue;
    }
    file.text = *std::move(text);
    file.read = read_machine(file.text, zones);
  }
  return files;
}

void report_findings(const MachineFile& file, const Surroundings& surroundings) {
  for (const Diagnostic& finding : file.read.findings) {
    surroundings.err << file.path << ':' << finding.position.line << ':' << finding.position.column
                     << ": "
                     << (finding.severity == Diagnostic::Severity::error ? "error" : "warning")
                     << ": " << finding.message << " [" << finding.id << "]\n";
    if (surroundings.terminal) show_place(file.text, finding.position, surroundings.err);
  }
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
