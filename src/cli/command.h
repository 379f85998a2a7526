// Command: one command of the command line, with its options and the commands below it. It is
// CLI11's App by the same names, without its header, which takes seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pawl::cli {

// What every value of an option must be.
struct Check {
  std::function<std::string(const std::string& value)> says_wrong;  // empty: nothing is wrong
  std::string description = {};                                     // for the help
};
// Both ends are in.
Check between(int from, int to);
Check between(std::int64_t from, std::int64_t to);
Check between(double from, double to);
Check one_of(const std::vector<std::string>& words);

// An option of a command, or a word that it takes by its place. The command owns it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option* required();
  Option* check(const Check& check);
  Option* needs(Option* other);
  Option* needs(const std::string& other);
  Option* excludes(Option* other);
  // How many values it takes at once; for a list, any number unless this is called.
  Option* expected(int count);
  Option* expected(int count_min, int count_max);
  Option* allow_extra_args(bool allowed);  // false: of a list, one value at a time
  Option* delimiter(char between_values);

  // For the help.
  Option* type_name(const std::string& name);
  Option* description(const std::string& text);
  Option* group(const std::string& title);
  Option* capture_default_str();  // what the variable has by now is the default

 private:
  CLI::Option* option_;
};

// What became of a command line. Neither answered nor misused: callbacks say what to do.
struct Parsed {
  bool is_answered = false;                // help or the version was asked for, and written
  std::optional<std::string> misuse = {};  // what is wrong with it
  std::string verb = {};                   // of a misuse: the commands up to it, `token create`
};

class Command {
 public:
  // The program itself.
  Command(const std::string& description, const std::string& name);
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // Below this command, and owned by it.
  Command* add_subcommand(const std::string& name, const std::string& description);

  // `--name`, or without dashes a word that is taken by its place. The variable gets the value when
  // the command line is parsed, and is there until then.
  Option* add_option(const std::string& name, std::string& into, const std::string& description);
  Option* add_option(const std::string& name, std::vector<std::string>& into,
                     const std::string& description);
  Option* add_option(const std::string& name, int& into, const std::string& description);
  Option* add_option(const std::string& name, std::int64_t& into, const std::string& description);
  Option* add_option(const std::string& name, std::size_t& into, const std::string& description);
  Option* add_option(const std::string& name, double& into, const std::string& description);
  Option* add_flag(const std::string& name, bool& into, const std::string& description);
  void set_version_flag(const std::string& name, const std::string& version);

  // One that was added before.
  Option* get_option(const std::string& name);
  // In the order they were added.
  const std::vector<std::unique_ptr<Command>>& all_subcommands() const { return subcommands_; }
  // Whether the command line has one; for callbacks.
  bool got_subcommand() const;

  void require_subcommand(int count);
  void require_subcommand(std::size_t count_min, std::size_t count_max);
  // Called when the command line has this command and nothing is wrong with it.
  void callback(std::function<void()> call);

  // For the help.
  void footer(const std::string& text);
  void group(const std::string& title);
  std::string help() const;

  // Of the program: reads the words after its name into variables, and calls back. What is asked
  // for instead, help or the version, goes to `out`.
  Parsed parse(std::span<const std::string> words, std::ostream& out);

 private:
  explicit Command(std::shared_ptr<CLI::App> app) : app_(std::move(app)) {}
  Option* keep(CLI::Option* option);

  std::shared_ptr<CLI::App> app_;
  std::deque<Option> options_;  // pointers to them stay valid
  std::vector<std::unique_ptr<Command>> subcommands_;
};

}  // namespace pawl::cli
