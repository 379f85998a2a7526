#include "well_formed.h"

#include <algorithm>
#include <tuple>

#include "model/finding_ids.h"

namespace pawl {
namespace {

// As YAML ends lines: also at U+0085, U+2028 and U+2029.
int lines_of(std::string_view text) {
  int lines = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool ends = (rest[0] == '\r' && !rest.starts_with("\r\n")) || rest[0] == '\n' ||
                      rest.starts_with("\xc2\x85") || rest.starts_with("\xe2\x80\xa8") ||
                      rest.starts_with("\xe2\x80\xa9");
    if (ends) ++lines;
  }
  return lines;
}

std::string what_is_wrong_with(const Diagnostic& finding, int lines) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (finding.position.line < 1 || finding.position.line > lines + 1) return "no line of the text";
  if (finding.position.column < 1) return "no column";
  if (find_finding(finding.id) == nullptr) return "an unknown id";
  if (finding.message.empty()) return "no message";
  if (std::any_of(finding.message.begin(), finding.message.end(), is_control))
    return "control characters in its message";
  return "";
}

}  // namespace

std::string findings_text(const std::vector<Diagnostic>& findings) {
  std::string text;
  for (const Diagnostic& finding : findings)
    text += std::to_string(finding.position.line) + ":" + std::to_string(finding.position.column) +
            " " + std::string(finding.id) + ": " + finding.message + "\n";
  return text;
}

std::string what_is_malformed(std::string_view text, const ReadMachine& read) {
  const int lines = lines_of(text);
  const auto place = [](const Diagnostic& finding) {
    return std::tie(finding.position.line, finding.position.column);
  };
  bool error = false;
  for (std::size_t i = 0; i < read.findings.size(); ++i) {
    const Diagnostic& finding = read.findings[i];
    error = error || finding.severity == Diagnostic::Severity::error;
    const std::string wrong = what_is_wrong_with(finding, lines);
    if (!wrong.empty()) return "a finding has " + wrong + ": " + findings_text({finding});
    if (i > 0 && place(finding) < place(read.findings[i - 1])) return "findings are not in order";
  }
  if (error && read.machine) return "there is a machine in spite of errors";
  if (!error && !read.machine) return "there is neither a machine nor a reason";
  return "";
}

}  // namespace pawl
