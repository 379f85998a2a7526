#include "rule_script.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

namespace pawl {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr std::string_view kStep = "  > ";
constexpr std::string_view kOutput = "    ";

std::filesystem::path repository() { return PAWL_SOURCE_DIR; }
std::filesystem::path folder() { return repository() / "tests" / "scripts"; }

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A word of the file's name and the title: all that googletest takes.
std::string test_name_of(const RuleScript& script) {
  std::string name = script.file.substr(0, script.file.find('.')) + "_" + script.title;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  const auto both_blank = [](char a, char b) { return a == '_' && b == '_'; };
  name.erase(std::unique(name.begin(), name.end(), both_blank), name.end());
  if (name.back() == '_') name.pop_back();
  return name;
}

// Reads the lines of one file one by one.
class ScriptReader {
 public:
  explicit ScriptReader(std::string file) : file_(std::move(file)) {}

  std::vector<RuleScript> read() {
    const auto lines = lines_of(folder() / file_);
    for (std::size_t i = 0; i < lines.size(); ++i) read_line(lines[i], i);
    for (RuleScript& script : scripts_)
      if (script.problem.empty() && script.steps.empty()) script.problem = "it has no steps";
    return std::move(scripts_);
  }

 private:
  enum class Section { head, machine, play };

  void read_line(const std::string& line, std::size_t index) {
    if (line.starts_with("title: ")) {
      begin(line.substr(7), index);
    } else if (scripts_.empty() || line.empty() || line.front() == '#') {
      if (section_ == Section::machine && line.empty())
        scripts_.back().machines.back().text += '\n';
    } else if (line.front() == ' ') {
      read_indented(line, index);
    } else {
      read_head(line);
    }
  }

  void begin(std::string title, std::size_t index) {
    scripts_.push_back({.file = file_, .line = index + 1, .title = std::move(title)});
    scripts_.back().test_name = test_name_of(scripts_.back());
    section_ = Section::head;
  }

  void read_head(const std::string& line) {
    RuleScript& script = scripts_.back();
    section_ = Section::head;
    if (line.starts_with("at: ")) {
      script.at = line.substr(4);
    } else if (line.starts_with("tz: ")) {
      script.tz = line.substr(4);
    } else if (line == "play:") {
      section_ = Section::play;
    } else if (line == "file: as above" && scripts_.size() > 1) {
      script.machines = scripts_[scripts_.size() - 2].machines;
    } else if (line.starts_with("file: ")) {
      std::string text;
      for (const std::string& read : lines_of(repository() / line.substr(6))) text += read + "\n";
      script.machines.push_back({.text = std::move(text)});
    } else if (line == "file:") {
      script.machines.emplace_back();
      section_ = Section::machine;
    } else if (line.starts_with("file ") && line.back() == ':') {
      script.machines.push_back({.name = line.substr(5, line.size() - 6)});
      section_ = Section::machine;
    } else {
      script.problem = "unknown line: " + line;
    }
  }

  void read_indented(const std::string& line, std::size_t index) {
    RuleScript& script = scripts_.back();
    if (section_ == Section::machine) {
      script.machines.back().text += line.substr(kIndent.size()) + "\n";
    } else if (section_ == Section::play && line.starts_with(kStep)) {
      script.steps.push_back({.line = index + 1,
                              .text = line.substr(kStep.size()),
                              .recorded_begin = index + 1,
                              .recorded_end = index + 1});
    } else if (section_ == Section::play && line.starts_with("  #")) {
      return;
    } else if (section_ == Section::play && line.starts_with(kOutput) && !script.steps.empty()) {
      script.steps.back().recorded.push_back(line.substr(kOutput.size()));
      script.steps.back().recorded_end = index + 1;
    } else {
      script.problem = "unknown line: " + line;
    }
  }

  std::string file_;
  Section section_ = Section::head;
  std::vector<RuleScript> scripts_;
};

}  // namespace

std::vector<std::string> script_files() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder(), none))
    if (entry.path().extension() == ".txt" && entry.path().filename() != "CMakeLists.txt")
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<RuleScript> read_scripts(const std::string& file) { return ScriptReader(file).read(); }

void write_recorded(const std::string& file, const std::vector<RuleScript>& scripts,
                    const std::vector<std::vector<std::vector<std::string>>>& outputs) {
  const auto lines = lines_of(folder() / file);
  std::ostringstream out;
  std::size_t copied = 0;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    for (std::size_t k = 0; k < scripts[i].steps.size(); ++k) {
      const ScriptStep& step = scripts[i].steps[k];
      for (; copied < step.recorded_begin; ++copied) out << lines[copied] << '\n';
      copied = step.recorded_end;
      for (const std::string& line : outputs[i][k]) out << kOutput << line << '\n';
    }
  }
  for (; copied < lines.size(); ++copied) out << lines[copied] << '\n';
  std::ofstream(folder() / file) << out.str();
}

}  // namespace pawl
